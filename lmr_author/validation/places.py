"""Find the lines of a file that a finding is about, and the columns that it means."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from lmr_author.checks.view import TaskView
from lmr_author.task import Finding, Task

_LINES = re.compile(r"^L(\d+)(?:-L(\d+))?$")
_QUOTED = re.compile(r"'([^']+)'|`([^`]+)`|\"([^\"]+)\"")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_CODE = re.compile(r"[^\s'\"`,;]*[_./=<>()\[\]\d][^\s'\"`,;]*")
MAX_SHOWN = 1024 * 1024
"""Larger files (bytes) are named, but none of their lines is shown."""


@dataclass(frozen=True)
class Position:
    """Lines of a file.

    Attributes:
        first, last: lines, from 1.
        start, end: columns in the first line, from 0, that are meant; both 0 when whole lines are.
        lines: the text of these lines, without their ends.
    """

    first: int
    last: int
    start: int
    end: int
    lines: tuple[str, ...]


class Places:
    """The places of a task's findings. Each file is read once, and none outside of the task."""

    def __init__(self, task: Task) -> None:
        self._view = TaskView(task)
        self._texts: dict[str, str | None] = {}
        self._json: dict[str, dict[str, tuple[int, int]]] = {}

    @property
    def several(self) -> bool:
        """Tell a task with several implementations: findings name theirs."""
        return len(self._view.implementations) > 1

    def of(self, finding: Finding) -> Position | None:
        """Return the place of a finding; None when it is about a whole file, or the file cannot be shown."""
        text = self._text(finding.path) if finding.path and finding.pointer else None
        if text is None:
            return None
        if match := _LINES.match(finding.pointer):
            first = int(match[1])
            last = max(first, int(match[2] or 0))
            lines = tuple(re.split(r"\r\n|\r|\n", text)[first - 1 : last])
            if not lines:
                return None
            start, end = _meant(lines[0], finding.message) if first == last else (0, 0)
            return Position(first, last, start, end, lines)
        if finding.path not in self._json:
            self._json[finding.path] = json_places(text)
        # A pointer names the key as it should be; in the file it may be misspelt.
        spelt = (finding.pointer, finding.pointer.replace("/retrieval_context", "/retrieval_content"))
        found = next(
            (self._json[finding.path][one] for one in spelt if one in self._json[finding.path]), None
        )
        if found is None:
            return None
        begin, end = found
        first = text.count("\n", 0, begin) + 1
        column = begin - (text.rfind("\n", 0, begin) + 1)
        whole = text[begin - column :].split("\n", 1)[0].rstrip("\r")
        inner = text[begin:end].split("\n", 1)[0].rstrip("\r")
        return Position(first, first, column, column + len(inner), (whole,))

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            place = self._view.inside(self._view.task.root, path)
            data = self._view.read_once(place, MAX_SHOWN) if place else None
            self._texts[path] = None if data is None else data.decode("utf-8", "replace")
        return self._texts[path]


def _meant(line: str, message: str) -> tuple[int, int]:
    """Return the columns of what a message names, in quotes or by a word with signs in it; else the whole line."""
    named = [next(filter(None, match.groups())) for match in _QUOTED.finditer(message)]
    named += [word.rstrip(".:") for word in _CODE.findall(message)]
    for word in sorted(named, key=len, reverse=True):
        if len(word) > 1 and word in line:
            return line.index(word), line.index(word) + len(word)
    return len(line) - len(line.lstrip()), len(line.rstrip())


def json_places(text: str) -> dict[str, tuple[int, int]]:
    """Return start and end of each member (with its key) and item of a document by JSON pointer (RFC 6901).

    Of what is no JSON, those up to the error.
    """
    found: dict[str, tuple[int, int]] = {}
    try:
        start = _skip(text, 0)
        found[""] = start, _value(text, start, "", found)
    except (ValueError, IndexError, RecursionError):
        pass
    return found


def _value(text: str, start: int, pointer: str, found: dict[str, tuple[int, int]]) -> int:
    """Return the end of the value that starts here, and add what is in it."""
    kind = text[start]
    if kind not in "{[":
        return _DECODER.raw_decode(text, start)[1]
    place = _skip(text, start + 1)
    number = 0
    while text[place] not in "}]":
        shown, name = place, str(number)
        if kind == "{":
            name, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)  # over the colon
        below = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
        end = _value(text, place, below, found)
        found[below] = shown, end
        number += 1
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return place + 1


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match is not None
    return match.end()
