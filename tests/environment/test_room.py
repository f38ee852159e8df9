"""The disk space that a build needs, with the real uv and a small package index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.environment.room import PER_PACKAGE, UNPACKED, Room, room
from lmr_author.errors import LmrError
from tests.servers import Release, only_index

MB, GB = 1000**2, 1000**3
INDEX = {
    "large": [Release("1.0", "2020-01-01", size=700 * MB), Release("2.0", "2023-01-01", size=2 * GB)],
    "small": [Release("1.0", "2020-01-01", size=3 * MB)],
    "silent": [Release("1.0", "2020-01-01")],
    "compiled": [Release("1.0", "2020-01-01", tags=("cp311-cp311",), size=40 * MB)],
}
NEED = Room(0, 3 * GB, 5, 0, 500 * MB, None)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of 1,200 bytes."""
    folder = tmp_path / "repository"
    (folder / "data").mkdir(parents=True)
    (folder / "run.py").write_bytes(b"x" * 200)
    (folder / "data" / "points.bin").write_bytes(b"x" * 1000)
    return folder


def test_packages_take_what_the_index_says_and_others_are_guessed(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = "# a comment\nlarge==1.0\nsmall==1.0  # pinned\nsilent==1.0\ncompiled==1.0\n"
    with only_index(INDEX, monkeypatch, tmp_path / "cache"):
        need = room("me/base:1", None, lock, "3.11", repository, 10 * GB)
    assert (need.count, need.guessed, need.repository, need.free) == (4, 1, 1200, 10 * GB)
    assert need.packages == UNPACKED * 743 * MB + PER_PACKAGE
    assert need.needed == need.base_bytes + need.packages + 2400
    assert "4 packages, about 3.0 GB; repository 1.2 kB" in str(need)


def test_without_an_index_every_package_is_guessed(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with only_index({}, monkeypatch, tmp_path / "cache"):
        need = room("me/base:1", None, "large==1.0\nsmall==1.0\n", "3.11", repository, None)
    assert (need.guessed, need.packages) == (2, 2 * PER_PACKAGE)


def test_a_base_image_takes_room_only_where_it_has_to_be_fetched(repository: Path) -> None:
    here, runtime, devel, other = (
        room(f"me/base:{tag}", size, "", "3.11", repository, None).base_bytes
        for tag, size in (("1", 5 * GB), ("1-runtime", None), ("1-devel", None), ("1", None))
    )
    assert here == 0 < runtime < devel
    assert other > 0


@pytest.mark.parametrize(
    ("base", "free", "enough"),
    [(0, None, True), (0, 5 * GB, True), (0, 5 * GB - 1, False), (1, 5 * GB, False), (GB, 6 * GB, True)],
)
def test_what_is_needed_has_to_be_free_with_something_to_spare(
    base: int, free: int | None, enough: bool
) -> None:
    """3 GB of packages, twice 500 MB of the repository, and 1 GB to spare."""
    need = replace(NEED, base_bytes=base, free=free)
    if enough:
        need.require()
        return
    with pytest.raises(LmrError, match=r"it needs about 5\.0 GB, 5\.0 GB are free"):
        need.require()


def test_it_says_what_is_known_and_what_is_not() -> None:
    assert str(NEED) == (
        "the base image is here; 5 packages, 3.0 GB; repository 500 MB; in all about 4.0 GB, free space unknown"
    )
    told = str(replace(NEED, base_bytes=8 * GB, guessed=2, free=7 * GB))
    assert told.startswith("the base image has to be fetched (about 8.0 GB); 5 packages, about 3.0 GB;")
    assert told.endswith("in all about 12.0 GB, 7.0 GB free")
