"""Nothing that a stranger's repository or folder names is run by git on this machine."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.repo import Address, clone
from lmr_author.core.repo.git import Commit, commit_folder
from tests.gitrepos import commit, git, make_repository, tree
from tests.support import write_files

WHO = Commit("A", "a@example.org", "2024-01-02T12:00:00+00:00", "Steps")
HOOKS = (
    "pre-commit",
    "prepare-commit-msg",
    "post-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
)


def _spoil(repository: Path, ran: Path) -> None:
    """Make a repository's own settings and hooks run a program that leaves a trace."""
    programs = repository / "programs"
    programs.mkdir()
    program = programs / "evil"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >>{ran}\ncat\n')
    program.chmod(0o755)
    hooks = repository / ".git" / "hooks"
    for name in HOOKS:
        write_files(hooks, {name: program.read_text()})
        (hooks / name).chmod(0o755)
    for key in (
        "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.gitProxy", "core.askPass",
        "core.alternateRefsCommand", "credential.helper", "diff.external", "gpg.program", "uploadpack.packObjectsHook",
        "filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "filter.lfs.smudge", "filter.lfs.clean",
        "merge.evil.driver", "diff.evil.textconv",
    ):  # fmt: skip
        git(repository, "config", key, str(program))
    for key, value in {
        "core.hooksPath": str(hooks), "commit.gpgSign": "true", "filter.evil.required": "true",
        "alias.upload-pack": f"!{program}", "alias.rev-list": f"!{program}", "include.path": str(programs / "more"),
        "extensions.partialClone": "origin", "remote.origin.promisor": "true", "remote.origin.url": f"ext::{program}",
        "protocol.ext.allow": "always",
    }.items():  # fmt: skip
        git(repository, "config", key, value)
    (programs / "more").write_text(f"[core]\n\tfsmonitor = {program}\n")


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    return tmp_path / "ran"


def test_a_clone_of_a_strangers_folder_runs_nothing(source: Path, ran: Path, tmp_path: Path) -> None:
    commit(source, {".gitattributes": "* filter=evil diff=evil merge=evil\n"})
    _spoil(source, ran)
    clone(str(source), None, tmp_path / "code")
    assert not ran.exists(), ran.read_text()


@pytest.mark.parametrize("below", [".", "third/party"])
def test_files_of_a_stranger_bring_no_repository(below: str, ran: Path, tmp_path: Path) -> None:
    files = tmp_path / "files"
    write_files(files, {"steps.py": "x = 1\n", ".gitattributes": "* filter=evil\n"})
    inner = make_repository(files / "inner")
    _spoil(inner, ran)
    target = files / below
    target.mkdir(parents=True, exist_ok=True)
    (inner / ".git").rename(target / ".GIT" if below != "." else target / ".git")
    commit_folder(files, tmp_path / "made", WHO)
    assert not ran.exists(), ran.read_text()
    assert git(tmp_path / "made", "log", "--format=%s") == "Steps"
    assert "inner/train.py" in git(tmp_path / "made", "ls-files").split()
    assert [name for name in tree(tmp_path / "made") if "evil" in name and ".git/" in name.lower()] == []


def test_a_git_file_of_a_stranger_leads_nowhere(ran: Path, tmp_path: Path) -> None:
    secret = make_repository(tmp_path / "secret")
    _spoil(secret, ran)
    before = git(secret, "rev-parse", "HEAD")
    files = tmp_path / "files"
    write_files(files, {"a.py": "x = 1\n", ".git": f"gitdir: {secret / '.git'}\n"})
    write_files(files / "lib", {"b.py": "y = 1\n", ".git": f"gitdir: {secret / '.git'}\n"})
    commit_folder(files, tmp_path / "made", WHO)
    assert not ran.exists(), ran.read_text()
    assert git(secret, "rev-parse", "HEAD") == before
    assert git(tmp_path / "made", "ls-files").split() == ["a.py", "lib/b.py"]


def test_a_bare_repository_among_the_files_is_only_files(ran: Path, tmp_path: Path) -> None:
    files = make_repository(tmp_path / "files")
    _spoil(files, ran)
    (files / ".git").rename(files / "bare")
    git(files / "bare", "config", "core.bare", "true")
    commit_folder(files, tmp_path / "made", WHO)
    code = clone(str(tmp_path / "made"), None, tmp_path / "code")
    assert (code.folder / "bare" / "config").is_file()
    assert not ran.exists(), ran.read_text()


