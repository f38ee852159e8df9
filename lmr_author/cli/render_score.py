"""How the grading of candidates looks on a terminal."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli.render import console
from lmr_author.cli.render_review import agreement_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmr_author.review.score import Candidate, Scored


def difference(given: Candidate) -> None:
    """The candidate beside the golden, as a diff."""
    from rich.text import Text

    styles = {"+": "green", "-": "red"}
    lines = difflib.unified_diff(
        given.golden.splitlines(), given.text.splitlines(), "golden", given.name, lineterm="", n=8
    )
    screen = console()
    screen.print(f"{given.implementation.target}\n{given.implementation.instruction}\n", markup=False)
    for line in lines:
        screen.print(Text(line, styles.get(line[:1], "")))


def place(number: int, of: int, given: Candidate) -> None:
    """Which of how many candidates comes now."""
    console().rule(f"{number} of {of}: {given.name}, {given.task.name}", align="left")


def waiting(left: Sequence[Candidate], *, every: bool) -> None:
    """What still waits for a grade: how many, or every one."""
    screen = console()
    for one in left if every else ():
        screen.print(f"{one.name}  {one.task.name}  {one.implementation.target}", markup=False)
    many = f"{len(left)} answers wait for your grade"
    screen.print(many if len(left) != 1 else "1 answer waits for your grade", markup=False)


def stored(given: Candidate, grade: str, path: Path) -> None:
    """A grade was stored."""
    console().print(f"{given.name}: {grade} (stored in {path})", markup=False, soft_wrap=True)


def results(found: Scored) -> None:
    """The agreement, and who differs on what."""
    screen = console()
    for name, said in found.disputes:
        screen.print(f"disputed {name}: " + ", ".join(f"{who} {grade}" for who, grade in said), markup=False)
    if found.hidden:
        screen.print(f"{found.hidden} candidates are hidden until two people have scored them", markup=False)
    screen.print(agreement_line(found.agreement), markup=False)
    for model, counts in sorted(found.models.items()):
        counted = ", ".join(f"{grade} {count}" for grade, count in sorted(counts.items()))
        screen.print(f"{model}: {counted}", markup=False)
