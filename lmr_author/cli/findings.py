"""Print findings: errors first, each with a location that a terminal opens, and the lines in question."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli.ui import WIDE, coloured, columns, one_line, paint, wrapped
from lmr_author.texts import counted

if TYPE_CHECKING:
    from lmr_author.task import Finding
    from lmr_author.validation.places import Places, Position
    from lmr_author.validation.report import Report, TaskReport

SHOWN_LINES = 3
"""Lines shown of a finding that spans more."""

SEVERITIES = ("error", "warning", "note")
"""The worst first."""
_INDENT = 6


def print_findings(report: Report) -> None:
    """Print a report to stdout; the last line is the next command."""
    sys.stdout.writelines(
        line + "\n" for line in findings_text(report, colour=coloured(sys.stdout), width=columns())
    )


def findings_text(report: Report, *, colour: bool = False, width: int = WIDE) -> Iterator[str]:
    """Yield the lines of a report, none wider than ``width`` unless a word, a location or a command is."""
    look = _Look(colour, width)
    for task in report.tasks:
        yield from look.findings(task)
        yield from look.accepted(task)
    if len(report.tasks) == 1:
        yield from look.properties(report.tasks[0])
    yield from look.summary(report)


class _Look:
    def __init__(self, colour: bool, width: int) -> None:
        self._colour = colour
        self._width = width

    def findings(self, task: TaskReport) -> Iterator[str]:
        """Yield the findings of a task, the worst first."""
        from lmr_author.validation.places import Places

        places = Places(task.directory)
        for finding in task.findings:
            yield from self._finding(task, finding, places)
        if task.findings:
            yield ""

    def _finding(self, task: TaskReport, finding: Finding, places: Places) -> Iterator[str]:
        """Yield ``file:line:column: severity code: message`` and, below it, the line and the hint."""
        severity = finding.severity.value
        place = places.of(finding)
        where = _path(task, finding) + (f":{place.first}:{place.start + 1}" if place else "")
        message = finding.message
        if finding.pointer and place is None:
            message = f"{finding.pointer}: {message}"
        if finding.implementation is not None and places.several:
            message += f" [implementation {finding.implementation}]"
        head = f"{where}: {severity} {finding.code}:"
        lines = wrapped(f"{head} {one_line(message)}", self._width, _INDENT)
        if lines[0].startswith(head):
            painted = f"{self._paint('path', where)}: {self._paint(severity, severity)} {finding.code}:"
            lines[0] = painted + lines[0][len(head) :]
        yield from lines
        if place is not None and place.lines[0].strip() not in ("{", "["):
            yield from self._excerpt(place, severity)
        yield from self._below("hint: ", finding.hint)

    def accepted(self, task: TaskReport) -> Iterator[str]:
        """Yield the findings that the annotator accepted, with their reasons."""
        for finding, entry in task.accepted:
            where = _path(task, finding) + (f" ({finding.pointer})" if finding.pointer else "")
            text = f"{where}: accepted {finding.code}: {finding.message}"
            yield from wrapped(one_line(text), self._width, _INDENT)
            yield from self._below("reason: ", entry.reason + (f" ({entry.by})" if entry.by else ""))
        if task.accepted:
            yield ""

    def _below(self, head: str, text: str) -> Iterator[str]:
        for line in wrapped(" " * _INDENT + head + one_line(text), self._width, _INDENT) if text else ():
            yield " " * _INDENT + self._paint("dim", line[_INDENT:])

    def _excerpt(self, place: Position, severity: str) -> Iterator[str]:
        """Yield the lines in question, with carets below the part of the first one."""
        margin = max(_INDENT, len(str(place.last)))
        room = self._width - margin - 3
        for number, text in enumerate(place.lines[:SHOWN_LINES], place.first):
            start, end = (place.start, place.end) if number == place.first else (0, 0)
            shown, before, marked = _cut(text, start, end, room)
            yield self._paint("dim", f"{number:>{margin}} | ") + shown
            if marked:
                caret = self._paint(severity, "^" * marked)
                yield self._paint("dim", " " * margin + " | ") + " " * before + caret
        if len(place.lines) > SHOWN_LINES:
            yield self._paint("dim", f"{'…':>{margin}} | to line {place.last}")

    def properties(self, task: TaskReport) -> Iterator[str]:
        """Yield the four properties of a task, each with the evidence."""
        if not task.properties or all(one.holds is None for one in task.properties):
            return
        words = {True: "yes", False: "no", None: "not checked"}
        yield "LMR-Bench requirements:"
        for one in task.properties:
            word = words[one.holds]
            why = f" ({one.evidence})" if one.evidence else ""
            first, *more = wrapped(one_line(f"  {one.name:<18} {word}{why}"), self._width, 21)
            yield first.replace(word, self._paint("good" if one.holds else "warning", word), 1)
            yield from more

    def summary(self, report: Report) -> Iterator[str]:
        """Yield the tally of defects, the numbers, and the next command."""
        summary = report.to_json()["summary"]
        tasks = counted(summary["tasks"], "task")
        known = f" ({summary['accepted']} accepted with a reason)" if summary["accepted"] else ""
        if len(report.tasks) > 1:
            yield from self._held(report)
        if not report.findings:
            yield self._paint("good", f"No problems found in {tasks}{known}")
        else:
            if len(report.findings) > 1:
                yield from self._tally(summary["by_code"])
            counts = [
                counted(summary[key], key.removesuffix("s"))
                for key in ("errors", "warnings", "notes")
                if summary[key]
            ]
            clean = f", {summary['clean']} clean" if summary["tasks"] > 1 else ""
            yield f"{tasks} checked{clean}: {', '.join(counts)}{known}"
        yield from self._next(report)

    def _tally(self, counts: dict[str, int]) -> Iterator[str]:
        from lmr_author.checks.registry import by_code

        for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            title = by_code()[code].title if code in by_code() else "a check crashed"
            yield from wrapped(f"{count:>4} × {code} {title}", self._width, 14)

    def _held(self, report: Report) -> Iterator[str]:
        """Yield how many tasks have each of the four properties."""
        table = [task.properties for task in report.tasks if task.properties]
        if not table or any(one.holds is None for one in table[0]):
            return
        held = [
            f"{column[0].name} {sum(bool(one.holds) for one in column)}"
            for column in zip(*table, strict=True)
        ]
        text = f"LMR-Bench requirements, of {len(report.tasks)} tasks: {', '.join(held)}"
        yield from wrapped(text, self._width, 2)

    def _next(self, report: Report) -> Iterator[str]:
        """Yield the next command, after an advice where there are findings."""
        paths = [task.path for task in report.tasks]
        if report.clean:
            if report.findings:
                yield "notes need no action"
            one = len(paths) == 1
            words = ["lmr-author", "next" if one else "status"]
            if one and not Path.cwd().is_relative_to(paths[0].absolute()):
                words += ["--task", str(paths[0])]
            yield f"next: {shlex.join(words)}"
            return
        severities = Counter(finding.severity.value for finding in report.findings)
        worst = next(name for name in SEVERITIES if severities[name])
        codes = Counter(finding.code for finding in report.findings if finding.severity.value == worst)
        fixable = sum(finding.fixable for finding in report.findings)
        if fixable:
            advice = f"`validate --fix` fixes {fixable} of these, `--diff` shows how"
        else:
            advice = f"start with the {worst}s, then validate again"
        yield from wrapped(advice, self._width, 2)
        yield f"next: lmr-author explain {codes.most_common(1)[0][0]}"

    def _paint(self, kind: str, text: str) -> str:
        return paint(kind, text, self._colour)


def _path(task: TaskReport, finding: Finding) -> str:
    """Return the file relative to the current folder if it lies below it, else absolute, so that it can be clicked."""
    path = os.path.normpath(Path.cwd() / task.path / finding.path)
    below = os.path.relpath(path)
    return one_line(path if below.startswith("..") else below)


def _cut(text: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """Return a line cut to a number of columns, the column of the mark, and the width of the mark."""
    from rich.cells import cell_len, set_cell_size

    before, marked, after = (
        one_line(part.expandtabs(4)) for part in (text[:start], text[start:end], text[end:].rstrip())
    )
    if cell_len(before) > room // 2 and cell_len(before + marked + after) > room:
        before = "…" + before[-(room // 4) :]
    whole = before + marked + after
    if cell_len(whole) > room:
        whole = set_cell_size(whole, room - 1) + "…"
    begin = cell_len(before)
    return whole, begin, max(0, min(cell_len(marked), room - begin))
