"""``lmr-author record``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import (
    BaseImageOption,
    PythonOption,
    SandboxKind,
    SandboxOption,
    TaskOption,
    can_ask,
    current_task,
    where_options,
)

if TYPE_CHECKING:
    from lmr_author.recording.record import RecordOptions, RecordResult
    from lmr_author.recording.tolerance import Widened
    from lmr_author.task import Task


def record(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help="The masked function; may be left out when there is one."),
    ] = None,
    from_tests: Annotated[
        bool,
        typer.Option(
            "--from-tests", help="Let the repository's tests call it; what follows -- goes to pytest."
        ),
    ] = False,
    from_example: Annotated[
        list[str] | None,
        typer.Option(
            "--from-example", metavar="CALL", help="A call to record, as f(torch.randn(4)); repeatable."
        ),
    ] = None,
    vary: Annotated[bool, typer.Option("--vary", help="Try variations of the recorded inputs too.")] = False,
    check: Annotated[
        list[str] | None,
        typer.Option(
            "--check", metavar="PATH=KIND", help="How a part is compared, as value[0]=set; repeatable."
        ),
    ] = None,
    gradients: Annotated[
        bool,
        typer.Option("--gradients", help="Compare (PyTorch's) gradients with respect to the inputs too."),
    ] = False,
    cases: Annotated[
        int, typer.Option("--cases", min=1, max=50, help="Cases to keep; a few more where they help.")
    ] = 3,
    sandbox: SandboxOption = SandboxKind.local,
    python: PythonOption = None,
    base_image: BaseImageOption = None,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds the command may run.")] = 600.0,
    max_mb: Annotated[float, typer.Option("--max-mb", min=0.001, help="Largest recorded call, in MB.")] = 8.0,
    max_total_mb: Annotated[
        float, typer.Option("--max-total-mb", min=0.001, help="Largest size of all cases of the task, in MB.")
    ] = 32.0,
    yes: Annotated[
        bool,
        typer.Option("--yes", "--no-input", "-y", help="Never ask: take tolerances that had to be widened."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a recording; the old one is kept.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Take what the same command left when it was cut short.")
    ] = False,
    task: TaskOption = None,
) -> int:
    """Record real calls of the golden into cases and a unit test: record TARGET -- python driver.py …"""
    from lmr_author.cli import render_record
    from lmr_author.recording import record as workflow

    target, command = _words(target, context.args)
    options = workflow.RecordOptions(
        target=target,
        command=command,
        cases=cases,
        sandbox=sandbox.value,
        python=python,
        base_image=base_image,
        seconds=timeout,
        max_mb=max_mb,
        max_total_mb=max_total_mb,
        force=force,
        resume=resume,
        from_tests=from_tests,
        examples=tuple(from_example or ()),
        vary=vary,
        checks=tuple(check or ()),
        gradients=gradients,
    )
    result = _recorded(current_task(task), options, asking=can_ask(yes))
    where = where_options(sandbox, python, base_image)
    render_record.record_result(result, [str(task)] if task else [], where)
    return 0


def _recorded(folder: Task, options: RecordOptions, *, asking: bool) -> RecordResult:
    """Record; a person is asked about wide tolerances, and told of what Ctrl-C leaves to go on with."""
    from lmr_author.cli import render_record
    from lmr_author.cli.render import progress
    from lmr_author.recording import record as workflow

    try:
        with progress("recording") as say:

            def agree(wide: Sequence[Widened]) -> bool:
                with say.paused():
                    return render_record.agree_to_tolerances(wide)

            return workflow.record(
                folder, options, Path.cwd(), say, agree if asking else None, render_record.where_it_runs
            )
    except KeyboardInterrupt:
        if any(folder.run_folder(0).parent.glob("*/out/**/meta.json")):
            render_record.cut_short()
        raise


def _words(target: str | None, rest: list[str]) -> tuple[str | None, tuple[str, ...]]:
    """Return target and command."""
    if target is not None and "::" not in target:
        # `record -- python driver.py`: the parser cannot know that the first word is the command's.
        return None, (target, *rest)
    return target, tuple(rest)
