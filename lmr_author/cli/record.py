"""``lmr-author record``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import (
    BaseImageOption,
    PythonOption,
    SandboxKind,
    SandboxOption,
    TaskOption,
    current_task,
)


def record(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help="The masked function; may be left out when there is one."),
    ] = None,
    from_tests: Annotated[
        bool,
        typer.Option("--from-tests", help="The repository's tests drive it; after --, words for pytest."),
    ] = False,
    from_example: Annotated[
        list[str] | None,
        typer.Option(
            "--from-example", metavar="CALL", help="A call to record, as f(torch.randn(4)); repeatable."
        ),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            "--import", metavar="FILE", help="Arguments from .pt, .npz, .json, .jsonl, .csv; repeatable."
        ),
    ] = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="NAME=WHERE", help="Which part of --import is an argument; repeatable."
        ),
    ] = None,
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Let files of --import run their code, in the sandbox.")
    ] = False,
    argument: Annotated[
        list[str] | None,
        typer.Option(
            "--argument",
            metavar="NAME=SPEC",
            help="Make inputs, as x=float32[batch,8] or beta=0.1; repeatable.",
        ),
    ] = None,
    vary: Annotated[bool, typer.Option("--vary", help="Try variations of the recorded inputs too.")] = False,
    check: Annotated[
        list[str] | None,
        typer.Option(
            "--check", metavar="PATH=KIND", help="How a part is compared, as value[0]=set; repeatable."
        ),
    ] = None,
    cases: Annotated[
        int, typer.Option("--cases", min=1, max=50, help="Cases to keep; a few more where they help.")
    ] = 3,
    sandbox: SandboxOption = SandboxKind.local,
    python: PythonOption = None,
    base_image: BaseImageOption = None,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds the command may run.")] = 600.0,
    max_mb: Annotated[float, typer.Option("--max-mb", min=0.001, help="Largest recorded call, in MB.")] = 8.0,
    force: Annotated[bool, typer.Option("--force", help="Replace a recording; the old one is kept.")] = False,
    task: TaskOption = None,
) -> int:
    """Record real calls of the golden into cases and a unit test: record TARGET -- python driver.py …"""
    from lmr_author.cli import render_runs
    from lmr_author.cli.render import progress
    from lmr_author.recording.drivers import Data
    from lmr_author.workflow import record as workflow

    command = list(context.args)
    if target is not None and "::" not in target:
        # `record -- python driver.py`: the parser cannot know that the first word is the command's.
        command, target = [target, *command], None
    options = workflow.RecordOptions(
        target=target,
        command=tuple(command),
        cases=cases,
        sandbox=sandbox.value,
        python=python,
        base_image=base_image,
        seconds=timeout,
        max_mb=max_mb,
        force=force,
        from_tests=from_tests,
        examples=tuple(from_example or ()),
        arguments=tuple(argument or ()),
        vary=vary,
        checks=tuple(check or ()),
        data=Data(tuple(data or ()), tuple(mapping or ()), allow_pickle),
    )
    folder = current_task(task)
    with progress("recording") as say:
        result = workflow.record(folder, options, Path.cwd(), say)
    render_runs.record_result(result)
    return 0
