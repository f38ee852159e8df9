"""The repository that an ``env`` command works on, what it needs, and the files that are written for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import git

from lmr_author import files
from lmr_author.environment import records
from lmr_author.environment.base_images import BaseImage, choose_base
from lmr_author.environment.detect import problems, read_recipe
from lmr_author.environment.lock_file import is_untouched
from lmr_author.environment.pinning import Lock
from lmr_author.environment.recipe import Fact, Recipe
from lmr_author.errors import LmrError, UsageError
from lmr_author.task import Progress, Task


@dataclass(frozen=True)
class Place:
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
class Detected:
    """The needs of a repository, and the image that fits. ``dead``: the index's report, None when it was not asked."""

    place: Place
    recipe: Recipe
    base: BaseImage
    dead: tuple[Fact, ...] | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """Return what the annotator should know of the repository, and of the image that was chosen for it."""
        return problems(self.recipe, self.base)


@dataclass(frozen=True)
class Written:
    """The result of a command that makes a file.

    Attributes:
        text: of the file.
        path: of the file; None when nothing was to be written (a dry run, or a repository alone).
        changed: whether the file was written: it may have been like this before.
        kept: former file, relative to the task's ``authoring/removed/``; "" when there was none to keep.
    """

    detected: Detected
    text: str
    path: Path | None
    changed: bool = False
    kept: str = ""
    lock: Lock | None = None


def place_of(task: Task) -> Place:
    """Return the repository of a task; its date is the one that new-task wrote down."""
    info = task.load()
    name = info.repo_folder_name or info.folder_name
    return Place(task.repository(info), task, name, records.known(task).date)


def place_alone(folder: Path) -> Place:
    """Return a repository that belongs to no task; its date is that of git's HEAD, if the folder is its top."""
    if not folder.is_dir():
        raise UsageError(f"--repo {folder} is not a folder", "name the top folder of a cloned repository")
    resolved = folder.resolve()
    # Only a name in the image: what a Dockerfile cannot name is replaced.
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", resolved.name).lstrip("._-") or "repository"
    try:
        date = git.Repo(resolved).head.commit.committed_datetime
    except (git.exc.GitError, ValueError, OSError):
        date = None
    return Place(resolved, None, name, date)


def detect(
    place: Place,
    *,
    base_image: str | None = None,
    python: str | None = None,
    goals: Sequence[str] = (),
    online: bool = False,
    progress: Progress | None = None,
) -> Detected:
    """Return what the repository needs. With ``online`` the package index is asked about each requirement."""
    if base_image is not None:
        choose_base(Recipe(), base_image)  # a reference that is none is not passed over
    recipe = read_recipe(place.folder, place.date, goals)
    if place.task is None:
        base = choose_base(recipe, base_image, python)
    else:
        base = records.base_in_use(place.task, recipe, base_image, python)
    if not online:
        return Detected(place, recipe, base)
    from lmr_author.environment.online import dead

    return Detected(place, recipe, base, dead(recipe, base, seconds=300.0, progress=progress))


def require_untouched(place: Place, name: str) -> None:
    """Raise LmrError when somebody edited the file that would be overwritten."""
    if place.task is None:
        return
    path = place.task.root / name
    if path.is_file() and not is_untouched(records.text(path)):
        raise LmrError(
            f"{name} was edited or repaired, or not made by this version of lmr-author",
            "--dry-run shows what would be written; --force overwrites it and keeps a copy in authoring/removed/",
        )


def put(task: Task, path: Path, text: str) -> tuple[bool, str]:
    """Write a file of the task; a former one that was edited is kept in ``authoring/removed/``."""
    before = records.text(path) if path.is_file() else None
    if before == text:
        return False, ""
    kept = task.put_aside(path, copy=True) if before is not None and not is_untouched(before) else ""
    files.write_text(path, text)
    return True, kept


def record(task: Task, changed: dict[str, object]) -> None:
    """Bring ``authoring/provenance.json`` up to date, where there is one."""
    if task.provenance_path.is_file():
        data = files.read_json(task.provenance_path)
        if isinstance(data, dict) and isinstance(data.get("environment"), dict):
            data["environment"] |= changed
            files.write_json(task.provenance_path, data)


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
