"""A function that a decorator compiles is also run as compiled: a compiler refuses what Python runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lmr_author.evaluation.candidates.score import Outcome
from lmr_author.evaluation.candidates.station import StationOptions
from lmr_author.model import GateStatus
from lmr_author.taskdir import TaskDir
from lmr_author.workflow.candidates import score
from lmr_author.workflow.desk import CandidateOptions
from lmr_author.workflow.mask import MaskOptions, mask
from lmr_author.workflow.record import RecordOptions, record
from tests.evaluation.foreign import PLAIN_PYTHON
from tests.support import make_task, write_files
from tests.workflow.pipeline.running import quiet, run_gates

pytestmark = pytest.mark.bwrap

FAKE = """\
import os


def njit(function):
    def compiled(*arguments):
        assert set(function.__code__.co_names) <= {KNOWN}, "nopython: unknown\\nnames"
        return float(function(*arguments))

    return function if os.environ.get("NUMBA_DISABLE_JIT") == "1" else compiled
"""
"""As numba does, it refuses names that it does not know, when the function is called; and it returns another type."""

CODE = "from numba import njit\n\n\n@njit\ndef size(x):\n    return abs(x) * 2\n"
ANSWERS = {
    "same": ("def size(x):\n    return 2 * abs(x)\n", Outcome.PASSED),
    "refused": ("def size(x):\n    return max(x, -x) * 2\n", Outcome.FAILED),
    "wrong": ("def size(x):\n    return abs(x)\n", Outcome.FAILED),
    "wrong as compiled": (
        "def size(x):\n    return abs(x) * 2 if NAMES else 7.5\n".replace("NAMES", "x == int(x)"),
        Outcome.FAILED,
    ),
}


def made(tmp_path: Path, known: str = "'abs'") -> tuple[TaskDir, list[str]]:
    """A recorded task whose target is compiled, and what ``record`` told."""
    task = make_task(tmp_path / "tasks")
    write_files(task.root / "small-repo", {"sizes.py": CODE, "numba.py": FAKE.replace("KNOWN", known)})
    write_files(tmp_path, {"driver.py": "from sizes import size\n\nfor x in (1, -2, 5):\n    size(x)\n"})
    mask(task, MaskOptions(("sizes.py::size",), category="Evaluation Metrics"), task.root)
    told: list[str] = []
    options = RecordOptions("sizes.py::size", ("python", "driver.py"), python=PLAIN_PYTHON)
    record(task, options, tmp_path, quiet, tell=told.append)
    return task, told


def judged(task: TaskDir, tmp_path: Path, answers: Mapping[str, str]) -> dict[str, tuple[Outcome, str]]:
    source = tmp_path / "predictions.jsonl"
    lines = [{"task": task.name, "model": name, "code": code} for name, code in answers.items()]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = CandidateOptions(tmp_path / "out", python=PLAIN_PYTHON, judging=StationOptions(seconds=10))
    found = score([task], source, options, quiet, lambda *_: None)
    return {item.model: (item.score.outcome, item.score.reason) for item in found.results}


def test_a_candidate_that_the_compiler_refuses_fails(tmp_path: Path) -> None:
    task, told = made(tmp_path)
    assert not any("no case tests" in line for line in told)
    found = judged(task, tmp_path, {name: code for name, (code, _) in ANSWERS.items()})
    assert {name: outcome for name, (outcome, _) in found.items()} == {
        name: outcome for name, (_, outcome) in ANSWERS.items()
    }
    assert "compiled by numba: AssertionError: nopython: unknown names" in found["refused"][1]
    assert "compiled by numba" not in found["wrong"][1]

    golden = next(gate for gate in run_gates(task, mutants=0).gates if gate.gate == "golden-passes")
    assert golden.status is GateStatus.PASSED
    assert golden.message.endswith("; case_1 also as numba compiles it"), golden.message


def test_so_does_the_unit_test_that_is_shipped(tmp_path: Path) -> None:
    task, _ = made(tmp_path)
    repository = task.root / "small-repo"
    goal, text = repository / "sizes.py", repository / "unit_test" / "unit_test_1.py"
    assert "compiled='case_1'" in text.read_text()

    def runs(body: str) -> subprocess.CompletedProcess[str]:
        goal.write_text(CODE.replace("abs(x) * 2", body))
        return subprocess.run(
            [sys.executable, "unit_test/unit_test_1.py"], cwd=repository, capture_output=True, text=True
        )

    assert runs("2 * abs(x)").returncode == 0
    refused = runs("max(x, -x) * 2")
    assert refused.returncode == 1
    assert "case_1, compiled as its decorators say: AssertionError: nopython" in refused.stderr
    (repository / "numba.py").write_text(
        FAKE.replace("KNOWN", "'nothing'").replace("nopython: ", "No working C++ compiler found: ")
    )
    alone = runs("2 * abs(x)")
    assert alone.returncode == 0 and "needs a C compiler here" in alone.stderr
    (repository / "numba.py").write_text(FAKE.replace("KNOWN", "'abs'"))
    refused = runs("max(x, -x) * 2")
    log = repository / "unit_test" / "logs" / "unit_test_1.log"
    assert log.read_text().startswith("Failed")


def test_where_the_golden_itself_is_refused_it_is_said(tmp_path: Path) -> None:
    task, told = made(tmp_path, "'nothing'")
    assert [
        line for line in told if line.startswith("note: no case tests what numba makes of it: AssertionError")
    ]
    assert "compiled" not in (task.root / "small-repo" / "unit_test" / "unit_test_1.py").read_text()
    golden = next(gate for gate in run_gates(task, mutants=0).gates if gate.gate == "golden-passes")
    assert golden.status is GateStatus.PASSED
    assert "what numba makes of it is not tested: AssertionError: nopython" in golden.message
    assert judged(task, tmp_path, {"same": ANSWERS["same"][0]})["same"][0] is Outcome.PASSED


TORCH = """\
import torch


@torch.compile(backend="eager", fullgraph=True)
def gate(x):
    return torch.where(x > 0, x, -x) * 2
"""


@pytest.mark.torch
@pytest.mark.timeout(600)
def test_what_torch_compiles_whole_has_to_be_a_whole(tmp_path: Path) -> None:
    """The answer breaks the graph: it is right as Python, and refused where the golden is not."""
    task = make_task(tmp_path / "tasks")
    write_files(task.root / "small-repo", {"gates.py": TORCH})
    driver = "import torch\nfrom gates import gate\n\nfor x in (1.0, -2.0):\n    gate(torch.tensor([x]))\n"
    write_files(tmp_path, {"driver.py": driver})
    mask(task, MaskOptions(("gates.py::gate",), category="Evaluation Metrics"), task.root)
    options = RecordOptions("gates.py::gate", ("python", "driver.py"), vary=False)
    record(task, options, tmp_path, quiet)

    source = tmp_path / "predictions.jsonl"
    answers = {
        "whole": "def gate(x):\n    return x.abs() * 2\n",
        "broken": "def gate(x):\n    if x.sum() > 0:\n        return x * 2\n    return -x * 2\n",
    }
    lines = [{"task": task.name, "model": name, "code": code} for name, code in answers.items()]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    judging = StationOptions(seconds=120)
    found = score([task], source, CandidateOptions(tmp_path / "out", judging=judging), quiet, lambda *_: None)
    assert [item.score.outcome for item in found.results] == [Outcome.PASSED, Outcome.FAILED]
    assert "compiled by torch.compile" in found.results[1].score.reason
