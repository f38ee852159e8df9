"""Limits: no task takes all time or memory, and one that ends its process is a finding."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lmr_author.checks.base import Check, Problem, check
from lmr_author.checks.registry import ALL_CHECKS
from lmr_author.checks.view import TaskView
from lmr_author.processes import in_processes
from lmr_author.task import Task
from lmr_author.validation import run
from lmr_author.validation.run import ALONE_BELOW, validate
from tests import example


def _check(do: Callable[[], object]) -> Check:
    """A check that does something to one of two tasks, and finds nothing."""

    def rule(task: TaskView) -> Iterator[Problem]:
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


def test_too_much_memory_is_a_finding_and_the_limit_goes_again(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    huge = _check(lambda: bytearray(2 * run.MAX_MEMORY))

    first, second = validate([example.write(tmp_path), example.write(tmp_path, 2)], [huge]).tasks

    assert [one.code for one in first.findings] == ["LMR000"]
    assert "MemoryError" in first.findings[0].message
    assert second.findings == ()
    assert resource.getrlimit(resource.RLIMIT_AS) == before


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

    report = validate(relative, ALL_CHECKS, lambda one: seen.append(one.task), jobs=2)

    assert report == validate(relative)
    assert {"LMR201", "LMR001", "LMR008"} <= set(report.by_code)
    assert sorted(seen) == sorted(task.name for task in tasks)


def _die_of(number: int) -> int:
    if number == 3:
        os._exit(9)
    return number * 10


def test_a_process_that_dies_costs_only_what_it_worked_on() -> None:
    assert dict(in_processes(_die_of, range(6), 2)) == {0: 0, 1: 10, 2: 20, 3: None, 4: 40, 5: 50}
