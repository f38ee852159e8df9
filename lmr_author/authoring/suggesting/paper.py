"""A paper as terms, page by page, and how well it describes each function: BM25 with the paper as the query."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from lmr_author.authoring.suggesting.words import STOP, Vocabulary, normal, split, stem
from lmr_author.core.indexing import Index, IndexEntry

TITLE_WORDS = 15
TITLE_WEIGHT = 3.0
FIRST_PAGE_WEIGHT = 1.5
"""Weights of a word of the title and of the first page: they name what is new."""

FIELDS = {
    "name": 4.0,
    "class": 2.0,
    "bases": 1.0,
    "file": 1.0,
    "folders": 0.5,
    "docstring": 1.0,
    "class docstring": 0.3,
    "parameters": 1.5,
    "code": 1.0,
    "comments": 0.5,
}
"""Weight of a term by the field of the function it is in."""

TERMS = 6
PAGES = 3
"""The most shared terms and pages that are reported of a function."""

_ACRONYM = re.compile(r"((?:[\w-]+\s+){1,7})\(\s*([A-Za-z][\w-]{1,9})s?\s*\)")
_NAME = re.compile(r"\b[^\W_]*[a-z](?:[A-Z]|\d+[A-Za-z])[^\W_]*\b")
_REFERENCES = re.compile(r"^\s*(?:\d+\.?\s*)?(?:references|bibliography)\s*$", re.I | re.M)
_APPENDIX = re.compile(
    # An author's name among the references ("A. Smith, B. Jones") has commas or dots.
    r"^\s*(?:(?i:appendi(?:x|ces)|supplement(?:ary|al))\b.{0,60}|A\.?[ \t]+(?!.*\d{3})[A-Z][a-z][^,.\n]{2,60})$",
    re.M,
)


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
    def own_text(self) -> dict[int, str]:
        """The pages without the list of references, which may go on over several; an appendix is kept."""
        found: dict[int, str] = {}
        listed = False
        for number, text in self.pages.items():
            kept, rest = "", text
            while rest:
                mark = (_APPENDIX if listed else _REFERENCES).search(rest)
                if not listed:
                    kept += rest[: mark.start()] if mark else rest
                if mark is None:
                    break
                listed, rest = not listed, rest[mark.end() :]
            found[number] = kept
        return found

    @cached_property
    def page_terms(self) -> dict[int, Counter[str]]:
        """Terms of each page with their frequencies; the list of references is left out."""
        return {number: Counter(self.vocabulary.of_text(text)) for number, text in self.own_text.items()}

    @cached_property
    def query(self) -> Mapping[str, float]:
        """Terms of the whole paper with their weights."""
        total: dict[str, float] = defaultdict(float)
        for place, terms in enumerate(self.page_terms.values()):
            for term, count in terms.items():
                total[term] += count * (FIRST_PAGE_WEIGHT if place == 0 else 1)
        title = " ".join(next(iter(self.pages.values()), "").split()[:TITLE_WORDS])
        for term in self.vocabulary.of_text(title):
            total[term] += TITLE_WEIGHT
        return total

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """For each stem the word that the paper writes most often."""
        words: dict[str, Counter[str]] = defaultdict(Counter)
        for text in self.pages.values():
            for word in re.findall(r"[^\W\d_]+", normal(text)):
                for part in {word.lower(), *split(word)} - STOP:
                    words[stem(part)][part] += 1
        return {own: counted.most_common(1)[0][0] for own, counted in words.items()}

    def telling_terms(self, parts: Mapping[str, float]) -> list[str]:
        """Return the terms that add most to a score; one that is part of a pair which adds as well is left out."""
        order = sorted(parts, key=lambda term: (-parts[term], term))
        in_pairs = {word for term in order if " " in term for word in term.split()}
        return [term for term in order if term not in in_pairs][:TERMS]

    def spelled(self, term: str) -> str:
        """Return a term as the paper writes it."""
        return " ".join(self._spellings.get(part, part) for part in term.split())


class BM25:
    """Okapi BM25 with weighted fields, term by term, so that a score can be explained.

    S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009: section 3.4 for the
    score, 3.6 for fields (an occurrence in a field of weight w counts as w occurrences). The saturated frequency
    of a term in a long query (k3) is Okapi's, TREC-3, 1994. Libraries (bm25s, rank-bm25) give a document's total
    only, and take no weighted frequencies.

    Args:
        documents: each as its terms with their weighted frequencies.
    """

    K1 = 1.2
    """Saturation of a term's frequency in a document."""
    B = 0.5
    """Penalty of long documents, 0 to 1."""
    K3 = 8.0
    """Saturation of a term's frequency in the query."""

    def __init__(self, documents: Sequence[Mapping[str, float]]) -> None:
        self._documents = documents
        self._lengths = [sum(document.values()) for document in documents]
        self._average = sum(self._lengths) / len(documents) if documents else 0.0
        self._holding = Counter(term for document in documents for term in document)

    def parts(self, place: int, query: Mapping[str, float]) -> dict[str, float]:
        """Return what each term of the query (with its frequency) adds to a document's score."""
        length = self._lengths[place] / self._average if self._average else 0.0
        norm = self.K1 * (1 - self.B + self.B * length)
        found = {}
        for term, frequency in self._documents[place].items():
            asked = query.get(term)
            if asked:
                holding = self._holding[term]
                rarity = math.log(1 + (len(self._documents) - holding + 0.5) / (holding + 0.5))
                saturated = frequency * (self.K1 + 1) / (frequency + norm)
                found[term] = rarity * saturated * asked * (self.K3 + 1) / (asked + self.K3)
        return found


