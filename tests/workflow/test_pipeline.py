"""record and evaluate on a small task: what passes, and which gate notices which fault."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.errors import LmrError, UsageError
from lmr_author.model import GateStatus
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import select_checks, validate_task
from lmr_author.workflow.candidates import CandidateOptions, score
from lmr_author.workflow.evaluate import (
    EvaluateOptions,
    Evaluation,
    accept_mutant,
    evaluate,
)
from lmr_author.workflow.evaluation_records import load_evaluation
from lmr_author.workflow.mask import MaskOptions, mask
from lmr_author.workflow.record import RecordOptions, RecordResult, record
from lmr_author.workflow.unmask import unmask
from tests.support import make_task

HINGE = "pkg/losses.py::hinge"
ADD = "pkg/losses.py::Meter.add"
EQUIVALENT = "f8a0e4ef"
"""The mutant of hinge that is no mistake: `gap >= 0`."""
pytestmark = pytest.mark.bwrap


def quiet(_: object) -> None:
    """No progress."""


def recorded(task: TaskDir, target: str = HINGE, *command: str, **options: object) -> RecordResult:
    chosen = RecordOptions(target, command or ("python", "run.py"), **options)  # type: ignore[arg-type]
    return record(task, chosen, task.root, quiet)


def statuses(result: Evaluation) -> dict[str, GateStatus]:
    return {gate.gate: gate.status for gate in result.gates}


def run_gates(task: TaskDir, **options: object) -> Evaluation:
    return evaluate(task, EvaluateOptions(**options), quiet, quiet)  # type: ignore[arg-type]


def judged(task: TaskDir, code: str) -> list[str]:
    """What one answer to every implementation comes to, by index."""
    given = task.root.parent / "answers.jsonl"
    indices = [item.index for item in task.load().implementations]
    lines = [json.dumps({"task": f"{task.name}#{index}", "model": "m", "code": code}) for index in indices]
    given.write_text("\n".join(lines))
    options = CandidateOptions(out=task.root.parent / f"out-{len(code)}")
    found = score([task], given, options, lambda _: None, lambda *_: None)
    return [str(result.score.outcome) for result in found.results]


@pytest.fixture
def task(tmp_path: Path) -> TaskDir:
    """A task with a function and a method masked."""
    made = make_task(tmp_path)
    mask(made, MaskOptions((HINGE, ADD), category="Evaluation Metrics"), made.root)
    return made


def test_two_implementations_recorded_and_proven(task: TaskDir) -> None:
    first = recorded(task, HINGE)
    assert [case.outcome for case in first.recording.cases] == ["returned"] * 3
    assert first.recording.coverage.missed == ()
    assert first.recording.module == "pkg.losses"
    second = recorded(task, ADD)
    assert set(second.recording.cases[0].summary) == {"self", "value"}
    result = run_gates(task)
    failed = [gate for gate in result.gates if gate.status is not GateStatus.PASSED]
    assert [(gate.gate, gate.implementation) for gate in failed] == [("mutants-die", 1)]
    (survivor,) = failed[0].detail["survivors"]
    assert survivor["diff"] == "-    if gap > 0:\n+    if gap >= 0:"
    assert survivor["why"].startswith("the outputs are the same to the bit")

    assert survivor["id"] == EQUIVALENT
    accept_mutant(task, EQUIVALENT, "at gap 0 both return 0")

    result = run_gates(task)
    assert result.passed, [(gate.gate, gate.message) for gate in result.gates]
    assert len(result.gates) == 1 + 2 * 7
    mutants = next(gate for gate in result.gates if gate.gate == "mutants-die")
    assert mutants.message == "8 of 8 mutants fail (100%, recorded cases), 1 accepted as equivalent"
    stored = load_evaluation(task)
    assert stored is not None
    assert stored["passed"] is True and stored["content_digest"] == task.content_digest()


def test_one_implementation_is_evaluated_and_the_others_count_as_they_were(task: TaskDir) -> None:
    recorded(task)
    recorded(task, ADD)
    quick = {"repeats": 1, "mutants": 2}

    def found(evaluated: Evaluation, index: int) -> list[dict[str, object]]:
        return [gate.to_json() for gate in evaluated.gates if gate.implementation == index]

    alone = run_gates(task, implementation=2, **quick)
    assert {gate["status"] for gate in found(alone, 1)} == {"unproven"} and not alone.passed
    assert {gate["status"] for gate in found(alone, 2)} == {"passed"}
    then = run_gates(task, implementation=1, **quick)
    assert found(then, 1)[0]["status"] == "passed"
    assert found(then, 2) == found(alone, 2), "it was proven before, for the same state"
    (task.repository(task.load()) / "new.py").write_text("a = 1\n")
    changed = run_gates(task, implementation=1, **quick)
    assert {gate["status"] for gate in found(changed, 2)} == {"unproven"}, "it was proven for another state"
    with pytest.raises(UsageError, match=r"which implementation\? \(there is 1, 2\)"):
        run_gates(task, implementation=3)


def test_the_shipped_test_runs_as_lmr_bench_runs_it(task: TaskDir) -> None:
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
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "unit_test/unit_test_1.py",
    ]
    assert subprocess.run(under_pytest, cwd=root, capture_output=True).returncode == 0
    (root / "pkg" / "losses.py").write_bytes(golden.replace(b"return gap", b"return gap * 1.001"))
    assert subprocess.run(script, cwd=root, capture_output=True).returncode == 1
    assert subprocess.run(under_pytest, cwd=root, capture_output=True).returncode == 1


def test_a_changed_expected_value_is_tampering(task: TaskDir) -> None:
    recorded(task, HINGE)
    recorded(task, ADD)
    path = next((task.root / "small-repo/unit_test/recordings/1/case_1").glob("expected.json"))
    path.write_text(path.read_text() + " ")
    result = run_gates(task)
    first = [gate for gate in result.gates if gate.implementation == 1]
    assert [gate.status for gate in first] == [GateStatus.FAILED] + [GateStatus.SKIPPED] * 6
    assert "expected.json was changed" in first[0].message
    assert all(gate.status is GateStatus.PASSED for gate in result.gates if gate.implementation == 2)
    assert not result.passed


def only_hinge(tmp_path: Path) -> TaskDir:
    task = make_task(tmp_path)
    mask(task, MaskOptions((HINGE,), category="Evaluation Metrics"), task.root)
    accept_mutant(task, EQUIVALENT, "at gap 0 both return 0")
    return task


def test_a_golden_that_does_not_pass(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    recorded(task)
    golden = task.golden_folder / "losses_golden.py"
    golden.write_bytes(golden.read_bytes().replace(b"return gap", b"return gap + 1"))
    result = run_gates(task)
    assert statuses(result)["golden-passes"] is GateStatus.FAILED
    assert "value" in next(gate.message for gate in result.gates if gate.gate == "golden-passes")
    assert statuses(result)["trivial-fails"] is GateStatus.SKIPPED


def test_a_masked_file_that_cannot_be_imported(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    recorded(task)
    goal = task.root / "small-repo/pkg/losses.py"
    goal.write_bytes(b"import no_such_module\n" + goal.read_bytes())
    result = run_gates(task)
    assert statuses(result)["masked-fails"] is GateStatus.FAILED
    assert "not because of the mask" in next(g.message for g in result.gates if g.gate == "masked-fails")


def test_a_test_that_a_trivial_implementation_passes(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    driver = task.root / "small-repo" / "zeros.py"
    driver.write_text("from pkg.losses import hinge\nfor x in (3.0, 4.0, 5.0):\n    hinge(x)\n")
    recorded(task, HINGE, "python", "zeros.py")
    result = run_gates(task)
    assert statuses(result)["trivial-fails"] is GateStatus.FAILED
    failed = next(gate for gate in result.gates if gate.gate == "trivial-fails")
    assert "zeros as in case" in failed.message


HAND_WRITTEN = """\
import os, sys
sys.path.insert(0, os.getcwd())
from pkg.losses import hinge
os.makedirs("unit_test/logs", exist_ok=True)
ok = hinge(0.5) == 0.5 and hinge(2.0) == 0.0
open("unit_test/logs/unit_test_1.log", "w").write("Passed" if ok else "Failed")
assert ok
"""


def hand_written(tmp_path: Path, text: str) -> Evaluation:
    task = only_hinge(tmp_path)
    (task.root / "small-repo/unit_test/unit_test_1.py").write_text(text)
    return run_gates(task)


def test_a_hand_written_test_is_judged_by_exit_code_and_log(tmp_path: Path) -> None:
    result = hand_written(tmp_path, HAND_WRITTEN)
    held = {gate.gate: gate.message for gate in result.gates if gate.status is not GateStatus.PASSED}
    assert set(held) == {"mutants-die"}, held
    assert "test script" in held["mutants-die"], "one input tells few mutants apart"


@pytest.mark.parametrize(
    ("text", "gate", "message"),
    [
        (HAND_WRITTEN.replace("assert ok", "").replace("ok = ", "try:\n  ok = ").replace(
            "open(", "except NotImplementedError: ok = True\nopen("), "masked-fails", "passes"),
        (HAND_WRITTEN.replace('"Passed" if ok', '"Failed" if ok'), "golden-passes", "log says Failed"),
        ("print('Passed')\n", "masked-fails", "passes"),
        (HAND_WRITTEN.replace("hinge(2.0) == 0.0", "hinge(2.0) == 7"), "golden-passes", "exits 1"),
        ("import sys; sys.exit(3)\n", "golden-passes", "exits 3"),
    ],
    ids=["swallows the mask", "log disagrees", "only prints", "wrong", "never"],
)  # fmt: skip
def test_hand_written_tests_that_prove_nothing(tmp_path: Path, text: str, gate: str, message: str) -> None:
    result = hand_written(tmp_path, text)
    assert statuses(result)[gate] is GateStatus.FAILED
    assert message in next(item.message for item in result.gates if item.gate == gate)
    assert not result.passed


def test_a_hand_written_test_that_calls_a_copy(tmp_path: Path) -> None:
    copy = "def hinge(x, margin=1.0):\n    return max(0.0, margin - x)\n"
    result = hand_written(tmp_path, HAND_WRITTEN.replace("from pkg.losses import hinge\n", copy))
    assert statuses(result)["target-entered"] is GateStatus.FAILED
    failed = next(gate for gate in result.gates if gate.gate == "target-entered")
    assert failed.message == "the test never calls hinge of pkg/losses.py"
    assert not result.passed


@pytest.mark.parametrize(
    ("command", "error", "message", "hint"),
    [
        ((), UsageError, "no command", "-- python driver.py"),
        (("python", "none.py"), UsageError, "there is no script 'none.py'", "repository first"),
        (("bash", "x.sh"), UsageError, "not a Python command", "by Python"),
        (("python", "-c", "1"), UsageError, "name a script", "into a file"),
        (("python", "nothing.py"), LmrError, "never called pkg/losses.py::hinge", "pkg/__init__.py"),
        (("python", "crash.py"), LmrError, "failed before it called", "ValueError: no data"),
        (("python", "absent.py"), LmrError, "No module named 'absent_library'", "`lmr-author env local`"),
        (("python", "tensors.py"), LmrError, "No module named 'torch'", "env local --with torch==VERSION`"),
        (
            ("python", "inside.py"),
            LmrError,
            "No module named 'helper'",
            "helper lies in tools/ of the repository",
        ),
        (("python", "lambda.py"), LmrError, "could be stored", "unit_test/fixtures.py"),
    ],
)
def test_what_cannot_be_recorded(
    tmp_path: Path, command: tuple[str, ...], error: type[LmrError], message: str, hint: str
) -> None:
    task = only_hinge(tmp_path)
    root = task.root / "small-repo"
    (root / "nothing.py").write_text("import pkg\n")
    (root / "crash.py").write_text("raise ValueError('no data')\n")
    (root / "absent.py").write_text("import absent_library.part\n")
    (root / "tensors.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    (root / "inside.py").write_text("import helper\n")
    (root / "tools").mkdir()
    (root / "tools/helper.py").write_text("")
    (root / "lambda.py").write_text(
        "from pkg.losses import hinge\ntry:\n    hinge(lambda: 1)\nexcept TypeError: pass\n"
    )
    with pytest.raises(error) as caught:
        record(task, RecordOptions(HINGE, command), task.root, quiet)
    assert message in caught.value.message
    assert hint in caught.value.hint + caught.value.message
    assert list((root / "unit_test").iterdir()) == []


def test_a_call_larger_than_the_limit(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    (task.root / "small-repo/large.py").write_text(
        "from pkg.losses import hinge\ntry:\n    hinge('x' * 3_000_000)\nexcept TypeError: pass\n"
    )
    with pytest.raises(LmrError, match="larger than the limit") as caught:
        recorded(task, HINGE, "python", "large.py", max_mb=1.0)
    assert "--max-mb" in caught.value.hint


def test_a_recording_is_not_replaced_without_force(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    recorded(task)
    manifest = task.root / "small-repo/unit_test/recordings/1/recording.json"
    before = manifest.read_bytes()
    with pytest.raises(LmrError, match="has a recording already"):
        recorded(task)
    assert manifest.read_bytes() == before
    again = recorded(task, HINGE, cases=2, force=True)
    assert len(again.recording.cases) == 2
    assert (
        task.authoring / "removed/small-repo/unit_test/recordings/1/recording.json"
    ).read_bytes() == before
    assert run_gates(task).passed


def test_a_function_whose_result_its_inputs_do_not_determine(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    losses = task.root / "small-repo/pkg/losses.py"
    losses.write_bytes(
        losses.read_bytes().replace(
            b"    gap = margin",
            b"    import time\n    margin += time.perf_counter_ns() % 9973\n    gap = margin",
        )
    )
    mask(task, MaskOptions((HINGE,)), task.root)
    with pytest.raises(LmrError, match="no recorded call of hinge reproduces") as caught:
        recorded(task)
    assert "no argument" in caught.value.hint


def test_a_driver_outside_the_repository_and_its_arguments(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    outside = tmp_path / "scratch"
    outside.mkdir()
    (outside / "helper.py").write_text("VALUES = (0.25, 4.0)\n")
    (outside / "driver.py").write_text(
        "import sys\nfrom helper import VALUES\nfrom pkg.losses import hinge\n"
        "for x in VALUES:\n    hinge(x, margin=float(sys.argv[1]))\n"
    )
    result = record(task, RecordOptions(HINGE, ("python", "driver.py", "2.5")), outside, quiet)
    assert result.recording.command == ("python", "driver.py", "2.5")
    assert str(tmp_path) not in (task.root / "small-repo/unit_test/recordings/1/recording.json").read_text()
    values = json.loads((task.root / "small-repo/unit_test/recordings/1/case_1/inputs.json").read_text())
    assert "2.5" in json.dumps(values)


def test_without_isolation_the_gate_is_unproven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = only_hinge(tmp_path)
    monkeypatch.setattr("lmr_author.sandbox.bubblewrap.tools", lambda: None)
    recorded(task)
    result = run_gates(task)
    found = statuses(result)
    assert found.pop("isolated") is GateStatus.UNPROVEN
    assert "runs as you" in result.gates[0].message, "said before anything of the task is run"
    assert set(found.values()) == {GateStatus.PASSED}
    assert not result.passed


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
    mask(task, MaskOptions(("pkg/box.py::Box",), category="Evaluation Metrics"), task.root)
    with pytest.raises(LmrError, match="masked 2 times"):
        recorded(task, "pkg/box.py::Box.size", "python", "box.py")
    for name in (getter, setter):
        assert str(recorded(task, name, "python", "box.py").implementation.target) == name
    result = run_gates(task)
    held = {gate.gate: gate.message for gate in result.gates if gate.status is not GateStatus.PASSED}
    assert held == {}
    assert not validate_task(task, select_checks(["LMR3", "LMR4"])).findings
    wrong = "    @property\n    def size(self):\n        return self._size\n"
    right = "    @size.setter\n    def size(self, value):\n        self._size = value + value\n"
    assert judged(task, f"class Box:\n{wrong}\n{right}") == ["failed", "passed"]
    assert judged(task, f"class Box:\n{wrong.replace('_size', '_size + 1')}\n{right}") == ["passed", "passed"]
    unmask(task, setter, task.root)
    assert b"value * 2" in path.read_bytes() and b"self._size + 1" not in path.read_bytes()
    unmask(task, None, task.root)
    assert path.read_bytes() == before


def test_nothing_masked_and_no_interpreter(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    with pytest.raises(LmrError, match="nothing is masked"):
        run_gates(task)
    mask(task, MaskOptions((HINGE,)), task.root)
    with pytest.raises(LmrError, match="no Python interpreter"):
        run_gates(task, python=Path("/nowhere/python"))
