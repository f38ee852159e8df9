"""``lmr-author validate``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import ReasonOption, TasksArgument, default_tasks
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from lmr_author.core.task import Severity
from lmr_author.core.texts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmr_author.core.task import Task
    from lmr_author.proof.checks.base import Check
    from lmr_author.proof.validation.repair import RepairPlan
    from lmr_author.proof.validation.report import Report


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
        list[str] | None, Option(help="Only these checks: LMR401, or LMR4 for a group.")
    ] = None,
    ignore: Annotated[list[str] | None, Option(help="Without these checks.")] = None,
    severity: Annotated[Severity, Option(help="The least severity that counts.")] = Severity.NOTE,
    accept: Annotated[
        list[str] | None, Option(metavar="CODE[:PATH]", help="Accept a finding, with --reason.")
    ] = None,
    reason: ReasonOption = "",
    fix: Annotated[bool, Option("--fix", help="Apply fixes that have only one correct form.")] = False,
    diff: Annotated[bool, Option("--diff", help="Show the changes of --fix.")] = False,
    output: Annotated[
        ReportFormat,
        Option("--format", "-f", help="text for people; json, sarif, github, junit for programs."),
    ] = ReportFormat.text,
    jobs: Annotated[
        int | None, Option("--jobs", "-j", min=1, help="Processes; by default one per processor.")
    ] = None,
) -> int:
    """Check tasks statically: report every defect that can be seen without running anything."""
    from lmr_author.core.task import tasks_at
    from lmr_author.proof.validation.report import accept_findings
    from lmr_author.proof.validation.run import processors, select_checks
    from lmr_author.proof.validation.run import validate as run_checks

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
    if fix or diff:
        plans = _repair(report, fix=fix, as_diff=diff)
        if fix and plans:
            report = run().at_least(severity)
    if diff and not fix:
        _say_what_fix_does(plans, paths or [])
    else:
        _print(report, output, checks)
        if output is ReportFormat.text and report.clean:  # otherwise the findings end with what to do
            _then(tasks, paths or [])
    return EXIT_CLEAN if report.clean else EXIT_FINDINGS


def _repair(report: Report, *, fix: bool, as_diff: bool) -> Sequence[RepairPlan]:
    """Show what ``--fix`` changes, task by task, and change it if ``fix``."""
    from lmr_author.proof.validation.repair import plan

    plans = plan(report)
    for repairs in plans:
        if fix:
            repairs.apply()
        _show_repairs(repairs, as_diff=as_diff)
    return plans


def _then(tasks: Sequence[Task], paths: Sequence[Path]) -> None:
    if len(tasks) == 1:
        ui.then("next", *ui.repeated("--task", paths), stderr=False)
    else:
        ui.then("status", *paths, stderr=False)


def _show_repairs(repairs: RepairPlan, *, as_diff: bool) -> None:
    if as_diff:
        ui.diff(repairs.diff(), stderr=False)
        return
    for change in repairs.changes:
        verb = "changed" if change.after is not None else "moved to authoring/removed/:"
        ui.say(f"{verb} {repairs.name}/{change.shown}")


def _say_what_fix_does(plans: Sequence[RepairPlan], paths: Sequence[Path]) -> None:
    changes = sum(len(plan_of_task.changes) for plan_of_task in plans)
    if changes:
        tasks = counted(len(plans), "task")
        ui.say(f"{counted(changes, 'change')} to {tasks}; --fix keeps a copy of each file")
        ui.then("validate", "--fix", *paths)
    else:
        ui.say("nothing can be fixed automatically")
        ui.then("validate", *paths)


def _print(report: Report, output: ReportFormat, checks: Sequence[Check]) -> None:
    from lmr_author.cli.findings import print_findings
    from lmr_author.proof.validation import formats

    if output is ReportFormat.json:
        ui.print_json(report.to_json())
    elif output is ReportFormat.text:
        print_findings(report)
    elif output is ReportFormat.sarif:
        ui.print_json(formats.sarif(report, Path.cwd()))
    elif output is ReportFormat.junit:
        print(formats.junit(report, checks), end="")
    else:
        for line in formats.github(report, Path.cwd()):
            print(line)
