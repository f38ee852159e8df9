"""``env detect`` and ``env dockerfile``: what a repository needs, and the Dockerfile; :mod:`env_lock` pins it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lmr_author import environment, files
from lmr_author.environment import BaseImage, Lock, Recipe, stamp
from lmr_author.environment.recipe import Fact
from lmr_author.errors import LmrError, UsageError
from lmr_author.model import Progress
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import env_facts


@dataclass(frozen=True)
class Place:
    """Where a repository is: in a task, or anywhere.

    Attributes:
        folder: the repository.
        task: the task it belongs to; None for a repository alone.
        name: its folder's name in the image.
        date: when its pinned commit was made; None when unknown.
    """

    folder: Path
    task: TaskDir | None
    name: str
    date: datetime | None


@dataclass(frozen=True)
class Detected:
    """What was found, and the image that fits. ``dead``: what the index said, None when it was not asked."""

    place: Place
    recipe: Recipe
    base: BaseImage
    dead: tuple[Fact, ...] | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """What the annotator should know of the repository, and of the image that was chosen for it."""
        return environment.problems(self.recipe, self.base)


@dataclass(frozen=True)
class Written:
    """What a command made.

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


def place_of(task: TaskDir) -> Place:
    """The repository of a task; its date is the one that new-task wrote down."""
    info = task.load()
    return Place(
        task.repository(info), task, info.repo_folder_name or info.folder_name, env_facts.known(task).date
    )


def place_alone(folder: Path) -> Place:
    """A repository that is no task's; its date is that of git's HEAD, if the folder is its top."""
    if not folder.is_dir():
        raise UsageError(f"--repo {folder} is not a folder", "name the top folder of a cloned repository")
    resolved = folder.resolve()
    # Only a name in the image: what a Dockerfile cannot name is replaced.
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", resolved.name).lstrip("._-") or "repository"
    return Place(resolved, None, name, _head_date(folder))


def _head_date(folder: Path) -> datetime | None:
    from lmr_author.repo.git import Git

    if not (folder / ".git").exists():
        return None
    try:
        said = Git(folder, 20).try_run("log", "-1", "--format=%cI")
    except LmrError:
        return None
    return datetime.fromisoformat(said.decode().strip()) if said and said.strip() else None


def detect(place: Place, *, base_image: str | None = None, python: str | None = None, online: bool = False,
           progress: Progress | None = None) -> Detected:  # fmt: skip
    """What the repository needs. With ``online`` the package index is asked about each requirement.

    The image is the one of the task's Dockerfile, if there is one, and its Python the one that a build found, or else
    the one that the annotator gave before.
    """
    if base_image is not None:
        environment.choose_base(Recipe(), base_image)  # a reference that is none is not passed over
    recipe = environment.detect(place.folder, place.date)
    base = _base(place, recipe, base_image, python)
    if not online:
        return Detected(place, recipe, base)
    from lmr_author.environment.online import dead

    return Detected(place, recipe, base, dead(recipe, base, seconds=300.0, progress=progress))


def _base(place: Place, recipe: Recipe, image: str | None, python: str | None) -> BaseImage:
    if image is None and place.task is not None:
        image = env_facts.base_of(env_facts.text(place.task.dockerfile)) or None
        built = env_facts.stored(place.task) or {}
        version = re.match(r"3\.\d+", str(built.get("python", "")))
        if python is None and version and image and built.get("base_image") == image:
            python = version[0]
        elif python is None and image:
            python = env_facts.said_python(place.task, image) or None
    own = environment.choose_base(recipe)
    if image is None or image == own.reference:
        return environment.choose_base(recipe, None, python)
    try:
        return environment.choose_base(recipe, image, python)
    except LmrError:
        # A Dockerfile made by hand may say anything after FROM.
        return environment.choose_base(recipe, None, python)


def dockerfile(
    place: Place,
    *,
    base_image: str | None = None,
    python: str | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> Written:
    """Write the Dockerfile and ``.dockerignore``: a function of the recipe, the base image and the lock's kind."""
    require_untouched(place, force, dry_run, "Dockerfile")
    found = detect(place, base_image=base_image, python=python)
    content = env_facts.text(place.task.lock) if place.task is not None else ""
    text = environment.render(
        found.recipe,
        found.base,
        place.name,
        pinned=env_facts.is_pinned(content),
        compiled=_compiled(content),
    )
    if place.task is None or dry_run:
        return Written(found, text, None)
    changed, kept = put(place.task, place.task.dockerfile, text)
    if not place.task.dockerignore.is_file():
        files.write_text(place.task.dockerignore, environment.render_dockerignore(place.name))
    record(place.task, {"base_image": environment.base_json(found.base)})
    return Written(found, text, place.task.dockerfile, changed, kept)


def _compiled(content: str) -> list[str]:
    """Packages without a wheel, as the lock's comment has them."""
    match = re.search(r"^# compiled when installed, there is no wheel: (.*)$", content, re.M)
    return re.findall(r"[\w.-]+", match[1]) if match else []


def require_untouched(place: Place, force: bool, dry_run: bool, name: str) -> None:
    """Raise when somebody edited the file that would be overwritten."""
    if place.task is None or force or dry_run:
        return
    path = place.task.root / name
    if path.is_file() and not stamp.is_untouched(env_facts.text(path)):
        raise LmrError(
            f"{name} was edited or repaired, or not made by this version of lmr-author",
            "--dry-run shows what would be written; --force overwrites it and keeps a copy in authoring/removed/",
        )


def put(task: TaskDir, path: Path, text: str) -> tuple[bool, str]:
    """Write a file of the task; a former one that was edited is kept in ``authoring/removed/``."""
    before = env_facts.text(path) if path.is_file() else None
    if before == text:
        return False, ""
    kept = task.put_aside(path, copy=True) if before is not None and not stamp.is_untouched(before) else ""
    files.write_text(path, text)
    return True, kept


def record(task: TaskDir, changed: dict[str, object]) -> None:
    """Bring ``authoring/provenance.json`` up to date, where there is one."""
    if task.provenance_path.is_file():
        data = files.read_json(task.provenance_path)
        if isinstance(data, dict) and isinstance(data.get("environment"), dict):
            data["environment"] |= changed
            files.write_json(task.provenance_path, data)


def parse_date(text: str) -> datetime:
    """``2023-06-01`` (the whole of that day, UTC) or RFC 3339. Raises UsageError."""
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
