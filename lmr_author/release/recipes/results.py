"""Show the outcome of recipes to people: as a table, and as ``RESULTS.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lmr_author.core import files, quoting
from lmr_author.core.texts import counted
from lmr_author.release.recipes.make import WORK, Row
from lmr_author.release.recipes.recipe import RECIPE

MADE_TO = "made to "
HEADER = ("task", "stage", "gates", "mutants", "answers right", "seconds", "")


def state(row: Row) -> str:
    if row.left_out:
        return "left out"
    if row.made_to:
        return f"{MADE_TO}{row.made_to}"
    return "sound" if row.sound else "not sound"


def problem(row: Row) -> str:
    """Return why a recipe is left out or stopped, or what does not hold, in words; "" for nothing."""
    if row.left_out:
        return row.left_out
    if row.error is not None:
        where = [str(row.path / row.error.file)] if row.error.file else []
        return ": ".join([*where, *filter(None, [row.error.field]), row.error.message])
    problems = []
    if row.made.findings:
        found = "; ".join(f"{one.code} {one.path}: {one.message}" for one in row.made.findings)
        problems.append(f"validate: {found}")
    if row.evaluation is not None and not row.evaluation.passed:
        problems.append(f"evaluate, {row.evaluation.place}: {row.evaluation.open_gates}")
    for answer in row.wrong:
        got = f"expected {answer.expected}, got {answer.outcome} ({answer.reason})"
        problems.append(f"answer {answer.index}/{answer.name}: {got}")
    return "; ".join(problems)


def hint(row: Row) -> str:
    """Return what to do about the problem, or where to look; "" for nothing."""
    if row.error is not None:
        return row.error.hint
    unfinished = row.place is not None and row.place.parent.name.startswith(WORK)
    return f"it lies in {row.place}, and did not replace anything" if unfinished else ""


def of_how_many(numbers: tuple[int, int]) -> str:
    """Return ``7 of 8``; "" of none."""
    return f"{numbers[0]} of {numbers[1]}" if numbers[1] else ""


def cells(row: Row) -> tuple[str, ...]:
    mutants = row.mutants.text if row.mutants.made else ""
    numbers = (of_how_many(row.gates), mutants, of_how_many(row.right))
    return (row.task, row.stage or "none", *numbers, f"{row.seconds:.0f}", state(row))


def write_markdown(path: Path, rows: Sequence[Row]) -> None:
    """Write ``RESULTS.md``: the table of the screen with each recipe's commit, then what went wrong on the way."""
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
        recipe = row.folder.recipe if row.folder else None
        about = (recipe.repository.commit[:12], str(recipe.minutes or "")) if recipe else ("", "")
        lines.append(f"| {' | '.join((*cells(row), *about))} |")
        remarks = [*(recipe.remarks if recipe else ()), problem(row)]
        if texts := [f"- {quoting.markdown(remark)}" for remark in remarks if remark]:
            sections += ["", f"## {row.task}", "", *texts]
    files.write_text(path, "\n".join([*lines, *sections]) + "\n")


def summary(rows: Sequence[Row]) -> Mapping[str, int]:
    words = [state(row) for row in rows]
    made_to = [word for word in dict.fromkeys(words) if word.startswith(MADE_TO)]
    return {word: words.count(word) for word in (*made_to, "sound", "not sound", "left out") if word in words}
