"""One task of few, looked at in the program's own process, takes neither all time nor all memory."""

from __future__ import annotations

import re
import resource
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lmr_author.checks import example_task, example_texts
from lmr_author.checks.base import Check
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding
from lmr_author.validation import limits
from lmr_author.validation.run import validate


class Tried(Check):
    """A check that does something to one of two tasks, and finds nothing."""

    code = "LMR701"
    title = rationale = ""
    failing = ()

    def run(self, view: TaskView) -> Iterator[Finding]:
        if view.name == example_texts.FOLDER:
            self.do()
        return iter(())

    def do(self) -> None:
        raise NotImplementedError


class Endless(Tried):
    def do(self) -> None:
        while True:
            try:
                self.code.lower()
            except Exception:
                self.code.upper()


class Backtracking(Tried):
    def do(self) -> None:
        re.match(r"(?:a+)+$", "a" * 64 + "b")


class Huge(Tried):
    def do(self) -> None:
        bytearray(2 * limits.MAX_MEMORY)


@pytest.mark.parametrize("check", [Endless(), Backtracking()], ids=lambda check: type(check).__name__)
def test_what_never_ends_is_a_finding_and_the_next_task_is_looked_at(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.2)
    before = signal.getsignal(signal.SIGALRM)

    first, second = validate([example_task.write(tmp_path), example_task.write(tmp_path, 2)], [check]).tasks

    assert [one.code for one in first.findings] == ["LMR000"]
    assert "took more than" in first.findings[0].message
    assert second.findings == ()
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_too_much_memory_is_a_finding_and_the_limit_goes_again(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)

    first, second = validate([example_task.write(tmp_path), example_task.write(tmp_path, 2)], [Huge()]).tasks

    assert [one.code for one in first.findings] == ["LMR000"]
    assert "MemoryError" in first.findings[0].message
    assert second.findings == ()
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_another_thread_validates_without_a_clock(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    found: list[int] = []

    thread = threading.Thread(target=lambda: found.append(len(validate([task]).findings)))
    thread.start()
    thread.join()

    assert found == [0]
