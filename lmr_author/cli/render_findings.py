"""How findings and checks look on a terminal."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmr_author.checks.describe import Description, Shown
    from lmr_author.model import Finding
    from lmr_author.validation.report import Report, TaskReport

_COLOURS = {
    "error": "1;31",
    "warning": "33",
    "note": "36",
    "task": "1",
    "path": "4",
    "dim": "2",
    "good": "32",
}
WIDTH = 100


def render_findings(report: Report) -> None:
    """Print a report to stdout: by task, then by file; the last line says what to do next."""
    sys.stdout.write("\n".join(findings_text(report, colour=_coloured())) + "\n")


def findings_text(report: Report, *, colour: bool = False) -> Iterator[str]:
    """The lines of a report."""
    for task in report.tasks:
        if task.findings or task.accepted:
            yield from _task(task, colour)
    yield from _summary(report, colour)


def _task(task: TaskReport, colour: bool) -> Iterator[str]:
    yield _paint("task", _one_line(task.task), colour)
    path = None
    for finding in task.findings:
        if finding.path != path:
            path = finding.path
            yield "  " + _paint("path", _one_line(path) or "(the task folder)", colour)
        yield from _finding(finding, colour)
    if task.accepted:
        yield "  " + _paint("path", "accepted by the annotator", colour)
    for finding, entry in task.accepted:
        place = f"{finding.path}{f', {finding.pointer}' if finding.pointer else ''}: {finding.message}"
        reason = f"{entry.reason}{f' ({entry.by})' if entry.by else ''}"
        yield from _entry("dim", "accepted", finding.code, place, f"because: {reason}", colour)
    yield ""


def _finding(finding: Finding, colour: bool) -> Iterator[str]:
    severity = finding.severity.value
    place = f"{finding.pointer}: " if finding.pointer else ""
    which = f" [implementation {finding.implementation}]" if finding.implementation else ""
    text = f"{place}{finding.message}{which}"
    yield from _entry(severity, severity, finding.code, text, finding.hint, colour)


def _entry(style: str, word: str, code: str, text: str, below: str, colour: bool) -> Iterator[str]:
    """A finding: a word and its code, what it says, and below it what to do or why it was accepted."""
    head = f"    {word:<7} {code}  "
    lines = textwrap.wrap(_one_line(text), WIDTH, break_long_words=False, break_on_hyphens=False) or [""]
    yield head.replace(word, _paint(style, word, colour), 1) + lines[0]
    yield from (" " * len(head) + line for line in lines[1:])
    hint = textwrap.wrap(_one_line(below), WIDTH, break_long_words=False, break_on_hyphens=False)
    yield from (
        " " * (len(head) - 2) + _paint("dim", ("> " if number == 0 else "  ") + line, colour)
        for number, line in enumerate(hint)
    )


def _summary(report: Report, colour: bool) -> Iterator[str]:
    summary = report.to_json()["summary"]
    tasks, clean = summary["tasks"], summary["clean"]
    checked = f"{tasks} task{'s' * (tasks != 1)} checked"
    known = f" ({summary['accepted']} accepted with a reason)" if summary["accepted"] else ""
    if not report.findings:
        yield _paint("good", f"{checked}: nothing found{known}", colour)
        yield "next: lmr-author evaluate, which runs the tests"
        return
    counts = [
        f"{summary[key]} {key[:-1] if summary[key] == 1 else key}"
        for key in ("errors", "warnings", "notes")
        if summary[key]
    ]
    yield f"{checked}, {clean} clean: {', '.join(counts)}{known}"
    if tasks > 1:
        yield "by code: " + ", ".join(f"{code} {count}" for code, count in summary["by_code"].items())
    if report.clean:
        yield "next: lmr-author evaluate, which runs the tests; notes need no action"
        return
    worst = next(
        finding
        for finding in sorted(report.findings, key=lambda one: one.severity.value)
        if finding.severity.value != "note"
    )
    yield (
        f"next: start with the errors, then run this again; `lmr-author explain {worst.code}` says more about"
        f" {worst.code}"
    )


def render_check(check: Description) -> None:
    """Print what a check means."""
    colour = _coloured()
    print(_paint("task", f"{check.code}: {check.title}", colour))
    print(
        f"{check.group}; severity"
        f" {check.severity}{'; can be repaired automatically' if check.fixable else ''}\n"
    )
    print("\n".join(textwrap.wrap(check.rationale, WIDTH)))
    for title, examples in (("Found:", check.failing), ("Not found:", check.passing)):
        if examples:
            print("\n" + _paint("task", title, colour))
            for example in examples:
                _example(example)


def render_checks(checks: Sequence[Description]) -> None:
    """Print the codes and titles of checks, by group."""
    group = ""
    for check in checks:
        if check.group != group:
            group = check.group
            print(_paint("task", group, _coloured()))
        print(f"  {check.code}  {check.severity:<7}  {check.title}")


def _example(example: Shown) -> None:
    where = f" ({example.where})" if example.where else ""
    print(f"  - {example.title}{where}")
    for line in example.text.splitlines():
        print(f"      {_one_line(line)}")


def _one_line(text: str) -> str:
    """Text that cannot move the cursor or start a line: control characters as Python writes them."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def _coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _paint(kind: str, text: str, colour: bool) -> str:
    return f"\033[{_COLOURS[kind]}m{text}\033[0m" if colour and text else text
