"""A commit of a repository becomes a folder without history."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lmr_author.core.repo import clone
from tests.gitrepos import commit, git, tree
from tests.repo.cloning import refused


def test_a_commit_becomes_a_folder_without_history(source: Path, tmp_path: Path) -> None:
    second = commit(source, {"train.py": "x = 2\n", "deep/räum lich/a b.txt": b"\r\n\xff"})
    found = clone(str(source), None, tmp_path / "out" / "code")
    assert tree(found.folder) == ["LICENSE", "deep/räum lich/a b.txt", "train.py"]
    assert (found.folder / "deep/räum lich/a b.txt").read_bytes() == b"\r\n\xff"
    assert (found.commit, found.commits, found.default_branch) == (second, 2, "main")
    assert found.commit_date.isoformat() == "2023-06-01T10:00:00+00:00"
    assert os.listdir(tmp_path / "out") == ["code"]


def test_changes_that_are_not_committed_are_told(source: Path, tmp_path: Path) -> None:
    commit(source, {"loss.py": "y = 1\n", "kept.py": "z = 1\n"})
    assert clone(str(source), None, tmp_path / "clean").notes == ()
    (source / "train.py").write_text("x = 3\n")
    (source / "kept.py").write_bytes(b"z = 1\r\n")
    (source / "loss.py").unlink()

    (note,) = clone(str(source), None, tmp_path / "code").notes

    assert note == "uncommitted changes left out: train.py; the task has the last commit"
    assert (tmp_path / "code" / "train.py").read_text() == "x = 1\n"
    assert clone(str(source), "main", tmp_path / "named").notes == ()


def test_a_commit_that_a_shallow_clone_lacks_is_there_after_fetching_it(source: Path, tmp_path: Path) -> None:
    first = git(source, "rev-parse", "HEAD")
    commit(source, {"train.py": "x = 2\n"})
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{source}", "shallow")

    error = refused(tmp_path / "shallow", tmp_path / "code", first[:8])

    assert "its history is incomplete" in error.message and "--unshallow" in error.hint


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


@pytest.mark.parametrize("name", ["-q", "a b", "", "HEAD~1", "a..b", "@{-1}", "a\nb"])
def test_what_is_no_name_of_a_commit_is_refused(source: Path, tmp_path: Path, name: str) -> None:
    assert "not a commit" in refused(source, tmp_path / "code", name).message


def test_bare_repositories_and_file_addresses(source: Path, tmp_path: Path) -> None:
    bare = tmp_path / "owner+name" / "repo"
    git(tmp_path, "clone", "--quiet", "--bare", str(source), str(bare))
    for number, address in enumerate((str(bare), f"file://{bare}", bare.as_uri())):
        assert tree(clone(address, None, tmp_path / f"code{number}").folder) == ["LICENSE", "train.py"]


def test_an_unknown_commit_names_each_branch_once(source: Path, tmp_path: Path) -> None:
    assert refused(source, tmp_path / "code", "nowhere").hint == "for example: main"


def test_places_without_a_repository(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    make_empty = tmp_path / "born"
    make_empty.mkdir()
    git(make_empty, "init", "--quiet")
    error = refused(tmp_path / "empty", tmp_path / "code")
    assert "empty is not a git repository" in error.message and "git init" in error.hint
    assert "has no readable commits" in refused(make_empty, tmp_path / "code").message
    refused("https://127.0.0.1:9/a/b", tmp_path / "code")
    refused("git@127.0.0.1:a/b", tmp_path / "code")


def test_credentials_are_not_shown(tmp_path: Path) -> None:
    error = refused("https://me:s3cret@127.0.0.1:9/a/b", tmp_path / "code")
    assert "s3cret" not in error.message + error.hint


def test_a_source_that_lacks_its_files_is_named_as_such(source: Path, tmp_path: Path) -> None:
    blob = git(source, "rev-parse", "HEAD:train.py")
    (source / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert "incomplete" in refused(source, tmp_path / "code").hint


@pytest.mark.parametrize("name", ["newest", "branch", "id"])
def test_a_source_that_lacks_files_of_other_commits_alone_is_cloned(
    source: Path, tmp_path: Path, name: str
) -> None:
    old = git(source, "rev-parse", "HEAD:train.py")
    commit(source, {"train.py": "x = 2\n"})
    git(source, "branch", "side")
    (source / ".git" / "objects" / old[:2] / old[2:]).unlink()
    newest = git(source, "rev-parse", "HEAD")

    found = clone(str(source), {"newest": None, "branch": "side", "id": newest}[name], tmp_path / "code")

    assert (found.folder / "train.py").read_text() == "x = 2\n"
    assert (found.commit, found.commits) == (newest, 0), "how many there are is not known"
    assert not (found.folder / ".git").exists()


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
