"""A folder of files as a git repository with one commit, whose id is the same each time."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core import files, processes
from lmr_author.core.errors import LmrError


@dataclass(frozen=True)
class Commit:
    """Author, email, date (with time zone) and message of a commit."""

    author: str
    email: str
    date: str
    message: str


def commit_folder(source: Path, final: Path, commit: Commit) -> None:
    """Make the repository ``final`` of a folder's files, whole or not at all. Raises LmrError without git."""
    processes.require("git")
    import git

    with files.staged_folder(final) as repository:
        caches = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, repository, ignore=caches, dirs_exist_ok=True)
        person = {"NAME": commit.author, "EMAIL": commit.email, "DATE": commit.date}
        variables = {
            f"GIT_{who}_{key}": text for who in ("AUTHOR", "COMMITTER") for key, text in person.items()
        }
        try:
            made = git.Repo.init(repository, initial_branch="main")
            made.git.add("--all", "--force")
            made.git.commit(
                "--no-gpg-sign", "--no-verify", "-m", commit.message, env={**os.environ, **variables}
            )
            made.close()
        except git.exc.GitCommandNotFound as error:
            raise LmrError("git is not installed", "install it (Debian: apt install git)") from error
        except git.exc.GitCommandError as error:
            reason = str(error.stderr).strip().removeprefix("stderr:").strip(" '\n")
            raise LmrError(
                f"{source} cannot be committed: {reason}", "check author, date and message"
            ) from error
