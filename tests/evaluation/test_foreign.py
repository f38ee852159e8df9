"""The gates on hand-made tasks: their tests say their verdict in many ways, and their info.json is loose."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.task import GateResult, GateStatus, Task
from lmr_author.proof.evaluation.evaluate import EvaluateOptions, evaluate
from lmr_author.proof.evaluation.script import ScriptRun, obstacle, problem
from tests.evaluation.foreign import ASSERTS, GOLDEN, MASKS, MEAN, PLAIN, STYLES, foreign_task


def gates(task: Task) -> dict[str, GateResult]:
    """Run all gates, few mutants."""
    options = EvaluateOptions(PLAIN, repeats=1, mutants=2)
    result = evaluate(task, options, lambda _: None, lambda _: None)
    return {gate.gate: gate for gate in result.gates}


@pytest.mark.bwrap
def test_a_mask_need_not_raise(tmp_path: Path) -> None:
    found = gates(foreign_task(tmp_path, STYLES["log only"], MASKS["undefined names"]))
    assert found["masked-fails"].status is GateStatus.PASSED, found["masked-fails"].message
    assert found["trivial-fails"].status is GateStatus.PASSED


def test_a_file_that_cannot_be_told_is_an_error(tmp_path: Path) -> None:
    task = foreign_task(tmp_path, ASSERTS, golden_file="elsewhere.py", goal_file="elsewhere.py")
    (task.root / "golden_files/other_golden.py").write_text("")
    with pytest.raises(LmrError, match="implementation 1: goal_file"):
        gates(task)


@pytest.mark.bwrap
@pytest.mark.parametrize(
    ("spelt", "test"),
    [
        ({"goal_file": "./scores\\smooth.py", "goal_function": "softplus()"}, "unit_test_1.py"),
        ({"goal_file": "smooth.py", "golden_file": "golden_files/golden.py"}, "unit_test.py"),
    ],
)
def test_a_loose_info_json_is_taken_as_it_was_meant(tmp_path: Path, spelt: dict[str, str], test: str) -> None:
    task = foreign_task(tmp_path, ASSERTS, class_name="Smooth", **spelt)
    tests = task.root / "scores-repo/unit_test"
    (tests / "unit_test_1.py").rename(tests / test)
    found = gates(task)
    assert {gate.status for name, gate in found.items() if name != "mutants-die"} == {GateStatus.PASSED}


@pytest.mark.bwrap
def test_a_masked_class_stands_for_its_methods(tmp_path: Path) -> None:
    head, _, _ = GOLDEN.partition("class Mean")
    masked = head + (
        "class Mean:\n"
        "    def __init__(self):\n        raise NotImplementedError\n\n"
        "    def add(self, value):\n        raise NotImplementedError\n"
    )
    found = gates(foreign_task(tmp_path, MEAN, masked=masked, goal_function="Mean"))
    assert {name for name, gate in found.items() if gate.status is not GateStatus.PASSED} == {"mutants-die"}


def run(exit_code: int = 0, log: str = "", stdout: str = "", stderr: str = "") -> ScriptRun:
    return ScriptRun(exit_code, log, stdout, stderr)


UNITTEST_OK = "..\nRan 2 tests in 0.001s\n\nOK\n"


@pytest.mark.parametrize(
    ("golden", "other", "said"),
    [
        (run(log="Passed"), run(log="Passed"), ""),
        (run(log="Passed"), run(log="Failed"), "its log says Failed"),
        (run(log="Passed"), run(1, log="Passed"), "although its log says Passed"),
        (run(log="Passed"), run(), "lacks signs of the golden's pass: its log says Passed"),
        (run(stdout="all tests passed"), run(stdout="test failed"), "it prints Failed"),
        (run(stderr=UNITTEST_OK), run(stderr=UNITTEST_OK), ""),
        (run(stderr=UNITTEST_OK), run(stderr=UNITTEST_OK.replace("2", "0")), "unittest ran 2 tests"),
        (
            run(stderr=UNITTEST_OK),
            run(stderr="Ran 2 tests in 0s\n\nOK (skipped=2)\n"),
            "all tests are skipped",
        ),
        (run(stdout="3 passed in 0.1s"), run(stdout="1 passed, 2 skipped in 0.1s"), "pytest passed 3"),
        (run(), run(), ""),
        (run(), run(1, stderr="Traceback\nValueError: no"), "exits 1: ValueError: no"),
        (run(stdout="0 failed, passed"), run(stdout="0 failed, passed"), ""),
    ],
)
def test_exit_code_and_words_have_to_agree(golden: ScriptRun, other: ScriptRun, said: str) -> None:
    assert problem(golden, None) == ""
    found = problem(other, golden)
    assert said in found
    assert bool(found) == bool(said)


TRACE = (
    'Traceback (most recent call last):\n  File "/w/unit_test/t.py", line 3, in <module>\n'
    '  File "/w/{}", line 9, in {}\n  File "/usr/lib/python3/math.py", line 1, in exp\n{}'
)


@pytest.mark.parametrize(
    ("path", "name", "end", "blamed"),
    [
        ("scores/smooth.py", "softplus", "ImportError: no torch", True),
        ("scores/smooth.py", "<module>", "ImportError: no torch", False),
        ("noscores/smooth.py", "softplus", "ModuleNotFoundError: no", False),
        ("scores/smooth.py", "Soft.softplus", "ImportError: no torch", True),
        ("scores/other.py", "other", "ValueError: math domain error", True),
    ],
)
def test_a_failure_comes_of_the_mask_unless_it_could_not_be_imported(
    path: str, name: str, end: str, blamed: bool
) -> None:
    said = TRACE.format(path, name, end)
    for ended in (run(1, stderr=said), run(1, log=said, stderr=end)):
        assert ended.blames_mask("scores/smooth.py", frozenset({"softplus"})) is blamed


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("ModuleNotFoundError: No module named 'six.moves'", "lmr-author env local --with six"),
        ("_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6", "older PyTorch"),
        ("FutureWarning: Weights only load failed\nFileNotFoundError: [Errno 2] a.pt", "not in the task"),
        ("RuntimeError: No CUDA GPUs are available", "needs a GPU"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "needs the network"),
        (
            "ImportError: cannot import name 'AdamW' from 'transformers' (/opt/site-packages/transformers/__init__.py)",
            "wrong version of a package for the test (transformers)",
        ),
        (
            "ImportError: tokenizers>=0.11.1,!=0.11.3,<0.14 is required for a normal functioning of this module",
            "wrong version of a package for the test (tokenizers>=0.11.1,!=0.11.3,<0.14)",
        ),
        ("ImportError: cannot import name 'f' from 'scores.smooth' (/workspace/r/scores/smooth.py)", ""),
        ("ImportError: Using `device_map` requires Accelerate: `pip install accelerate`", "lacks Accelerate"),
        ("AttributeError: module 'scores' has no attribute 'smooth'", ""),
        ("AttributeError: module 'numpy' has no attribute 'float'", "wrong version of a package"),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: 'data/in.pt'",
            "not in the task (data/in.pt)",
        ),
        ("AssertionError", ""),
    ],
)
def test_advice_is_about_the_error_that_ended_it(stderr: str, said: str) -> None:
    reason, hint = obstacle(run(1, stderr=stderr))
    assert said in f"{reason} {hint}"
    assert bool(hint) == bool(said)


PARTS = 'def parts(x, *, scale: float = 2.0):\n    """Two parts."""\n'
COMPARES_ITSELF = """\
from scores.smooth import parts
total, both = parts(3.0)
assert abs(total - total) < 1e-6 and both == [*both]
print("Passed")
"""


@pytest.mark.bwrap
@pytest.mark.parametrize(
    ("test", "status"),
    [(COMPARES_ITSELF, GateStatus.FAILED), (COMPARES_ITSELF.replace("- total", "- 5.0"), GateStatus.PASSED)],
)
def test_zeros_that_can_be_unpacked_are_tried_on_a_hand_made_test(
    tmp_path: Path, test: str, status: GateStatus
) -> None:
    task = foreign_task(
        tmp_path, test, masked=f"{PARTS}    raise NotImplementedError\n", goal_function="parts"
    )
    golden = task.root / "golden_files" / "smooth_golden.py"
    golden.write_text(f"{PARTS}    both = [x, scale]\n    return sum(both), both\n")
    found = gates(task)["trivial-fails"]
    assert found.status is status, found.message
    assert ("zeros in the golden's shape" in found.message) is (status is GateStatus.FAILED)


@pytest.mark.parametrize("golden", [run(log="Failed"), run(stdout="Failed"), run(1, log="Passed")])
def test_a_golden_that_says_failed_does_not_pass(golden: ScriptRun) -> None:
    assert problem(golden, None)
