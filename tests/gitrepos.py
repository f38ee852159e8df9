"""Real git repositories for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.support import write_files

ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2023-06-01T12:00:00+02:00",
    "GIT_COMMITTER_DATE": "2023-06-01T12:00:00+02:00",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git in a folder and return what it prints."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def make_repository(folder: Path, files: Mapping[str, bytes | str] | None = None) -> Path:
    """A repository with one commit, on the branch ``main``."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, files if files is not None else {"train.py": "import numpy\n", "README.md": "# Code\n"})
    return folder


def commit(folder: Path, files: Mapping[str, bytes | str], message: str = "change") -> str:
    """Write files, commit everything, and return the commit's id."""
    write_files(folder, files)
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def add_link(folder: Path, path: str, commit_id: str) -> str:
    """Add a submodule link (a commit in place of a folder), and commit it."""
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{commit_id},{path}")
    git(folder, "commit", "--quiet", "--message", "link")
    return git(folder, "rev-parse", "HEAD")


def tree(folder: Path) -> list[str]:
    """Names of all files and links below a folder."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    )
