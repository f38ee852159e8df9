"""Find the lines of a file that a finding is about, and the columns that it means."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lmr_author.core.task import Finding, Task
from lmr_author.proof.view import TaskView

_LINES = re.compile(r"^L(\d+)(?:-L(\d+))?$")
_QUOTED = re.compile(r"'([^']+)'|`([^`]+)`|\"([^\"]+)\"")
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

    @property
    def several(self) -> bool:
        """Tell a task with several implementations: findings name theirs."""
        return len(self._view.implementations) > 1

    def of(self, finding: Finding) -> Position | None:
        """Return the lines of a finding; None when it is about a whole file, or the file cannot be shown."""
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
        number = _line_of(text, finding.pointer)
        if number is None:
            return None
        line = text.split("\n")[number - 1].rstrip("\r")
        start, end = len(line) - len(line.lstrip()), len(line.rstrip().rstrip(","))
        return Position(number, number, start, end, (line,))

    def _text(self, path: str) -> str | None:
        if path not in self._texts:
            file = self._view.inside(self._view.task.root, path)
            data = self._view.read_once(file, MAX_SHOWN) if file else None
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


def _line_of(text: str, pointer: str) -> int | None:
    """Return the line on which a document has the key of a JSON pointer (RFC 6901); None for a missing key.

    The implementations have the same keys: of the third one, the third occurrence is meant, if all have it.
    """
    names = [name for name in pointer.split("/") if name and not name.isdigit()]
    numbers = [int(name) for name in pointer.split("/") if name.isdigit()]
    # A pointer names the key as it should be; in the file it may be misspelt.
    key = "retrieval_conte[nx]t" if names[-1:] == ["retrieval_context"] else re.escape("".join(names[-1:]))
    starts = [match.start() for match in re.finditer(rf'"{key}"\s*:', text)]
    if numbers and names == ["implementations"]:
        return None  # the whole entry
    position = 0
    if len(names) > 1:
        position = numbers[0] if numbers else 0
        if len(starts) != len(re.findall(r'"instruction"\s*:', text)):
            return None
    return text.count("\n", 0, starts[position]) + 1 if position < len(starts) else None
