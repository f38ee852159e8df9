"""A kill between two writes: the same command completes it, and unmask undoes it."""

from __future__ import annotations

import re
import shlex
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, UnmaskResult, mask, unmask
from lmr_author.core import files
from lmr_author.core.errors import TargetError
from lmr_author.core.task import Finding, Task
from lmr_author.proof.validation.run import select_checks, validate
from tests.cli.program import snapshot
from tests.support import LOSSES, make_task, write_files

HINGE, ADD = "pkg/losses.py::hinge", "pkg/losses.py::Meter.add"
OPTIONS = MaskOptions((HINGE,), category="Evaluation Metrics", also=("legacy.py::hinge", ADD))


class Killed(BaseException):
    """What a kill is like: nothing handles it."""


def kill_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let all writes of files happen before one."""
    write, count = files.write_bytes, iter(range(1, 1000))

    def counted(path: Path, data: bytes) -> None:
        if next(count) == number:
            raise Killed
        write(path, data)

    monkeypatch.setattr(files, "write_bytes", counted)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A small task, with a second copy of its functions."""
    made = make_task(tmp_path)
    write_files(made.root / "small-repo", {"legacy.py": LOSSES})
    return made


def findings(task: Task) -> list[Finding]:
    """What validate says about originals that no record names."""
    return list(validate([task], select_checks(["LMR313"])).findings)


def follow(task: Task, finding: Finding) -> UnmaskResult:
    """Type the command of a hint."""
    command = re.search(r"`lmr-author unmask ([^`]+)`", finding.hint)
    assert command, finding.hint
    (target,) = shlex.split(command[1])
    return unmask(task, target, task.root)


def content(task: Task) -> dict[str, str]:
    """Everything but the records of what was unmasked, and empty folders."""
    found = snapshot(task.root)
    return {name: kind for name, kind in found.items() if kind != "folder" and "/removed/" not in name}


@pytest.mark.parametrize("number", range(1, 9))
def test_unmask_undoes_a_killed_mask(number: int, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(task)
    with monkeypatch.context() as patch:
        kill_at(patch, number)
        with suppress(Killed):
            mask(task, OPTIONS, task.root)
    touched = content(task) != before
    assert touched == (number > 1)
    codes = {finding.code for finding in validate([task], select_checks(["LMR303", "LMR313"])).findings}
    assert codes == ({"LMR313"} if 2 <= number <= 5 else {"LMR303"} if 6 <= number <= 7 else set())
    if touched:
        unmask(task, None, task.root)
    assert content(task) == before


@pytest.mark.parametrize("number", range(1, 5))
def test_the_same_mask_completes_one_of_several_files(
    number: int, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = MaskOptions((HINGE, "legacy.py::Meter.each"), category="Evaluation Metrics")
    before = content(task)
    with monkeypatch.context() as patch:
        kill_at(patch, number + 1)
        with pytest.raises(Killed):
            mask(task, several, task.root)
    result = mask(task, several, task.root)
    assert [entry.index for entry in result.implementations] == [1, 2]
    assert not validate([task], select_checks(["LMR303", "LMR304", "LMR313"])).findings
    with pytest.raises(TargetError, match="already masked"):
        mask(task, several, task.root)
    unmask(task, None, task.root)
    assert content(task) == before


@pytest.mark.parametrize("number", range(1, 9))
def test_the_same_mask_completes_one_that_was_killed(
    number: int, task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Task(tmp_path / "other" / task.name)
    shutil.copytree(task.root, other.root)
    mask(other, OPTIONS, other.root)
    with monkeypatch.context() as patch:
        kill_at(patch, number)
        try:
            mask(task, OPTIONS, task.root)
        except Killed:
            mask(task, OPTIONS, task.root)
    assert content(task) == content(other)
    assert findings(task) == []


@pytest.mark.parametrize("number", range(1, 6))
def test_the_same_unmask_completes_one_that_was_killed(
    number: int, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(task)
    mask(task, OPTIONS, task.root)
    with monkeypatch.context() as patch:
        kill_at(patch, number)
        try:
            unmask(task, HINGE, task.root)
        except Killed:
            unmask(task, HINGE, task.root)
    assert content(task) == before


def test_an_entry_that_was_deleted_by_hand(task: Task) -> None:
    mask(task, MaskOptions((HINGE,), category="Evaluation Metrics"), task.root)
    info = task.load()
    mask(task, MaskOptions(("legacy.py::Meter.each",), category="Evaluation Metrics"), task.root)
    task.save(info)
    (found,) = findings(task)
    assert (found.severity, found.path) == ("error", "golden_files/legacy_golden.py")
    unmask(task, HINGE, task.root)
    assert (task.golden_folder / "legacy_golden.py").is_file()


def test_an_original_that_is_not_that_of_its_file_is_kept(task: Task) -> None:
    write_files(
        task.root, {"golden_files/losses_golden.py": b"x = 1\n", "golden_files/gone_golden.py": b"y = 2\n"}
    )
    for finding in findings(task):
        assert finding.severity == "error"
        (moved,) = follow(task, finding).moved
        assert (task.removed_folder / moved).is_file()
    assert findings(task) == []
    with pytest.raises(TargetError, match="nothing is masked"):
        unmask(task, None, task.root)
