"""What a candidate sends through its pipe is data: at worst its own answer crashes, and the others are judged."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.task import Task
from lmr_author.proof.evaluation.candidates import results
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.runtime.probe.checking import _LENGTHS, MAGIC, to_bytes, write_frame
from lmr_author.runtime.probe.encoding import encode
from lmr_author.runtime.replay import outcomes
from lmr_author.runtime.sandbox.base import ExecResult
from tests.evaluation.hostile import CORRECT
from tests.evaluation.test_hostile import judged

SENDS = """
def hinge(x, margin=1.0):
    import os
    from lmr_probe.checking import MAGIC, _LENGTHS, to_bytes, write_frame
    from lmr_probe.encoding import encode
    data = b""
    for text in {texts!r}:
        text, payload = text.encode("utf-8", "surrogatepass"), {payload}
        data += MAGIC + _LENGTHS.pack(len(text), len(payload)) + text + payload
    data += write_frame({{"kind": "done"}})
    for fd in range(3, 32):
        try:
            os.write(fd, data)
        except OSError:
            pass
    os._exit(0)
"""
DOCUMENT = 'to_bytes(encode({"value": 0.0}))'


def header(status: str = '"returned"', seconds: str = "0", case: str = '"case_1"', more: str = "") -> str:
    text = f'"kind":"case","variant":"candidate","case":{case},"status":{status},"seconds":{seconds}'
    return f"{{{text},{more}" + '"entered":true,"file":"pkg/losses.py"}'


FRAMES: dict[str, list[str]] = {
    "seconds beyond all floats": [header(seconds="1" + "0" * 400)],
    "seconds of 5,000 digits": [header(seconds="9" * 5000)],
    "seconds that are no number": [header(seconds="NaN")],
    "endless seconds": [header(seconds="1e999")],
    "negative seconds": [header(seconds="-5")],
    "text for seconds": [header(seconds='"0"')],
    "a list for a status": [header(status="[1]")],
    "an unknown status": [header(status='"passed"')],
    "a list for a case": [header(case='["case_1"]')],
    "nothing but a kind": ['{"kind":"case"}'],
    "an error of lists": [header(status='"raised"', more='"error":{"type":[],"message":{}},')],
    "halves of surrogate pairs": [
        header(status='"raised"', more='"error":{"type":"\\ud800","message":"\\udfff\\u001b[2J"},')
    ],
    "blocks that are no numbers": [header(more='"hits":[true,1.5,"a"],')],
    "deep nesting": [header(more=f'"x":{"[" * 900}{"]" * 900},')],
    "a huge text": [header(more=f'"file":"{"x" * 200_000}",')],
    "thousands of frames": [header(), *[header(case=f'"case_{number % 9}"') for number in range(3000)]],
    "other versions and facts": [header(), '{"kind":"facts"}', '{"kind":"end","peak_rss":1e400}'],
}


@pytest.mark.bwrap
@pytest.mark.timeout(300)
def test_hostile_frames_end_their_own_answer_only(recorded_hinge: Task, tmp_path: Path) -> None:
    answers = [(name, SENDS.format(texts=texts, payload=DOCUMENT)) for name, texts in FRAMES.items()]
    answers = [("correct 1", CORRECT), *answers, ("correct 2", CORRECT)]
    found = judged(recorded_hinge, answers, tmp_path / "out")
    for name in FRAMES:
        assert found[name].outcome in (Outcome.CRASHED, Outcome.FAILED), found[name]
    assert [found[f"correct {number}"].outcome for number in (1, 2)] == [Outcome.PASSED] * 2
    for name in ("seconds beyond all floats", "negative seconds", "an unknown status"):
        assert found[name].outcome is Outcome.CRASHED
    kept = results.load(tmp_path / "out" / results.RESULTS)
    assert {result.model for result in kept} == set(found)
    for result in kept:
        assert result.reason.isprintable()
        assert all(0 <= case.seconds < 1e7 for case in result.cases)


VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 2**70, 10**400, float("nan"), float("inf"), -5.0, "", "case_1", "\ud800", "\x1b[31m",
    "x" * 99_999, [], [[[]]], {}, {"type": [1]}, {"$": "ref", "id": 1}, ["case_1"],
)  # fmt: skip


def mutated(chance: random.Random) -> bytes:
    """A message about a case, wrong in one or two places."""
    fields: dict[str, Any] = {
        "kind": "case", "variant": "hostile", "case": "case_1", "status": "returned", "entered": True, "file": "a.py",
        "error": {"type": "ValueError", "message": "m", "raised_in_target": True, "part": ""},
        "seconds": 0.5, "hits": [1],
    }  # fmt: skip
    for _ in range(chance.randint(1, 2)):
        name = chance.choice([*fields, "added"])
        if chance.random() < 0.2:
            fields.pop(name, None)
        elif name == "error" and chance.random() < 0.5 and isinstance(fields.get("error"), dict):
            fields["error"] = {
                **fields["error"],
                chance.choice(["type", "message", "part"]): chance.choice(VALUES),
            }
        else:
            fields[name] = chance.choice(VALUES)
    payload = to_bytes(encode({"value": 1.0})) if chance.random() < 0.7 else b""
    text = json.dumps(fields).encode()
    if chance.random() < 0.3:
        at = chance.randrange(len(text))
        text = text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]
    if payload and chance.random() < 0.3:
        payload = payload[: chance.randrange(len(payload))]
    return MAGIC + _LENGTHS.pack(len(text), len(payload)) + text + payload


def test_mutated_frames_change_no_other_version() -> None:
    names = ("before", "hostile", "after")
    wanted = {(name, case) for name in names for case in ("case_1", "case_2")}
    good = {"kind": "case", "case": "case_1", "status": "returned", "entered": True, "seconds": 0.1}
    payload = to_bytes(encode({"value": 1.0}))
    chance, crashed = random.Random(7), 0
    for _ in range(800):
        hostile = b"".join(mutated(chance) for _ in range(chance.randint(1, 3)))
        before = write_frame({"kind": "facts", "python": "3.11"}) + write_frame(
            {**good, "variant": "before"}, payload
        )
        data = before + hostile + write_frame({**good, "variant": "after"}, payload)

        replay = outcomes.read(ExecResult(0, data, b"", 1.0), wanted)

        for name in ("before", "after"):
            assert replay.of(name, "case_1").status == "returned"
            document = replay.of(name, "case_1").document
            assert document is not None and document.tree == {"value": 1.0}
        assert replay.facts["python"] == "3.11"
        assert set(replay.outcomes) <= wanted
        for outcome in replay.outcomes.values():
            assert 0 <= outcome.seconds <= 1e7
            assert all(text.isprintable() for text in (outcome.file, outcome.error.text, outcome.error.part))
            crashed += outcome.status == "crashed"
    assert crashed > 100
