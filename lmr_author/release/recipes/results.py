"""Show the outcome of recipes: as a table, as JSON, and as ``RESULTS.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lmr_author.core import files, quoting
from lmr_author.core.texts import counted
from lmr_author.release.recipes.make import Row
from lmr_author.release.recipes.recipe import Folder

HEADER = ("task", "stage", "gates", "mutants", "answers right", "seconds", "")


def state(row: Row) -> str:
    if row.left_out:
        return "left out"
    return "sound" if row.sound else "not sound"


def of_how_many(numbers: tuple[int, int]) -> str:
    """Return ``7 of 8``; "" of none."""
    return f"{numbers[0]} of {numbers[1]}" if numbers[1] else ""


def cells(row: Row) -> tuple[str, ...]:
    mutants = row.mutants.text if row.mutants.made else ""
    numbers = (of_how_many(row.gates), mutants, of_how_many(row.right))
    return (row.task, row.stage or "none", *numbers, f"{row.seconds:.0f}", state(row))


def to_json(row: Row) -> dict[str, Any]:
    pairs = {"gates": row.gates, "answers": row.right}
    return {
        "task": row.task,
        "recipe": str(row.path),
        "place": str(row.place) if row.place else None,
        "stage": row.stage,
        "state": state(row),
        **{name: {"good": good, "of": of} for name, (good, of) in pairs.items()},
        "mutants": row.mutants.to_json(),
        "seconds": row.seconds,
        "problem": row.problem,
        "hint": row.hint,
        "findings": list(row.made.findings),
        "wrong": [msgspec.to_builtins(answer) for answer in row.wrong],
    }


def write_markdown(path: Path, rows: Sequence[Row], folders: Sequence[Folder]) -> None:
    """Write ``RESULTS.md``: the table of the screen with each recipe's commit, then what went wrong on the way."""
    recipes = {folder.path: folder.recipe for folder in folders}
    right, answers = sum(row.right[0] for row in rows), sum(row.right[1] for row in rows)
    lines = [
        "# Results",
        "",
        f"Written by `lmr-author make`: {counted(len(rows), 'recipe')}, {sum(row.sound for row in rows)} sound; "
        f"{right} of {answers} answers got the expected verdict. Seconds are the machine's, minutes a person's.",
        "",
        f"| {' | '.join(HEADER[:-1])} | state | commit | minutes |",
        f"|{'---|' * (len(HEADER) + 2)}",
    ]
    sections = []
    for row in rows:
        recipe = recipes.get(row.path)
        about = (recipe.repository.commit[:12], str(recipe.minutes or "")) if recipe else ("", "")
        lines.append(f"| {' | '.join((*cells(row), *about))} |")
        remarks = [*(recipe.remarks if recipe else ()), row.problem]
        if texts := [f"- {quoting.markdown(remark)}" for remark in remarks if remark]:
            sections += ["", f"## {row.task}", "", *texts]
    files.write_text(path, "\n".join([*lines, *sections]) + "\n")


def summary(rows: Sequence[Row]) -> Mapping[str, int]:
    words = [state(row) for row in rows]
    return {word: words.count(word) for word in ("sound", "not sound", "left out") if word in words}
