"""``lmr-author validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import Format, FormatOption, default_tasks, print_json


def validate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]…",
            help="Tasks, or folders of tasks; by default the current one.",
            show_default=False,
        ),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select", metavar="CODES", help="Only these checks: LMR401, or LMR4 for a group; repeatable."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="CODES", help="Without these checks; repeatable.")
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            "--accept", metavar="CODE[:PATH]", help="Accept a finding of one task, with --reason; repeatable."
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", help="Why what is accepted is no problem; kept in authoring/.")
    ] = "",
    output: FormatOption = Format.text,
) -> int:
    """Static checks: everything that can be seen to be wrong without running, in milliseconds."""
    from lmr_author.cli import render
    from lmr_author.cli.render_findings import render_findings
    from lmr_author.taskdir import TaskDir
    from lmr_author.validation.accept import accept_findings
    from lmr_author.validation.run import select_checks
    from lmr_author.validation.run import validate as run

    checks = select_checks(select or (), ignore or ())
    found = [task for path in paths or [default_tasks()] for task in TaskDir.find_all(path)]
    tasks = list({task.root.resolve(): task for task in found}.values())
    with render.progress("validating") as say:
        report = run(tasks, checks, lambda task: say(f"validated {task.task}"))
        if accept or reason:
            accept_findings(tasks, report, accept or (), reason)
            report = run(tasks, checks)
    if output is Format.json:
        print_json(report.to_json())
    else:
        render_findings(report)
    return 0 if report.clean else 1
