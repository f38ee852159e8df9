"""``lmr-author validate``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    PlaceOption,
    ReasonOption,
    TasksArgument,
    all_named,
    complete_check,
    default_tasks,
)
from lmr_author.cli.status import show_next
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS
from lmr_author.core.task import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmr_author.core.task import Task
    from lmr_author.proof.validation.report import Report


class ReportFormat(StrEnum):
    """Format of the report."""

    text = "text"
    json = "json"
    github = "github"


def validate(
    words: TasksArgument = None,
    select: Annotated[
        list[str] | None,
        Option(
            metavar="CODE",
            autocompletion=complete_check,
            help="Only these checks: LMR401, or LMR4 for a group.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        Option(metavar="CODE", autocompletion=complete_check, help="Without these checks."),
    ] = None,
    severity: Annotated[Severity, Option(help="The least severity that counts.")] = Severity.NOTE,
    accept: Annotated[
        list[str] | None, Option(metavar="CODE[:PATH]", help="Accept a finding, with --reason.")
    ] = None,
    reason: ReasonOption = "",
    output: Annotated[
        ReportFormat,
        Option("--format", "-f", help="text for people; json for programs, github for GitHub Actions."),
    ] = ReportFormat.text,
    jobs: Annotated[
        int | None, Option("--jobs", "-j", min=1, help="Processes; by default one per processor.")
    ] = None,
    task: PlaceOption = None,
) -> int:
    """Check tasks statically: report every defect that can be seen without running anything."""
    from lmr_author.core.task import tasks_at
    from lmr_author.proof.validation.report import accept_findings
    from lmr_author.proof.validation.run import processors, select_checks
    from lmr_author.proof.validation.run import validate as run_checks

    checks = select_checks(select or (), ignore or ())
    paths = all_named(words, task)
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
    _print(report, output)
    if output is ReportFormat.text and report.clean:  # otherwise the findings end with what to do
        _then(tasks, paths)
    return EXIT_CLEAN if report.clean else EXIT_FINDINGS


def _then(tasks: Sequence[Task], paths: Sequence[Path]) -> None:
    if len(tasks) == 1:
        show_next(tasks[0], stderr=False)
    else:
        ui.then("status", *paths, stderr=False)


def _print(report: Report, output: ReportFormat) -> None:
    from lmr_author.cli.findings import print_findings
    from lmr_author.proof.validation.report import github

    if output is ReportFormat.json:
        ui.print_json(report.to_json())
    elif output is ReportFormat.text:
        print_findings(report)
    else:
        for line in github(report, Path.cwd()):
            print(line)
