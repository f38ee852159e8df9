"""The words that a paper and its code share: identifiers split, abbreviations expanded, words stemmed."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

TABLES: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def _pairs(text: str) -> dict[str, str]:
    """Read a table of words and what they stand for, separated by semicolons."""
    words = (" ".join(item.split()).partition(" ") for item in text.split(";"))
    return {short: long for short, _, long in words}


ABBREVIATIONS = _pairs(TABLES["abbreviations"])
"""Abbreviation in code → the paper's words."""
STOP = frozenset(TABLES["stop"].split())
"""Words that say nothing about what a function does."""

_GREEK = str.maketrans({letter: f" {name} " for letter, name in _pairs(TABLES["greek"]).items()})
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")
_WORD = re.compile(r"[^\W_]+")
_BROKEN = re.compile(r"(?<=[a-z])-\s*\n\s*(?=[a-z])")


@cache
def stem(word: str) -> str:
    """Return the stem of a lower-case English word (Porter's second algorithm, https://snowballstem.org)."""
    return str(_stemmer().stemWord(word)) if len(word) > 3 else word


@cache
def _stemmer() -> Any:
    import snowballstemmer  # here, as it reads the rules of 30 languages

    return snowballstemmer.stemmer("english")


@cache
def split(identifier: str) -> tuple[str, ...]:
    """Return the words of an identifier, in lower case: ``getHTTPLogps_v2`` → get, http, logps, v, 2."""
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
        if identifier not in self._memo:
            words: list[str] = []
            short: list[str] = []
            for word in self._joined(split(identifier)):
                long = self._known.get(word, (word,))
                words += long
                if word not in long and len(word) > 1:
                    short.append(word)
            self._memo[identifier] = (*short, *terms_of(words))
        return self._memo[identifier]

    def of_text(self, text: str) -> list[str]:
        """Return the terms of a docstring, a comment or a paper; identifiers in it are split, too."""
        words: list[str] = []
        for word in _WORD.findall(normal(text)):
            words += (word.lower(),) if word.islower() or word.isupper() else self._joined(split(word))
        return terms_of(words)

    def _joined(self, words: Sequence[str]) -> Sequence[str]:
        """Put the paper's names together again: lo, ra, layer → lora, layer."""
        result: list[str] = []
        start = 0
        while start < len(words):
            ends = range(min(len(words), start + 5), start, -1)
            end = next((end for end in ends if "".join(words[start:end]) in self._names), start + 1)
            result.append("".join(words[start:end]))
            start = end
        return result


def terms_of(words: Sequence[str]) -> list[str]:
    """Return the stems of the words that say something, each followed by the pair it ends."""
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
    """Return a text with ligatures, Greek letters and words broken at a line's end as code would spell them."""
    text = _BROKEN.sub("", text if text.isascii() else unicodedata.normalize("NFKC", text))
    return text if text.isascii() else text.translate(_GREEK)
