"""A small recipe of a plain Python repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tests.papers import ABSTRACT, make_paper
from tests.support import write_files

CODE = '''\
"""Steps of a filter."""


def clamp(values, low, high):
    """Clamp values to a range."""
    kept = []
    for value in values:
        kept.append(min(max(value, low), high))
    return kept


def scale(values, factor):
    """Return every value times a factor."""
    return [value * factor for value in values]
'''

DRIVER = """\
from steps.core import clamp

for values in ([1, 5, 9], [], [-3, 0, 3], [7, 2], [4.5, 8.5, 2.5, 3.0]):
    clamp(values, 2, 8)
    clamp(values, 0, 3)
"""

REWRITTEN = """\
def clamp(values, low, high):
    return [low if value < low else high if value > high else value for value in values]
"""
MISREAD = """\
def clamp(values, low, high):
    return [value for value in values if low <= value <= high]
"""

INSTRUCTION = (
    "Implement the function `clamp` in `steps/core.py`: clamp each value to the range from `low` to `high`, as "
    "section 2 of the paper says. Return the list of clamped values."
)


def recipe(number: int) -> dict[str, Any]:
    """The values of the recipe."""
    return {
        "id": number,
        "name": "small",
        "paper": {"source": "paper.pdf", "title": "Steps of a Filter", "year": 2024, "url": "https://example.org/p"},
        "repository": {
            "url": "https://example.org/steps",
            "files": "repository",
            "author": "A",
            "email": "a@example.org",
            "date": "2024-01-02T12:00:00+00:00",
            "message": "Steps",
            "remove": ["notes", "solved.txt"],
        },
        "targets": [
            {
                "target": "steps/core.py::clamp",
                "category": "Evaluation Metrics",
                "instruction": INSTRUCTION,
                "record": {"command": "python driver.py", "cases": 4},
                "answers": {"rewritten": "passed", "misread": {"outcome": "failed", "kind": "misreading"}},
            }
        ],
    }  # fmt: skip


def write_recipe(folder: Path, number: int = 1) -> Path:
    """Write the recipe with all that lies beside it, and return its folder."""
    write_files(
        folder,
        {
            "recipe.yaml": yaml.safe_dump(recipe(number), sort_keys=False),
            "driver.py": DRIVER,
            "answers/1/rewritten.py": REWRITTEN,
            "answers/1/misread.py": MISREAD,
            "repository/steps/core.py": CODE,
            "repository/steps/__init__.py": "",
            "repository/README.md": "# Steps\n",
            "repository/requirements.txt": "",
            "repository/LICENSE": "MIT License\n",
            "repository/notes/clamp.txt": CODE,
            "repository/solved.txt": CODE,
        },
    )
    make_paper(folder / "paper.pdf", "Steps of a Filter", body=f"{ABSTRACT}\n2 Steps\nValues are clamped.")
    return folder


def change(folder: Path, edit: Callable[[Any], object]) -> None:
    """Change the values of a recipe."""
    path = folder / "recipe.yaml"
    data = yaml.safe_load(path.read_text())
    edit(data)
    path.write_text(yaml.safe_dump(data, sort_keys=False))
