"""Checks of a recipe's paths: none leaves its folder, which holds only regular files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.authoring.recording.driver import split_command
from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError, UnsafePathError, UsageError
from lmr_author.core.repo import Address

if TYPE_CHECKING:
    from lmr_author.release.recipes.recipe import Recipe

MOST_BYTES = 2 * 2**30
"""Size of all files of a recipe's folder together."""
Problem = tuple[str, str, str]
"""Field ("" for none), problem, hint."""


def outside(root: Path, recipe: Recipe) -> Iterator[Problem]:
    """Yield the paths that leave the folder of the recipe, or that of the repository."""
    paper, repository = recipe.paper, recipe.repository
    if "://" in paper.source and not re.match("https?://", paper.source, re.IGNORECASE):
        yield (
            "paper.source",
            f"{paper.source} is not a web address",
            "name a URL, or a PDF in the recipe's folder",
        )
    with suppress(LmrError):
        if Address.parse(repository.url).local:
            hint = "name its public address; `make --clone URL=PATH` uses your clone instead"
            yield "repository.url", f"{repository.url} is a folder of this machine", hint
    if repository.files and (root / repository.files).resolve() == root.resolve():
        yield "repository.files", "is the recipe's own folder", "put the code into a folder in it"
    for name, path in _paths(recipe):
        try:
            files.inside(root, path)
        except UnsafePathError as error:
            yield name, error.message, error.hint
    for name in ("packages", "local"):
        for text in getattr(recipe.environment, name, ()):
            if re.match(r"[-/.~]", text) or "file:" in text.lower():
                yield f"environment.{name}", f"{text!r} names a file of this machine", "name a package"


def _paths(recipe: Recipe) -> Iterator[tuple[str, str]]:
    paper, repository = recipe.paper, recipe.repository
    if paper.is_file:
        yield "paper.source", paper.source
    if repository.files:
        yield "repository.files", repository.files
    if repository.patch:
        yield "repository.patch", repository.patch
    for path in repository.remove:
        yield "repository.remove", path
    for number, target in enumerate(recipe.targets):
        field = f"targets[{number}]"
        yield f"{field}.target", target.target.partition("::")[0]
        for text in target.also:
            yield f"{field}.also", text.partition("::")[0]
        for path in target.retrieval:
            yield f"{field}.retrieval", path
        # Errors in the command itself are found below, and by `record`.
        with suppress(ValueError, UsageError):
            if not target.record.from_tests:
                _, script, _ = split_command(target.record.words)
                yield f"{field}.record.command", script


def special(root: Path, recipe: Recipe) -> Iterator[Problem]:
    """Yield links, pipes, sockets and devices. Hidden files are ignored."""
    code = Path(recipe.repository.files, "x").parts[0]

    def skip(path: Path) -> bool:
        hidden = path.parent == root and path.name.startswith(".") and path.name != code
        return hidden or path.name.lower() in (".git", "__pycache__")

    try:
        for _ in foreign.walk(root, MOST_BYTES, skip):
            pass
    except UnsafePathError as error:
        yield _field_of(root, recipe, error.path or root), error.message, error.hint


def _field_of(root: Path, recipe: Recipe, path: Path) -> str:
    """Return the field that a path in the recipe's folder belongs to; "" for none."""
    for name, named in _paths(recipe):
        if path == root / named or path.is_relative_to(root / named):
            return name
    parts = path.relative_to(root).parts
    if parts[0] == "answers" and parts[1:] and parts[1].isdecimal():
        return f"targets[{int(parts[1]) - 1}].answers"
    return ""