@dataclass(frozen=True)
class TermMatch:
    """A term that a function and the paper share.

    Attributes:
        term: as the paper writes it.
        pages: those that use it, most often first.
    """

    term: str
    pages: tuple[int, ...]


@dataclass(frozen=True)
class Description:
    """The paper's description of a function.

    Attributes:
        share: of the best function's BM25 score, 0 to 1.
        matches: the terms that count most, the best first.
        pages: those that describe it best, the best first.
    """

    share: float
    matches: tuple[TermMatch, ...] = ()
    pages: tuple[int, ...] = ()


class Descriptions:
    """The paper's descriptions of the functions of an index, by their places in it."""

    def __init__(self, index: Index, paper: PaperText) -> None:
        self._paper = paper
        classes = {(item.path, item.qualname): item for item in index.entries if item.is_class}
        self._bm25 = BM25(
            [
                _terms(item, classes.get((item.path, item.class_name)), paper.vocabulary)
                for item in index.functions
            ]
        )
        self._scores = [
            sum(self._bm25.parts(place, paper.query).values()) for place in range(len(index.functions))
        ]
        self._best = max(self._scores, default=0.0)

    def share(self, place: int) -> float:
        """Return a function's score as a share of the best one's, 0 to 1."""
        return self._scores[place] / self._best if self._best else 0.0

    def describe(self, place: int) -> Description:
        """Return a function's score with its evidence."""
        parts = self._bm25.parts(place, self._paper.query)
        on_page: dict[int, float] = defaultdict(float)
        for number, counts in self._paper.page_terms.items():
            for term in parts.keys() & counts.keys():
                on_page[number] += parts[term] * counts[term] / (counts[term] + 2)
        matches = []
        for term in self._paper.telling_terms(parts):
            counted = {number: terms[term] for number, terms in self._paper.page_terms.items() if terms[term]}
            order = sorted(counted, key=lambda number: (-counted[number], number))
            matches.append(TermMatch(self._paper.spelled(term), tuple(order)))
        best = sorted(on_page, key=lambda number: -on_page[number])[:PAGES]
        return Description(self.share(place), tuple(matches), tuple(best))


def _terms(item: IndexEntry, owner: IndexEntry | None, vocabulary: Vocabulary) -> dict[str, float]:
    """Return the terms of a function with their frequencies, each field counted by its weight."""
    found: dict[str, float] = defaultdict(float)
    identifiers = {
        "name": [item.name],
        "class": item.class_name.split("."),
        "bases": owner.parameters if owner else (),
        "file": [PurePosixPath(item.path).stem],
        "folders": PurePosixPath(item.path).parts[:-1],
        "parameters": item.arguments,
        "code": item.identifiers,
    }
    for field, names in identifiers.items():
        for term in dict.fromkeys(term for name in names for term in vocabulary.of_identifier(name)):
            found[term] += FIELDS[field]
    texts = {
        "docstring": item.docstring,
        "comments": item.comments,
        "class docstring": owner.docstring if owner else "",
    }
    for field, text in texts.items():
        for term in vocabulary.of_text(text):
            found[term] += FIELDS[field]
    return dict(found)
