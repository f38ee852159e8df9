"""Files of other people's folders: what is read of them, how much, and what is never opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lmr_author import files


@pytest.mark.parametrize(("size", "limit", "read"), [(0, 0, True), (5, 5, True), (5, 6, True), (6, 5, False)])
def test_a_file_is_read_whole_or_not_at_all(size: int, limit: int, read: bool, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * size)
    assert files.read_regular(str(path), limit) == (b"x" * size if read else None)


def test_a_file_that_has_no_size_is_read_to_its_end_or_the_limit() -> None:
    """Those of /proc say that they are empty."""
    path = "/proc/self/status"
    whole = files.read_regular(path, 1 << 20)
    assert whole is not None and whole.startswith(b"Name:") and whole.endswith(b"\n") and len(whole) > 500
    assert files.read_regular(path, 100) == whole[:100]


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "link", tmp_path / "pipe", tmp_path / "absent", "/dev/zero", "a\0b"):
        assert files.read_regular(str(path), 100) is None


def test_with_it_comes_what_the_file_system_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("abc")
    found = files.read_with_status(str(tmp_path / "a"), 3)
    assert found is not None
    assert (found[0], found[1].st_ino) == (b"abc", (tmp_path / "a").stat().st_ino)


def test_a_link_is_followed_only_inside_of_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("root/a", "root-of-another/secret"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (root / "inside").symlink_to("a")
    (root / "outside").symlink_to("../root-of-another/secret")
    (root / "circle").symlink_to("circle")
    known = os.path.realpath(root)
    assert files.read_inside(known, root / "a", 100) == b"root/a"
    assert files.read_inside(known, root / "inside", 100) == b"root/a"
    for path in (
        root / "outside",
        root / "circle",
        tmp_path / "root-of-another/secret",
        root / ".." / "root",
        root,
    ):
        assert files.read_inside(known, path, 100) is None
