"""The recipe's fields in errors and notes: options of commands are fields here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lmr_author.core.errors import Hint, LmrError, SandboxError, Setting
from lmr_author.core.yaml_input import FieldError
from lmr_author.release.recipes.recipe import RECIPE, Folder
from lmr_author.runtime.environment.packages import package_of

_OF_TASK = {
    "--with": "environment.packages",
    "env local --with": "environment.local",
    "--without": "environment.without",
    "--only-goal": "environment.only_goal",
    "--python-version": "environment.python",
    "--python": "environment.python",
    "--base-image": "environment.base_image",
    "--patch": "repository.patch",
    "--repo": "repository.url",
    "--repo-url": "repository.url",
    "--commit": "repository.commit",
    "--skip lfs": "repository.skip_lfs",
    "--skip submodules": "repository.skip_submodules",
    "PAPER": "paper.source",
    "--paper-url": "paper.url",
    "--title": "paper.title",
    "--year": "paper.year",
    "--id": "id",
    "--name": "name",
}
_OF_TARGET = {
    "--": "record.command",
    "--from-tests": "record.from_tests",
    "--from-example": "record.examples",
    "--cases": "record.cases",
    "--timeout": "record.seconds",
    "--compare gradients": "record.gradients",
    "--compare arguments": "record.in_place",
    "--check": "record.checks",
    "--cuda-as-cpu": "record.cuda_as_cpu",
    "--category": "category",
    "--retrieval": "retrieval",
    "--also": "also",
    "--comment": "comment",
    "--docstring": "docstring",
}
"""Option of a command → field of a target."""
_LISTS = ("packages", "without", "local", "examples", "checks", "retrieval", "also")


def field_of(setting: Setting, within: str) -> str:
    """Return the field for an option, for an error within some field."""
    if within == "environment.local" and setting.option == "--with":
        return within
    if setting.option in _OF_TARGET and within.startswith("targets["):
        return f"{within.partition('.')[0]}.{_OF_TARGET[setting.option]}"
    return _OF_TASK.get(setting.option, within)


def value_of(folder: Folder, setting: Setting, field: str) -> Any:
    """Return the value to write into a field: a list includes its current items; None if unknown."""
    if not setting.values:
        return None
    name = field.rpartition(".")[2]
    if name not in _LISTS:
        return True if setting.values == ("true",) else setting.values[0]
    there = getattr(folder.recipe.environment, name, ()) if field.startswith("environment.") else ()
    new = set(map(package_of, setting.values))
    return [*(text for text in there if package_of(text) not in new), *setting.values]


def in_words(folder: Folder, hint: Hint, within: str) -> str:
    """Return a hint in terms of the recipe's fields."""

    def name(setting: Setting) -> str:
        field = field_of(setting, within)
        value = value_of(folder, setting, field)
        return f"`{field}`" if value is None else f"`{field}: {json.dumps(value, ensure_ascii=False)}`"

    return hint.in_words(name)


@contextmanager
def in_field(folder: Folder, name: str, python: Path | None = None) -> Iterator[None]:
    """Name the recipe's field in the block's errors, except those of the sandbox and of the user's ``python``."""
    try:
        yield
    except SandboxError:
        raise
    except LmrError as error:
        hint, field, value = in_words(folder, error.advice, name), name, None
        if error.advice.settings:
            first = error.advice.settings[0]
            field = field_of(first, name)
            value = value_of(folder, first, field)
        if python is not None and field.startswith("environment."):
            hint = f"no field of the recipe changes {python}: install it there, or leave out --python"
            raise SandboxError(error.message, hint) from error
        raise FieldError(folder.path / RECIPE, field, error.message, hint, value) from error
