"""A paper as terms, page by page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from lmr_author.suggesting.lexicon import STOP
from lmr_author.suggesting.terms import Vocabulary, normal, split, stem

TITLE_WORDS = 15
TITLE_WEIGHT = 3.0
FIRST_PAGE_WEIGHT = 1.5
"""Weights of a word of the title and of the first page: they name what is new."""

_ACRONYM = re.compile(r"((?:[\w-]+\s+){1,7})\(\s*([A-Za-z][\w-]{1,9})s?\s*\)")
_NAME = re.compile(r"\b[^\W_]*[a-z](?:[A-Z]|\d+[A-Za-z])[^\W_]*\b")
REFERENCES = re.compile(r"^\s*(?:\d+\.?\s*)?(?:references|bibliography)\s*$", re.I | re.M)
"""The heading of the list of references."""
APPENDIX = re.compile(
    r"^\s*(?:(?i:appendi(?:x|ces)|supplement(?:ary|al))\b.{0,60}|A\.?[ \t]+(?!.*\d{3})[A-Z][a-z][^,.\n]{2,60})$",
    re.M,
)
"""The heading behind the references. An author's name there ("A. Smith, B. Jones") has commas or dots."""


class PaperText:
    """The text of a paper.

    Args:
        pages: page number → text.
    """

    def __init__(self, pages: Mapping[int, str]) -> None:
        self.pages = dict(sorted(pages.items()))
        self.vocabulary = Vocabulary(self.acronyms, self.names)

    @classmethod
    def from_json(cls, data: Any) -> PaperText:
        """Read ``paper.json`` leniently: ``{"1": text, …}``; a list of texts will do."""
        if isinstance(data, list):
            data = {str(number): text for number, text in enumerate(data, 1)}
        if not isinstance(data, dict):
            return cls({})
        numbered = ((str(key), text) for key, text in data.items() if isinstance(text, str))
        return cls({int(key): text for key, text in numbered if key.isdecimal()})

    @cached_property
    def acronyms(self) -> dict[str, str]:
        """Acronym → its words, where the paper says so: "Direct Preference Optimization (DPO)".

        After A. Schwartz, M. Hearst: A simple algorithm for identifying abbreviation definitions, 2003, with
        initials only.
        """
        found: dict[str, str] = {}
        for match in _ACRONYM.finditer(normal(" ".join(self.pages.values()))):
            letters = match[2].lower().replace("-", "")
            words = [word.lower() for word in re.split(r"[\s-]+", match[1]) if word]
            last = words[-len(letters) :]
            if len(letters) > 1 and [word[0] for word in last] == list(letters):
                found.setdefault(letters, " ".join(last))
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """Words that splitting would tear apart, as LoRA, SimCSE and wav2vec, in lower case."""
        text = normal(" ".join(self.pages.values()))
        return frozenset(word.lower() for word in _NAME.findall(text))

    @cached_property
    def page_terms(self) -> dict[int, Counter[str]]:
        """Terms of each page with their frequencies; the list of references is left out."""
        return {number: Counter(self.vocabulary.of_text(text)) for number, text in self.own_text.items()}

    @cached_property
    def own_text(self) -> dict[int, str]:
        """The pages without the list of references, which may go on over several; an appendix is kept."""
        found: dict[int, str] = {}
        listed = False
        for number, text in self.pages.items():
            kept, rest = "", text
            while rest:
                mark = (APPENDIX if listed else REFERENCES).search(rest)
                if not listed:
                    kept += rest[: mark.start()] if mark else rest
                if mark is None:
                    break
                listed, rest = not listed, rest[mark.end() :]
            found[number] = kept
        return found

    @cached_property
    def query(self) -> Counter[str]:
        """Terms of the whole paper with their weights."""
        total: Counter[str] = Counter()
        for place, terms in enumerate(self.page_terms.values()):
            for term, count in terms.items():
                total[term] += count * (FIRST_PAGE_WEIGHT if place == 0 else 1)  # type: ignore[assignment]
        for term in self.vocabulary.of_text(self.title):
            total[term] += TITLE_WEIGHT  # type: ignore[assignment]
        return total

    @property
    def title(self) -> str:
        """The first words of the first page: the title, and a little more."""
        return " ".join(next(iter(self.pages.values()), "").split()[:TITLE_WORDS])

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """For each stem the word that the paper writes most often."""
        words: dict[str, Counter[str]] = defaultdict(Counter)
        for text in self.pages.values():
            for word in re.findall(r"[^\W\d_]+", normal(text)):
                for part in {word.lower(), *split(word)}:
                    if part not in STOP:
                        words[stem(part)][part] += 1
        return {own: counted.most_common(1)[0][0] for own, counted in words.items()}

    def spelled(self, term: str) -> str:
        """A term as the paper writes it."""
        return " ".join(self._spellings.get(part, part) for part in term.split())
