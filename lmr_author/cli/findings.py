"""Print findings: errors first, each with a location that a terminal opens, and the lines in question."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli import ui
from lmr_author.cli.ui import one_line, wrapped
from lmr_author.core.texts import counted

if TYPE_CHECKING:
    from lmr_author.core.task import Finding
    from lmr_author.proof.leaks import Leak
    from lmr_author.proof.validation.report import Places, Position, Property, Report, TaskReport

WIDE = 120
"""Columns of a report without a terminal, or in a wider one: longer lines are hard to read."""
SHOWN_LINES = 3
"""Lines shown of a finding that spans more."""
MOST_DIFF = 14
"""Lines shown of the difference between a leak and the golden."""
LEAKS = ("LMR403", "LMR404")
"""Checks that find the solution's code, which is shown beside the golden's."""
SEVERITIES = ("error", "warning", "note")
"""The worst first."""
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
"""Regular expression → style of its matches."""


def print_findings(report: Report) -> None:
    """Print a report to stdout; the last line is the next command."""
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
        yield from wrapped(one_line(text), width, _INDENT)
        yield from _below("reason", entry.reason + ui.framed(" (", entry.by, ")"), width)
    if task.accepted:
        yield ""


def _leaks(task: TaskReport) -> dict[tuple[str, str], Leak]:
    """Return the likest place of each file that contains a solution, by code and path."""
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
    text = f"{where}: {finding.severity.value} {finding.code}: {one_line(message)}"
    yield from wrapped(text, width, _INDENT)
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
        yield from wrapped(f"{'':{_INDENT}}{head}: {one_line(text)}", width, _INDENT)


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
        yield from wrapped(one_line(f"  {each.name:<18} {words[each.holds]}{why}"), width, 21)


def _counted_properties(table: Sequence[Sequence[Property]], tasks: int, width: int) -> Iterator[str]:
    if not table or any(each.holds is None for each in table[0]):
        return
    counts = []
    for column in zip(*table, strict=True):
        holding = sum(bool(each.holds) for each in column)
        counts.append(f"{column[0].name} {holding}")
    yield from wrapped(f"LMR-Bench requirements, of {tasks} tasks: {', '.join(counts)}", width, 2)


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
            yield from wrapped(f"{count:>4} × {code} {title}", width, 14)
    counts = [counted(summary[f"{key}s"], key) for key in SEVERITIES if summary[f"{key}s"]]
    clean = f", {summary['clean']} clean" if summary["tasks"] > 1 else ""
    yield f"{tasks} checked{clean}: {', '.join(counts)}{accepted}"


def _next(report: Report, width: int) -> Iterator[str]:
    if report.clean:
        if report.findings:
            yield "notes need no action"
        return
    codes = {severity: Counter[str]() for severity in SEVERITIES}
    for finding in report.findings:
        codes[finding.severity.value][finding.code] += 1
    worst = next(severity for severity in SEVERITIES if codes[severity])
    yield from wrapped(f"start with the {worst}s, then validate again", width, 2)
    yield f"next: lmr-author explain {codes[worst].most_common(1)[0][0]}"


def _path(task: TaskReport, finding: Finding) -> str:
    """Return the file relative to the current folder if it lies below it, else absolute, so that it can be clicked."""
    path = os.path.normpath(Path.cwd() / task.path / finding.path)
    below = os.path.relpath(path)
    return one_line(path if below.startswith("..") else below)


def _cut(text: str, room: int) -> str:
    from rich.cells import cell_len, set_cell_size

    whole = one_line(text.rstrip().expandtabs(4))
    return whole if cell_len(whole) <= room else set_cell_size(whole, room - 1) + "…"
