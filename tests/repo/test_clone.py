"""Cloning: which commit, what is taken over, what is refused, and that nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from lmr_author.errors import LmrError
from lmr_author.files import LFS_HEADER
from lmr_author.repo import CloneOptions, clone
from tests.gitrepos import add_link, commit, git, make_repository, tree

POINTER = LFS_HEADER + b"\noid sha256:" + b"0" * 64 + b"\nsize 12\n"
needs_lfs = pytest.mark.skipif(shutil.which("git-lfs") is None, reason="needs git-lfs")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "source", {"train.py": "x = 1\n", "LICENSE": "MIT License\n"})


def refused(url: Path | str, into: Path, commit_id: str | None = None, **options: Any) -> LmrError:
    """The error of a clone that must fail, after checking that it left nothing."""
    with pytest.raises(LmrError) as caught:
        clone(str(url), commit_id, into, CloneOptions(**options))
    assert not into.exists()
    assert [path.name for path in into.parent.iterdir() if path.name.startswith(".clone-")] == []
    assert caught.value.hint
    return caught.value


def test_a_commit_becomes_a_folder_without_history(source: Path, tmp_path: Path) -> None:
    second = commit(source, {"train.py": "x = 2\n", "deep/räum lich/a b.txt": b"\r\n\xff"})
    found = clone(str(source), None, tmp_path / "out" / "code")
    assert tree(found.folder) == ["LICENSE", "deep/räum lich/a b.txt", "train.py"]
    assert (found.folder / "deep/räum lich/a b.txt").read_bytes() == b"\r\n\xff"
    assert (found.commit, found.commits, found.default_branch) == (second, 2, "main")
    assert found.commit_date.isoformat() == "2023-06-01T10:00:00+00:00"
    assert os.listdir(tmp_path / "out") == ["code"]


@pytest.mark.parametrize("kind", ["full", "short", "tag", "annotated", "branch"])
def test_any_name_of_a_commit_is_resolved(source: Path, tmp_path: Path, kind: str) -> None:
    first = git(source, "rev-parse", "HEAD")
    git(source, "tag", "light")
    git(source, "tag", "-a", "-m", "x", "heavy")
    git(source, "branch", "side")
    commit(source, {"train.py": "x = 2\n"})
    names = {"full": first, "short": first[:7], "tag": "light", "annotated": "heavy", "branch": "side"}
    found = clone(str(source), names[kind], tmp_path / "code")
    assert found.commit == first
    assert (found.folder / "train.py").read_text() == "x = 1\n"


def test_a_commit_outside_every_branch_is_fetched_by_its_id(source: Path, tmp_path: Path) -> None:
    lost = commit(source, {"train.py": "x = 3\n"})
    git(source, "reset", "--quiet", "--hard", "HEAD~1")
    assert clone(str(source), lost, tmp_path / "code").commit == lost


def test_an_unknown_commit_names_what_there_is(source: Path, tmp_path: Path) -> None:
    git(source, "tag", "v1.0.0")
    error = refused(source, tmp_path / "code", "v1.0.1")
    assert "'v1.0.1'" in error.message
    assert "v1.0.0" in error.hint
    refused(source, tmp_path / "code", "0" * 40)


@pytest.mark.parametrize("name", ["-q", "--all", "a b", "", "HEAD~1", "a..b", "main^{tree}", "@{-1}", "a\nb"])
def test_what_is_no_name_of_a_commit_is_refused(source: Path, tmp_path: Path, name: str) -> None:
    assert "not a commit" in refused(source, tmp_path / "code", name).message


def test_bare_repositories_and_file_addresses(source: Path, tmp_path: Path) -> None:
    bare = tmp_path / "owner+name" / "repo"
    git(tmp_path, "clone", "--quiet", "--bare", str(source), str(bare))
    for number, address in enumerate((str(bare), f"file://{bare}", bare.as_uri())):
        assert tree(clone(address, None, tmp_path / f"code{number}").folder) == ["LICENSE", "train.py"]


def test_a_relative_destination(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (clone("source", None, Path("tasks/code")).folder / "train.py").is_file()


def test_places_without_a_repository(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    make_empty = tmp_path / "born"
    make_empty.mkdir()
    git(make_empty, "init", "--quiet")
    error = refused(tmp_path / "empty", tmp_path / "code")
    assert "empty is no git repository" in error.message and "git init" in error.hint
    assert "has no commits" in refused(make_empty, tmp_path / "code").message
    refused("https://127.0.0.1:9/a/b", tmp_path / "code")
    refused("git@127.0.0.1:a/b", tmp_path / "code")


def test_credentials_are_not_shown(tmp_path: Path) -> None:
    error = refused("https://me:s3cret@127.0.0.1:9/a/b", tmp_path / "code")
    assert "s3cret" not in error.message + error.hint


def test_a_source_that_lacks_its_files_is_named_as_such(source: Path, tmp_path: Path) -> None:
    blob = git(source, "rev-parse", "HEAD:train.py")
    (source / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert "incomplete" in refused(source, tmp_path / "code").hint


def test_hooks_filters_and_settings_of_the_user_do_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (hooks / "post-checkout").chmod(0o755)
    template = tmp_path / "template" / "hooks"
    shutil.copytree(hooks, template)
    settings = f"[core]\n hooksPath = {hooks}\n autocrlf = true\n[init]\n templateDir = {template.parent}\n"
    (tmp_path / "config").write_text(settings)
    # As a user's own settings would stand: in the home folder.
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text(settings)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    found = clone(str(source), None, tmp_path / "code")
    assert not (tmp_path / "ran").exists()
    assert (found.folder / "train.py").read_bytes() == b"x = 1\n"


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


@pytest.mark.parametrize("modules", ["", "[submodule]\n", None])
def test_a_link_without_an_address_is_refused(source: Path, tmp_path: Path, modules: str | None) -> None:
    if modules is not None:
        commit(source, {".gitmodules": modules})
    add_link(source, "lib", "1" * 40)
    error = refused(source, tmp_path / "code")
    assert "lib" in error.message
    assert "--skip-submodules" in error.hint
    found = clone(str(source), None, tmp_path / "code", CloneOptions(skip_submodules=True))
    assert [(item.path, item.commit) for item in found.submodules] == [("lib", "1" * 40)]
    assert "--skip-submodules" in found.submodules[0].reason


@pytest.mark.parametrize("url", ["https://127.0.0.1:9/a/b", "ext::sh -c touch% ran", "-x", "../gone", "/etc"])
def test_a_submodule_that_cannot_be_had_is_refused(source: Path, tmp_path: Path, url: str) -> None:
    commit(source, {".gitmodules": _modules("lib", url)})
    add_link(source, "lib", "1" * 40)
    error = refused(source, tmp_path / "code")
    assert "submodule lib cannot be had" in error.message
    assert "--skip-submodules" in error.hint


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
    assert "--skip-lfs" in error.hint
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
    links = {
        "out": "../../etc/passwd",
        "abs": "/etc/passwd",
        "hop": "out",
        "fine": "train.py",
        "git": ".git/config",
    }
    for name, target in links.items():
        (source / name).symlink_to(target)
    (source / "loop").symlink_to("loop")
    (source / "dangling").symlink_to("not-there.txt")
    commit(
        source,
        {
            "a/__pycache__/m.cpython-311.pyc": b"x",
            "b/.DS_Store": b"x",
            "c.pyc": b"x",
            "A.txt": "",
            "a.txt": "",
        },
    )
    found = clone(str(source), None, tmp_path / "code")
    assert tree(found.folder) == ["A.txt", "LICENSE", "a.txt", "dangling", "fine", "loop", "train.py"]
    assert {item.path for item in found.removed} == {
        "out",
        "abs",
        "hop",
        "git",
        "a/__pycache__",
        "b/.DS_Store",
        "c.pyc",
    }
    assert any("A.txt, a.txt" in note for note in found.notes)


def test_an_odd_file_name_does_no_harm(source: Path, tmp_path: Path) -> None:
    (source / os.fsdecode(b"\xff\n\x1b[2J")).write_text("x")
    (source / os.fsdecode(b"\xff.pyc")).write_text("x")
    commit(source, {})
    found = clone(str(source), None, tmp_path / "code")
    assert len(list(found.folder.iterdir())) == 3
    assert [item.path.isprintable() for item in found.removed] == [True]
    found.removed[0].path.encode("utf-8")


def test_the_licence_is_recognised(source: Path, tmp_path: Path) -> None:
    commit(
        source,
        {"LICENSE": "Apache License\nVersion 2.0, January 2004\nTERMS AND CONDITIONS FOR USE, REPRODUCTION"},
    )
    assert clone(str(source), None, tmp_path / "code").licence == "Apache-2.0"


def test_a_silent_server_is_given_up(tmp_path: Path) -> None:
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/a/b"
        with pytest.raises(LmrError, match="took longer than"):
            clone(url, None, tmp_path / "code", CloneOptions(seconds=1))
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_clone_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    import _thread
    import socket

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/interrupted-{os.getpid()}"

        def interrupt() -> None:
            connection, _ = server.accept()
            time.sleep(0.1)
            _thread.interrupt_main()
            connection.close()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            clone(url, None, tmp_path / "code")
        thread.join()
    assert list(tmp_path.iterdir()) == []
    assert url not in _command_lines()


def _command_lines() -> str:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
    return "\n".join(lines)


def _modules(path: str, url: str) -> str:
    return f'[submodule "{path}"]\n\tpath = {path}\n\turl = "{url}"\n'


def test_a_shallow_source_is_cloned(source: Path, tmp_path: Path) -> None:
    last = commit(source, {"train.py": "x = 2\n"})
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{source}", str(tmp_path / "shallow"))
    found = clone(f"file://{tmp_path / 'shallow'}", None, tmp_path / "code", CloneOptions(seconds=60))
    assert (found.commit, tree(found.folder)) == (last, ["LICENSE", "train.py"])


def test_a_source_that_lacks_files_is_refused_and_fetches_nothing(source: Path, tmp_path: Path) -> None:
    """Asked for what it lacks, git would go to the place that the source names: here, back to itself."""
    git(source, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    options = ("--quiet", "--no-checkout", "--filter=blob:none")
    git(tmp_path, "clone", *options, f"file://{source}", str(partial))
    git(partial, "remote", "set-url", "origin", f"file://{partial}")
    error = refused(f"file://{partial}", tmp_path / "code", seconds=60)
    assert "git clone" in error.message
