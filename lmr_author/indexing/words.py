"""Names and comments of a Python file, read off its text: strings are cut out, lines stay where they are."""

from __future__ import annotations

import keyword
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable

KEYWORDS = frozenset([*keyword.kwlist, *(f"{word}(" for word in keyword.kwlist), "self", "cls"])

_QUOTED = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*+'''"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'(?:[^'\\\n]|\\.)*+'"
    r"|\#[^\n]*",
    re.DOTALL | re.VERBOSE,
)
_NAME = re.compile(r"[^\W\d]\w*\(?")
_ASCII_NAME = re.compile(r"[A-Za-z_]\w*\(?", re.ASCII)  # twice as fast


class Text:
    """The text of a file, in lines without strings and comments."""

    def __init__(self, text: str) -> None:
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._names = (_ASCII_NAME if text.isascii() else _NAME).findall
        self._counted = 0
        self._all: list[str] = []
        self._rest: list[str] = []
        self._line = 1
        self._at = 0
        self._source = text
        self._comments: list[str] = []
        self._comment_lines: list[int] = []
        self._lines = _QUOTED.sub(self._cut, text).split("\n")

    def _cut(self, match: re.Match[str]) -> str:
        quoted = match[0]
        if quoted[0] != "#":
            return "\n" * quoted.count("\n") if "\n" in quoted else '""'
        start = match.start()
        self._line += self._source.count("\n", self._at, start)
        self._at = start
        self._comment_lines.append(self._line)
        self._comments.append(quoted.lstrip("#!: ").rstrip())
        return ""

    def words(self, first: int, last: int, *, outermost: bool) -> list[str]:
        """Names in some lines, counted from 1, each once, in order; a called one with ``(`` behind it.

        Args:
            outermost: whether the lines are counted for :meth:`calls`; asked for in the order of the file.
        """
        found = self._names("\n".join(self._lines[first - 1 : last]))
        if outermost:
            self._rest += self._lines[self._counted : first - 1]
            self._counted = max(self._counted, last)
            self._all += found
        return list(dict.fromkeys(found))

    def comments(self, first: int, last: int) -> str:
        """Text of the comments in some lines, a line each."""
        start, stop = bisect_left(self._comment_lines, first), bisect_right(self._comment_lines, last)
        return "\n".join(filter(None, self._comments[start:stop]))

    def calls(self, defined: Iterable[str]) -> dict[str, int]:
        """How often each name is called in the file.

        Args:
            defined: names of the file's functions, once for each definition, whose headers look like calls.
        """
        rest = [*self._rest, *self._lines[self._counted :]]
        found = Counter(self._all + self._names("\n".join(rest)))
        found.subtract(f"{name}(" for name in defined)
        return {
            word[:-1]: count
            for word, count in found.items()
            if count > 0 and word[-1] == "(" and word not in KEYWORDS
        }
