"""Edits of the goal file in a reply: search/replace blocks, and unified diffs, whose line numbers models miscount."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
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
    start: int
    end: int
    search: list[str]
    replace: list[str]


def applied(text: str, given: Module, target: Definition) -> tuple[bytes | str | None, str, str]:
    """Apply the edits in a reply to a file.

    Args:
        target: of several places where an edit fits, the one that is nearest to this function is meant.

    Returns: the file, why an edit does not fit, or None without edits; the reply before and behind the edits.
    """
    edits = _searches(text) or _hunks(text, given.name)
    if not edits:
        return None, text, ""
    before, after = text[: edits[0].start], text[edits[-1].end :]
    for left, right in itertools.pairwise(edits):
        before += text[left.end : right.start]
    if len(edits) > _MAX_EDITS:
        return f"the answer has more than {_MAX_EDITS} edits", before, after
    lines = re.sub(r"\r\n?", "\n", given.text).split("\n")
    for edit in edits:
        if not edit.search:
            lines = edit.replace  # of a new file
            continue
        # A first line often lost its indentation.
        starts = _starts(lines, edit.search, str.rstrip) or _starts(lines, edit.search, str.strip)
        if not starts:
            sought = next(filter(str.strip, edit.search), "").strip()
            return f"an edit does not fit: {given.name} has no lines as from {sought!r}", before, after
        start = min(starts, key=lambda start: max(target.line - start - 1, start + 1 - target.end_line))
        lines[start : start + len(edit.search)] = edit.replace
    return "\n".join(lines).encode("utf-8", "replace"), before, after


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


def _hunks(text: str, path: str) -> list[_Edit]:
    """Return the hunks of a unified diff that are for a file, or for no named one."""
    headers: list[re.Match[str] | None] = [None, *_FILE.finditer(text)]
    bounds = [0, *(header.start() for header in headers if header), len(text)]
    edits = []
    for header, (start, end) in zip(headers, itertools.pairwise(bounds), strict=True):
        if header and not _is_of_file(header["path"], path):
            continue
        for match in _HUNK.finditer(text, start, end):
            lines = match["lines"].rstrip("\n").split("\n")
            if any(line.startswith(("+", "-")) for line in lines):
                before = [line[1:] for line in lines if line[:1] in ("", " ", "-")]
                after = [line[1:] for line in lines if line[:1] in ("", " ", "+")]
                edits.append(_Edit(start if header else match.start(), match.end(), before, after))
    return edits


def _is_of_file(header: str, path: str) -> bool:
    return f"/{path}".endswith("/" + header.strip().removeprefix("b/").rpartition("/")[2])
