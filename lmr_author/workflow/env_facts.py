"""What a task's records say about its environment, read leniently: they may be older, or made by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lmr_author import files
from lmr_author.checks import dockerfile
from lmr_author.environment import BaseImage, choose_base
from lmr_author.environment.base_images import FALLBACK_PYTHON
from lmr_author.environment.recipe import Recipe
from lmr_author.errors import LmrError
from lmr_author.taskdir import TaskDir

FORMAT = "lmr-environment/1"


@dataclass(frozen=True)
class Known:
    """What is known about a task's environment before it is built.

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


def known(task: TaskDir, base_image: str | None = None) -> Known:
    """Read a task's Dockerfile, lock and provenance."""
    provenance = files.read_object_or_empty(task.provenance_path)
    environment = _table(provenance, "environment")
    reference = (
        base_image
        or base_of(text(task.dockerfile))
        or str(_table(environment, "base_image").get("reference", ""))
    )
    base = _choose(reference)
    other = base_image is not None and base.reference != _table(environment, "base_image").get("reference")
    return Known(
        base,
        base.python if other else _python(task, environment, base),
        _date(_table(provenance, "repository").get("commit_date")),
        _guessed(environment),
    )


def said_python(task: TaskDir, image: str) -> str:
    """The Python of an image as the annotator gave it (``--python``) or the table is sure of it; "" when neither."""
    provenance = files.read_object_or_empty(task.provenance_path)
    base = _table(_table(provenance, "environment"), "base_image")
    python = str(base.get("python", ""))
    certain = base.get("reference") == image and base.get("python_certain") is True
    return python if certain and re.fullmatch(r"3\.\d+", python) else ""


def lock_python(task: TaskDir) -> str:
    """The Python that a lock says it is for, as ``3.8``; "" when it does not say."""
    said = re.search(r"^# for Python (3\.\d+)", text(task.lock), re.M)
    return said[1] if said else ""


def base_of(content: str) -> str:
    """The image after a Dockerfile's last FROM, with the defaults of its ARGs; "" when there is none."""
    parsed = dockerfile.parse(content)
    froms = parsed.named("FROM")
    words = (
        [word for word in parsed.expand(froms[-1].text).split() if not word.startswith("--")] if froms else []
    )
    return words[0] if words else ""


def text(path: Any) -> str:
    """A text file; "" when it is not there or not readable."""
    try:
        return str(path.read_text("utf-8", errors="replace"))
    except OSError:
        return ""


def stored(task: TaskDir) -> dict[str, Any] | None:
    """``authoring/environment.json``; None when there is none."""
    data = files.read_object_or_empty(task.environment_path)
    return data if data.get("format") == FORMAT else None


def is_pinned(lock: str) -> bool:
    """Whether every line of a lock names one version."""
    from lmr_author.environment.lock_lines import requirements

    return all(re.search(r"==[^*]+$", line.split(";")[0].strip()) for line in requirements(lock))


def _choose(reference: str) -> BaseImage:
    try:
        return choose_base(Recipe(), reference or None)
    except LmrError:
        return BaseImage(reference, "", "", "", "", FALLBACK_PYTHON, False, "as the Dockerfile has it")


def _python(task: TaskDir, environment: dict[str, Any], base: BaseImage) -> str:
    """The lock's own comment, else the provenance, else the base image's table."""
    said = lock_python(task)
    if said:
        return said
    recorded = str(_table(environment, "base_image").get("python", ""))
    return recorded if re.fullmatch(r"3\.\d+", recorded) else base.python


def _guessed(environment: dict[str, Any]) -> frozenset[str]:
    from packaging.utils import canonicalize_name

    items = environment.get("requirements")
    return frozenset(
        canonicalize_name(re.split(r"[\s<>=!~\[;@]", str(item.get("requirement", "")))[0])
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, dict) and item.get("guessed") is True
    )


def _date(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value)) if value else None
    except ValueError:
        return None


def _table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}
