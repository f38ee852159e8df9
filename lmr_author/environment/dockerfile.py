"""Write the Dockerfile and its ``.dockerignore``: pure functions of recipe, base image and folder name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lmr_author import resources
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.recipe import Recipe
from lmr_author.errors import LmrError

if TYPE_CHECKING:
    from jinja2 import Template

_FOLDER = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")


def render(recipe: Recipe, base: BaseImage, repo_folder: str, *, pinned: bool = True) -> str:
    """The Dockerfile. Nothing a repository says goes into it: its requirements are in the lock file only.

    Args:
        repo_folder: the repository's folder; default of the build argument ``DIR``.
        pinned: whether the lock names every package, so that pip need not resolve (and cannot replace torch).

    Raises LmrError for a folder name that is none.
    """
    _require_folder(repo_folder)
    return _template("Dockerfile.j2").render(
        image=base.reference, folder=repo_folder, source_folder=recipe.source_folder, pinned=pinned
    )


def render_dockerignore(repo_folder: str) -> str:
    """The ``.dockerignore``: only lock and repository are sent to the engine, without expected values."""
    _require_folder(repo_folder)
    return _template("dockerignore.j2").render(folder=repo_folder)


def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    # Not HTML: escaping would change the file. What is put in is checked before.
    environment = Environment(
        autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.from_string(resources.template(name))


def _require_folder(name: str) -> None:
    if not _FOLDER.match(name):
        raise LmrError(
            f"not a folder name for a Dockerfile: {name!r}", "use letters, digits, '.', '_' and '-'"
        )
