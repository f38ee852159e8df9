"""Print findings: errors first, each with a location that a terminal opens, and the lines in question."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli import ui
from lmr_author.cli.ui import one_line, wrapped
from lmr_author.core.texts import counted

if TYPE_CHECKING:
    from lmr_author.core.task import Finding
    from lmr_author.proof.validation.report import Places, Position, Report, TaskReport

WIDE = 120
"""Columns of a report without a terminal, or in a wider one: longer lines are hard to read."""
SHOWN_LINES = 3
"""Lines shown of a finding that spans more."""
SEVERITIES = ("error", "warning", "note")
"""The worst first."""
_INDENT = 6
_STYLES = {
    r"^\S.*?(?=: (error|warning|note) [A-Z]{3}\d)": "underline",
    r"(?<=: )error(?= [A-Z]{3}\d)": "bold red",
    r"(?<=: )warning(?= [A-Z]{3}\d)": "yellow",
    r"(?<=: )note(?= [A-Z]{3}\d)|^ {6}(hint|reason):": "cyan",
    r"^ +(\d+|…)? \|": "dim",
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
    from lmr_author.proof.validation.report import Places

    for task in report.tasks:
        places = Places(task.directory)
        for finding in task.findings:
            yield from _finding(task, finding, places, width)
        if task.findings:
            yield ""
        for finding, entry in task.accepted:
            where = _path(task, finding) + (f" ({finding.pointer})" if finding.pointer else "")
            text = f"{where}: accepted {finding.code}: {finding.message}"
            yield from wrapped(one_line(text), width, _INDENT)
            yield from _below("reason", entry.reason + (f" ({entry.by})" if entry.by else ""), width)
        if task.accepted:
            yield ""
    yield from _properties(report, width)
    yield from _summary(report, width)
    yield from _next(report, width)


def _finding(task: TaskReport, finding: Finding, places: Places, width: int) -> Iterator[str]:
    """Yield ``file:line: severity code: message`` and, below it, the lines in question and the hint."""
    place = places.of(finding)
    where = _path(task, finding) + (f":{place.first}" if place else "")
    message = finding.message
    if finding.pointer and place is None:
        message = f"{finding.pointer}: {message}"
    if finding.implementation is not None and places.several:
        message += f" [implementation {finding.implementation}]"
    text = f"{where}: {finding.severity.value} {finding.code}: {one_line(message)}"
    yield from wrapped(text, width, _INDENT)
    if place is not None and place.lines[0].strip() not in ("{", "["):
        yield from _excerpt(place, width)
    yield from _below("hint", finding.hint, width)


def _below(head: str, text: str, width: int) -> Iterator[str]:
    if text:
        yield from wrapped(f"{'':{_INDENT}}{head}: {one_line(text)}", width, _INDENT)


def _excerpt(place: Position, width: int) -> Iterator[str]:
    margin = max(_INDENT, len(str(place.last)))
    for number, text in enumerate(place.lines[:SHOWN_LINES], place.first):
        yield f"{number:>{margin}} | {_cut(text, width - margin - 3)}"
    if len(place.lines) > SHOWN_LINES:
        yield f"{'…':>{margin}} | to line {place.last}"


def _properties(report: Report, width: int) -> Iterator[str]:
    """Yield the four properties of a task, each with the evidence; of several tasks, how many have each."""
    table = [task.properties for task in report.tasks if task.properties]
    unknown = [one.holds is None for one in table[0]] if table else [True]
    if all(unknown) or (len(report.tasks) > 1 and any(unknown)):
        return
    if len(report.tasks) > 1:
        columns = zip(*table, strict=True)
        held = [f"{column[0].name} {sum(bool(one.holds) for one in column)}" for column in columns]
        text = f"LMR-Bench requirements, of {len(report.tasks)} tasks: {', '.join(held)}"
        yield from wrapped(text, width, 2)
        return
    words = {True: "yes", False: "no", None: "not checked"}
    yield "LMR-Bench requirements:"
    for one in table[0]:
        why = f" ({one.evidence})" if one.evidence else ""
        yield from wrapped(one_line(f"  {one.name:<18} {words[one.holds]}{why}"), width, 21)


def _summary(report: Report, width: int) -> Iterator[str]:
    """Yield the tally of defects, and the numbers."""
    from lmr_author.proof.checks.registry import by_code

    summary = report.to_json()["summary"]
    tasks = counted(summary["tasks"], "task")
    known = f" ({summary['accepted']} accepted with a reason)" if summary["accepted"] else ""
    if not report.findings:
        yield f"No problems found in {tasks}{known}"
        return
    if len(report.findings) > 1:
        for code, count in sorted(summary["by_code"].items(), key=lambda item: (-item[1], item[0])):
            title = by_code()[code].title if code in by_code() else "a check crashed"
            yield from wrapped(f"{count:>4} × {code} {title}", width, 14)
    counts = [counted(summary[f"{key}s"], key) for key in SEVERITIES if summary[f"{key}s"]]
    clean = f", {summary['clean']} clean" if summary["tasks"] > 1 else ""
    yield f"{tasks} checked{clean}: {', '.join(counts)}{known}"


def _next(report: Report, width: int) -> Iterator[str]:
    """Yield an advice where there are findings, and the next command."""
    if report.clean:
        if report.findings:
            yield "notes need no action"
        return
    found = {finding.severity.value for finding in report.findings}
    worst = next(name for name in SEVERITIES if name in found)
    codes = Counter(finding.code for finding in report.findings if finding.severity.value == worst)
    fixable = sum(finding.fixable for finding in report.findings)
    if fixable:
        advice = f"`validate --fix` fixes {fixable} of these, `--diff` shows how"
    else:
        advice = f"start with the {worst}s, then validate again"
    yield from wrapped(advice, width, 2)
    yield f"next: lmr-author explain {codes.most_common(1)[0][0]}"


def _path(task: TaskReport, finding: Finding) -> str:
    """Return the file relative to the current folder if it lies below it, else absolute, so that it can be clicked."""
    path = os.path.normpath(Path.cwd() / task.path / finding.path)
    below = os.path.relpath(path)
    return one_line(path if below.startswith("..") else below)


def _cut(text: str, room: int) -> str:
    """Return a line cut to a number of columns."""
    from rich.cells import cell_len, set_cell_size

    whole = one_line(text.rstrip().expandtabs(4))
    return whole if cell_len(whole) <= room else set_cell_size(whole, room - 1) + "…"
