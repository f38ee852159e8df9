"""Edits of the goal file in a reply: search/replace blocks, and unified diffs, whose line numbers models miscount."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lmr_author.core.code import Definition, Module

_MARKS = re.compile(
    r"^[ \t]*(?:(?P<search><{5,9} ?SEARCH)|(?P<replace>={5,9}[ \t]*$)|(?P<end>>{5,9} ?REPLACE)).*\n?",
    re.MULTILINE,
)
_ORDER = ["search", "replace", "end"]
_MAX_EDITS = 300
_HUNK = re.compile(r"^@@[^\n]*\n(?P<lines>(?:[ +\-\\][^\n]*(?:\n|\Z)|\n)+)", re.MULTILINE)
_FILE = re.compile(r"^--- [^\n]*\n\+\+\+ (?P<path>[^\t\n]*)[^\n]*\n", re.MULTILINE)


@dataclass(frozen=True)
class _Edit:
    """Lines to search and what replaces them; ``start`` and ``end``: of the edit in the reply."""

    start: int
    end: int
    search: list[str]
    replace: list[str]
    path: str = ""


@dataclass(frozen=True)
class Edited:
    """A reply whose edits are applied.

    Attributes:
        made: the goal file with them; None without edits, or if one does not fit.
        problem: why one does not fit.
        before, after: the reply before and behind them.
        elsewhere: other files that the reply changes.
    """

    made: bytes | None
    problem: str
    before: str
    after: str
    elsewhere: tuple[str, ...] = ()


def apply_edits(text: str, goal: Module, target: Definition) -> Edited:
    """Apply the edits in a reply to the goal file.

    Args:
        target: of several places where an edit fits, the one that is nearest to this function is meant.
    """
    edits = _searches(text) or _hunks(text)
    if not edits:
        return Edited(None, "", text, "")
    before, after = text[: edits[0].start], text[edits[-1].end :]
    for left, right in itertools.pairwise(edits):
        before += text[left.end : right.start]
    ours = [edit for edit in edits if _is_of_file(edit.path, goal.name)]
    elsewhere = dict.fromkeys(edit.path for edit in edits if not _is_of_file(edit.path, goal.name))
    lines = re.sub(r"\r\n?", "\n", goal.text).split("\n")
    if len(edits) > _MAX_EDITS:
        problem = f"the answer has more than {_MAX_EDITS} edits"
    else:
        problem = _apply(ours, lines, goal.name, target)
    made = "\n".join(lines).encode("utf-8", "replace") if ours and not problem else None
    return Edited(made, problem, before, after, tuple(elsewhere))


def _apply(edits: Sequence[_Edit], lines: list[str], name: str, target: Definition) -> str:
    """Edit the lines of a file; return why an edit does not fit, or ""."""
    for edit in edits:
        if not edit.search:
            lines[:] = edit.replace  # of a new file
            continue
        # A first line often lost its indentation.
        starts = _starts(lines, edit.search, str.rstrip) or _starts(lines, edit.search, str.strip)
        if not starts:
            sought = next(filter(str.strip, edit.search), "").strip()
            return f"an edit does not fit: {name} has no lines as from {sought!r}"
        start = min(starts, key=lambda start: max(target.line - start - 1, start + 1 - target.end_line))
        lines[start : start + len(edit.search)] = edit.replace
    return ""


def _starts(lines: list[str], search: list[str], strip: Callable[[str], str]) -> list[int]:
    """Return where some lines begin among others; nowhere if all of them are empty."""
    stripped, wanted = list(map(strip, lines)), list(map(strip, search))
    if not any(wanted):
        return []
    starts = range(len(lines) - len(wanted) + 1)
    return [start for start in starts if stripped[start : start + len(wanted)] == wanted]


def _searches(text: str) -> list[_Edit]:
    """Return the search/replace blocks: three marks in this order."""
    edits = []
    marks: list[re.Match[str]] = []
    for mark in _MARKS.finditer(text):
        marks = [*marks, mark] if marks and mark.lastgroup != "search" else [mark]
        if len(marks) < len(_ORDER):
            continue
        if [mark.lastgroup for mark in marks] == _ORDER:
            first, middle, last = marks
            search = text[first.end() : middle.start()].split("\n")[:-1]
            replace = text[middle.end() : last.start()].split("\n")[:-1]
            edits.append(_Edit(first.start(), last.end(), search, replace))
        marks = []
    return edits


def _hunks(text: str) -> list[_Edit]:
    """Return the hunks of a unified diff, with the files that they are for, where these are named."""
    headers: list[re.Match[str] | None] = [None, *_FILE.finditer(text)]
    bounds = [0, *(header.start() for header in headers if header), len(text)]
    edits = []
    for header, (start, end) in zip(headers, itertools.pairwise(bounds), strict=True):
        path = header["path"].strip().removeprefix("b/") if header else ""
        for match in _HUNK.finditer(text, start, end):
            lines = match["lines"].rstrip("\n").split("\n")
            if any(line.startswith(("+", "-")) for line in lines):
                before = [line[1:] for line in lines if line[:1] in ("", " ", "-")]
                after = [line[1:] for line in lines if line[:1] in ("", " ", "+")]
                edits.append(_Edit(start if header else match.start(), match.end(), before, after, path))
    return edits


def _is_of_file(written: str, path: str) -> bool:
    """Return whether a path in a diff, made at the repository's root, above or below it, is a file's; "" is any."""
    return not written or f"/{path}".endswith(f"/{written}") or f"/{written}".endswith(f"/{path}")
