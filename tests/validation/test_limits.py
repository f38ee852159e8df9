"""No task takes all time, and several processes find what one finds."""

from __future__ import annotations

import re
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.proof.checks.base import Check, Problem, check
from lmr_author.proof.checks.registry import ALL_CHECKS
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.validation import run
from lmr_author.proof.validation.run import ALONE_BELOW, validate
from tests import example


def _check(do: Callable[[], object]) -> Check:
    """A check that does something to one of two tasks, and finds nothing."""

    def rule(task: TaskContents) -> Iterator[Problem]:
        if task.name == example.FOLDER:
            do()
        return iter(())

    return check("LMR701", "tried", rationale="tried")(rule)


def _endless() -> None:
    while True:
        try:
            "a".upper()
        except Exception:
            "b".upper()


@pytest.mark.parametrize("do", [_endless, lambda: re.match(r"(?:a+)+$", "a" * 64 + "b")])
def test_what_never_ends_is_a_finding_and_the_next_task_is_validated(
    do: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SECONDS", 0.2)
    before = signal.getsignal(signal.SIGALRM)

    first, second = validate([example.write(tmp_path), example.write(tmp_path, 2)], [_check(do)]).tasks

    assert [one.code for one in first.findings] == ["LMR000"]
    assert "took more than" in first.findings[0].message
    assert second.findings == ()
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_another_thread_validates_without_a_clock(tmp_path: Path) -> None:
    task = example.write(tmp_path)
    found: list[int] = []

    thread = threading.Thread(target=lambda: found.append(len(validate([task]).findings)))
    thread.start()
    thread.join()

    assert found == [0]


def test_processes_find_what_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [example.write(tmp_path, number) for number in range(1, ALONE_BELOW + 1)]
    (tasks[1].root / "Dockerfile").unlink()
    (tasks[2].root / "info.json").write_bytes(b"\xff")
    shutil.copytree(tasks[3].root, tmp_path / "other" / tasks[3].name)
    tasks.append(Task(tmp_path / "other" / tasks[3].name))
    (tmp_path / "concurrent.py").write_text("raise SystemExit('imported from the current folder')\n")
    monkeypatch.chdir(tmp_path)
    relative = [Task(task.root.relative_to(tmp_path)) for task in tasks]
    seen: list[str] = []

    report = validate(relative, ALL_CHECKS, seen.append, jobs=2)

    assert report == validate(relative)
    assert {"LMR201", "LMR001", "LMR008"} <= set(report.by_code)
    assert sorted(seen) == sorted(task.name for task in tasks)
