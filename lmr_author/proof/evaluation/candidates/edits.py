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
    found = _searches(text) or _hunks(text, given.name)
    if not found:
        return None, text, ""
    outside = text[: found[0].start]
    for left, right in itertools.pairwise(found):
        outside += text[left.end : right.start]
    if len(found) > _MAX_EDITS:
        return f"the answer has more than {_MAX_EDITS} edits", outside, text[found[-1].end :]
    lines = re.sub(r"\r\n?", "\n", given.text).split("\n")
    for edit in found:
        if not edit.search:
            lines = edit.replace  # of a new file
            continue
        # A first line often lost its indentation.
        starts = _places(lines, edit.search, str.rstrip) or _places(lines, edit.search, str.strip)
        if not starts:
            sought = next(filter(str.strip, edit.search), "").strip()
            return (
                f"an edit does not fit: {given.name} has no lines as from {sought!r}",
                outside,
                text[found[-1].end :],
            )
        start = min(starts, key=lambda start: max(target.line - start - 1, start + 1 - target.end_line))
        lines[start : start + len(edit.search)] = edit.replace
    return "\n".join(lines).encode("utf-8", "replace"), outside, text[found[-1].end :]


def _places(lines: list[str], search: list[str], strip: Callable[[str], str]) -> list[int]:
    """Return the places of some lines among others."""
    lines, wanted = [strip(line) for line in lines], [strip(line) for line in search]
    last = len(lines) - len(wanted)
    return [
        start for start in range(last + 1) if any(wanted) and lines[start : start + len(wanted)] == wanted
    ]


def _searches(text: str) -> list[_Edit]:
    """Return the search/replace blocks: three marks in this order."""
    found = []
    marks: list[re.Match[str]] = []
    for mark in _MARKS.finditer(text):
        marks = [*marks, mark] if marks and mark.lastgroup != "search" else [mark]
        if [one.lastgroup for one in marks] == _ORDER:
            first, middle, last = marks
            parts = text[first.end() : middle.start()], text[middle.end() : last.start()]
            search, replace = (part.split("\n")[:-1] for part in parts)
            found.append(_Edit(first.start(), last.end(), search, replace))
        if len(marks) == len(_ORDER):
            marks = []
    return found


def _hunks(text: str, path: str) -> list[_Edit]:
    """Return the hunks of a unified diff that are for a file, or for no named one."""
    headers = list(_FILE.finditer(text))
    starts = [0, *(header.start() for header in headers)]
    ends = [*(header.start() for header in headers), len(text)]
    found = []
    for header, start, end in zip([None, *headers], starts, ends, strict=True):
        if header and not f"/{path}".endswith(
            "/" + header["path"].strip().removeprefix("b/").rpartition("/")[2]
        ):
            continue
        for match in _HUNK.finditer(text, start, end):
            lines = match["lines"].rstrip("\n").split("\n")
            if any(line[:1] in "+-" for line in lines if line):
                before = [line[1:] for line in lines if line[:1] in ("", " ", "-")]
                after = [line[1:] for line in lines if line[:1] in ("", " ", "+")]
                found.append(_Edit(start if header else match.start(), match.end(), before, after))
    return found
