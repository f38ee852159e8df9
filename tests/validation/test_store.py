"""Results are taken from the cache when, and only when, nothing they depend on has changed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.base import Check
from lmr_author.checks.registry import ALL_CHECKS
from lmr_author.checks.view import TaskView
from lmr_author.indexing import Cache
from lmr_author.taskdir import TaskDir
from lmr_author.validation import digests, worker
from lmr_author.validation.result import TaskResult
from lmr_author.validation.run import select_checks, validate
from lmr_author.validation.store import Store


class Counting:
    """Counts how many tasks are really examined."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tasks: list[str] = []
        real = worker.examine

        def examine(view: TaskView, checks: Sequence[Check]) -> TaskResult:
            self.tasks.append(view.name)
            return real(view, checks)

        monkeypatch.setattr(worker, "examine", examine)

    def since(self) -> list[str]:
        """Those examined since this was last asked."""
        found, self.tasks = self.tasks, []
        return found


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


def _store(folder: Path, checks: Sequence[Check] = ALL_CHECKS, settled: float = 0.0) -> Store:
    return Store(Cache(folder / "cache.sqlite3"), [check.code for check in checks], settled)


@pytest.mark.parametrize("settled", [0.0, 3600.0], ids=["by state", "by content"])
def test_an_unchanged_task_is_not_examined_again(settled: float, tmp_path: Path, examined: Counting) -> None:
    tasks = [example_task.write(tmp_path), example_task.write(tmp_path, 2)]
    (tasks[1].root / "Dockerfile").unlink()

    first = validate(tasks, store=_store(tmp_path, settled=settled))
    assert examined.since() == [task.name for task in tasks]
    second = validate(tasks, store=_store(tmp_path, settled=settled))

    assert examined.since() == []
    assert second == first == validate(tasks)
    assert [one.code for one in second.findings] == ["LMR201"]


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n")


def _same_size_and_time(path: Path) -> None:
    found = path.stat()
    path.write_bytes(path.read_bytes()[:-1] + b" ")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


CHANGES: dict[str, Callable[[Path], None]] = {
    "a line more": lambda root: _append(root / "Dockerfile"),
    "the same size and time": lambda root: _same_size_and_time(root / "info.json"),
    "a new file": lambda root: (root / "margin-ranking" / "new.txt").write_text(""),
    "a new folder": lambda root: (root / "margin-ranking" / "new").mkdir(),
    "a file less": lambda root: (root / ".dockerignore").unlink(),
    "another name": lambda root: (root / "margin-ranking" / "LICENSE").rename(
        root / "margin-ranking" / "COPYING"
    ),
    "a link in its place": lambda root: _linked(root / "margin-ranking" / "LICENSE"),
    "cannot be run": lambda root: (root / "margin-ranking" / "unit_test").chmod(0o700),
    "a large file": lambda root: _large(root / "margin-ranking" / "data.bin"),
}


def _linked(path: Path) -> None:
    path.unlink()
    path.symlink_to("README.md")


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(digests.MAX_READ + 1)


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_task_is_examined_again_and_the_others_are_not(
    name: str, tmp_path: Path, examined: Counting
) -> None:
    tasks = [example_task.write(tmp_path), example_task.write(tmp_path, 2)]
    validate(tasks, store=_store(tmp_path))
    examined.since()

    CHANGES[name](tasks[0].root)
    report = validate(tasks, store=_store(tmp_path))

    if name != "cannot be run":  # another state of the same content: read again, not examined
        assert examined.since() == [tasks[0].name]
    assert report == validate(tasks)


def test_a_large_file_that_changes_in_place_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "task" / "data.bin"
    path.parent.mkdir()
    _large(path)
    before = digests.content(TaskView(TaskDir(path.parent)))

    with path.open("r+b") as file:
        file.write(b"x")

    assert digests.content(TaskView(TaskDir(path.parent))) != before


def test_another_place_is_known_by_its_content(tmp_path: Path, examined: Counting) -> None:
    task = example_task.write(tmp_path / "here")
    validate([task], store=_store(tmp_path))
    examined.since()
    shutil.copytree(task.root, tmp_path / "there" / task.name)

    validate([TaskDir(tmp_path / "there" / task.name)], store=_store(tmp_path))
    assert examined.since() == []

    (tmp_path / "there" / task.name).rename(tmp_path / "there" / "7-Other")
    report = validate([TaskDir(tmp_path / "there" / "7-Other")], store=_store(tmp_path))
    assert examined.since() == ["7-Other"]
    assert "LMR006" in report.by_code


