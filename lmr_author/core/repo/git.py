"""The only place that starts git: no hooks, no prompts, no filters, allowed transports only; commit a folder.

Reads of a clone of ours go through GitPython; docs/decisions/0017-git-and-gitpython.md says why the rest does not.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.core import files, foreign, processes
from lmr_author.core.errors import Hint, LmrError, Setting
from lmr_author.core.repo.address import SCHEMES
from lmr_author.core.task import Progress
from lmr_author.core.texts import printable

if TYPE_CHECKING:
    from git import Repo

CONFIG = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("protocol.ext.allow", "never"),
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

MOST_COMMITTED_BYTES = 2 * 2**30
"""A folder with more is not committed."""
NEARLY_NOTHING = 64 * 1024
"""Free bytes below which a failure of git is taken to be a full disk: its own message often hides that."""

_ANEW = "make the patch on a clean checkout of the pinned commit: git diff >FILE"
_ELSEWHERE = "check the network, or clone it elsewhere and pass the local folder"
_FULL = re.compile(r"No space left|[Oo]ut of disk ?space|[Dd]isk quota exceeded")
_KEPT = re.compile(r"^GIT_(SSL|SSH|PROXY|HTTP|CURL)")
_FAILURE = re.compile(r"^(?:fatal|error): (.*)$", re.M)
_HINTS = (
    (r"not our ref|from promisor remote|missing blob|repository corruption|unable to read (?:sha1|tree)",
     "that repository is incomplete (a partial clone, or damaged): clone it again in full"),
    (r"could not read (?:Username|Password)|Authentication failed|Permission denied|access denied|\b403\b",
     "check the spelling; for a private repository set up a git credential helper or an ssh key"),
    (r"not found|does not exist|not appear to be a git repository|\b404\b", "check the address"),
    (r"Could not resolve host|Connection|unable to access|timed out|Network|early EOF|hung up|disconnect",
     _ELSEWHERE),
    (r"dubious ownership", "`git config --global --add safe.directory <folder>`, if you trust it"),
)  # fmt: skip


_SETTINGS = tuple(part for key, value in CONFIG for part in ("-c", f"{key}={value}"))


@dataclass(frozen=True)
class Git:
    """git in one folder; ``secret``: an address that may hold credentials, and what to show in its place."""

    folder: Path
    seconds: float
    secret: tuple[str, str]
    progress: Progress | None = None

    def run(
        self, *arguments: str, lfs: bool = False, env: Mapping[str, str] = {}, stdin: bytes = b""
    ) -> bytes:
        """Run a git command and return what it prints. Raises LmrError with git's own reason when it fails."""
        done = processes.run(
            ["git", *_SETTINGS, *arguments],
            cwd=self.folder,
            env={**_environment(lfs=lfs), **env},
            seconds=self.seconds,
            stdin=stdin,
            on_line=self.progress,
        )
        if done.timed_out:
            shown = self.secret[1]
            raise LmrError(f"git {arguments[0]} of {shown} took longer than {self.seconds:.0f} s", _ELSEWHERE)
        if done.exit_code != 0:
            raise self._failure(arguments[0], done.stderr)
        return done.stdout

    def _failure(self, verb: str, stderr: str) -> LmrError:
        if _FULL.search(stderr) or shutil.disk_usage(self.folder).free < NEARLY_NOTHING:
            return LmrError(
                f"git {verb}: No space left on device", "free some space and run the command again"
            )
        stderr = re.sub(r"(\w+://)[^/@\s]*@", r"\1", stderr.replace(*self.secret))
        reasons = _FAILURE.findall(stderr)
        if verb == "apply":  # one line names the file and the line of its hunk, the next one the file alone
            return LmrError(
                f"the patch does not apply: {printable('; '.join(reasons), 600)}",
                Hint(_ANEW, (Setting("--patch"),)),
            )
        reason = printable(reasons[-1] if reasons else stderr, 300) or "no reason given"
        if "early EOF" in reason and len(reasons) > 1:
            reason = printable(reasons[0], 300)
        hint = next((hint for pattern, hint in _HINTS if re.search(pattern, stderr)), "check the address")
        return LmrError(f"git {verb}: {reason}", hint)


