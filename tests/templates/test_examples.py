"""The bundled examples are what they claim: runnable, covered by their driver, true to their paper."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lmr_author import resources
from lmr_author.task import CATEGORIES, Target

DEMO = resources.folder("templates") / "demo"
STARTER = sorted(path.parent for path in (resources.folder("templates") / "starter").glob("*/recipe.json"))

TRACER = """
import json, runpy, sys
path, name, out, *sys.argv = sys.argv[1:]
arcs, last, calls = set(), {}, 0
def trace(frame, event, argument):
    global calls
    if not frame.f_code.co_filename.endswith(path):
        return None
    calls += event == "call" and frame.f_code.co_name == name
    if event == "line":
        arcs.add((last.get(id(frame), 0), frame.f_lineno))
        last[id(frame)] = frame.f_lineno
    elif event == "return":
        last.pop(id(frame), None)
    return trace
sys.settrace(trace)
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as ended:
    assert not ended.code
sys.settrace(None)
json.dump({"arcs": sorted(arcs), "calls": calls}, open(out, "w"))
"""


def recipe(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("*.json")
    data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return data


def each_target() -> Iterator[Any]:
    """Every target of the demo and of the starter set, with its folder."""
    for folder in (DEMO, *STARTER):
        needs_torch = "torch" in (folder / "repository" / "requirements.txt").read_text("utf-8")
        marks = [pytest.mark.torch] if needs_torch else []
        for data in recipe(folder).get("targets", [recipe(folder)]):
            yield pytest.param(folder, data, id=f"{folder.name}-{data['target']}", marks=marks)


TARGETS = list(each_target())


def driver(data: dict[str, Any]) -> list[str]:
    """The script that drives a target and its arguments; pytest where the repository's tests do."""
    if "--from-tests" in data.get("record", []):
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


@pytest.mark.parametrize("folder, data", TARGETS)
def test_driver_takes_every_branch_of_the_target(folder: Path, data: dict[str, Any], tmp_path: Path) -> None:
    out, target = tmp_path / "arcs.json", Target.parse(data["target"])
    argv = [sys.executable, "-B", "-c", TRACER, target.path, target.name, str(out), *driver(data)]
    environment = {"PYTHONPATH": ".", "PATH": "/usr/bin:/bin"}
    subprocess.run(argv, cwd=folder / "repository", env=environment, check=True, stdout=subprocess.DEVNULL)
    seen = json.loads(out.read_text())
    assert seen["calls"] >= 10
    arcs = {tuple(arc) for arc in seen["arcs"]}
    branches = [node for node in ast.walk(definition(folder, data)) if isinstance(node, ast.If)]
    for node in branches:
        taken = {after for before, after in arcs if before == node.lineno}
        first = node.body[0].lineno
        assert first in taken, f"line {node.lineno}: never true"
        assert taken - {first}, f"line {node.lineno}: never false"


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


@pytest.mark.parametrize("folder, data", TARGETS)
def test_the_body_of_the_target_stands_nowhere_else(folder: Path, data: dict[str, Any]) -> None:
    """No line of the target's computation is repeated in another file of the repository."""
    body = ast.Module(definition(folder, data).body[1:], [])
    assignments = [node for node in ast.walk(body) if isinstance(node, (ast.Assign, ast.AugAssign))]
    assert assignments
    repository = folder / "repository"
    goal = repository / Target.parse(data["target"]).path
    for path in repository.rglob("*"):
        if path.is_file() and path != goal and path.suffix != ".pyc":
            text = path.read_text("utf-8")
            assert not [node for node in assignments if ast.unparse(node) in text], path