def test_other_checks_and_another_tool_do_not_use_it(
    tmp_path: Path, examined: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = example_task.write(tmp_path)
    validate([task], store=_store(tmp_path))
    examined.since()

    some = select_checks(["LMR4"])
    validate([task], some, store=_store(tmp_path, some))
    assert examined.since() == [task.name]

    monkeypatch.setattr(digests, "tool", lambda: "another version")
    validate([task], store=_store(tmp_path))
    assert examined.since() == [task.name]


def test_what_was_changed_a_moment_ago_is_read_again(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)

    assert _store(tmp_path, settled=3600).state(TaskView(task)) == ""
    assert _store(tmp_path).state(TaskView(task))


@pytest.mark.parametrize(
    "change",
    [
        lambda root: _append(root / "Dockerfile"),
        lambda root: _same_size_and_time(root / "info.json"),
        lambda root: (root / "margin-ranking" / "LICENSE").unlink(),
    ],
    ids=["a line more", "the same size and time", "a file less"],
)
def test_what_changes_while_it_is_read_is_not_kept(change: Callable[[Path], None], tmp_path: Path) -> None:
    view = TaskView(example_task.write(tmp_path))
    assert len(view.entries) > 10
    change(view.task.root)

    _store(tmp_path).content_key(view)

    assert _store(tmp_path).state(view) is None


def test_what_is_read_behind_a_link_is_asked_for_again(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (task.root / "shown").symlink_to("margin-ranking")
    view = TaskView(task)
    _store(tmp_path).content_key(view)
    late = "margin-ranking/late.txt"
    (task.root / late).write_text("made after the task was listed\n")
    assert view.read_bytes(task.root / late) is None  # as when it was listed
    assert _store(tmp_path).state(view)

    assert view.read_bytes(task.root / "shown" / "late.txt")

    assert _store(tmp_path).state(view) is None


@pytest.mark.parametrize(
    "entry", [b"", b"{", b"[1]", b'{"task": 1}', b'{"task": "a", "findings": [{}], "claims": []}', b"\xff"]
)
def test_a_damaged_entry_is_no_result(entry: bytes, tmp_path: Path, examined: Counting) -> None:
    task = example_task.write(tmp_path)
    store, view = _store(tmp_path), TaskView(task)
    content = store.content_key(view)
    damaged = cast(TaskResult, SimpleNamespace(to_bytes=lambda: entry))
    store.keep(task.root, store.state(view) or "", content, damaged)
    store.flush()
    assert store.cache.load([content]) == {content: entry}

    assert validate([task], store=store).findings == ()
    assert examined.since() == [task.name]


def test_a_failed_check_is_not_kept(tmp_path: Path, examined: Counting) -> None:
    from tests.validation.test_run import Breaks

    task = example_task.write(tmp_path)
    checks = [Breaks()]
    for _ in range(2):
        assert validate([task], checks, store=_store(tmp_path, checks)).by_code == {"LMR000": 1}
    assert examined.since() == [task.name] * 2


def test_an_acceptance_counts_without_the_task_being_examined(tmp_path: Path, examined: Counting) -> None:
    from lmr_author import accepted

    task = example_task.write(tmp_path)
    (task.root / "margin-ranking" / "a.log").write_text("x\n")
    report = validate([task], store=_store(tmp_path))
    assert report.findings

    accepted.add(task, report.findings[0], "it is read by the test")
    again = validate([task], store=_store(tmp_path))

    assert [one.code for one, _ in again.tasks[0].accepted] == [report.findings[0].code]
    assert again.findings == report.findings[1:]


def test_results_are_kept_whatever_is_in_them(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    with open(os.fsencode(task.root) + b"/margin-ranking/no-utf8-\xff.DS_Store~", "wb"):
        pass
    first = validate([task], store=_store(tmp_path))

    assert first.findings
    assert validate([task], store=_store(tmp_path)) == first
    json.dumps(first.to_json(), ensure_ascii=False).encode()
