"""``lmr-author validate``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import default_tasks, print_json
from lmr_author.model import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmr_author.checks.base import Check
    from lmr_author.validation.report import Report


class ReportFormat(StrEnum):
    """How a validation is printed."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    junit = "junit"


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
    severity: Annotated[
        Severity, typer.Option("--severity", help="Only what is at least this bad; the rest does not count.")
    ] = Severity.NOTE,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            "--accept", metavar="CODE[:PATH]", help="Accept a finding of one task, with --reason; repeatable."
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", help="Why what is accepted is no problem; kept in authoring/.")
    ] = "",
    output: Annotated[
        ReportFormat,
        typer.Option("--format", "-f", help="text for people; json, sarif, github, junit for programs."),
    ] = ReportFormat.text,
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
    report = report.at_least(severity)
    _print(report, output, checks)
    return 0 if report.clean else 1


def _print(report: Report, output: ReportFormat, checks: Sequence[Check]) -> None:
    """The report on stdout, alone."""
    if output is ReportFormat.json:
        print_json(report.to_json())
    elif output is ReportFormat.sarif:
        from lmr_author.validation.formats.sarif import sarif

        print_json(sarif(report, Path.cwd()))
    elif output is ReportFormat.junit:
        from lmr_author.validation.formats.junit import junit

        print(junit(report, checks), end="")
    elif output is ReportFormat.github:
        from lmr_author.validation.formats.github import github

        for line in github(report, Path.cwd()):
            print(line)
    else:
        from lmr_author.cli.render_findings import render_findings

        render_findings(report)
