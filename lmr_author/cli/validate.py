"""``lmr-author validate``."""

from __future__ import annotations

import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import default_tasks, print_json
from lmr_author.errors import UsageError
from lmr_author.task import Severity
from lmr_author.texts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmr_author.checks.base import Check
    from lmr_author.validation.repair import Plan
    from lmr_author.validation.report import Report


class ReportFormat(StrEnum):
    """Format of the report."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    junit = "junit"


Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[PATH]…",
        help="Tasks, or folders of tasks; by default the current one.",
        show_default=False,
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select", metavar="CODES", help="Only these checks: LMR401, or LMR4 for a group; repeatable."
    ),
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", metavar="CODES", help="Without these checks; repeatable.")
]
Least = Annotated[
    Severity,
    typer.Option("--severity", help="Only findings that are at least this severe; the others do not count."),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(
        "--accept", metavar="CODE[:PATH]", help="Accept a finding of one task, with --reason; repeatable."
    ),
]
Reason = Annotated[
    str, typer.Option("--reason", help="Why the accepted finding is no problem; kept in authoring/.")
]
Fix = Annotated[
    bool,
    typer.Option(
        "--fix", help="Apply fixes that have only one correct form; a copy goes to authoring/removed/."
    ),
]
Diff = Annotated[
    bool,
    typer.Option("--diff", help="Show what --fix would change, and change nothing; with --fix, show it too."),
]
Format = Annotated[
    ReportFormat,
    typer.Option("--format", "-f", help="text for people; json, sarif, github, junit for programs."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", min=1, help="Processes at most; by default one per processor.", show_default=False
    ),
]


def validate(
    paths: Paths = None,
    select: Select = None,
    ignore: Ignore = None,
    severity: Least = Severity.NOTE,
    accept: Accept = None,
    reason: Reason = "",
    fix: Fix = False,
    diff: Diff = False,
    output: Format = ReportFormat.text,
    jobs: Jobs = None,
) -> int:
    """Check tasks statically: report every defect that can be seen without running anything."""
    from lmr_author.cli.render_diff import render_changes, render_plans
    from lmr_author.validation.repair import plan, repair
    from lmr_author.validation.report import accept_findings
    from lmr_author.validation.run import select_checks

    if diff and output is not ReportFormat.text:
        raise UsageError("--diff is text", "leave --format away, or --diff")
    checks = select_checks(select or (), ignore or ())
    run = _Run(paths or [default_tasks()], checks, jobs)
    report = run()
    if accept or reason:
        accept_findings(run.tasks, report, accept or (), reason)
        report = run()
    report = report.at_least(severity)
    if fix:
        report, done = repair(report, lambda: run().at_least(severity))
        (render_plans if diff else render_changes)(done)
    elif diff:
        _print_diff(plan(report))
        return 0 if report.clean else 1
    _print(report, output, checks)
    return 0 if report.clean else 1


class _Run:
    """Validates the tasks that were named, as often as it is called."""

    def __init__(self, paths: Sequence[Path], checks: Sequence[Check], jobs: int | None) -> None:
        from lmr_author.task import tasks_at
        from lmr_author.validation.run import processors

        self.tasks = tasks_at(paths)
        self._checks = checks
        self._jobs = jobs or processors()

    def __call__(self) -> Report:
        from lmr_author.cli import render
        from lmr_author.validation.run import validate as run

        with render.progress("validating") as say:
            done = iter(range(1, len(self.tasks) + 1))
            return run(
                self.tasks,
                self._checks,
                lambda task: say(f"validated {next(done)} of {len(self.tasks)} tasks: {task.task}"),
                jobs=self._jobs,
            )


def _print_diff(plans: Sequence[Plan]) -> None:
    """Print the changes on stdout, and what comes next on stderr."""
    from lmr_author.cli.render_diff import render_plans

    render_plans(plans)
    count = sum(len(one.changes) for one in plans)
    if count:
        said = f"{counted(count, 'change')} to {counted(len(plans), 'task')}"
        print(f"next: `lmr-author validate --fix` makes {said}; a copy of each is kept", file=sys.stderr)
    else:
        print("nothing can be fixed automatically; run it without --diff", file=sys.stderr)


def _print(report: Report, output: ReportFormat, checks: Sequence[Check]) -> None:
    """The report on stdout, alone, whatever characters a task has and a terminal lacks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if output is ReportFormat.json:
        print_json(report.to_json())
    elif output is ReportFormat.text:
        from lmr_author.cli.render_findings import render_findings

        render_findings(report)
    else:
        from lmr_author.validation import formats

        if output is ReportFormat.sarif:
            print_json(formats.sarif(report, Path.cwd()))
        elif output is ReportFormat.junit:
            print(formats.junit(report, checks), end="")
        else:
            for line in formats.github(report, Path.cwd()):
                print(line)
