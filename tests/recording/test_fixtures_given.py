"""Which fixtures there are, what is said of them, and parts of torch modules."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lmr_author.errors import LmrError
from lmr_author.evaluation.candidates.run import CandidateOptions, score
from lmr_author.evaluation.verdict import Outcome
from lmr_author.probe.document import walk
from lmr_author.probe.encoding import encode
from lmr_author.probe.fixtures import Fixtures
from lmr_author.recording import helpers
from lmr_author.task import Task
from tests.evaluation.foreign import PLAIN_PYTHON
from tests.recording.helped import WORDS, failed_gates, masked_and_recorded

CHECKERS = '''\
def up_to_sign(expected, actual):
    """An axis has no direction."""
    print("whatever a checker prints")
    if len(expected) != len(actual):
        return "another number of values"
    for sign in (1, -1):
        if all(abs(e - sign * a) < 1e-9 for e, a in zip(expected, actual)):
            return True
    return False
'''


DIRECTION = "pkg/words.py::direction"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("def tokenizer(path):\n    return path\n", "needs arguments"), ("def tokenizer(\n", "no Python")],
)
def test_fixtures_that_cannot_be_used(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "fixtures.py").write_text(text)
    with pytest.raises(LmrError, match=reason):
        helpers.read(tmp_path)


def test_what_counts_as_a_fixture(tmp_path: Path) -> None:
    (tmp_path / "fixtures.py").write_text(
        "import os\n\ndef _load(path): ...\n\ndef model(size=3): ...\n\nvalue = 3\n\ndef words(): ...\n"
    )
    found = helpers.read(tmp_path)
    assert (found.fixture_names, found.checkers) == (("model", "words"), None)
    assert helpers.read(tmp_path / "nowhere") == helpers.Helpers()


@pytest.mark.parametrize(
    ("place", "name"),
    [("tokenizer is a X: …", "tokenizer"), ("self.cfg.tokenizer._lock", "tokenizer"), ("self._lock", None),
     ("value is a X", None), ("hooks[1]", "hooks"), ("", None),
     ("self._modules['encoder']", "encoder"), ("self._modules['a']._buffers['b']", "b"),
     ("self._cache['encoder']", None)],
)  # fmt: skip
def test_the_advice_names_the_function_to_write(place: str, name: str | None) -> None:
    assert helpers.fixture_name(place) == name
    advice = helpers.fixture_advice([place])
    assert (f"def {name}()" in advice) if name else advice == ""


def test_a_fixture_stands_for_a_part_of_a_torch_module() -> None:
    """Where ``self.encoder = encoder`` puts it: torch keeps it in a dictionary of its own."""
    pytest.importorskip("torch")
    from torch import nn

    model = nn.Sequential()
    model.add_module("encoder", nn.Linear(2, 2))
    model.add_module("head", nn.Linear(2, 2))

    stored = encode({"self": model}, 10**6, (), Fixtures(("encoder",)).find)

    assert [
        path for path, node in walk(stored.tree) if isinstance(node, dict) and node.get("$") == "fixture"
    ] == ["self._modules['encoder']"]
    assert any(path.startswith("self._modules['head']._parameters") for path, _ in walk(stored.tree))


@pytest.mark.bwrap
def test_a_part_that_a_function_compares(task: Task, tmp_path: Path) -> None:
    beside = task.root / "small-repo/unit_test"
    checks = ("value['axis']=custom:up_to_sign",)
    with pytest.raises(LmrError, match="no function up_to_sign"):
        masked_and_recorded(task, DIRECTION, checks=checks)
    (beside / "checkers.py").write_text(CHECKERS)
    result = masked_and_recorded(task, DIRECTION, checks=checks)
    assert list(result.recording.helpers) == ["checkers.py"]
    assert failed_gates(task) == []
    answers = {
        "other way": "norm = sum(v * v for v in values) ** 0.5\n"
        "    return {'axis': [v / norm for v in values], 'norm': norm}",
        "wrong": "norm = sum(v * v for v in values) ** 0.5\n    return {'axis': list(values), 'norm': norm}",
        "wrong elsewhere": "return {'axis': [-v / sum(v * v for v in values) ** 0.5 for v in values], 'norm': 1.0}",
        "missing": "return {'norm': sum(v * v for v in values) ** 0.5}",
        "names code": "import os\n    norm = sum(v * v for v in values) ** 0.5\n"
        "    return {'axis': os.system, 'norm': norm}",
    }
    found = judged(task, answers, tmp_path / "out")
    assert found["other way"] == (Outcome.PASSED, "")
    assert {name for name, (outcome, _) in found.items() if outcome is Outcome.PASSED} == {"other way"}
    assert "up_to_sign says no" in found["wrong"][1]
    assert "plain values only" in found["names code"][1]


def judged(task: Task, answers: dict[str, str], out: Path) -> dict[str, tuple[Outcome, str]]:
    """What becomes of some bodies of the target."""
    out.mkdir()
    lines = [
        {"task": task.name, "index": 1, "model": name, "code": f"def direction(values):\n    {body}\n"}
        for name, body in answers.items()
    ]
    (out / "predictions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = score(
        [task],
        out / "predictions.jsonl",
        CandidateOptions(out, python=PLAIN_PYTHON),
        lambda _: None,
        lambda *_: None,
    )
    return {item.model: (item.outcome, item.reason) for item in done.results}


@pytest.mark.bwrap
def test_the_shipped_test_uses_both(task: Task) -> None:
    beside = task.root / "small-repo/unit_test"
    (beside / "checkers.py").write_text(CHECKERS)
    masked_and_recorded(task, DIRECTION, checks=("value['axis']=custom:up_to_sign",))
    root = task.root / "small-repo"
    assert "custom=HERE / 'checkers.py'" in (beside / "unit_test_1.py").read_text()
    assert shipped(root) == 1, "masked"
    (root / "pkg/words.py").write_text(WORDS)
    assert shipped(root) == 0
    (root / "pkg/words.py").write_text(WORDS.replace("[-value / norm", "[value / norm"))
    assert shipped(root) == 0, "the other direction is as good"
    (root / "pkg/words.py").write_text(WORDS.replace("[-value / norm", "[value"))
    assert shipped(root) == 1


def shipped(root: Path, *words: str) -> int:
    command: Sequence[str] = [sys.executable, "unit_test/unit_test_1.py"]
    return subprocess.run(command, cwd=root, env={"PYTHONPATH": str(root)}, capture_output=True).returncode
