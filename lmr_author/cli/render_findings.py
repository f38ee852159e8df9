"""How findings look on a terminal: by task, then by file, with the lines that are meant."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lmr_author.cli.render_text import WIDE, coloured, columns, one_line, paint
from lmr_author.texts import counted

if TYPE_CHECKING:
    from lmr_author.model import Finding
    from lmr_author.validation.places import Place, Places
    from lmr_author.validation.report import Report, TaskReport

SHOWN_LINES = 3
"""Of a finding that spans more lines, so many are shown."""

MOST = 10
"""Of the rules that many tasks break, so many are told with their titles."""

_INDENT = " " * 12


def render_findings(report: Report) -> None:
    """Print a report to stdout; the last line says what to do next."""
    sys.stdout.writelines(
        line + "\n" for line in findings_text(report, colour=coloured(sys.stdout), width=columns())
    )


def findings_text(report: Report, *, colour: bool = False, width: int = WIDE) -> Iterator[str]:
    """The lines of a report, none of them wider than ``width`` unless a single word is."""
    look = _Look(colour, width)
    for task in report.tasks:
        if task.findings or task.accepted:
            yield from look.task(task)
    if len(report.tasks) == 1:
        yield from look.properties(report.tasks[0])
    yield from look.summary(report)


class _Look:
    def __init__(self, colour: bool, width: int) -> None:
        self._colour = colour
        self._width = width

    def task(self, task: TaskReport) -> Iterator[str]:
        """A task with its findings."""
        from lmr_author.validation.places import Places

        places = Places(task.directory)
        numbers = Counter(finding.severity.value for finding in task.findings)
        counts = ", ".join(
            counted(numbers[word], word) for word in ("error", "warning", "note") if numbers[word]
        )
        yield self._paint("task", one_line(task.task)) + (self._paint("dim", f"  {counts}") if counts else "")
        path = None
        for finding in task.findings:
            if finding.path != path:
                path = finding.path
                yield "  " + self._paint("path", one_line(path) or "(the task folder)")
            yield from self._finding(finding, places)
        if task.accepted:
            yield "  " + self._paint("path", "accepted by the annotator")
        for finding, entry in task.accepted:
            place = f"{finding.path}{f', {finding.pointer}' if finding.pointer else ''}: {finding.message}"
            reason = f"{entry.reason}{f' ({entry.by})' if entry.by else ''}"
            yield from self._entry("dim", "accepted", finding.code, place)
            yield from self._below(f"because: {reason}")
        yield ""

    def _finding(self, finding: Finding, places: Places) -> Iterator[str]:
        severity = finding.severity.value
        several = finding.implementation is not None and places.several
        which = f" [implementation {finding.implementation}]" if several else ""
        place = places.of(finding)
        where = (
            f"{finding.pointer}: " if finding.pointer and not (place and finding.pointer[0] == "/") else ""
        )
        yield from self._entry(severity, severity, finding.code, f"{where}{finding.message}{which}")
        if place is not None and place.lines[0].strip() not in ("{", "["):
            yield from self._excerpt(place, severity)
        yield from self._below(finding.hint)

    def _entry(self, style: str, word: str, code: str, text: str) -> Iterator[str]:
        """The head of a finding: a word and its code, and what it says."""
        head = f"    {word:<7} {code}  "
        lines = self._wrap(text, len(head)) or [""]
        yield head.replace(word, self._paint(style, word), 1) + lines[0]
        yield from (" " * len(head) + line for line in lines[1:])

    def _below(self, text: str) -> Iterator[str]:
        """What to do, or why it was accepted."""
        for number, line in enumerate(self._wrap(text, len(_INDENT) + 2)):
            yield _INDENT + self._paint("dim", ("> " if number == 0 else "  ") + line)

    def _excerpt(self, place: Place, severity: str) -> Iterator[str]:
        """The lines that are meant, and a caret below what is meant of a single one."""
        margin = max(len(_INDENT) - 1, len(str(place.last)))
        room = self._width - margin - 3
        for number, text in enumerate(place.lines[:SHOWN_LINES], place.first):
            start, end = (place.start, place.end) if number == place.first else (0, 0)
            shown, before, marked = _cut(text, start, end, room)
            yield self._paint("dim", f"{number:>{margin}} | ") + shown
            if marked:
                yield (
                    self._paint("dim", " " * margin + " | ")
                    + " " * before
                    + self._paint(severity, "^" * marked)
                )
        if len(place.lines) > SHOWN_LINES:
            yield self._paint("dim", f"{'…':>{margin}} | to line {place.last}")

    def properties(self, task: TaskReport) -> Iterator[str]:
        """The four properties of a task, each with the evidence."""
        if not task.properties or all(one.holds is None for one in task.properties):
            return
        words = {True: "yes", False: "no", None: "not checked"}
        yield "as LMR-Bench asks of a task:"
        for one in task.properties:
            word = words[one.holds]
            why = f" ({one.evidence})" if one.evidence else ""
            first, *more = self._wrap(f"{word}{why}", 21)
            painted = self._paint("good" if one.holds else "warning", word)
            yield f"  {one.name:<18} {first.replace(word, painted, 1)}"
            yield from (" " * 21 + line for line in more)

    def summary(self, report: Report) -> Iterator[str]:
        """Numbers, and what comes next."""
        summary = report.to_json()["summary"]
        tasks, clean = summary["tasks"], summary["clean"]
        checked = f"{counted(tasks, 'task')} checked"
        known = f" ({summary['accepted']} accepted with a reason)" if summary["accepted"] else ""
        if tasks > 1:
            yield from self._held(report)
        if not report.findings:
            yield self._paint("good", f"{checked}: nothing found{known}")
            yield "next: lmr-author evaluate, which runs the tests"
            return
        counts = [
            counted(summary[key], key.removesuffix("s"))
            for key in ("errors", "warnings", "notes")
            if summary[key]
        ]
        if tasks > 1 and len(summary["by_code"]) > 1:
            yield from self._by_code(summary["by_code"])
        yield f"{checked}, {clean} clean: {', '.join(counts)}{known}"
        yield from self._wrap(f"next: {_next_step(report)}", 0)

    def _by_code(self, counts: dict[str, int]) -> Iterator[str]:
        """How often each rule is broken: the most frequent with their titles, the others in a line."""
        from lmr_author.checks.registry import by_code

        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        yield "the rules that are broken most often:"
        for code, count in ordered[:MOST]:
            title = by_code()[code].title if code in by_code() else "a check failed by itself"
            first, *more = self._wrap(title, 15)
            yield f"{count:>6} {code}  {first}"
            yield from (" " * 15 + line for line in more)
        if len(ordered) > MOST:
            rest = ", ".join(f"{code} {count}" for code, count in ordered[MOST:])
            yield from self._wrap(f"and: {rest}", 0)

    def _held(self, report: Report) -> Iterator[str]:
        """How many tasks have each of the four properties."""
        table = [task.properties for task in report.tasks if task.properties]
        if not table or any(one.holds is None for one in table[0]):
            return
        held = [
            f"{column[0].name} {sum(bool(one.holds) for one in column)}"
            for column in zip(*table, strict=True)
        ]
        yield from self._wrap(f"as LMR-Bench asks, of {len(report.tasks)} tasks: {', '.join(held)}", 0)

    def _wrap(self, text: str, indent: int) -> list[str]:
        room = max(30, self._width - indent)
        return textwrap.wrap(one_line(text), room, break_long_words=False, break_on_hyphens=False)

    def _paint(self, kind: str, text: str) -> str:
        return paint(kind, text, self._colour)


def _next_step(report: Report) -> str:
    """What an annotator does now."""
    if report.clean:
        return "lmr-author evaluate, which runs the tests; notes need no action"
    worst = min(finding.severity.value for finding in report.findings)  # "error" before "warning"
    codes = Counter(finding.code for finding in report.findings if finding.severity.value == worst)
    say = f"`lmr-author explain {codes.most_common(1)[0][0]}` says more"
    fixable = sum(finding.fixable for finding in report.findings)
    if fixable:
        return f"`lmr-author validate --fix` repairs {fixable} of these, `--diff` shows how; {say}"
    return f"start with the {worst}s, then run this again; {say}"


def _cut(text: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """A line as it is shown in so many columns, how far in the mark begins, and how wide it is."""
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
