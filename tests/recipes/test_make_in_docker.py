"""A recipe with example calls and an environment of its own, made in its image."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.task import Task
from lmr_author.core.task.evaluation import load
from lmr_author.release.recipes import made
from tests.cli.program import succeed
from tests.recipes.recipes import change, write_recipe
from tests.support import base_image, remove_image

GAP = """

def gap(values):
    low, high = min(values), max(values)
    total = 0
    for value in values:
        if value > low:
            total += value - low
        else:
            total += high - value
    return total
"""
INSTRUCTION = (
    "Implement the function `gap` in `steps/core.py`, the sum of the paper: of each value its distance "
    "to the lowest one, and of the lowest its distance to the highest. Return the sum."
)


@pytest.mark.docker
@pytest.mark.timeout(600)
def test_written_out_calls_are_proven_in_the_image(tmp_path: Path) -> None:
    base = base_image("lmr-author/base:bookworm")
    recipe = write_recipe(tmp_path / "recipes" / "1-small")
    source = recipe / "repository" / "steps" / "core.py"
    source.write_text(source.read_text() + GAP)

    def edit(data: dict[str, Any]) -> None:
        data["environment"] = {"python": "3.11"}
        target = {
            "target": "steps/core.py::gap",
            "category": "Evaluation Metrics",
            "instruction": INSTRUCTION,
            "record": {"examples": ["gap([1, 4, 9])", "gap([2])", "gap([-3, 5, 5])", "gap([0.5, 2])"]},
        }
        data["targets"].append(target)

    change(recipe, edit)
    task = Task(tmp_path / "tasks" / "1-small")
    where = ("--sandbox", "docker", "--base-image", base)
    try:
        said = succeed("make", "recipes", "--out", "tasks", *where, cwd=tmp_path).out

        assert re.search(
            r"1-small +answers +15 of 15 +(\d+) of \1 mutants killed, .* 2 of 2 +\d+ +sound", said
        ), said
        proof = load(task)
        assert proof is not None and (proof.kind, proof.sandbox.other_base_image) == ("docker", base)
        assert made.load(made.path_of(task)).sandboxes == (" ".join(where),)
        assert "# for Python 3.11;" in task.lock.read_text()
        info = task.load()
        assert "def gap(" in task.goal(info, info.implementations[1]).read_text()
        again = succeed("make", "recipes", "--out", "tasks", *where, "--check", cwd=tmp_path).out
        assert "1 recipe: 1 sound" in again
    finally:
        remove_image(task)
