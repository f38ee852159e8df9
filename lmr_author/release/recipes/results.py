"""What came of recipes, as a table, as JSON, and as ``RESULTS.md``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lmr_author.core import files, quoting
from lmr_author.core.task import evaluation
from lmr_author.core.texts import counted
from lmr_author.release.recipes.make import Row
from lmr_author.release.recipes.recipe import Folder

HEADER = ("task", "stage", "gates", "mutants", "answers right", "seconds", "")


def state(row: Row) -> str:
    """Return a word about a row."""
    return "sound" if row.sound else "left out" if row.left_out else "not sound"


def of_how_many(numbers: tuple[int, int]) -> str:
    """Return ``7 of 8``; "" of none."""
    return f"{numbers[0]} of {numbers[1]}" if numbers[1] else ""


def cells(row: Row) -> tuple[str, ...]:
    """Return a row of the table on the screen."""
    numbers = map(of_how_many, (row.gates, row.mutants, row.right))
    return (row.task, row.stage or "none", *numbers, f"{row.seconds:.0f}", state(row))


def to_json(row: Row) -> dict[str, Any]:
    """Return a row as an object."""
    pairs = {"gates": row.gates, "mutants": row.mutants, "answers": row.right}
    return {
        "task": row.task,
        "recipe": str(row.path),
        "place": str(row.place) if row.place else None,
        "stage": row.stage,
        "state": state(row),
        **{name: {"good": good, "of": of} for name, (good, of) in pairs.items()},
        "seconds": row.seconds,
        "problem": row.problem,
        "hint": row.hint,
        "findings": list(row.made.findings),
        "wrong": [msgspec.to_builtins(one) for one in row.wrong],
    }


def write_markdown(path: Path, rows: Sequence[Row], folders: Sequence[Folder]) -> None:
    """Write ``RESULTS.md``: a line for each target, then what went wrong on the way."""
    known = {folder.path: folder for folder in folders}
    sound = sum(row.sound for row in rows)
    right, answers = (sum(column) for column in zip((0, 0), *(row.right for row in rows), strict=True))
    head = f"Written by `lmr-author make`: {counted(len(rows), 'recipe')}, {sound} sound; {right} of {answers} answers "
    head += "got the expected verdict. Seconds are the machine's, minutes a person's."
    lines = [
        "# Results",
        "",
        head,
        "",
        "| task | target | commit | gates | mutants | answers right | seconds | minutes | state |",
        "|---|---|---|---|---|---|---|---|---|",
        *(line for row in rows for line in _lines(row, known.get(row.path))),
        "",
    ]
    for row in rows:
        folder = known.get(row.path)
        remarks = [*(folder.recipe.remarks if folder else ()), *([row.problem] if row.problem else [])]
        if remarks:
            lines += [f"## {row.task}", "", *(f"- {quoting.markdown(text)}" for text in remarks), ""]
    files.write_text(path, "\n".join(lines).rstrip() + "\n")


def _lines(row: Row, folder: Folder | None) -> Iterator[str]:
    if folder is None:
        yield f"| {row.task} | | | | | | | | {state(row)} |"
        return
    recipe = folder.recipe
    for index, target in enumerate(recipe.targets, 1):
        gates = (
            [gate for gate in row.evaluation.gates if gate.implementation in (None, index)]
            if row.evaluation
            else []
        )
        judged = [one for one in row.made.answers if one.index == index]
        first = index == 1
        shown = [
            row.task,
            f"`{target.target}`",
            recipe.repository.commit[:12],
            of_how_many((sum(gate.status == "passed" for gate in gates), len(gates))),
            of_how_many(evaluation.mutants_killed(gates)),
            of_how_many((sum(one.right for one in judged), len(judged))),
            f"{row.seconds:.0f}" if first else "",
            str(recipe.minutes or "") if first else "",
            state(row),
        ]
        yield f"| {' | '.join(shown)} |"


def summary(rows: Sequence[Row]) -> Mapping[str, int]:
    """Return how many rows are in each state."""
    words = [state(row) for row in rows]
    return {word: words.count(word) for word in ("sound", "not sound", "left out") if word in words}