def _is_kept(variable: str) -> bool:
    return not variable.startswith("GIT_") or _KEPT.match(variable) is not None


def _environment(*, lfs: bool) -> dict[str, str]:
    """Return our environment without what would redirect git, and without any prompt."""
    env = {key: value for key, value in os.environ.items() if _is_kept(key)}
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


def opened(folder: Path) -> Repo:
    """Open a clone of ours to read it; what GitPython runs is run with the settings of :class:`Git`."""
    processes.require("git")
    import git

    class Reader(git.Git):  # type: ignore[misc]  # it has no types
        def execute(self, command: Any, *arguments: Any, **options: Any) -> Any:
            # GitPython adds to our environment, and only a program between can take something out of it.
            dropped = [word for key in os.environ if not _is_kept(key) for word in ("-u", key)]
            program, *words = command
            return super().execute(
                ["env", *dropped, *_READING, program, *_SETTINGS, *words], *arguments, **options
            )

    class Repository(git.Repo):  # type: ignore[misc]
        GitCommandWrapperType = Reader

    return Repository(folder, expand_vars=False)


_READING = ("GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=none")
"""What is missing in a clone is not fetched behind our back, where no time limit holds."""


@contextmanager
def without_filters(repository: Path) -> Iterator[None]:
    """Let no ``.gitattributes`` and no user's setting filter files: ``info/attributes`` overrides all of them."""
    attributes = repository / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("* -filter\n", "utf-8")
    try:
        yield
    finally:
        attributes.unlink()


def user_name() -> str:
    """Return the name that git signs this person's commits with; "" where none is set."""
    try:
        name = Git(Path.cwd(), 10.0, ("", "")).run("config", "--get", "user.name")
    except (LmrError, OSError):
        return ""
    return name.decode("utf-8", "replace").strip()


def apply_patch(git: Git, patch: bytes) -> None:
    """Apply a unified diff to the work tree, all or nothing; git refuses paths that leave it or enter ``.git``."""
    git.run("apply", "--whitespace=nowarn", "--no-ignore-whitespace", "-", stdin=patch)


def resolve_lfs(git: Git, *, skip: bool) -> tuple[tuple[str, ...], int]:
    """Replace Git LFS pointers in the work tree by their files, with git-lfs where it is installed.

    Returns the pointers left (only with ``skip``) and the number resolved; otherwise raises LmrError with those left.
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
        Hint(
            "install git-lfs, or pass {0} to keep the pointers (recorded) when no test needs them",
            (Setting("--skip lfs", ("true",), "--skip lfs"),),
        ),
    )


def _lfs_pointers(folder: Path) -> tuple[str, ...]:
    paths = (path for path in files.walk(folder) if files.is_lfs_pointer(path))
    names = (path.relative_to(folder).as_posix() for path in paths)
    return tuple(name for name in names if not name.startswith(".git/"))


@dataclass(frozen=True)
class Commit:
    author: str
    email: str
    date: str
    message: str


def files_to_commit(source: Path) -> Iterator[Path]:
    """Yield the files that :func:`commit_folder` commits. Raises UnsafePathError for a link, a pipe or a device."""
    return foreign.walk(
        source, MOST_COMMITTED_BYTES, lambda path: path.name.lower() in (".git", "__pycache__")
    )


def commit_folder(source: Path, final: Path, commit: Commit) -> None:
    """Make the repository ``final`` of a folder's files, whole or not at all. Raises LmrError for what git refuses."""
    person = {"NAME": commit.author, "EMAIL": commit.email, "DATE": commit.date}
    variables = {f"GIT_{who}_{key}": text for who in ("AUTHOR", "COMMITTER") for key, text in person.items()}
    with files.staged_folder(final) as repository:
        for path in files_to_commit(source):
            copy = repository / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy, follow_symlinks=False)
        git = Git(repository, 600.0, ("", ""))
        git.run("init", "--quiet", "--template=", "--initial-branch=main")
        try:
            with without_filters(repository):
                git.run("add", "--all", "--force")
                git.run(
                    "commit", "--quiet", "--no-gpg-sign", "--no-verify", "-m", commit.message, env=variables
                )
        except LmrError as error:
            raise LmrError(
                f"{source} cannot be committed: {error.message}", "check author, date and message"
            ) from error
