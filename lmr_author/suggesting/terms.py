"""The words that a paper and its code share: identifiers split, abbreviations expanded, words stemmed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from lmr_author.suggesting.lexicon import ABBREVIATIONS, GREEK, STOP

_GREEK = str.maketrans({letter: f" {name} " for letter, name in GREEK.items()})
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")
_WORD = re.compile(r"[^\W_]+")
_BROKEN = re.compile(r"(?<=[a-z])-\s*\n\s*(?=[a-z])")


@cache
def stem(word: str) -> str:
    """The stem of a lower-case English word (Porter's second algorithm, https://snowballstem.org)."""
    return str(_stemmer().stemWord(word)) if len(word) > 3 else word


@cache
def _stemmer():  # type: ignore[no-untyped-def]
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@cache
def split(identifier: str) -> tuple[str, ...]:
    """The words of an identifier, in lower case: ``getHTTPLogps_v2`` → get, http, logps, v, 2."""
    return tuple(part.lower() for part in _HUMP.findall(identifier))


class Vocabulary:
    """Turns words into terms: stems, and pairs of neighbouring stems.

    Args:
        acronyms: the paper's own acronym → its words, in lower case.
        names: names that the paper writes with capitals inside (LoRA, SimCSE), in lower case: one word each.
    """

    def __init__(self, acronyms: Mapping[str, str] | None = None, names: Iterable[str] = ()) -> None:
        self._names = frozenset(names)
        known = {**ABBREVIATIONS, **(acronyms or {})}
        self._known = {short: tuple(long.split()) for short, long in known.items()}
        self._memo: dict[str, tuple[str, ...]] = {}

    def of_identifier(self, identifier: str) -> tuple[str, ...]:
        """Return the terms of an identifier; an abbreviation counts as itself and as its long form."""
        terms = self._memo.get(identifier)
        if terms is None:
            terms = self._memo[identifier] = tuple(self._of_identifier(identifier))
        return terms

    def _of_identifier(self, identifier: str) -> Iterable[str]:
        words: list[str] = []
        for word in self._joined(split(identifier)):
            long = self._known.get(word)
            if long is None:
                words.append(word)
            else:
                if word not in long and len(word) > 1:
                    yield word
                words += long
        yield from terms_of(words)

    def of_text(self, text: str) -> list[str]:
        """Terms of a docstring, a comment or a paper; identifiers in it are split, too."""
        words: list[str] = []
        for word in _WORD.findall(normal(text)):
            words += (word.lower(),) if word.islower() or word.isupper() else self._joined(split(word))
        return terms_of(words)

    def _joined(self, words: Sequence[str]) -> Sequence[str]:
        """Words with the paper's names put together again: lo, ra, layer → lora, layer."""
        if not self._names:
            return words
        result: list[str] = []
        start = 0
        while start < len(words):
            end = start + 1
            for stop in range(min(len(words), start + 5), start + 1, -1):
                if "".join(words[start:stop]) in self._names:
                    end = stop
                    break
            result.append("".join(words[start:end]))
            start = end
        return result


def terms_of(words: Sequence[str]) -> list[str]:
    """Stems of the words that say something, each followed by the pair it ends."""
    terms: list[str] = []
    last = ""
    for word in words:
        if word in STOP or word.isdecimal() or (len(word) == 1 and word.isascii()):
            last = ""
            continue
        own = stem(word)
        terms.append(own)
        if last:
            terms.append(f"{last} {own}")
        last = own
    return terms


def normal(text: str) -> str:
    """A text with ligatures, Greek letters and words broken at a line's end as code would spell them."""
    text = _BROKEN.sub("", text if text.isascii() else unicodedata.normalize("NFKC", text))
    return text if text.isascii() else text.translate(_GREEK)
