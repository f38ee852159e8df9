"""What `mask` asks about leaks, answered by keys; the same by flags, in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.authoring.masking.leftovers import OpenLeak
from lmr_author.cli.mask import ask_about_leaks
from lmr_author.core.task import Task, accepted
from tests.cli.program import refuse, succeed
from tests.support import LOSSES, make_task

ADD = "pkg/losses.py::Meter.add"
ENTER, DOWN, CTRL_C = "\r", "\x1b[B", "\x03"
RETURN = b"        return math.fsum"


def copy(counter: bytes) -> bytes:
    """The target's file with a line more in the target, and another class."""
    more = b"        self." + counter + b" += 1\n" + RETURN
    return LOSSES.replace(b"class Meter", b"class OldMeter").replace(RETURN, more)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    task = make_task(tmp_path)
    root = task.root / "small-repo"
    (root / "one.py").write_bytes(copy(b"count"))
    (root / "two.py").write_bytes(copy(b"seen"))
    return task


def masked(task: Task) -> tuple[OpenLeak, ...]:
    leaks = mask(task, MaskOptions((ADD,)), task.root).leaks
    assert [leak.also for leak in leaks] == [("one.py::OldMeter.add",), ("two.py::OldMeter.add",)]
    return leaks


def test_shown_masked_and_accepted(task: Task, keys: PipeInput, capsys: pytest.CaptureFixture[str]) -> None:
    leaks = masked(task)
    keys.send_text(ENTER)  # show it,
    keys.send_text(DOWN + ENTER)  # mask it too;
    keys.send_text(DOWN * 2 + ENTER)  # the other: accept it,
    keys.send_text(ENTER + "a test's own copy" + ENTER)  # for no reason; for one

    ask_about_leaks(task, leaks, task.root)

    assert [item.node_id for item in task.also_masked()] == ["one.py::OldMeter.add"]
    assert [(item.code, item.path, item.reason) for item in accepted.load(task)] == [
        ("LMR403", "small-repo/two.py", "a test's own copy")
    ]
    shown = capsys.readouterr().err
    assert "+    self.count += 1" in shown and "self.seen" not in shown
    assert "% the same" in shown


@pytest.mark.parametrize("reason", ["", "a test's own"], ids=["at a question", "in a reason"])
def test_an_interruption_loses_no_answer(
    reason: str, task: Task, keys: PipeInput, capsys: pytest.CaptureFixture[str]
) -> None:
    leaks = masked(task)
    keys.send_text(DOWN + ENTER)  # mask the first too,
    keys.send_text(DOWN * 2 + ENTER + reason + CTRL_C if reason else CTRL_C)  # and that is all

    with pytest.raises(KeyboardInterrupt):
        ask_about_leaks(task, leaks, task.root)

    assert "`lmr-author mask --leaks` asks about the other places" in capsys.readouterr().err
    assert [item.node_id for item in task.also_masked()] == ["one.py::OldMeter.add"]
    assert accepted.load(task) == ()


def test_leaks_can_be_looked_for_again(task: Task) -> None:
    error, _ = refuse(2, "mask", "--leaks", cwd=task.root)
    assert "nothing is masked" in error
    masked(task)
    error, _ = refuse(2, "mask", ADD, "--leaks", cwd=task.root)
    assert "masks nothing new" in error
    again = succeed("mask", "--leaks", "--no-input", cwd=task.root)
    assert "small-repo/one.py" in again.err and "small-repo/two.py" in again.err
    for name in ("one.py", "two.py"):
        (task.root / "small-repo" / name).unlink()
    assert "contains no solution" in succeed("mask", "--leaks", "--no-input", cwd=task.root).err


def test_many_are_asked_about_at_once_and_a_few_can_be_left(task: Task, keys: PipeInput) -> None:
    leaks = masked(task)
    keys.send_text((DOWN * 3 + ENTER) * 2)  # leave each
    ask_about_leaks(task, leaks, task.root)
    keys.send_text(DOWN + ENTER)  # leave all
    ask_about_leaks(task, leaks * 2, task.root)
    assert (task.also_masked(), accepted.load(task)) == ((), ())


def test_the_hint_is_a_command_that_works(task: Task) -> None:
    first = succeed("mask", ADD, "--no-input", cwd=task.root)
    hints = [line for line in first.err.splitlines() if "(lmr-author mask --also" in line]
    assert len(hints) == 2
    command = hints[0].partition("(lmr-author ")[2].partition(")")[0].split()
    assert command == ["mask", "--also", "one.py::OldMeter.add"]
    assert first.err.splitlines()[-1] == "next: lmr-author mask --also one.py::OldMeter.add"

    second = succeed(*command, "--no-input", cwd=task.root)

    assert "masked too one.py::OldMeter.add, like pkg/losses.py::Meter.add" in second.err
    assert "small-repo/one.py" not in second.err and "small-repo/two.py" in second.err
    assert second.err.splitlines()[-1] == "next: lmr-author mask --also two.py::OldMeter.add"

    third = succeed("mask", "--also", "two.py::OldMeter.add", "--no-input", cwd=task.root)
    assert third.err.splitlines()[-1] == "next: lmr-author record pkg/losses.py::Meter.add"
    assert "restored one.py::OldMeter.add" in succeed("unmask", "--all", cwd=task.root).err
    assert (task.root / "small-repo" / "one.py").read_bytes() == copy(b"count")
