"""Names and comments of a Python file, read off its text: strings are passed over."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate

KEYWORDS = frozenset([*keyword.kwlist, *(f"{word}(" for word in keyword.kwlist), "self", "cls"])

_REST = (
    r"""(?<=#)[^\n]*|"""
    r"""(?<=")(?:""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+\"""|[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")|"""
    r"""(?<=')(?:''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'''|[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')"""
)
_TOKEN = re.compile(r"""["'#\w](?:(?<=[^\W\d])\w*\(?|""" + _REST + ")", re.DOTALL)
_ASCII_TOKEN = re.compile(r"""["'#A-Za-z_](?:(?<=[A-Za-z_])\w*\(?|""" + _REST + ")", re.DOTALL | re.ASCII)
"""A string of any kind (its prefix counts as a name), a comment, or a name with the ``(`` behind it.

Each begins with a set of characters, so that the search jumps from one to the next; what it has found is
told by looking back at that character. The one for ASCII is twice as fast.
"""


class Text:
    """The text of a file. Its functions are asked for in the order of the file."""

    def __init__(self, text: str) -> None:
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._text = text
        self._tokens = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall
        self._before = [0, *accumulate(map(len, text.split("\n")))]
        self._counted = 0
        self._all: list[str] = []

    def words(self, first: int, last: int, *, outermost: bool) -> tuple[list[str], str]:
        """What stands in some lines, counted from 1: names, each once, in order; and text of the comments.

        A name that is called has ``(`` behind it; keywords are left out.

        Args:
            outermost: whether no function is around, so that the lines are counted for :meth:`calls`.
        """
        start, end = self._offset(first - 1), self._offset(last)
        tokens = self._tokens(self._text, start, end)
        if outermost:
            self._all += self._tokens(self._text, self._counted, start)
            self._all += tokens
            self._counted = end
        once = dict.fromkeys(tokens)
        words = [word for word in once if word not in KEYWORDS and word[0] not in "\"'#"]
        if self._text.find("#", start, end) < 0:
            return words, ""
        comments = [word.lstrip("#!: ").rstrip() for word in once if word[0] == "#"]
        return words, "\n".join(filter(None, comments))

    def has(self, piece: str, first: int, last: int) -> bool:
        """Whether something stands in some lines, be it in a string or a comment."""
        return self._text.find(piece, self._offset(first - 1), self._offset(last)) >= 0

    def _offset(self, lines: int) -> int:
        """Where the text goes on after so many lines: their characters, and a line end for each."""
        return self._before[lines] + lines

    def calls(self, defined: Iterable[str]) -> dict[str, int]:
        """How often each name is called in the file.

        Args:
            defined: names of the file's functions, once for each definition, whose headers look like calls.
        """
        found = Counter(self._all + self._tokens(self._text, self._counted))
        found.subtract(f"{name}(" for name in defined)
        return {
            word[:-1]: count
            for word, count in found.items()
            if count > 0 and word[-1] == "(" and word[0] not in "\"'#" and word not in KEYWORDS
        }