def test_filters_and_hooks_of_the_user_touch_no_foreign_file(
    ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "evil"
    write_files(tmp_path, {"evil": f"#!/bin/sh\necho $0 $* >>{ran}\ncat\n"})
    program.chmod(0o755)
    (tmp_path / "hooks").mkdir()
    for name in HOOKS:
        (tmp_path / "hooks" / name).symlink_to(program)
    filters = "".join(f"{key} = {program}\n" for key in ("smudge", "clean", "process"))
    settings = (
        f"[core]\nhooksPath = {tmp_path / 'hooks'}\nfsmonitor = {program}\n[gpg]\nprogram = {program}\n"
        f'[commit]\ngpgSign = true\n[filter "evil"]\n{filters}[filter "lfs"]\n{filters}'
    )
    write_files(tmp_path, {".gitconfig": settings})
    monkeypatch.setenv("HOME", str(tmp_path))
    files = tmp_path / "files"
    write_files(
        files, {"a.py": "x = 1\n", ".gitattributes": "*.py filter=evil\n*.bin filter=lfs\n", "b.bin": "0"}
    )
    commit_folder(files, tmp_path / "made", WHO)
    code = clone(str(tmp_path / "made"), None, tmp_path / "code")
    assert (code.folder / "a.py").read_text() == "x = 1\n"
    assert not ran.exists(), ran.read_text()


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE"])
def test_a_repository_in_the_environment_is_not_ours(
    variable: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repository(tmp_path / "other", {"private.py": "secret = 1\n"})
    before, places = (
        git(other, "rev-parse", "HEAD"),
        {
            "GIT_DIR": other / ".git",
            "GIT_INDEX_FILE": other / ".git" / "index",
            "GIT_OBJECT_DIRECTORY": other / ".git" / "objects",
            "GIT_WORK_TREE": other,
        },
    )
    monkeypatch.setenv(variable, str(places[variable]))
    write_files(tmp_path / "files", {"a.py": "x = 1\n"})
    commit_folder(tmp_path / "files", tmp_path / "made", WHO)
    assert git(tmp_path / "made", "ls-files") == "a.py"
    assert clone(str(source), None, tmp_path / "code").commit == git(source, "rev-parse", "HEAD")
    assert git(other, "rev-parse", "HEAD") == before


@pytest.mark.parametrize("kind", ["include", "config"])
def test_settings_of_a_stranger_never_make_us_wait(kind: str, source: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    config = source / ".git" / "config"
    if kind == "include":
        git(source, "config", "remote.origin.url", "https://example.org/code")
        git(source, "config", "include.path", str(pipe))
        assert Address.parse(str(source)).origin() == "https://example.org/code"
    else:
        config.unlink()
        os.mkfifo(config)
        assert Address.parse(str(source)).origin() == ""


def test_the_origin_of_a_worktree(source: Path, tmp_path: Path) -> None:
    git(source, "config", "remote.origin.url", "https://example.org/code")
    git(source, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    assert Address.parse(str(tmp_path / "tree")).origin() == "https://example.org/code"


@pytest.mark.parametrize("url", ["ext::sh -c id", "file:///", "/"])
def test_addresses_in_gitmodules_that_run_or_read(url: str, source: Path, tmp_path: Path) -> None:
    commit(source, {".gitmodules": f'[submodule "lib"]\n\tpath = lib\n\turl = {url}\n'})
    git(source, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    git(source, "commit", "--quiet", "--message", "link")
    with pytest.raises(LmrError, match="submodule lib"):
        clone(str(source), None, tmp_path / "code")


def test_one_place_starts_git() -> None:
    root = Path(__file__).resolve().parents[2] / "lmr_author"
    starts = re.compile(r"""\[["']git["'], |\bgit\.(Repo|Git)\b|\bRepo\.|import Repo\b|import git as""")
    found = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for line in path.read_text().splitlines()
        if starts.search(line) and not line.startswith("    from git import Repo")  # for types
    ]
    assert set(found) == {"core/repo/git.py"}
