"""A task's records about its environment, read leniently: they may be older, or made by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment import lock_file
from lmr_author.environment.base_images import BaseImage, choose_base
from lmr_author.environment.recipe import Recipe
from lmr_author.errors import LmrError
from lmr_author.task import Task, TaskInfo

FORMAT = "lmr-environment/1"


@dataclass(frozen=True)
class Known:
    """Facts about a task's environment before it is built.

    Attributes:
        base: its base image, by its Dockerfile, or the one given in its place.
        python: minor version that the lock is for; for a base image that the lock was not made for, that image's,
            as far as it is known.
        date: of the pinned commit; None when unknown.
        guessed: names of requirements that nobody declares.
    """

    base: BaseImage
    python: str
    date: datetime | None
    guessed: frozenset[str]


def known(task: Task, base_image: str | None = None) -> Known:
    """Read a task's Dockerfile, lock and provenance."""
    provenance = files.read_object_or_empty(task.provenance_path)
    environment = _table(provenance, "environment")
    recorded = _table(environment, "base_image")
    reference = base_image or base_of(text(task.dockerfile)) or str(recorded.get("reference", ""))
    try:
        base = choose_base(Recipe(), reference or None)
    except LmrError:
        base = BaseImage(reference, reason="as the Dockerfile has it")
    python = lock_file.python(text(task.lock)) or str(recorded.get("python", ""))
    other = base_image is not None and base.reference != recorded.get("reference")
    if other or not re.fullmatch(r"3\.\d+", python):
        python = base.python
    guessed = (
        re.split(r"[\s<>=!~\[;@]", str(item.get("requirement", "")))[0]
        for item in environment.get("requirements") or []
        if isinstance(item, dict) and item.get("guessed") is True
    )
    try:
        date = datetime.fromisoformat(str(_table(provenance, "repository").get("commit_date")))
    except ValueError:
        date = None
    return Known(base, python, date, frozenset(map(canonicalize_name, guessed)))


def base_in_use(task: Task, recipe: Recipe, image: str | None, python: str | None) -> BaseImage:
    """Return the base image for a recipe: the one that is given, else the Dockerfile's, else the one that fits.

    Its Python is the one that is given, else the one that a build found, or that the annotator gave before.
    """
    if image is None and (image := base_of(text(task.dockerfile)) or None) and python is None:
        built = stored(task) or {}
        version = re.match(r"3\.\d+", str(built.get("python", "")))
        provenance = files.read_object_or_empty(task.provenance_path)
        before = _table(_table(provenance, "environment"), "base_image")
        if version and built.get("base_image") == image:
            python = version[0]
        elif before.get("reference") == image and before.get("python_certain") is True:
            python = str(before.get("python")) if re.fullmatch(r"3\.\d+", str(before.get("python"))) else None
    own = choose_base(recipe)
    if image is None or image == own.reference:
        return choose_base(recipe, None, python)
    try:
        return choose_base(recipe, image, python)
    except LmrError:
        # A Dockerfile made by hand may say anything after FROM.
        return choose_base(recipe, None, python)


def base_of(content: str) -> str:
    """Return the image after a Dockerfile's last FROM, with the defaults of its ARGs; "" when there is none."""
    lines = re.sub(r"\\[ \t]*\n", " ", content).splitlines()
    arguments: dict[str, str] = {}
    found = ""
    for line in lines:
        instruction, _, rest = line.strip().partition(" ")
        if instruction.upper() == "ARG" and not found:
            name, _, value = rest.strip().partition("=")
            arguments[name] = value.strip("\"'")
        elif instruction.upper() == "FROM":
            words = [word for word in rest.split() if not word.startswith("--")]
            found = words[0] if words else ""
    variable = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")
    return variable.sub(lambda match: arguments.get(match[1] or match[3], "") or match[2] or "", found)


def stored(task: Task) -> dict[str, Any] | None:
    """Return ``authoring/environment.json``; None when there is none."""
    data = files.read_object_or_empty(task.environment_path)
    return data if data.get("format") == FORMAT else None


def text(path: Path) -> str:
    """Return a text file's content; "" when it does not exist or cannot be read."""
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def goal_files(info: TaskInfo) -> tuple[str, ...]:
    """Return the Python files of a task with something masked in them, each once."""
    names = (item.goal_file for item in info.implementations)
    return tuple(dict.fromkeys(name for name in names if name.endswith(".py")))


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}
