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
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Read and check everything, also tasks that have not changed.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Processes at most; by default one a processor.", show_default=False
        ),
    ] = None,
) -> int:
    """Static checks: everything that can be seen to be wrong without running, in milliseconds."""
    from lmr_author.cli import render
    from lmr_author.cli.render_findings import render_findings
    from lmr_author.taskdir import TaskDir
    from lmr_author.validation.accept import accept_findings
    from lmr_author.validation.run import processors, select_checks
    from lmr_author.validation.run import validate as run
    from lmr_author.validation.store import Store

    checks = select_checks(select or (), ignore or ())
    found = [task for path in paths or [default_tasks()] for task in TaskDir.find_all(path)]
    tasks = list({task.root.resolve(): task for task in found}.values())
    store = None if no_cache else Store.of_user([check.code for check in checks])
    with render.progress("validating") as say:
        done = iter(range(1, len(tasks) + 1))
        report = run(
            tasks,
            checks,
            lambda task: say(f"validated {next(done)} of {len(tasks)} tasks: {task.task}"),
            store=store,
            jobs=jobs or processors(),
        )
        if accept or reason:
            accept_findings(tasks, report, accept or (), reason)
            report = run(tasks, checks, store=store)
    if output is Format.json:
        print_json(report.to_json())
    else:
        render_findings(report)
    return 0 if report.clean else 1
