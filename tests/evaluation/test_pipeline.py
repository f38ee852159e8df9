"""record and evaluate on a small task: everything that passes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask, unmask
from lmr_author.core.errors import LmrError
from lmr_author.core.task import GateStatus, Task, evaluation
from lmr_author.core.task.mutation import MutationScore
from lmr_author.proof.evaluation.accepting import accept_mutants
from lmr_author.proof.evaluation.candidates.run import CandidateOptions, score
from lmr_author.proof.validation.run import select_checks, validate
from tests.evaluation.foreign import PLAIN
from tests.pipeline import ADD, EQUIVALENT, HINGE, few_generated_calls, quiet, recorded, run_gates
from tests.support import make_task

pytestmark = pytest.mark.bwrap


def judged(task: Task, code: str) -> list[str]:
    """What one answer to every implementation comes to, by index."""
    given = task.root.parent / "answers.jsonl"
    indices = [item.index for item in task.load().implementations]
    lines = [json.dumps({"task": task.name, "index": index, "model": "m", "code": code}) for index in indices]
    given.write_text("\n".join(lines))
    options = CandidateOptions(task.root.parent / f"out-{len(code)}", where=PLAIN)
    with few_generated_calls(some=False):
        found = score([task], given, options, quiet, lambda *_: None)
    return [str(result.outcome) for result in found.results]


def accepted_score(task: Task) -> MutationScore:
    """The figures of the first implementation's mutants, as they are read now."""
    stored = evaluation.load(task)
    assert stored is not None
    return next(gate.detail.score for gate in stored.gates if gate.gate == "mutants-die")


def test_two_implementations_recorded_and_proven(task: Task) -> None:
    first = recorded(task, HINGE)
    assert [case.outcome for case in first.recording.cases] == ["returned"] * 3
    assert first.recording.coverage.missed == ()
    assert first.recording.module == "pkg.losses"
    second = recorded(task, ADD)
    assert {"self", "self.size", "value"} <= set(second.recording.cases[0].summary)
    result = run_gates(task, generated=True)
    assert result.passed, [(gate.gate, gate.message) for gate in result.gates]
    first_mutants = next(gate for gate in result.gates if gate.gate == "mutants-die")
    survivor = next(one for one in first_mutants.detail.survivors if one.id == EQUIVALENT)
    assert survivor.diff == "-    if gap > 0:\n+    if gap >= 0:"
    assert survivor.indistinguishable and "generated calls" in survivor.why
    assert len(result.gates) == 1 + 2 * 7
    accept_mutants(task, {EQUIVALENT: "at a gap of 0 both of them return 0"})
    assert accepted_score(task) == first_mutants.detail.score, "what calls show needs nobody's word"
    stored = evaluation.load(task)
    assert stored is not None
    assert stored.passed and stored.content_digest == task.content_digest()


def test_the_shipped_test_runs_as_lmr_bench_runs_it(task: Task) -> None:
    """A script from the repository's root, and under pytest; its exit code and its log both say so."""
    recorded(task, HINGE)
    root = task.root / "small-repo"
    script = [sys.executable, "unit_test/unit_test_1.py"]
    masked = subprocess.run(script, cwd=root, capture_output=True, text=True, env={"PYTHONPATH": str(root)})
    log = root / "unit_test" / "logs" / "unit_test_1.log"
    assert masked.returncode == 1
    assert "Failed" in log.read_text() and "Passed" not in log.read_text()
    assert "NotImplementedError" in masked.stderr
    golden = (task.golden_folder / "losses_golden.py").read_bytes()
    (root / "pkg" / "losses.py").write_bytes(golden)
    done = subprocess.run(script, cwd=root, capture_output=True, text=True, env={"PYTHONPATH": str(root)})
    assert done.returncode == 0, done.stderr
    assert "Passed" in log.read_text() and "Failed" not in log.read_text()
    under_pytest = [
        sys.executable,
        *["-m", "pytest", "-q", "-p", "no:cacheprovider", "unit_test/unit_test_1.py"],
    ]
    assert subprocess.run(under_pytest, cwd=root, capture_output=True).returncode == 0
    (root / "pkg" / "losses.py").write_bytes(golden.replace(b"return gap", b"return gap * 1.001"))
    assert subprocess.run(script, cwd=root, capture_output=True).returncode == 1
    assert subprocess.run(under_pytest, cwd=root, capture_output=True).returncode == 1


def test_getter_and_setter_of_one_property(tmp_path: Path) -> None:
    """Each has its own entry, recording and test, and a candidate for one is not put into the other."""
    task = make_task(tmp_path)
    path = task.root / "small-repo/pkg/box.py"
    path.write_text(
        "class Box:\n    @property\n    def size(self):\n        return self._size + 1\n\n"
        "    @size.setter\n    def size(self, value):\n        self._size = value * 2\n"
    )
    before = path.read_bytes()
    (task.root / "small-repo/box.py").write_text(
        "from pkg.box import Box\nbox = Box()\nfor n in (1, 5):\n"
        "    box.size = n\n    assert box.size == 2 * n + 1\n"
    )
    getter, setter = "pkg/box.py::Box.size#1", "pkg/box.py::Box.size#2"
    mask(task, MaskOptions((getter, setter), category="Evaluation Metrics"), task.root)
    with pytest.raises(LmrError, match="masked 2 times"):
        recorded(task, "pkg/box.py::Box.size", "python", "box.py")
    for name in (getter, setter):
        assert str(recorded(task, name, "python", "box.py").implementation.target) == name
    result = run_gates(task)
    held = {gate.gate: gate.message for gate in result.gates if gate.status is not GateStatus.PASSED}
    assert held == {}
    assert not validate([task], select_checks(["LMR3", "LMR4"])).findings
    wrong = "    @property\n    def size(self):\n        return self._size\n"
    right = "    @size.setter\n    def size(self, value):\n        self._size = value + value\n"
    assert judged(task, f"class Box:\n{wrong}\n{right}") == ["failed", "passed"]
    assert judged(task, f"class Box:\n{wrong.replace('_size', '_size + 1')}\n{right}") == ["passed", "passed"]
    unmask(task, setter, task.root)
    assert b"value * 2" in path.read_bytes() and b"self._size + 1" not in path.read_bytes()
    unmask(task, None, task.root)
    assert path.read_bytes() == before


def test_helpers_and_the_last_version_of_a_reply_are_what_runs(hinge: Task) -> None:
    """Replies through the sandbox: what is read has to run as well, and an example in the reply must not."""
    right = "def hinge(x, margin=1.0):\n    return _positive(margin - x)\n"
    helper = "import operator\nFLOOR = 0.0\n\ndef _positive(gap):\n    return gap if operator.gt(gap, 0) else FLOOR\n"
    usage = "import missing\nvalue = hinge(missing.x)\nprint(value)\n"
    wrong = "def hinge(x, margin=1.0):\n    return margin - x\n"
    steps = f"```python\n{helper}```\nand\n```python3.11\n{right}```\nUse:\n```python\n{usage}```\n"
    draft = f"<think>\n```python\n{wrong}```\n</think>\n```python\n{wrong}```\nWait.\n{steps}"
    assert judged(hinge, steps) == judged(hinge, draft) == ["passed"]
    assert judged(hinge, f"{steps}\nNo, rather:\n```python\n{wrong}```") == ["failed"]
