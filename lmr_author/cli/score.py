"""``lmr-author score``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import Format, FormatOption, NoInputOption, can_ask, default_tasks, print_json

if TYPE_CHECKING:
    from lmr_author.workflow.score import Candidate


def score(
    task: Annotated[
        Path | None, typer.Argument(metavar="TASK", help="The task; with --results also a folder of tasks.")
    ] = None,
    candidate: Annotated[
        Path | None, typer.Option("--candidate", metavar="FILE", help="The candidate's Python file.")
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", help="Your name, as the score is stored.")
    ] = None,
    grade: Annotated[
        str | None,
        typer.Option("--score", help="completely-correct, logically-correct or logically-incorrect."),
    ] = None,
    because: Annotated[str, typer.Option("--because", metavar="TEXT", help="Why.")] = "",
    implementation: Annotated[
        int | None,
        typer.Option("--implementation", metavar="N", help="Which one, when the task has several."),
    ] = None,
    results: Annotated[
        bool, typer.Option("--results", help="Show the agreement on candidates that two people scored.")
    ] = False,
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Grade a candidate implementation by hand, as the benchmark's paper does; blind until two people did."""
    from lmr_author.cli import render_score
    from lmr_author.errors import EXIT_CLEAN, UsageError
    from lmr_author.taskdir import TaskDir
    from lmr_author.workflow import score as workflow

    if results:
        found = workflow.scored(TaskDir.find_all(task or default_tasks()))
        if output is Format.json:
            disputes = [{"candidate": name, "scores": dict(said)} for name, said in found.disputes]
            counted = {"agreement": found.agreement.to_json(), "hidden": found.hidden}
            print_json({**counted, "disputes": disputes})
        else:
            render_score.results(found)
        return EXIT_CLEAN
    if candidate is None or not reviewer:
        raise UsageError("no candidate or no reviewer named", "add --candidate FILE --reviewer NAME")
    folder = TaskDir.find(task or Path.cwd())
    given = workflow.candidate(folder, candidate, implementation)
    if grade is None:
        if not can_ask(no_input):
            raise UsageError("no score given", "add --score GRADE --because TEXT, or run it in a terminal")
        grade, because = _ask(given)
    path = workflow.score(folder, given, reviewer, grade, because)
    if output is Format.json:
        print_json({"candidate": given.name, "sha256": given.sha256, "score": grade, "reviewer": reviewer})
    else:
        render_score.stored(given, grade, path)
    return EXIT_CLEAN


def _ask(given: Candidate) -> tuple[str, str]:
    from lmr_author.cli import ask, render_score
    from lmr_author.review.scores import SCORES

    render_score.difference(given)
    labels = {f"{name}: {meaning}": name for name, meaning in SCORES.items()}
    grade = labels[ask.choice("How good is it?", list(labels))]
    why = ""
    while not why:
        why = ask.text("Why?")
    return grade, why
