"""``lmr-author next``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import (
    NoInputOption,
    PythonOption,
    SandboxKind,
    SandboxOption,
    can_ask,
    default_tasks,
    where_options,
)


def next_step(
    context: typer.Context,
    place: Annotated[
        Path | None,
        typer.Option("--task", "-t", help="A task, or a folder of tasks; by default the current one."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="FILE::FUNCTION", help="What to mask, when that is next."),
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", metavar="NAME", help="Who reviews, when that is next.")
    ] = None,
    verdict: Annotated[
        str | None,
        typer.Option("--verdict", metavar="pass|fail", help="The decision, when a dispute is next."),
    ] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Why, when a dispute is next.")] = None,
    sandbox: SandboxOption = SandboxKind.local,
    python: PythonOption = None,
    show: Annotated[bool, typer.Option("--show", help="Print the command, and do not run it.")] = False,
    no_input: NoInputOption = False,
) -> int:
    """Run the next command of a task, as `status` shows it; ask for what only a person knows."""
    from lmr_author.cli import app, render
    from lmr_author.errors import EXIT_CLEAN, UsageError
    from lmr_author.reporting import next_step as workflow
    from lmr_author.reporting.status import DRIVER, REASON, REVIEWER, TARGET, VERDICT
    from lmr_author.task import Task

    step = workflow.next_step(Task.find_all(place or default_tasks()))
    if step is None:
        render.console().print("nothing is left to do: every task is accepted")
        return EXIT_CLEAN
    driver = shlex.join(context.args) or None
    given = {TARGET: target, REVIEWER: reviewer, DRIVER: driver, VERDICT: verdict, REASON: reason}
    step = step.filled({name: value for name, value in given.items() if value is not None})
    step = step.running(where_options(sandbox, python))
    if show:
        print(step.typed)
        return EXIT_CLEAN
    if step.missing and not can_ask(no_input):
        wanted = workflow.MISSING[step.missing[0]]
        raise UsageError(f"{step.task}: {step.note}, and something is missing for it", f"add {wanted.option}")
    step = step.filled({name: _asked(name) for name in step.missing})
    render.console().print(f"{step.task}: {step.note}\n$ {step.typed}", markup=False, soft_wrap=True)
    return app.run([*step.arguments, *(["--no-input"] if no_input and _asks(step.arguments[0]) else [])])


def _asked(name: str) -> str:
    """What a person says for a placeholder; ``mask`` asks for its target itself."""
    from lmr_author.cli import ask
    from lmr_author.reporting.next_step import MISSING
    from lmr_author.reporting.status import TARGET

    answer = ""
    while name != TARGET and not answer:
        answer = ask.text(MISSING[name].question)
    return answer


def _asks(verb: str) -> bool:
    """Whether a verb has ``--no-input``."""
    return verb in ("mask", "review")
