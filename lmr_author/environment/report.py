"""A recipe as a JSON document: ``schemas/recipe.schema.json``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lmr_author.environment import other_python
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.recipe import Declared, Fact, Recipe
from lmr_author.texts import printable

FORMAT = "lmr-recipe/1"


def to_json(recipe: Recipe, base: BaseImage, dead: Iterable[Fact] | None = None) -> dict[str, Any]:
    """Everything that was detected, each fact with its origin.

    Args:
        dead: what the package index said; None when it was not asked.
    """
    return {
        "format": FORMAT,
        "date": recipe.date.strftime("%Y-%m-%dT%H:%M:%S%z") if recipe.date else None,
        "project": recipe.project,
        "source_folder": recipe.source_folder,
        "base_image": base_json(base),
        "python": {
            "specifier": recipe.python,
            "origin": recipe.python_origin,
            "mentioned": _facts(recipe.pythons),
        },
        "torch": _declared(recipe.torch),
        "requirements": _declared(recipe.requirements),
        "constraints": _declared(recipe.constraints),
        "suggested": _declared(recipe.suggested),
        "unused": [
            {
                "text": item.text,
                "origin": printable(item.origin),
                "kind": item.kind,
                "name": item.name,
                "reason": item.reason,
            }
            for item in recipe.unused
        ],
        "contradictions": [
            {"package": item.name, "declared": _declared(item.declared)} for item in recipe.contradictions
        ],
        "cuda": {"compiler": recipe.devel, "uses": _facts(recipe.cuda)},
        "system": [
            {"package": item.name, "reason": printable(item.reason), "origin": printable(item.origin)}
            for item in recipe.system
        ],
        "downloads": [
            {"kind": item.kind, "what": item.what, "origin": item.origin, "at_import": item.at_import}
            for item in recipe.downloads
        ],
        "dead": None if dead is None else _facts(dead),
        "sources": [printable(path) for path in recipe.sources],
        "problems": [printable(problem, 2000) for problem in problems(recipe, base)],
    }


def problems(recipe: Recipe, base: BaseImage) -> tuple[str, ...]:
    """What an annotator should know: of the repository, and of the image that was chosen for it."""
    return (*filter(None, [other_python.note(recipe, base)]), *recipe.problems)


def base_json(base: BaseImage) -> dict[str, Any]:
    """A base image, as also stored in ``authoring/provenance.json``."""
    return {
        "reference": base.reference,
        "torch": base.torch,
        "cuda": base.cuda,
        "python": base.python,
        "python_certain": base.python_certain,
        "reason": base.reason,
    }


def _declared(items: Iterable[Declared]) -> list[dict[str, Any]]:
    return [
        {"name": item.name, "requirement": item.text, "origin": item.origin, "guessed": item.guessed}
        for item in items
    ]


def _facts(items: Iterable[Fact]) -> list[dict[str, str]]:
    return [{"text": printable(item.text), "origin": printable(item.origin)} for item in items]
