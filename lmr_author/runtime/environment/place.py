"""The repository that an ``env`` command works on, a task's records about it, and the files written for it.

Records are read leniently: they may be older, or made by hand.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.core import files, locks, processes
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Task, TaskInfo, provenance
from lmr_author.core.task.provenance import EnvironmentOrigin, Provenance
from lmr_author.runtime.environment.lock_file import Lock, is_untouched

if TYPE_CHECKING:
    from lmr_author.runtime.environment.detect import Detected


@dataclass(frozen=True)
class RepositoryPlace:
    """A repository: of a task, or any other.

    Attributes:
        folder: the repository.
        task: the task it belongs to; None for a repository alone.
        name: its folder's name in the image.
        date: when its pinned commit was made; None when unknown.
    """

    folder: Path
    task: Task | None
    name: str
    date: datetime | None


@dataclass(frozen=True)
class Written:
    """The result of a command that makes a file.

    Attributes:
        text: of the file.
        path: of the file; None when nothing was to be written (a dry run, or a repository alone).
        changed: whether the file was written: it may have been like this before.
        copy: of the former file, relative to the task's ``authoring/removed/``; "" when nobody had edited it.
    """

    detected: Detected
    text: str
    path: Path | None
    changed: bool = False
    copy: str = ""
    lock: Lock | None = None


def place_of(task: Task) -> RepositoryPlace:
    """Return the repository of a task; its date is the one that new-task wrote down."""
    info = task.load()
    name = info.repo_folder_name or info.folder_name
    date = provenance.load(task).repository.commit_date
    return RepositoryPlace(task.repository(info), task, name, datetime.fromisoformat(date) if date else None)


def place_alone(folder: Path) -> RepositoryPlace:
    """Return a repository that belongs to no task; its date is that of git's HEAD, if the folder is its top."""
    if not folder.is_dir():
        raise UsageError(f"--repo {folder} is not a folder", "name the top folder of a cloned repository")
    resolved = folder.resolve()
    # Only a name in the image: what a Dockerfile cannot name is replaced.
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", resolved.name).lstrip("._-") or "repository"
    processes.require("git")
    import git

    try:
        date = git.Repo(resolved).head.commit.committed_datetime
    except (git.exc.GitError, ValueError, OSError):
        date = None
    return RepositoryPlace(resolved, None, name, date)


def changing(repository: RepositoryPlace, *, dry_run: bool) -> AbstractContextManager[None]:
    """Hold the lock of the task while its files are made; a dry run and a repository alone change nothing."""
    return nullcontext() if repository.task is None or dry_run else locks.held(repository.task.root)


def require_untouched(repository: RepositoryPlace, name: str) -> None:
    """Raise LmrError when somebody edited the file that would be overwritten."""
    if repository.task is None:
        return
    path = repository.task.root / name
    if path.is_file() and not is_untouched(text_of(path)):
        raise LmrError(
            f"{name} was edited or repaired, or not made by this version of lmr-author",
            "--dry-run shows what would be written; --force overwrites it and keeps a copy in authoring/removed/",
        )


def write(
    detected: Detected,
    name: str,
    text: str,
    *,
    dry_run: bool,
    origin: EnvironmentOrigin,
    lock: Lock | None = None,
) -> Written:
    """Write a file of the task, and its origin; a dry run and a repository alone only give the text.

    A former file that was edited is kept in ``authoring/removed/``.
    """
    task = detected.place.task
    if task is None or dry_run:
        return Written(detected, text, None, lock=lock)
    path = task.root / name
    is_new = not path.is_file()
    changed, copy = is_new or text_of(path) != text, ""
    if changed:
        if not is_new and not is_untouched(text_of(path)):
            copy = task.put_aside(path, copy=True)
        files.write_text(path, text)
    record = Provenance.read_if_valid(task.provenance_path)
    if record is not None:
        replace(record, environment=origin).write(task.provenance_path)
    return Written(detected, text, path, changed, copy, lock)


def parse_date(text: str) -> datetime:
    """Read ``2023-06-01`` (the whole of that day, UTC) or RFC 3339. Raises UsageError."""
    hint = "write 2023-06-01, or 2023-06-01T12:00:00Z"
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--date {text!r} is not a date", hint) from error
    if re.fullmatch(r"\d{4}-?\d\d-?\d\d", text):
        moment += timedelta(days=1, seconds=-1)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if moment.year < 2005:
        raise UsageError(f"--date {text}: the package index did not exist", hint)
    return moment


def base_of(content: str) -> str:
    """Return the image after a Dockerfile's last FROM, with the defaults of its ARGs; "" when there is none."""
    joined = re.sub(r"\\[ \t]*\n", " ", content)
    arguments = dict(re.findall(r"^\s*ARG\s+(\w+)=[\"']?([^\s\"']*)", joined, re.M | re.I))
    images = re.findall(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)", joined, re.M | re.I)
    variable = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")
    last = str(images[-1]) if images else ""
    return variable.sub(lambda match: arguments.get(match[1] or match[3], "") or match[2] or "", last)


def text_of(path: Path) -> str:
    """Return a text file's content; "" when it does not exist or cannot be read."""
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def goal_files(info: TaskInfo) -> tuple[str, ...]:
    """Return the Python files of a task with something masked in them, each once."""
    names = dict.fromkeys(implementation.goal_file for implementation in info.implementations)
    return tuple(name for name in names if name.endswith(".py"))
