"""How long evaluate and record still take is told as soon as the golden has run once."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.evaluation import judges
from lmr_author.evaluation.outlook import Outlook
from lmr_author.recording import golden
from lmr_author.replaying import Replay, replay
from lmr_author.texts import time_left
from lmr_author.workflow.evaluate import EvaluateOptions, evaluate
from lmr_author.workflow.record import RecordOptions, record
from tests.evaluation.foreign import PLAIN_PYTHON
from tests.workflow.pipeline.running import HINGE, only_hinge, quiet

ALL = ["golden-passes", "masked-fails", "trivial-fails", "mutants-die"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9, ""), (14, "about 10 s left"), (94, "about 90 s left"), (100, "about 2 min left"),
     (361, "about 6 min left")],
)  # fmt: skip
def test_an_estimate_is_in_round_numbers(seconds: float, text: str) -> None:
    assert time_left(seconds) == text


def test_a_recorded_task_starts_once_for_all_versions() -> None:
    outlook = Outlook(recorded=True, repeats=3, mutants=95)
    assert outlook.left(ALL) == ""
    outlook.ran(60, 0.3)
    assert outlook.left(ALL) == ", about 8 min left"  # 3 golden, 2 masked, 2 for 100 versions of 0.6 s
    outlook.ran(60)
    outlook.ran(60)
    assert outlook.left(ALL) == ", about 6 min left"
    assert outlook.left(["mutants-die"]) == ", about 2 min left"


def test_a_script_starts_for_each_version_and_others_may_follow() -> None:
    outlook = Outlook(recorded=False, repeats=3, mutants=20, following=1)
    outlook.ran(6)
    assert outlook.left([*ALL[:2], "target-entered", *ALL[2:]]) == ", about 6 min left"  # 29 runs and 30 more
    assert outlook.left(["isolated"]) == ", about 3 min left"


@pytest.mark.bwrap
def test_evaluate_and_record_tell_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    task = only_hinge(tmp_path)

    def slow(*arguments: object, **options: object) -> Replay:
        found: Replay = replay(*arguments, **options)  # type: ignore[arg-type]
        object.__setattr__(found.result, "seconds", 60.0)
        return found

    monkeypatch.setattr(golden.replaying, "replay", slow)
    record(task, RecordOptions(HINGE, ("python", "run.py"), python=PLAIN_PYTHON), task.root, said.append)
    told = [line.rpartition(", ")[2] for line in said if " left" in line]
    assert max(len(line) for line in said if " left" in line) < 70
    assert told == ["about 5 min left", "about 4 min left", "about 3 min left", "about 2 min left",
                    "about 60 s left"]  # fmt: skip
    monkeypatch.undo()

    said.clear()
    monkeypatch.setattr(judges.RecordingJudge, "golden", lambda *_, **__: judges.Verdict(True))
    monkeypatch.setattr(Outlook, "ran", lambda self, *_: self._runs.append(60.0))
    evaluate(task, EvaluateOptions(python=PLAIN_PYTHON), said.append, quiet)
    # First: a terminal is narrow, and a target's name is long.
    assert [line for line in said if "golden-passes" in line][-1].startswith(
        "golden-passes, about 7 min left: "
    )
    assert any(line.startswith("masked-fails, about 5 min left: ") for line in said)
