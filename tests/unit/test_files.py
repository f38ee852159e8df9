"""Files: what is read, what is never opened, and folders that leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError


def test_an_object_and_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert files.read_object_or_empty(path) == files.read_object_to_change(path) == {}
    path.write_text('{"a": 1}')
    assert files.read_object_or_empty(path) == files.read_object_to_change(path) == {"a": 1}


@pytest.mark.parametrize("damaged", [b"", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_anything_else_is_empty_or_refused(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(damaged)
    assert files.read_object_or_empty(path) == {}
    with pytest.raises(LmrError, match=r"a\.json") as caught:
        files.read_object_to_change(path)
    assert caught.value.hint


@pytest.mark.parametrize(("size", "limit", "read"), [(0, 0, True), (5, 5, True), (5, 6, True), (6, 5, False)])
def test_a_file_is_read_whole_or_not_at_all(size: int, limit: int, read: bool, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * size)
    assert foreign.read_regular(str(path), limit) == (b"x" * size if read else None)


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "link", tmp_path / "pipe", tmp_path / "absent", "/dev/zero", "a\0b"):
        assert foreign.read_regular(str(path), 100) is None


def test_a_link_is_followed_only_inside_of_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("root/a", "root-of-another/secret"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (root / "inside").symlink_to("a")
    (root / "outside").symlink_to("../root-of-another/secret")
    (root / "circle").symlink_to("circle")
    known = os.path.realpath(root)
    assert foreign.read_inside(known, root / "a", 100) == b"root/a"
    assert foreign.read_inside(known, root / "inside", 100) == b"root/a"
    for path in (
        root / "outside",
        root / "circle",
        tmp_path / "root-of-another/secret",
        root / ".." / "root",
        root,
    ):
        assert foreign.read_inside(known, path, 100) is None


def interrupting(function: Any) -> Any:
    """The function, with a Ctrl-C that arrives before its work and one that arrives after."""

    def interrupted(*arguments: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        result = function(*arguments, **named)
        signal.raise_signal(signal.SIGINT)
        return result

    return interrupted


def test_it_is_removed_with_what_is_in_it(tmp_path: Path) -> None:
    with files.temporary_folder("x-", tmp_path) as folder:
        assert (folder.parent, folder.name[:2], folder.stat().st_mode & 0o777) == (tmp_path, "x-", 0o700)
        (folder / "deep" / "er").mkdir(parents=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("module", "name"), [(tempfile, "mkdtemp"), (subprocess, "run")])
def test_an_interrupt_leaves_nothing(
    module: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, interrupting(getattr(module, name)))
    entered = False
    with pytest.raises(KeyboardInterrupt), files.temporary_folder("x-", tmp_path) as folder:
        entered = True
        (folder / "file").write_text("")
    assert entered == (name == "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("module", "name"), [(tempfile, "mkdtemp"), (subprocess, "run")])
def test_a_staged_folder_that_fails_under_interrupts(
    module: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, interrupting(getattr(module, name)))
    with pytest.raises(KeyboardInterrupt), files.staged_folder(tmp_path / "new" / "final"):
        raise ValueError("the work fails")
    assert list(tmp_path.iterdir()) == []
