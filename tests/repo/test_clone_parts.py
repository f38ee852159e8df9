"""Submodules, Git LFS, links, caches and odd names in what is cloned."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lmr_author.core.files import LFS_HEADER
from lmr_author.core.repo import CloneOptions, clone
from tests.gitrepos import add_link, commit, git, make_repository, tree
from tests.repo.cloning import refused

POINTER = LFS_HEADER + b"\noid sha256:" + b"0" * 64 + b"\nsize 12\n"


needs_lfs = pytest.mark.skipif(shutil.which("git-lfs") is None, reason="needs git-lfs")


def test_a_submodule_is_taken_over_at_its_commit(source: Path, tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"inner.py": "y = 1\n"})
    pinned = git(inner, "rev-parse", "HEAD")
    commit(inner, {"inner.py": "y = 2\n"})
    outer = make_repository(tmp_path / "outer", {".gitmodules": _modules("lib", "../inner")})
    add_link(outer, "lib", pinned)
    commit(source, {".gitmodules": _modules("third party/outer", "../outer")})
    add_link(source, "third party/outer", git(outer, "rev-parse", "HEAD"))
    found = clone(str(source), None, tmp_path / "code")
    assert (found.folder / "third party/outer/lib/inner.py").read_text() == "y = 1\n"
    assert [(item.path, item.reason) for item in found.submodules] == [
        ("third party/outer", ""),
        ("third party/outer/lib", ""),
    ]
    assert list(found.folder.rglob(".git")) == []


@pytest.mark.parametrize("how", ["absolute", "relative"])
def test_a_relative_submodule_of_a_clone_is_beside_its_origin(how: str, source: Path, tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"inner.py": "y = 1\n"})
    commit(source, {".gitmodules": _modules("lib", "../inner")})
    add_link(source, "lib", git(inner, "rev-parse", "HEAD"))
    work = tmp_path / "elsewhere" / "work"
    work.parent.mkdir()
    git(tmp_path, "clone", "--quiet", str(source), str(work))
    if how == "relative":
        git(work, "remote", "set-url", "origin", f"../../{source.name}")
    found = clone(str(work), None, tmp_path / "code")
    assert (found.folder / "lib/inner.py").read_text() == "y = 1\n"
    assert found.submodules[0].url == inner.as_uri()


@pytest.mark.parametrize("modules", ["", "[submodule]\n", None])
def test_a_link_without_an_address_is_refused(source: Path, tmp_path: Path, modules: str | None) -> None:
    if modules is not None:
        commit(source, {".gitmodules": modules})
    add_link(source, "lib", "1" * 40)
    error = refused(source, tmp_path / "code")
    assert "lib" in error.message
    assert "--skip submodules" in error.hint
    found = clone(str(source), None, tmp_path / "code", CloneOptions(skip_submodules=True))
    assert [(item.path, item.commit) for item in found.submodules] == [("lib", "1" * 40)]
    assert "--skip submodules" in found.submodules[0].reason


@pytest.mark.parametrize("url", ["https://127.0.0.1:9/a/b", "ext::sh -c touch% ran", "-x", "../gone", "/etc"])
def test_a_submodule_that_cannot_be_had_is_refused(source: Path, tmp_path: Path, url: str) -> None:
    commit(source, {".gitmodules": _modules("lib", url)})
    add_link(source, "lib", "1" * 40)
    error = refused(source, tmp_path / "code")
    assert "cannot fetch the submodule lib" in error.message
    assert "--skip submodules" in error.hint


def test_submodules_that_contain_themselves_end(source: Path, tmp_path: Path) -> None:
    # A chain deeper than any real one; a true cycle cannot be made, since a commit cannot name itself.
    below = git(source, "rev-parse", "HEAD")
    for level in range(8):
        commit(source, {".gitmodules": _modules("lib", "../source"), "level": str(level)})
        below = add_link(source, "lib", below)
    assert "nested more than" in refused(source, tmp_path / "code").message


def test_lfs_pointers_are_refused_or_recorded(source: Path, tmp_path: Path) -> None:
    commit(source, {f"data/{number}.bin": POINTER for number in range(7)})
    error = refused(source, tmp_path / "code")
    assert "7 file(s)" in error.message
    assert "data/4.bin …" in error.message
    assert "--skip lfs" in error.hint
    found = clone(str(source), None, tmp_path / "code", CloneOptions(skip_lfs=True))
    assert found.lfs_left == tuple(f"data/{number}.bin" for number in range(7))
    assert (found.folder / "data/0.bin").read_bytes() == POINTER


@needs_lfs
def test_lfs_files_are_fetched(source: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    git(source, "lfs", "install", "--local")
    git(source, "lfs", "track", "*.bin")
    commit(source, {"weights.bin": b"real data " * 300})
    git(tmp_path, "clone", "--quiet", "--bare", str(source), str(bare))
    git(source, "remote", "add", "origin", bare.as_uri())
    git(source, "lfs", "push", "--all", "origin")
    assert LFS_HEADER.decode() in git(source, "show", "HEAD:weights.bin")
    found = clone(str(bare), None, tmp_path / "code")
    assert (found.folder / "weights.bin").read_bytes() == b"real data " * 300
    assert (found.lfs_left, found.lfs_resolved) == ((), 1)


def test_links_that_lead_outside_and_caches_are_removed(source: Path, tmp_path: Path) -> None:
    links = {"out": "../../etc/passwd", "abs": "/etc/passwd", "hop": "out", "git": ".git/config"}
    kept = {"fine": "train.py", "loop": "loop", "dangling": "not-there.txt"}
    for name, target in (links | kept).items():
        (source / name).symlink_to(target)
    caches = {"a/__pycache__", "b/.DS_Store", "c.pyc"}
    commit(source, {"a/__pycache__/m.cpython-311.pyc": b"x", "b/.DS_Store": b"x", "c.pyc": b"x"})
    found = clone(str(source), None, tmp_path / "code")
    assert tree(found.folder) == ["LICENSE", "dangling", "fine", "loop", "train.py"]
    assert {item.path for item in found.removed} == {"out", "abs", "hop", "git", *caches}


def test_an_odd_file_name_does_no_harm(source: Path, tmp_path: Path) -> None:
    (source / os.fsdecode(b"\xff\n\x1b[2J")).write_text("x")
    (source / os.fsdecode(b"\xff.pyc")).write_text("x")
    commit(source, {})
    found = clone(str(source), None, tmp_path / "code")
    assert len(list(found.folder.iterdir())) == 3
    assert [item.path.isprintable() for item in found.removed] == [True]
    found.removed[0].path.encode("utf-8")


def _modules(path: str, url: str) -> str:
    return f'[submodule "{path}"]\n\tpath = {path}\n\turl = "{url}"\n'
