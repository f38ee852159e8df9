"""``lmr-author review``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmr_author.cli.common import (
    Format,
    FormatOption,
    NoInputOption,
    can_ask,
    default_tasks,
    print_json,
)

if TYPE_CHECKING:
    from lmr_author.review.checklist import Checklist
    from lmr_author.task import Task


def review(
    task: Annotated[
        Path | None,
        typer.Argument(
            metavar="TASK",
            help="The task (with --queue and --results also a folder of tasks); by default the current one.",
        ),
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", help="Your name, as the sign-off is stored.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="YAML or JSON file with the answers, instead of being asked."),
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print an answers file to fill in, and stop.")
    ] = False,
    checklist: Annotated[
        Path | None,
        typer.Option(
            "--checklist",
            metavar="FILE",
            help="Your lab's own list, YAML or JSON; by default checklist.yaml beside the tasks, else ours.",
        ),
    ] = None,
    queue: Annotated[
        bool, typer.Option("--queue", help="Review every task that waits for you, one after the other.")
    ] = False,
    results: Annotated[
        bool, typer.Option("--results", help="Show agreement and disagreements, where all reviews are in.")
    ] = False,
    adjudicate: Annotated[
        str | None,
        typer.Option("--adjudicate", metavar="ITEM=pass|fail", help="Decide an item that is disputed."),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; with --adjudicate.")] = "",
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Go through the checklist and sign off; the sign-off falls when the task changes."""
    from lmr_author.errors import EXIT_CLEAN, UsageError
    from lmr_author.review import review as reviewing
    from lmr_author.task import Task

    if template:
        print_json(_template(task, checklist))
        return EXIT_CLEAN
    if results:
        return _results(Task.find_all(task or default_tasks()), checklist, output)
    if queue:
        tasks = Task.find_all(task or default_tasks())
        return _queue(tasks, _named(reviewer), checklist, can_ask(no_input), output)
    folder = Task.find(task or Path.cwd())
    name = _named(reviewer)
    if adjudicate is not None:
        item, _, answer = adjudicate.partition("=")
        reviewing.adjudicate(folder, item, answer, reason, name, checklist)
        return _results([folder], checklist, output)
    asked = reviewing.checklist_for(folder, checklist)
    if not answers and not can_ask(no_input):
        raise UsageError("no answers given", "add --answers FILE (see --template), or run it in a terminal")
    return _one(folder, name, asked, answers, output)


def _template(task: Path | None, checklist: Path | None) -> dict[str, Any]:
    """An answers file to fill in: of the list that is given, else of the task's, else of our own."""
    from lmr_author.errors import NotATaskError
    from lmr_author.review import review as reviewing
    from lmr_author.review.checklist import template
    from lmr_author.task import Task

    if checklist is not None:
        return template(reviewing.read_checklist(checklist).questions)
    try:
        folder = Task.find(task or Path.cwd())
    except NotATaskError:
        if task is not None:
            raise
        return template()
    return template(reviewing.checklist_for(folder).questions)


def _named(reviewer: str | None) -> str:
    from lmr_author.errors import UsageError

    if not reviewer:
        raise UsageError("no reviewer named", "add --reviewer NAME")
    return reviewer


def _one(task: Task, reviewer: str, asked: Checklist, answers: Path | None, output: Format) -> int:
    """One task's review: from a file, or asked here."""
    from lmr_author.cli import render_review, render_runs, review_dialogue
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
    from lmr_author.files import read_answers
    from lmr_author.review import review as reviewing
    from lmr_author.task.reviews import path_of_reviewer

    if answers:
        given = read_answers(answers, "--answers", "write one with `lmr-author review --template`")
    else:
        render_runs.checklist_items(reviewing.answer_automatic(task))
        draft = reviewing.DraftReview(task, reviewer)
        if draft.outdated is not None:
            render_review.outdated(draft.outdated)
        given = review_dialogue.answers(asked.questions, draft.answers, draft.keep)
    result = reviewing.save_review(task, reviewer, given, asked)
    if output is Format.json:
        print_json({"task": task.name, "reviewer": reviewer, "signed_off": result.signed_off,
                    "items": [item.to_json() for item in result.items]})  # fmt: skip
    else:
        render_runs.review_result(result, path_of_reviewer(task.reviews_folder, reviewer))
    return EXIT_CLEAN if result.signed_off else EXIT_FINDINGS


def _queue(tasks: Sequence[Task], reviewer: str, checklist: Path | None, asking: bool, output: Format) -> int:
    """Review what waits for a person; without a terminal only say what does."""
    from lmr_author.cli import render_review
    from lmr_author.errors import EXIT_CLEAN
    from lmr_author.review import review as reviewing

    waiting = reviewing.find_waiting(tasks, reviewer, checklist)
    if output is Format.json:
        print_json({"reviewer": reviewer, "waiting": [str(task.root) for task in waiting]})
        return EXIT_CLEAN
    render_review.queue(waiting, reviewer)
    for number, task in enumerate(waiting if asking else (), 1):
        render_review.turn(task, number, len(waiting))
        _one(task, reviewer, reviewing.checklist_for(task, checklist), None, output)
    return EXIT_CLEAN


def _results(tasks: Sequence[Task], checklist: Path | None, output: Format) -> int:
    """Agreement and disagreements; exit code 1 while something is disputed or rejected."""
    from lmr_author.cli import render_review
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
    from lmr_author.review import review as reviewing
    from lmr_author.review.standing import DISPUTED, REJECTED

    found = [reviewing.result_of(task, checklist) for task in tasks]
    total = reviewing.overall_agreement(tasks, checklist)
    if output is Format.json:
        print_json({"tasks": [render_review.as_json(one) for one in found], "overall": total.to_json()})
    else:
        render_review.results(found, total)
    bad = any(one.standing.state in (DISPUTED, REJECTED) for one in found)
    return EXIT_FINDINGS if bad else EXIT_CLEAN
