"""``lmr-author score``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import Format, FormatOption, NoInputOption, can_ask, default_tasks, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmr_author.review.score import Candidate
    from lmr_author.task import Task

STOP = "stop here; the rest waits"


def score(
    task: Annotated[
        Path | None,
        typer.Argument(
            metavar="TASK", help="The task; with --predictions or --results also a folder of tasks."
        ),
    ] = None,
    candidate: Annotated[
        Path | None, typer.Option("--candidate", metavar="FILE", help="The candidate's Python file.")
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", metavar="FILE", help="Models' answers, as `evaluate` takes them."),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Answers of this model only.")
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", help="Your name, as the score is stored.")
    ] = None,
    grade: Annotated[
        str | None,
        typer.Option("--score", help="completely-correct, logically-correct or logically-incorrect."),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; with --score.")] = "",
    grades: Annotated[
        Path | None,
        typer.Option("--grades", metavar="FILE", help="YAML or JSON with grades of answers, by their names."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="List the answers that wait for your grade, and ask nothing.")
    ] = False,
    implementation: Annotated[
        int | None,
        typer.Option("--implementation", metavar="N", help="Which one, when the task has several."),
    ] = None,
    results: Annotated[
        bool,
        typer.Option(
            "--results", help="Show the agreement on what two people scored; with --predictions by model."
        ),
    ] = False,
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Grade candidate implementations by hand, as the benchmark's paper does; blind until two people did."""
    from lmr_author.errors import EXIT_CLEAN, UsageError
    from lmr_author.task import Task

    if results:
        _results(Task.find_all(task or default_tasks()), predictions, output)
        return EXIT_CLEAN
    if (candidate is None) == (predictions is None) or not reviewer:
        raise UsageError(
            "no candidate or no reviewer named",
            "add --candidate FILE or --predictions FILE, and --reviewer NAME",
        )
    asking = can_ask(no_input) and output is Format.text
    if candidate is not None:
        _one(
            Task.find(task or Path.cwd()),
            candidate,
            implementation,
            reviewer,
            grade,
            reason,
            asking,
            output,
        )
        return EXIT_CLEAN
    assert predictions is not None
    tasks = Task.find_all(task or default_tasks())
    _many(tasks, predictions, reviewer, model, grades, asking=asking and not show, show=show, output=output)
    return EXIT_CLEAN


def _many(
    tasks: Sequence[Task],
    predictions: Path,
    reviewer: str,
    model: str | None,
    grades: Path | None,
    *,
    asking: bool,
    show: bool,
    output: Format,
) -> None:
    """Grade what models answered, from a file of grades or by asking; then say what is left."""
    from lmr_author.errors import UsageError
    from lmr_author.review import score as grading

    left = grading.waiting(tasks, predictions, reviewer, model)
    if grades is not None:
        from lmr_author.files import read_answers

        grading.score_all(left, reviewer, read_answers(grades, "--grades"))
        left = grading.waiting(tasks, predictions, reviewer, model)
    elif asking:
        left = left[_ask_each(left, reviewer) :]
    elif not show:
        raise UsageError("no grades given", "add --grades FILE, or --list, or run it in a terminal")
    _left(left, output, show=show)


def _one(
    folder: Task,
    path: Path,
    implementation: int | None,
    reviewer: str,
    grade: str | None,
    reason: str,
    asking: bool,
    output: Format,
) -> None:
    """Grade the candidate of a file."""
    from lmr_author.cli import render_score
    from lmr_author.errors import UsageError
    from lmr_author.review import score as grading

    given = grading.candidate(folder, path, implementation)
    if grade is None:
        answer = _ask(given) if asking else None
        if answer is None:
            raise UsageError("no score given", "add --score GRADE --reason TEXT, or run it in a terminal")
        grade, reason = answer
    stored = grading.score(given, reviewer, grade, reason)
    if output is Format.json:
        print_json({"candidate": given.name, "sha256": given.sha256, "score": grade, "reviewer": reviewer})
    else:
        render_score.stored(given, grade, stored)


def _ask_each(left: Sequence[Candidate], reviewer: str) -> int:
    """Ask for one grade after the other, each stored at once; how many were given."""
    from lmr_author.cli import render_score
    from lmr_author.review import score as grading

    for number, given in enumerate(left, 1):
        render_score.place(number, len(left), given)
        answer = _ask(given, STOP)
        if answer is None:
            return number - 1
        render_score.stored(given, answer[0], grading.score(given, reviewer, *answer))
    return len(left)


def _ask(given: Candidate, stop: str | None = None) -> tuple[str, str] | None:
    """A grade and its justification; None when the person stops."""
    from lmr_author.cli import ask, render_score
    from lmr_author.task.reviews import GRADES

    render_score.difference(given)
    labels = {f"{name}: {meaning}": name for name, meaning in GRADES.items()}
    chosen = ask.choice("How good is it?", [*labels, *([stop] if stop else [])])
    if chosen == stop:
        return None
    why = ""
    while not why:
        why = ask.text("Why?")
    return labels[chosen], why


def _left(left: Sequence[Candidate], output: Format, *, show: bool) -> None:
    """What still waits for this person's grade."""
    from lmr_author.cli import render_score

    if output is Format.json:
        entries = [
            {
                "candidate": one.name,
                "task": one.task.name,
                "implementation": one.implementation.index,
                "text": one.text,
                "golden": one.golden,
            }
            for one in left
        ]
        print_json({"waiting": entries})
    else:
        render_score.waiting(left, every=show)


def _results(tasks: Sequence[Task], predictions: Path | None, output: Format) -> None:
    from lmr_author.cli import render_score
    from lmr_author.review import score as grading

    found = grading.scored(tasks, predictions)
    if output is Format.json:
        disputes = [{"candidate": name, "scores": dict(said)} for name, said in found.disputes]
        models = {name: dict(said) for name, said in sorted(found.models.items())}
        counted = {"agreement": found.agreement.to_json(), "hidden": found.hidden}
        print_json({**counted, "disputes": disputes, "models": models})
    else:
        render_score.results(found)
