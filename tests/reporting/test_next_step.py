"""The next command of a task: ``status`` names it, and other verbs end with it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.cli.app import main
from lmr_author.core.task import Evaluation, Task, evaluation
from lmr_author.core.task.folder import TaskState
from lmr_author.release.reporting.status import status_with
from tests.support import make_task

HINGE = "pkg/losses.py::hinge"


@pytest.fixture
def evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """A task that was evaluated with another interpreter of this machine, and failed."""
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    task = make_task(tmp_path)
    mask(task, MaskOptions((HINGE,)), task.root)
    test = task.unit_test(task.load(), task.load().implementations[0])
    test.parent.mkdir(exist_ok=True)
    test.write_text("assert True\n")
    state = TaskState.of(task)
    evaluation.store(
        task,
        Evaluation(
            tool="test",
            sandbox=evaluation.UsedSandbox("local", other_python="venv-c13867de"),
            started="2026-01-01T00:00:00+00:00",
            seconds=1.0,
            content_digest=state.content,
            running_digest=state.running,
            gates=(),
            passed=False,
        ),
    )
    return task


def test_an_interpreter_is_named_by_its_path_or_not_at_all(evaluated: Task) -> None:
    found = status_with(evaluated, ())
    assert found.next == f"lmr-author evaluate {evaluated.root}"
    assert "add --python: the last run used venv-c13867de" in found.note
    evaluation.remember_interpreter("venv-c13867de", Path(sys.executable))
    found = status_with(evaluated, ())
    assert found.next == f"lmr-author evaluate --python {sys.executable} {evaluated.root}"
    assert "--python" not in found.note


@pytest.mark.parametrize(
    ("failed", "verb"), [(["mutants-die"], "record"), (["golden-passes", "mutants-die"], "evaluate")]
)
def test_survivors_alone_are_not_evaluated_again(evaluated: Task, failed: list[str], verb: str) -> None:
    last = evaluation.load(evaluated)
    assert last
    gates = tuple(
        evaluation.GateResult(gate, evaluation.GateStatus.FAILED, "", implementation=1) for gate in failed
    )
    evaluation.store(evaluated, replace(last, gates=gates))
    assert status_with(evaluated, ()).next.startswith(f"lmr-author {verb} ")


def test_verbs_end_with_the_command_that_status_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = make_task(tmp_path)
    mask(task, MaskOptions((HINGE,)), task.root)
    for verb in ("status", "evaluate"):
        main([verb, "--task", str(task.root)])
        assert f"next: lmr-author record {HINGE} --task {task.root}\n" in capsys.readouterr().out
    assert main(["unmask", HINGE, "--task", str(task.root)]) == 0
    assert f"next: lmr-author mask --task {task.root}\n" in capsys.readouterr().err


def test_a_damaged_task_is_validated(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    task.info_path.write_text("{")
    assert status_with(task, None).next == f"lmr-author validate {task.root}"
