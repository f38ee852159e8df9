"""Whether words stand in a text whose lines were set by a typesetter: a paper, or an instruction.

Not counted: blanks and line ends, hyphens within words (a line's end may have put them there), soft hyphens, ligatures
and other compatible forms (NFKC), and which of several quotes or dashes is used. Capitals count.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property
from itertools import accumulate

from lmr_author.core.texts import printable, unbroken

FEWEST_WORDS, FEWEST_CHARACTERS = 4, 20
"""A quotation has at least one or the other: any text contains shorter ones."""
MOST_CHARACTERS = 2000
SPAN = 6000
"""Characters without blanks, about a page, within which the parts of a quotation with omissions lie."""

_OMISSION = re.compile(r"\[\s*(?:\.\.\.|…)\s*\]|…")
# Two letters on both sides: in "x-y" it may be a minus. A minus sign and a dash are never hyphens.
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})[-\u2010](?=\s*[^\W\d_]{2})")
_IGNORED = "\xad\u200b\u200c\u200d\u2060\ufeff"
_QUOTES = str.maketrans(
    dict.fromkeys("‘’‚‛‹›′´`", "'") | dict.fromkeys('“”„‟«»″"', "''") | dict.fromkeys(_IGNORED)
)
"""A double quote is two single ones, as LaTeX writes it."""
_DASHES = str.maketrans(dict.fromkeys("‐‒–—―−", "-"))


def is_enough(text: str) -> bool:
    """Tell whether a text is long enough to be a quotation, or a sentence."""
    return len(re.findall(r"\w+", text)) >= FEWEST_WORDS or len("".join(text.split())) >= FEWEST_CHARACTERS


def parts_of(quotation: str) -> list[str]:
    """Return the text between the omissions (… or [...]) of a quotation."""
    return [part for part in _OMISSION.split(quotation) if part.strip()]


class QuotableText:
    """A text, page number → page, in which quotations are found."""

    def __init__(self, pages: Mapping[int, str]) -> None:
        self._pages = dict(sorted(pages.items()))
        folded = [_folded(text) for text in self._pages.values()]
        self._starts = list(accumulate((len(text) + 1 for text in folded), initial=0))
        self._key, self._places = _key("\n".join(folded))

    def page_of(self, quotation: str) -> int | None:
        """Return the page on which a quotation begins; None if the text does not contain it, or it is too long."""
        if len(quotation) > MOST_CHARACTERS:
            return None
        for parts in ([quotation], parts_of(quotation)):
            keys = [key for key in (_key(_folded(part))[0] for part in parts) if key]
            if keys and (begin := self._find(keys)) >= 0:
                return list(self._pages)[bisect_right(self._starts, self._places[begin]) - 1]
        return None

    def nearest(self, quotation: str) -> str:
        """Return the passage that has most words of a quotation, with its page; "" where none has half of them."""
        wanted, words = {_bare(word) for word in quotation.split()} - {""}, self._words
        length = min(len(quotation.split()), len(words))
        shared = list(accumulate((bare in wanted for _, bare, _ in words), initial=0))
        counts = [shared[end] - shared[end - length] for end in range(length, len(shared))]
        if not wanted or max(counts, default=0) < length / 2:
            return ""
        begin = counts.index(max(counts))
        passage = " ".join(word for word, _, _ in words[max(0, begin - 2) : begin + length + 2])
        return f"the closest passage, on page {words[begin][2]}: {printable(passage, 400)}"

    @cached_property
    def _words(self) -> list[tuple[str, str, int]]:
        """Each word as printed, its form for comparison, and its page."""
        words = []
        for number, text in self._pages.items():
            words += [(word, _bare(word), number) for word in unbroken(text).split()]
        return words

    def _find(self, keys: list[str]) -> int:
        """Return the first place from which some parts follow one another within a page; -1 for none."""
        begin, end = self._chain(keys, 0)
        while end - begin > SPAN:
            begin, end = self._chain(keys, max(begin + 1, end - SPAN))
        return begin

    def _chain(self, keys: list[str], start: int) -> tuple[int, int]:
        begins, end = list[int](), start
        for key in keys:
            at = self._next(key, end)
            if at < 0:
                return -1, -1
            begins.append(at)
            end = at + len(key)
        return begins[0], end

    def _next(self, part: str, start: int) -> int:
        at = self._key.find(part, start)
        while at >= 0 and not (self._is_boundary(at) and self._is_boundary(at + len(part))):
            at = self._key.find(part, at + 1)
        return at

    def _is_boundary(self, at: int) -> bool:
        if not 0 < at < len(self._key):
            return True
        adjacent = self._places[at] - self._places[at - 1] == 1
        return not (adjacent and self._key[at - 1].isalnum() and self._key[at].isalnum())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text.translate(_QUOTES))


def _key(folded: str) -> tuple[str, array[int]]:
    """Return what counts of a text, and the place of each character of it."""
    hyphens = {match.start() for match in _HYPHEN.finditer(folded)}
    places = array("L", (at for at, char in enumerate(folded) if not char.isspace() and at not in hyphens))
    return "".join(folded[at] for at in places).translate(_DASHES), places


def _bare(word: str) -> str:
    return re.sub(r"\W+", "", word).casefold()
