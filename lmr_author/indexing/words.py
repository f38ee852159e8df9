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
        self._find = (_ASCII_TOKEN if text.isascii() else _TOKEN).findall
        self._before = [0, *accumulate(map(len, text.split("\n")))]
        self._counted = 0
        self._all: list[str] = []

    def tokens(self, first: int, last: int, *, outermost: bool) -> dict[str, None]:
        """What stands in some lines, counted from 1: strings, comments and names, each once, in order.

        A name that is called has ``(`` behind it.

        Args:
            outermost: whether no function is around, so that the lines are counted by :meth:`counted`.
        """
        start, end = self._offset(first - 1), self._offset(last)
        found = self._find(self._text, start, end)
        if outermost:
            self._all += self._find(self._text, self._counted, start)
            self._all += found
            self._counted = end
        return dict.fromkeys(found)

    def has(self, piece: str, first: int, last: int) -> bool:
        """Whether something stands in some lines, be it in a string or a comment."""
        return self._text.find(piece, self._offset(first - 1), self._offset(last)) >= 0

    def counted(self) -> Counter[str]:
        """How often each token stands in the file. Asked for after its functions."""
        return Counter(self._all + self._find(self._text, self._counted))

    def _offset(self, lines: int) -> int:
        """Where the text goes on after so many lines: their characters, and a line end for each."""
        return self._before[lines] + lines


def no_words(tokens: Iterable[str]) -> set[str]:
    """Those of some tokens that are strings, comments or keywords."""
    return {token for token in tokens if token[0] in "\"'#" or token in KEYWORDS}


def comments(tokens: Iterable[str]) -> str:
    """Text of the comments among some tokens."""
    found = (token.lstrip("#!: ").rstrip() for token in tokens if token[0] == "#")
    return "\n".join(filter(None, found))


def calls(counted: Counter[str], defined: Iterable[str], skipped: set[str]) -> dict[str, int]:
    """How often each name is called in a file.

    Args:
        counted: its tokens.
        defined: names of the file's functions and classes, once for each definition: headers look like calls.
        skipped: tokens that are no words.
    """
    counted.subtract(f"{name}(" for name in defined)
    return {
        word[:-1]: count
        for word, count in counted.items()
        if word[-1] == "(" and count > 0 and word not in skipped
    }
