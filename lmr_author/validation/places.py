"""Where in a file a finding is: its lines, and the part of a line that is meant."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lmr_author.checks.view import TaskView
from lmr_author.model import Finding
from lmr_author.taskdir import TaskDir
from lmr_author.validation import json_places

_LINES = re.compile(r"^L(\d+)(?:-L(\d+))?$")
_QUOTED = re.compile(r"'([^']+)'|`([^`]+)`|\"([^\"]+)\"")
_CODE = re.compile(r"[^\s'\"`,;]*[_./=<>()\[\]\d][^\s'\"`,;]*")
MAX_SHOWN = 1024 * 1024
"""Larger files (bytes) are named, but none of their lines is shown."""


@dataclass(frozen=True)
class Place:
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

    def __init__(self, task: TaskDir) -> None:
        self._view = TaskView(task)
        self._texts: dict[str, str | None] = {}
        self._json: dict[str, json_places.Places] = {}

    @property
    def several(self) -> bool:
        """Whether the task has several implementations, so that it has to be said which one is meant."""
        return len(self._view.implementations) > 1

    def of(self, finding: Finding) -> Place | None:
        """Where a finding is; None when it is about a whole file, or nothing is there to be shown."""
        if not finding.path or not finding.pointer:
            return None
        text = self._text(finding.path)
        if text is None:
            return None
        if finding.pointer.startswith("/"):
            if finding.path not in self._json:
                self._json[finding.path] = json_places.places(text)
            return _of_json(text, self._json[finding.path], finding.pointer)
        return _of_lines(text, finding)

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            place = self._view.inside(self._view.task.root, path)
            data = self._view.read_once(place, MAX_SHOWN) if place else None
            self._texts[path] = None if data is None else data.decode("utf-8", "replace")
        return self._texts[path]


def _of_lines(text: str, finding: Finding) -> Place | None:
    match = _LINES.match(finding.pointer)
    if match is None:
        return None
    first = int(match[1])
    last = max(first, int(match[2] or 0))
    lines = tuple(re.split(r"\r\n|\r|\n", text)[first - 1 : last])
    if not lines:
        return None
    start, end = _meant(lines[0], finding.message) if first == last else (0, 0)
    return Place(first, last, start, end, lines)


def _of_json(text: str, known: json_places.Places, pointer: str) -> Place | None:
    # A pointer names the key as it should be; in the file it may be misspelt.
    spelt = (pointer, pointer.replace("/retrieval_context", "/retrieval_content"))
    found = next((known[one] for one in spelt if one in known), None)
    if found is None:
        return None
    start, end = found
    before, inner = text[:start], text[start:end]
    first = before.count("\n") + 1
    column = start - (before.rfind("\n") + 1)
    whole = text[start - column :].split("\n")[0].rstrip("\r")
    return Place(first, first, column, column + len(inner.split("\n")[0].rstrip("\r")), (whole,))


def _meant(line: str, message: str) -> tuple[int, int]:
    """The part of a line that a message names, quoted or by a word that is no English one; else all of it."""
    named = [next(filter(None, match.groups())) for match in _QUOTED.finditer(message)]
    named += [word.rstrip(".:") for word in _CODE.findall(message)]
    for word in sorted(named, key=len, reverse=True):
        if len(word) > 1 and word in line:
            return line.index(word), line.index(word) + len(word)
    return len(line) - len(line.lstrip()), len(line.rstrip())
