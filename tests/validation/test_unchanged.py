"""A folder is known again when, and only when, nothing in it was changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lmr_author.checks.listing import listing, status
from lmr_author.validation import processes, unchanged
from lmr_author.validation.unchanged import State


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files, a folder without files, a link, a pipe, and names that are no text."""
    root = tmp_path / "task"
    (root / "a" / "b").mkdir(parents=True)
    (root / "empty" / "inside").mkdir(parents=True)
    for name in ("one.txt", "a/two", "a/b/three\nlines", "a/b/ blank"):
        (root / name).write_text(name)
    (root / "a" / "link").symlink_to("two")
    os.mkfifo(root / "pipe")
    with open(os.fsencode(root) + b"/a/\xff", "wb"):
        pass
    return root


def _state(root: Path) -> State:
    found = unchanged.state(status(str(root)), listing(str(root)))
    assert found is not None
    return found


def _same(root: Path, state: State) -> bool:
    with unchanged.unchanged([(str(root), state.text)], 1) as (same,):
        return same


def test_what_did_not_change_is_known_again(folder: Path) -> None:
    state = _state(folder)

    assert _same(folder, state)
    assert state.newest == max(os.lstat(path).st_ctime_ns for path in (folder, *folder.rglob("*")))


CHANGES: dict[str, Callable[[Path], object]] = {
    "a line more": lambda root: (root / "one.txt").write_text("longer than it was"),
    "the same size and time": lambda root: _rewritten(root / "a" / "two"),
    "a new file": lambda root: (root / "empty" / "inside" / "new").touch(),
    "a new folder": lambda root: (root / "a" / "b" / "new").mkdir(),
    "a file less": lambda root: (root / "a" / "b" / " blank").unlink(),
    "a folder less": lambda root: (root / "empty" / "inside").rmdir(),
    "another name": lambda root: (root / "one.txt").rename(root / "two.txt"),
    "moved to another folder": lambda root: (root / "one.txt").rename(root / "a" / "one.txt"),
    "names changed round": lambda root: _swapped(root / "a" / "two", root / "one.txt"),
    "folders changed round": lambda root: _swapped(root / "a", root / "empty"),
    "another link": lambda root: _linked(root / "a" / "link", "b"),
    "a link for a file": lambda root: _linked(root / "one.txt", "a/two"),
    "a link for a folder": lambda root: _moved_behind_a_link(root / "a"),
    "other rights": lambda root: (root / "one.txt").chmod(0o600),
    "a folder's rights": lambda root: (root / "a" / "b").chmod(0o700),
    "gone": lambda root: root.rename(root.parent / "elsewhere"),
}


def _rewritten(path: Path) -> None:
    found = path.stat()
    path.write_text("a/TWO")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _swapped(one: Path, other: Path) -> None:
    between = one.parent.parent / "between"
    one.rename(between)
    other.rename(one)
    between.rename(other)


def _linked(path: Path, to: str) -> None:
    path.unlink()
    path.symlink_to(to)


def _moved_behind_a_link(path: Path) -> None:
    path.rename(path.parent.parent / "moved")
    path.symlink_to(path.parent.parent / "moved")


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_noticed(name: str, folder: Path) -> None:
    state = _state(folder)

    CHANGES[name](folder)

    assert not _same(folder, state)


@pytest.mark.parametrize(
    "text", ["", "x", "\0\0", "x\0\0", "x\0\01 2", "x\0\0a b c", "x\0\01 2 \0one.txt", "x\0\01 2 \0a\0/../b"]
)
def test_a_damaged_state_is_that_of_no_folder(text: str, folder: Path) -> None:
    assert not _same(folder, State(text, 0))


def test_a_folder_that_cannot_be_listed_has_no_state(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (found,) = listing(str(tmp_path))

    assert unchanged.state(status(str(tmp_path)), [found])
    assert unchanged.state(status(str(tmp_path)), [found._replace(status=None)]) is None
    assert unchanged.state(status(str(tmp_path / "absent")), ()) is None


@pytest.mark.parametrize("jobs", [1, 2, 3, 50])
def test_several_processes_say_the_same(
    jobs: int, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "WORTH_COPIES", 0)
    known = []
    for number in range(7):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "file").write_text("text")
        known.append((str(tmp_path / str(number)), _state(tmp_path / str(number)).text))
    for number in (0, 3, 4):
        (tmp_path / str(number) / "file").write_text("changed")
    expected = [number not in (0, 3, 4) for number in range(7)]

    with unchanged.unchanged(known, jobs) as answers, unchanged.unchanged([], jobs) as none:
        assert answers == expected
        assert none == []


def test_what_a_process_that_died_was_asked_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, began = os.getpid(), tmp_path / "began"
    monkeypatch.setattr(processes, "_can_copy", lambda: True)  # also beside threads that other tests left

    def work(items: Sequence[int]) -> list[bool]:
        if os.getpid() != here:
            began.touch()
            os._exit(1)
        while not began.exists():
            time.sleep(0.001)
        return [True for _ in items]

    with processes.in_copies(work, range(6), 2) as answers:
        assert sorted(answers) == [False] + [True] * 5


@pytest.mark.parametrize("cut", range(7))
def test_an_answer_that_was_cut_off_leaves_the_rest_unknown(cut: int) -> None:
    items = range(processes._PARTS + 2)
    parts = [items[number :: processes._PARTS] for number in range(processes._PARTS)]
    answers = [False] * len(items)

    processes._keep(answers, parts, bytes([1, 1, 1, 0, 1, 1])[:cut])

    assert answers.count(True) == 2 * (cut // 3)


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 1000])
def test_every_item_gets_its_own_answer(jobs: int, count: int) -> None:
    def work(items: Sequence[int]) -> list[bool]:
        return [item % 3 == 0 for item in items]

    with processes.in_copies(work, range(count), jobs) as answers:
        assert answers == [item % 3 == 0 for item in range(count)]
