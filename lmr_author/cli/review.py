"""``lmr-author review``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lmr_author.cli.common import Format, FormatOption, NoInputOption, can_ask, print_json


def review(
    task: Annotated[
        Path | None, typer.Argument(metavar="TASK", help="The task; by default the current one.")
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", help="Your name, as the sign-off is stored.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="JSON file with the answers, instead of being asked.")
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print an answers file to fill in, and stop.")
    ] = False,
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Go through the checklist and sign off; the sign-off falls when the task changes."""
    from lmr_author.cli import render_runs
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
    from lmr_author.review import checklist
    from lmr_author.taskdir import TaskDir
    from lmr_author.workflow import review as workflow

    if template:
        print_json(checklist.template())
        return EXIT_CLEAN
    folder = TaskDir.find(task or Path.cwd())
    if not reviewer:
        raise UsageError("no reviewer named", "add --reviewer NAME")
    given: dict[str, Any] = dict(workflow.read_answers(answers)) if answers else {}
    if not answers:
        if not can_ask(no_input):
            raise UsageError(
                "no answers given", "add --answers FILE (see --template), or run it in a terminal"
            )
        render_runs.checklist_items(workflow.automatic(folder))
        given = _ask()
    result = workflow.review(folder, reviewer, given)
    if output is Format.json:
        print_json({"task": folder.name, "reviewer": reviewer, "signed_off": result.signed_off,
                    "items": [item.to_json() for item in result.items]})  # fmt: skip
    else:
        render_runs.review_result(result)
    return EXIT_CLEAN if result.signed_off else EXIT_FINDINGS


def _ask() -> dict[str, Any]:
    from lmr_author.cli import ask
    from lmr_author.review import checklist

    given = {}
    for item in checklist.HUMAN:
        answer = ask.choice(f"{item.question}  ({item.look_at})", list(checklist.ANSWERS))
        comment = ""
        while answer != "pass" and not comment:
            comment = ask.text("Why?")
        given[item.id] = {"answer": answer, "comment": comment}
    return given
