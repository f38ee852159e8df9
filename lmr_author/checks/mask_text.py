"""LMR311: the text outside of the target, byte for byte."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_texts import GOAL, MASKED
from lmr_author.checks.outside import groups, owner, units_that_differ
from lmr_author.checks.view import TaskView
from lmr_author.errors import LmrError
from lmr_author.model import Finding, Severity
from lmr_author.source import Definition, is_same, outside


class SameText(Check):
    code = "LMR311"
    title = "line endings, indentation and comments outside of the target are the golden's"
    rationale = (
        "A file that was re-indented or saved with other line endings differs everywhere: patches and splices"
        " no longer apply."
    )
    severity = Severity.WARNING
    failing = (
        Example("saved with CRLF", files={GOAL: MASKED.replace("\n", "\r\n")}),
        Example(
            "saved with CRLF, and other code changed",
            files={GOAL: MASKED.replace("temperature=1.0", "temperature=2.0").replace("\n", "\r\n")},
            also=("LMR304",),
        ),
        Example(
            "re-indented", files={GOAL: re.sub(r"(?m)^    ", "  ", MASKED).replace("\n      ", "\n    ")}
        ),
        Example(
            "a comment was added",
            files={GOAL: MASKED.replace("class ListLoss", "# see the paper\nclass ListLoss")},
        ),
    )
    passing = (Example("byte for byte"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each pair of files whose text differs, in places that have the same code."""
        for one, ours, theirs in groups(view):
            assert one.golden is not None and one.goal is not None
            if not theirs:
                continue
            changed = units_that_differ(view, one, ours, theirs) or not is_same(
                _headers(ours), _headers(theirs)
            )
            if changed:  # LMR304 or LMR306 says in which code
                message, severity, line = _change_everywhere(one.golden.data, one.goal.data)
            else:
                try:
                    before, after = (
                        outside(one.golden, _outermost(ours)),
                        outside(one.goal, _outermost(theirs)),
                    )
                except (LmrError, IndexError, ValueError):
                    continue
                message, severity, line = _text_change(before, after)
            if message:
                yield self.finding(
                    view,
                    f"outside of the target {message}",
                    "take everything but the target's body from the golden, byte for byte",
                    implementation=owner(view, one),
                    path=one.goal_path or "",
                    severity=severity,
                    pointer=line,
                )


def _headers(items: list[Definition]) -> list[list[ast.AST]]:
    return [
        [item.node.args, *item.node.decorator_list]
        for item in items
        if isinstance(item.node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _outermost(items: list[Definition]) -> list[Definition]:
    return [
        item
        for item in items
        if not any(
            other.line < item.line and item.end_line <= other.end_line for other in items if other is not item
        )
    ]


def _text_change(before: bytes, after: bytes) -> tuple[str, Severity, str]:
    """(what changed, how bad, pointer) between two texts whose code is the same; "" when nothing did."""
    if _tidy(before) == _tidy(after):
        return "", Severity.NOTE, ""
    crlf_before, crlf_after = before.count(b"\r\n"), after.count(b"\r\n")
    ours, theirs = _tidy(before.replace(b"\r\n", b"\n")), _tidy(after.replace(b"\r\n", b"\n"))
    if ours == theirs:
        kind = "LF to CRLF" if crlf_after > crlf_before else "CRLF to LF"
        return f"the line endings changed from {kind}", Severity.WARNING, ""
    one = [line.rstrip() for line in ours.splitlines() if line.strip()]
    two = [line.rstrip() for line in theirs.splitlines() if line.strip()]
    if one == two:
        return "blank lines or trailing blanks changed", Severity.NOTE, ""
    if [line.split() for line in one] == [line.split() for line in two]:
        return "the indentation changed", Severity.WARNING, ""
    if b"".join(b"".join(one).split()) == b"".join(b"".join(two).split()):
        return "the code was re-formatted", Severity.WARNING, ""
    changed = (
        sum(
            tag != "equal"
            for tag, *_ in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
        )
        if len(one) < 3000
        else 1
    )
    return f"the text changed in {changed} place(s), by comments or formatting", Severity.NOTE, ""


def _change_everywhere(before: bytes, after: bytes) -> tuple[str, Severity, str]:
    """The same for two texts whose code differs, too: what was changed in nearly every line of it."""
    crlf_before, crlf_after = (data.count(b"\r\n") > data.count(b"\n") / 2 for data in (before, after))
    if crlf_before != crlf_after:
        kind = "LF to CRLF" if crlf_after else "CRLF to LF"
        return f"the line endings changed from {kind}", Severity.WARNING, ""
    indents: dict[bytes, set[bytes]] = {}
    for line in before.splitlines():
        indents.setdefault(line.strip(), set()).add(_indent(line))
    common = [line for line in after.splitlines() if _indent(line) and line.strip() in indents]
    moved = [line for line in common if _indent(line) not in indents[line.strip()]]
    if len(moved) > max(5, len(common) / 2):
        return "the indentation changed", Severity.WARNING, ""
    return "", Severity.NOTE, ""


def _indent(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip())]


def _tidy(data: bytes) -> bytes:
    """Without blanks at the file's end."""
    return data.rstrip()
