"""``lmr-author validate``."""

from __future__ import annotations

import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import TasksArgument, default_tasks
from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from lmr_author.task import Severity
from lmr_author.texts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmr_author.checks.base import Check
    from lmr_author.validation.repair import RepairPlan
    from lmr_author.validation.report import Report


class ReportFormat(StrEnum):
    """Format of the report."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    junit = "junit"


def validate(
    paths: TasksArgument = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="CODES", help="Only these checks: LMR401, or LMR4 for a group; repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CODES", help="Without these checks; repeatable.")
    ] = None,
    severity: Annotated[
        Severity, typer.Option(help="Only findings of at least this severity; the others do not count.")
    ] = Severity.NOTE,
    accept: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE[:PATH]", help="Accept a finding of one task, with --reason; repeatable."),
    ] = None,
    reason: Annotated[
        str, typer.Option(help="Why the accepted finding is no problem; kept in authoring/.")
    ] = "",
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Apply fixes that have only one correct form; a copy goes to authoring/removed/."
        ),
    ] = False,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Only show the changes of --fix; with --fix, show them too."),
    ] = False,
    output: Annotated[
        ReportFormat,
        typer.Option("--format", "-f", help="text for people; json, sarif, github, junit for programs."),
    ] = ReportFormat.text,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Largest number of processes; by default one per processor."
        ),
    ] = None,
) -> int:
    """Check tasks statically: report every defect that can be seen without running anything."""
    from lmr_author.task import tasks_at
    from lmr_author.validation.repair import plan, repair
    from lmr_author.validation.report import accept_findings
    from lmr_author.validation.run import processors, select_checks
    from lmr_author.validation.run import validate as run_checks

    if diff and output is not ReportFormat.text:
        raise UsageError("--diff is text", "leave --format away, or --diff")
    checks = select_checks(select or (), ignore or ())
    tasks = tasks_at(paths or [default_tasks()])

    def run() -> Report:
        with ui.progress("validating") as progress:
            done = iter(range(1, len(tasks) + 1))
            return run_checks(
                tasks,
                checks,
                lambda name: progress(f"validated {next(done)} of {len(tasks)} tasks: {name}"),
                jobs=jobs or processors(),
            )

    report = run()
    if accept or reason:
        accept_findings(tasks, report, accept or (), reason)
        report = run()
    report = report.at_least(severity)
    if fix:
        report, done = repair(report, lambda: run().at_least(severity))
        if diff:
            _print_diff(done)
        for one in () if diff else done:
            for change in one.changes:
                verb = "changed" if change.after is not None else "moved to authoring/removed/:"
                ui.say(f"{verb} {one.name}/{change.shown}")
    elif diff:
        plans = plan(report)
        _print_diff(plans)
        _print_next(plans, paths or [])
        return EXIT_CLEAN if report.clean else EXIT_FINDINGS
    _print(report, output, checks)
    return EXIT_CLEAN if report.clean else EXIT_FINDINGS


def _print_diff(plans: Sequence[RepairPlan]) -> None:
    for one in plans:
        ui.diff(one.diff(), stderr=False)


def _print_next(plans: Sequence[RepairPlan], paths: Sequence[Path]) -> None:
    count = sum(len(one.changes) for one in plans)
    if count:
        ui.say(
            f"{counted(count, 'change')} to {counted(len(plans), 'task')}; --fix keeps a copy of each file"
        )
        ui.then("validate", "--fix", *paths)
    else:
        ui.say("nothing can be fixed automatically")
        ui.then("validate", *paths)


def _print(report: Report, output: ReportFormat, checks: Sequence[Check]) -> None:
    """Print the report on stdout, even where the terminal lacks its characters."""
    from lmr_author.cli.findings import print_findings
    from lmr_author.cli.ui import print_json
    from lmr_author.validation import formats

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if output is ReportFormat.json:
        print_json(report.to_json())
    elif output is ReportFormat.text:
        print_findings(report)
    elif output is ReportFormat.sarif:
        print_json(formats.sarif(report, Path.cwd()))
    elif output is ReportFormat.junit:
        print(formats.junit(report, checks), end="")
    else:
        for line in formats.github(report, Path.cwd()):
            print(line)
