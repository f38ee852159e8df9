"""``lmr-author evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import (
    BaseImageOption,
    Format,
    FormatOption,
    PythonOption,
    SandboxKind,
    SandboxOption,
    default_tasks,
    print_json,
)


def evaluate(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH…", help="Tasks, or a folder of them.")
    ] = None,
    sandbox: SandboxOption = SandboxKind.local,
    python: PythonOption = None,
    base_image: BaseImageOption = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, max=100, help="How often the golden is run.")
    ] = 3,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds one case may take.")] = 60.0,
    mutants: Annotated[
        int, typer.Option("--mutants", min=0, help="Mutants tried of each implementation, at most.")
    ] = 100,
    accept_mutant: Annotated[
        str | None,
        typer.Option("--accept-mutant", metavar="ID", help="Record that a surviving mutant is equivalent."),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why it is; with --accept-mutant.")] = "",
    output: FormatOption = Format.text,
) -> int:
    """Prove by running that a task is sound; exit code 0 only if every gate holds."""
    from lmr_author.cli import render_runs
    from lmr_author.cli.render import progress
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
    from lmr_author.taskdir import TaskDir
    from lmr_author.workflow import evaluate as workflow

    options = workflow.EvaluateOptions(sandbox.value, python, base_image, repeats, timeout, mutants)
    tasks = [task for path in paths or [default_tasks()] for task in TaskDir.find_all(path)]
    if accept_mutant is not None:
        if len(tasks) != 1:
            raise UsageError(f"--accept-mutant is for one task, not {len(tasks)}", "name the task")
        render_runs.accepted_mutant(accept_mutant, workflow.accept_mutant(tasks[0], accept_mutant, reason))
        return EXIT_CLEAN
    results = []
    for task in tasks:
        show = render_runs.GateTable(task.name, quiet=output is Format.json)
        with progress(f"evaluating {task.name}") as say:
            results.append(workflow.evaluate(task, options, say, show))
        show.end(results[-1])
    if output is Format.json:
        documents = [{"task": item.task.name, **item.to_json()} for item in results]
        print_json({"tasks": documents, "passed": all(item.passed for item in results)})
    return EXIT_CLEAN if all(item.passed for item in results) else EXIT_FINDINGS
