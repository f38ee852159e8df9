"""Ctrl-C and SIGTERM at any moment: every task is as before or as after, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from pathlib import Path

import pytest

from lmr_author.cli.boundary import guarded
from lmr_author.core.task import Task
from tests.cli.conftest import HINGE
from tests.cli.program import TEMPORARY, finish, processes_with, snapshot, start, succeed, wait_for
from tests.gitrepos import make_repository
from tests.papers import make_paper
from tests.support import make_task

INTERRUPTED = 130


def interrupt(task: Task, after: float, number: int, *arguments: str) -> bool:
    """Start a command, stop it after a while; whether it was stopped (else it was done before)."""
    process = start(*arguments, cwd=task.root)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    ended = finish(process)
    if "interrupted: " not in ended.err:
        # Done before, or the signal came while Python itself was ending.
        assert ended.code in (0, -number), ended.err
        assert "next: " in ended.err or ended.out
        return False
    # Python dies of SIGINT, which a shell shows as 130, when it came inside of an exec() (as in dataclasses).
    assert ended.code in (INTERRUPTED, -signal.SIGINT), ended.err
    assert ended.out == ""
    return True


def test_mask_interrupted_at_any_moment(tmp_path: Path) -> None:
    command = ("mask", HINGE, "--category", "Evaluation Metrics", "--no-input")
    reference = make_task(tmp_path / "reference")
    before = snapshot(reference.root)
    succeed(*command, cwd=reference.root)
    complete = snapshot(reference.root)
    stopped = []
    moments = (0.001, signal.SIGINT), (0.05, signal.SIGTERM), (0.12, signal.SIGINT), (0.25, signal.SIGTERM)
    for after, number in moments:
        task = make_task(tmp_path / str(after))
        stopped.append(interrupt(task, after, number, *command))
        found = snapshot(task.root)
        # Each file is as before or as after; the command, typed again, completes what was begun.
        assert all(found[name] in (before.get(name), complete.get(name)) for name in found), found
        if found != complete:
            succeed(*command, cwd=task.root)
        assert snapshot(task.root) == complete
    assert stopped[0]


@pytest.mark.bwrap
def test_record_interrupted_while_the_driver_runs(masked: Task, tmp_path: Path) -> None:
    marker = uuid.uuid4().hex
    driver = tmp_path / f"drive_{marker}.py"
    driver.write_text(
        "import time\nfrom pkg.losses import hinge\nfor x in (0.5, 2.0, -1.0): hinge(x)\ntime.sleep(100)\n"
    )
    before, temporary = snapshot(masked.root), temporaries()
    process = start("record", HINGE, "--", "python", str(driver), cwd=masked.root)
    wait_for(lambda: len(processes_with(marker)) > 1, 60)  # the driver's, beside the command's own
    process.send_signal(signal.SIGTERM)
    ended = finish(process)
    assert ended.code in (INTERRUPTED, -signal.SIGINT) and ended.out == ""
    assert "interrupted" in ended.err
    found = snapshot(masked.root)
    assert {name: what for name, what in found.items() if "authoring" not in name} == before
    wait_for(lambda: not processes_with(marker), 10)
    assert temporaries() <= temporary


@pytest.mark.bwrap
def test_evaluate_interrupted_at_any_moment(finished: Task) -> None:
    finished.evaluation_path.unlink()
    before, temporary = snapshot(finished.root), temporaries()
    for after in (0.001, 0.7, 1.6):
        if not interrupt(finished, after, signal.SIGINT, "evaluate", "--format", "json"):
            break
        assert snapshot(finished.root) == before
    assert temporaries() <= temporary
    assert processes_with(str(finished.root)) == []


def test_new_task_interrupted(tmp_path: Path) -> None:
    make_paper(tmp_path / "paper.pdf")
    make_repository(tmp_path / "code", {f"data/{n}.txt": "x" * 1000 for n in range(300)})
    flags = ("--title", "T", "--year", "2023", "--name", "x", "--offline", "--no-input")
    for after in (0.001, 0.3, 0.5):
        before = snapshot(tmp_path)
        stopped = interrupt(
            Task(tmp_path), after, signal.SIGINT, "new-task", "paper.pdf", "--repo", "./code", *flags
        )
        if not stopped:
            break
        found = snapshot(tmp_path)
        if "tasks/1-x/info.json" in found:  # the signal came after the task was whole
            assert sorted(os.listdir(tmp_path / "tasks")) == ["1-x"]
            break
        assert found == before


def temporaries() -> set[str]:
    """Temporary files and folders of ours."""
    return {name for name in os.listdir(TEMPORARY) if name.startswith("lmr-author-")}


def test_an_interrupt_while_a_class_is_being_made(capsys: pytest.CaptureFixture[str]) -> None:
    class Field:
        def __set_name__(self, holder: type, name: str) -> None:
            raise KeyboardInterrupt

    def run() -> int:
        type(
            "Node", (), {"field": Field()}
        )  # Python 3.11 raises RuntimeError from it, later ones what it raised
        return 0

    assert guarded(run) == INTERRUPTED
    assert "interrupted" in capsys.readouterr().err
