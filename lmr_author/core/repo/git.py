"""Run git on an untrusted repository: no hooks, no prompts, allowed transports only, a time limit; commit a folder.

Reads of a clone of ours go through GitPython; docs/decisions/0017-git-and-gitpython.md says why the rest does not.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core import files, processes
from lmr_author.core.errors import LmrError
from lmr_author.core.repo.address import SCHEMES
from lmr_author.core.task import Progress
from lmr_author.core.texts import printable

CONFIG = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.autocrlf", "false"),
    ("core.symlinks", "true"),
    ("init.templateDir", ""),
    ("submodule.recurse", "false"),
    ("advice.detachedHead", "false"),
    ("gc.auto", "0"),
    # No filter of the user's own may run over foreign files; LFS files are fetched on their own.
    ("filter.lfs.smudge", ""),
    ("filter.lfs.process", ""),
    ("filter.lfs.required", "false"),
)
"""Settings that hold for every git command here, above the user's and the repository's own."""

NEARLY_NOTHING = 64 * 1024
"""Free bytes below which a failure of git is taken to be a full disk: its own message often hides that."""

_ANEW = "make the patch on a clean checkout of the pinned commit: git diff >FILE"
_ELSEWHERE = "check the network, or clone it elsewhere and pass the local folder"
_FULL = re.compile(r"No space left|[Oo]ut of disk ?space|[Dd]isk quota exceeded")
_KEPT = re.compile(r"^GIT_(SSL|SSH|PROXY|HTTP|CURL)")
_FAILURE = re.compile(r"^(?:fatal|error): (.*)$", re.M)
_HINTS = (
    (r"not our ref|from promisor remote|missing blob|repository corruption|unable to read (?:sha1|tree)",
     "the repository there is incomplete (a partial clone, or damaged): clone it again in full"),
    (r"could not read (?:Username|Password)|Authentication failed|Permission denied|access denied|\b403\b",
     "check the spelling; for a private repository set up a git credential helper or an ssh key"),
    (r"not found|does not exist|not appear to be a git repository|\b404\b", "check the address"),
    (r"Could not resolve host|Connection|unable to access|timed out|Network|early EOF|hung up|disconnect",
     _ELSEWHERE),
    (r"dubious ownership", "`git config --global --add safe.directory <folder>`, if you trust it"),
)  # fmt: skip


@dataclass(frozen=True)
class Git:
    """git in one folder.

    Attributes:
        seconds: time limit of each command.
        secret: an address that may hold credentials, and what to show in its place.
    """

    folder: Path
    seconds: float
    secret: tuple[str, str]
    progress: Progress | None = None

    def run(self, *arguments: str, lfs: bool = False, stdin: bytes = b"") -> None:
        """Run a git command. Raises LmrError with git's own reason when it fails."""
        config = [part for key, value in CONFIG for part in ("-c", f"{key}={value}")]
        done = processes.run(
            ["git", *config, *arguments],
            cwd=self.folder,
            env=_environment(lfs=lfs),
            seconds=self.seconds,
            stdin=stdin,
            on_line=self.progress,
        )
        if done.timed_out:
            shown = self.secret[1]
            raise LmrError(f"git {arguments[0]} of {shown} took longer than {self.seconds:.0f} s", _ELSEWHERE)
        if done.exit_code != 0:
            raise self._failure(arguments[0], done.stderr)

    def _failure(self, verb: str, stderr: str) -> LmrError:
        if _FULL.search(stderr) or shutil.disk_usage(self.folder).free < NEARLY_NOTHING:
            return LmrError(
                f"git {verb}: No space left on device", "free some space and run the command again"
            )
        stderr = re.sub(r"(\w+://)[^/@\s]*@", r"\1", stderr.replace(*self.secret))
        reasons = _FAILURE.findall(stderr)
        if verb == "apply":  # one line names the file and the line of its hunk, the next one the file alone
            return LmrError(f"the patch does not apply: {printable('; '.join(reasons), 600)}", _ANEW)
        reason = printable(reasons[-1] if reasons else stderr, 300) or "no reason given"
        if "early EOF" in reason and len(reasons) > 1:
            reason = printable(reasons[0], 300)
        hint = next((hint for pattern, hint in _HINTS if re.search(pattern, stderr)), "check the address")
        return LmrError(f"git {verb}: {reason}", hint)


def _environment(*, lfs: bool) -> dict[str, str]:
    """Return our environment without what would redirect git, and without any prompt."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or _KEPT.match(key)}
    env |= {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GCM_INTERACTIVE": "never",
        "GIT_ALLOW_PROTOCOL": ":".join(SCHEMES),
        "GIT_HTTP_LOW_SPEED_LIMIT": "1000",
        "GIT_HTTP_LOW_SPEED_TIME": "60",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }
    env.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20")
    if not lfs:
        env["GIT_LFS_SKIP_SMUDGE"] = "1"
    return env


def apply_patch(git: Git, patch: bytes) -> None:
    """Apply a unified diff to the work tree, all of it or nothing. Raises LmrError naming file and line of a hunk.

    git refuses paths that leave the tree, lead through a link or into ``.git``.
    """
    git.run("apply", "--whitespace=nowarn", "--no-ignore-whitespace", "-", stdin=patch)


def resolve_lfs(git: Git, *, skip: bool) -> tuple[tuple[str, ...], int]:
    """Replace Git LFS pointers in the work tree by what they stand for, with git-lfs where it is installed.

    Returns the pointers left (only with ``skip``) and the number resolved. Raises LmrError with the
    list when some are left and ``skip`` is not set.
    """
    before = _lfs_pointers(git.folder)
    if not before or skip:
        return before, 0
    reason = "the server does not have them"
    if shutil.which("git-lfs") is None:
        reason = "git-lfs is not installed"
    else:
        try:
            git.run("lfs", "pull", lfs=True)
        except LmrError as error:
            reason = error.message
    left = _lfs_pointers(git.folder)
    if not left:
        return (), len(before)
    names = ", ".join(printable(name, 80) for name in left[:5]) + (" …" if len(left) > 5 else "")
    raise LmrError(
        f"{len(left)} file(s) are Git LFS pointers, not data ({reason}): {names}",
        "install git-lfs, or pass --skip lfs to keep the pointers (recorded) when no test needs them",
    )


def _lfs_pointers(folder: Path) -> tuple[str, ...]:
    paths = (path for path in files.walk(folder) if files.is_lfs_pointer(path))
    names = (path.relative_to(folder).as_posix() for path in paths)
    return tuple(name for name in names if not name.startswith(".git/"))


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
