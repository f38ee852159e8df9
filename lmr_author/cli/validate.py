"""``lmr-author validate``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import PlaceOption, ReasonOption, TasksArgument, complete_check, named_tasks
from lmr_author.cli.status import show_next
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS
from lmr_author.core.task import Severity
from lmr_author.core.texts import counted

if TYPE_CHECKING:
    from lmr_author.core.task import Finding, Task
    from lmr_author.proof.leaks import Leak
    from lmr_author.proof.validation.report import Places, Position, Property, Report, TaskReport


class ReportFormat(StrEnum):
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
            help="Only these checks: LMR401, or a group: LMR4, leaks.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, Option(metavar="CODE", autocompletion=complete_check, help="Skip these checks.")
    ] = None,
    severity: Annotated[Severity, Option(help="Report nothing less severe.")] = Severity.NOTE,
    accept: Annotated[
        list[str] | None,
        Option(
            metavar="CODE[:PATH]", autocompletion=complete_check, help="Accept a finding; needs --reason."
        ),
    ] = None,
    reason: ReasonOption = "",
    output: Annotated[
        ReportFormat,
        Option("--format", "-f", help="text for people, json for programs, github for GitHub Actions."),
    ] = ReportFormat.text,
    jobs: Annotated[
        int | None, Option("--jobs", "-j", min=1, help="Processes; by default one per CPU.")
    ] = None,
    task: PlaceOption = None,
) -> int:
    """Check tasks statically: report defects without running any code."""
    from lmr_author.proof.validation.report import accept_findings
    from lmr_author.proof.validation.run import processors, select_checks
    from lmr_author.proof.validation.run import validate as run_checks

    checks = select_checks(select or (), ignore or ())
    paths, tasks = named_tasks(words, task)

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
    from lmr_author.proof.validation.report import github

    if output is ReportFormat.json:
        ui.print_json(report.to_json())
    elif output is ReportFormat.text:
        print_findings(report)
    else:
        for line in github(report, Path.cwd()):
            print(line)


# Findings as text: errors first, each with a location that a terminal opens, and the lines in question

WIDE = 120
"""Columns of a report without a terminal, or in a wider one: longer lines are hard to read."""
SHOWN_LINES = 3
MOST_DIFF = 14
LEAKS = ("LMR403", "LMR404")
"""Checks that find the solution's code, which is shown beside the golden's."""
SEVERITIES = ("error", "warning", "note")
_INDENT = 6
_STYLES = {
    r"^\S.*?(?=: (error|warning|note) [A-Z]{3}\d)": "underline",
    r"(?<=: )error(?= [A-Z]{3}\d)": "bold red",
    r"(?<=: )warning(?= [A-Z]{3}\d)": "yellow",
    r"(?<=: )note(?= [A-Z]{3}\d)|^ {6}(hint|reason):": "cyan",
    r"^ +(\d+|…)? \|": "dim",
    r"^ {6}\+.*": "green",
    r"^ {6}-.*": "red",
    r"^No problems found.*|^  \D{18} yes": "green",
}


def print_findings(report: Report) -> None:
    screen = ui.console(stderr=False)
    width = max(40, min(WIDE, screen.width)) if screen.is_terminal else WIDE
    for line in findings_text(report, width=width):
        ui.say(line, stderr=False, whole=True, styles=_STYLES)


def findings_text(report: Report, *, width: int = WIDE) -> Iterator[str]:
    """Yield the lines of a report, none wider than ``width`` unless a word, a location or a command is."""
    for task in report.tasks:
        yield from _of_task(task, width)
    properties = [task.properties for task in report.tasks if task.properties]
    if len(report.tasks) > 1:
        yield from _counted_properties(properties, len(report.tasks), width)
    elif properties:
        yield from _properties(properties[0], width)
    yield from _summary(report, width)
    yield from _next(report, width)


def _of_task(task: TaskReport, width: int) -> Iterator[str]:
    from lmr_author.proof.validation.report import Places

    places = Places(task.directory)
    leaks = _leaks(task) if any(finding.code in LEAKS for finding in task.findings) else {}
    for finding in task.findings:
        yield from _finding(task, finding, places, width, leaks.get((finding.code, finding.path)))
    if task.findings:
        yield ""
    for finding, entry in task.accepted:
        pointer = ui.framed(" (", finding.pointer, ")")
        text = f"{_path(task, finding)}{pointer}: accepted {finding.code}: {finding.message}"
        yield from ui.wrapped(ui.one_line(text), width, _INDENT)
        yield from _below("reason", entry.reason + ui.framed(" (", entry.by, ")"), width)
    if task.accepted:
        yield ""


def _leaks(task: TaskReport) -> dict[tuple[str, str], Leak]:
    from lmr_author.proof.contents import TaskContents
    from lmr_author.proof.leaks.tree import search

    contents = TaskContents(task.directory)
    found = [leak for leak in search(contents) if leak.code in LEAKS]
    return {(leak.code, contents.relative(leak.file(contents))): leak.places[0] for leak in found}


def _finding(
    task: TaskReport, finding: Finding, places: Places, width: int, leak: Leak | None
) -> Iterator[str]:
    """Yield ``file:line: severity code: message`` and, below it, the lines in question and the hint."""
    position = places.of(finding)
    where, message = _path(task, finding), finding.message
    if position is not None:
        where += f":{position.first}"
    elif finding.pointer:
        message = f"{finding.pointer}: {message}"
    if finding.implementation is not None and places.several:
        message += f" [implementation {finding.implementation}]"
    text = f"{where}: {finding.severity.value} {finding.code}: {ui.one_line(message)}"
    yield from ui.wrapped(text, width, _INDENT)
    if position is not None and position.lines[0].strip() not in ("{", "["):
        yield from _excerpt(position, width)
    if leak is not None:
        lines = [line for line in leak.diff.splitlines()[2:] if not line.startswith("@@")]
        yield f"{'':{_INDENT}}{'the golden (-) and this code (+):' if lines else 'identical to the golden'}"
        yield from (f"{'':{_INDENT}}{_cut(line, width - _INDENT)}" for line in lines[:MOST_DIFF])
        if len(lines) > MOST_DIFF:
            yield f"{'':{_INDENT}}… {len(lines) - MOST_DIFF} more lines: `lmr-author mask --leaks` shows them"
    yield from _below("hint", finding.hint, width)


def _below(head: str, text: str, width: int) -> Iterator[str]:
    if text:
        yield from ui.wrapped(f"{'':{_INDENT}}{head}: {ui.one_line(text)}", width, _INDENT)


def _excerpt(position: Position, width: int) -> Iterator[str]:
    margin = max(_INDENT, len(str(position.last)))
    for number, text in enumerate(position.lines[:SHOWN_LINES], position.first):
        yield f"{number:>{margin}} | {_cut(text, width - margin - 3)}"
    if len(position.lines) > SHOWN_LINES:
        yield f"{'…':>{margin}} | to line {position.last}"


def _properties(properties: Sequence[Property], width: int) -> Iterator[str]:
    if all(each.holds is None for each in properties):
        return
    words = {True: "yes", False: "no", None: "not checked"}
    yield "LMR-Bench requirements:"
    for each in properties:
        why = ui.framed(" (", each.evidence, ")")
        yield from ui.wrapped(ui.one_line(f"  {each.name:<18} {words[each.holds]}{why}"), width, 21)


def _counted_properties(table: Sequence[Sequence[Property]], tasks: int, width: int) -> Iterator[str]:
    if not table or any(each.holds is None for each in table[0]):
        return
    counts = []
    for column in zip(*table, strict=True):
        holding = sum(bool(each.holds) for each in column)
        counts.append(f"{column[0].name} {holding}")
    yield from ui.wrapped(f"LMR-Bench requirements, of {tasks} tasks: {', '.join(counts)}", width, 2)


def _summary(report: Report, width: int) -> Iterator[str]:
    from lmr_author.proof.checks.registry import by_code

    summary = report.to_json()["summary"]
    tasks = counted(summary["tasks"], "task")
    accepted = ui.framed(" (", summary["accepted"], " accepted with a reason)")
    if not report.findings:
        yield f"No problems found in {tasks}{accepted}"
        return
    checks, several = by_code(), len(report.tasks) > 1
    for code, count in sorted(summary["by_code"].items(), key=lambda pair: (-pair[1], pair[0])):
        if count > 1 or several:  # of one task the message stands above
            title = checks[code].title if code in checks else "a check crashed"
            yield from ui.wrapped(f"{count:>4} × {code} {title}", width, 14)
    counts = [counted(summary[f"{key}s"], key) for key in SEVERITIES if summary[f"{key}s"]]
    if report.clean:
        yield f"No problems found in {tasks}; {', '.join(counts)}{accepted}"
        return
    clean = f", {summary['clean']} clean" if summary["tasks"] > 1 else ""
    yield f"{tasks} checked{clean}: {', '.join(counts)}{accepted}"


def _next(report: Report, width: int) -> Iterator[str]:
    if report.clean:
        return
    codes = {severity: Counter[str]() for severity in SEVERITIES}
    for finding in report.findings:
        codes[finding.severity.value][finding.code] += 1
    worst = next(severity for severity in SEVERITIES if codes[severity])
    yield from ui.wrapped(f"start with the {worst}s, then validate again", width, 2)
    yield f"next: lmr-author explain {codes[worst].most_common(1)[0][0]}"


def _path(task: TaskReport, finding: Finding) -> str:
    """Return the file relative to the current folder if it lies below it, else absolute, so that it can be clicked."""
    path = os.path.normpath(Path.cwd() / task.path / finding.path)
    below = os.path.relpath(path)
    return ui.one_line(path if below.startswith("..") else below)


def _cut(text: str, room: int) -> str:
    from rich.cells import cell_len, set_cell_size

    whole = ui.one_line(text.rstrip().expandtabs(4))
    return whole if cell_len(whole) <= room else set_cell_size(whole, room - 1) + "…"
