"""The bundled examples are what they claim: complete, and true to their paper."""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core import resources
from lmr_author.core.task import CATEGORIES, Target
from lmr_author.release.recipes.recipe import find, read

DEMO = resources.folder("templates") / "demo"
STARTER = find(resources.folder("templates") / "starter")


def recipe(folder: Path) -> dict[str, Any]:
    """The demo's facts, or those of a recipe under the same names."""
    if folder == DEMO:
        data: dict[str, Any] = json.loads((DEMO / "demo.json").read_text("utf-8"))
        return data
    made = read(folder).recipe
    return {"commit": {"date": made.repository.date}, "results": shlex.split(made.results)}


def targets_of(folder: Path) -> list[dict[str, Any]]:
    """What is said about each target, as the demo has it."""
    if folder == DEMO:
        return [recipe(DEMO)]
    return [
        {
            "target": one.target,
            "category": one.category,
            "instruction": one.instruction,
            "retrieval": one.retrieval,
            "driver": shlex.split(one.record.command),
            "from_tests": one.record.from_tests,
        }
        for one in read(folder).recipe.targets
    ]


def each_target() -> Iterator[Any]:
    """Every target of the demo and of the starter set, with its folder."""
    for folder in (DEMO, *STARTER):
        for data in targets_of(folder):
            yield pytest.param(folder, data, id=f"{folder.name}-{data['target']}")


TARGETS = list(each_target())


def driver(data: dict[str, Any]) -> list[str]:
    """The script that drives a target and its arguments; pytest where the repository's tests do."""
    if data.get("from_tests"):
        return [pytest.__path__[0] + "/__main__.py", "-q", "-p", "no:cacheprovider", *data["driver"]]
    return data["driver"][1:]


def definition(folder: Path, data: dict[str, Any]) -> ast.FunctionDef:
    """The target in its class, or at the top of its file."""
    target = Target.parse(data["target"])
    node: Any = ast.parse((folder / "repository" / target.path).read_bytes())
    for name in target.qualname.split("."):
        (node,) = (child for child in node.body if getattr(child, "name", None) == name)
    assert isinstance(node, ast.FunctionDef)
    return node


@pytest.mark.parametrize("folder, data", TARGETS)
def test_recipe_names_what_exists(folder: Path, data: dict[str, Any]) -> None:
    whole, repository = recipe(folder), folder / "repository"
    assert data["category"] in CATEGORIES
    assert Target.parse(data["target"]).path in data["instruction"]
    assert definition(folder, data).name in data["instruction"]
    named = [*data["retrieval"], driver(data)[0], whole["results"][1]]
    assert [path for path in named if not (repository / path).is_file()] == []
    assert datetime.fromisoformat(whole["commit"]["date"]).tzinfo is not None


def test_the_demo_paper_holds_what_the_driver_prints() -> None:
    import pymupdf

    argv = [sys.executable, "-B", *recipe(DEMO)["results"][1:]]
    run = subprocess.run(argv, cwd=DEMO / "repository", capture_output=True, text=True, check=True)
    with pymupdf.open(DEMO / "paper.pdf") as document:
        words = " ".join(page.get_text() for page in document).split()
        assert document.metadata["title"] == recipe(DEMO)["title"]
    printed = " ".join(words)
    rows = json.loads(run.stdout)
    assert len(rows) == 6
    for row in rows:
        assert " ".join(row) in printed
