"""The repository that an ``env`` command works on, a task's records about it, and the files written for it.

Records are read leniently: they may be older, or made by hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import git

from lmr_author import files
from lmr_author.environment import lock_file
from lmr_author.environment.base_images import BaseImage, choose_base
from lmr_author.environment.detect import problems, read_recipe
from lmr_author.environment.lock_file import Lock, is_untouched
from lmr_author.environment.recipe import Recipe
from lmr_author.errors import LmrError, UsageError
from lmr_author.task import Task, TaskInfo, provenance
from lmr_author.task.environment import BuiltEnvironment
from lmr_author.task.provenance import EnvironmentOrigin, Provenance


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
class Detected:
    """The needs of a repository, and the image that fits."""

    place: RepositoryPlace
    recipe: Recipe
    base: BaseImage

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


def place_of(task: Task) -> RepositoryPlace:
    """Return the repository of a task; its date is the one that new-task wrote down."""
    info = task.load()
    name = info.repo_folder_name or info.folder_name
    return RepositoryPlace(task.repository(info), task, name, known(task).date)


def place_alone(folder: Path) -> RepositoryPlace:
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
    return RepositoryPlace(resolved, None, name, date)


def detect(
    place: RepositoryPlace,
    *,
    base_image: str | None = None,
    python: str | None = None,
    goals: Sequence[str] = (),
) -> Detected:
    """Return what the repository needs, and the image that fits."""
    if base_image is not None:
        choose_base(Recipe(), base_image)  # a reference that is none is not passed over
    recipe = read_recipe(place.folder, place.date, goals)
    if place.task is None:
        base = choose_base(recipe, base_image, python)
    else:
        base = base_in_use(place.task, recipe, base_image, python)
    return Detected(place, recipe, base)


def require_untouched(place: RepositoryPlace, name: str) -> None:
    """Raise LmrError when somebody edited the file that would be overwritten."""
    if place.task is None:
        return
    path = place.task.root / name
    if path.is_file() and not is_untouched(text_of(path)):
        raise LmrError(
            f"{name} was edited or repaired, or not made by this version of lmr-author",
            "--dry-run shows what would be written; --force overwrites it and keeps a copy in authoring/removed/",
        )


def put(task: Task, path: Path, text: str) -> tuple[bool, str]:
    """Write a file of the task; a former one that was edited is kept in ``authoring/removed/``."""
    before = text_of(path) if path.is_file() else None
    if before == text:
        return False, ""
    kept = task.put_aside(path, copy=True) if before is not None and not is_untouched(before) else ""
    files.write_text(path, text)
    return True, kept


def record(task: Task, made: EnvironmentOrigin) -> None:
    """Update ``authoring/provenance.json``, if there is one."""
    known = Provenance.read_if_valid(task.provenance_path)
    if known is not None:
        replace(known, environment=made).write(task.provenance_path)


def record_base(task: Task, base: BaseImage) -> None:
    """Update the base image in ``authoring/provenance.json``, if there is one."""
    known = Provenance.read_if_valid(task.provenance_path)
    if known is not None:
        record(task, replace(known.environment, base_image=base.to_record()))


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


@dataclass(frozen=True)
class Known:
    """Facts about a task's environment before it is built.

    Attributes:
        base: its base image, by its Dockerfile, or the one given in its place.
        python: minor version that the lock is for; for a base image that the lock was not made for, that image's,
            as far as it is known.
        date: of the pinned commit; None when unknown.
    """

    base: BaseImage
    python: str
    date: datetime | None


def known(task: Task, base_image: str | None = None) -> Known:
    """Read a task's Dockerfile, lock and provenance."""
    origin = provenance.load(task)
    recorded = origin.environment.base_image
    reference = base_image or base_of(text_of(task.dockerfile)) or recorded.reference
    try:
        base = choose_base(Recipe(), reference or None)
    except LmrError:  # a Dockerfile made by hand may say anything after FROM
        base = BaseImage(reference, reason="as the Dockerfile has it")
    python = lock_file.python(text_of(task.lock)) or recorded.python
    other = base_image is not None and base.reference != recorded.reference
    if other or not re.fullmatch(r"3\.\d+", python):
        python = base.python
    date = datetime.fromisoformat(origin.repository.commit_date) if origin.repository.commit_date else None
    return Known(base, python, date)


def base_in_use(task: Task, recipe: Recipe, image: str | None, python: str | None) -> BaseImage:
    """Return the base image for a recipe: the one that is given, else the Dockerfile's, else the one that fits.

    Its Python is the one that is given, else the one that a build found, or that the annotator gave before.
    """
    image = image or base_of(text_of(task.dockerfile)) or None
    if image and python is None:
        built, before = (
            BuiltEnvironment.read_if_valid(task.environment_path),
            provenance.load(task).environment.base_image,
        )
        certain = before.python if before.reference == image and before.python_certain else ""
        found = built.python if built and built.base_image == image else certain
        version = re.match(r"3\.\d+", found)
        python = version[0] if version else None
    own = choose_base(recipe, None, python)
    try:
        return own if image in (None, own.reference) else choose_base(recipe, image, python)
    except LmrError:  # a Dockerfile made by hand may say anything after FROM
        return own


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
    names = (item.goal_file for item in info.implementations)
    return tuple(dict.fromkeys(name for name in names if name.endswith(".py")))
