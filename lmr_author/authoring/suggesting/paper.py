"""How well the paper describes each function: shared words, BM25; a function's section and its likely category."""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from lmr_author.core.indexing import Index, IndexEntry
from lmr_author.core.paper.parts import Section
from lmr_author.core.texts import unbroken

TABLES: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def _pairs(text: str) -> dict[str, str]:
    words = (" ".join(entry.split()).partition(" ") for entry in text.split(";"))
    return {short: long for short, _, long in words}


ABBREVIATIONS = {short: tuple(long.split()) for short, long in _pairs(TABLES["abbreviations"]).items()}
"""Abbreviation in code → the paper's words."""
STOP = frozenset(TABLES["stop"].split())
"""Words that say nothing about what a function does."""

TITLE_WORDS = 15
TITLE_WEIGHT = 3.0
FIRST_PAGE_WEIGHT = 1.5
"""Weights of a word of the title and of the first page: they name what is new."""

ALIKE = 5
"""Statements from which functions of one name and vocabulary are taken for copies, or versions, of each other."""
TERMS = 6
PAGES = 3
"""The most shared terms and pages that are reported of a function."""

_GREEK = str.maketrans({letter: f" {name} " for letter, name in _pairs(TABLES["greek"]).items()})
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")
_WORD = re.compile(r"[^\W_]+")
_REFERENCES = re.compile(r"^\s*(?:\d+\.?\s*)?(?:references|bibliography)\s*$", re.I | re.M)
_APPENDIX = re.compile(
    # An author's name among the references ("A. Smith, B. Jones") has commas or dots.
    r"^\s*(?:(?i:appendi(?:x|ces)|supplement(?:ary|al))\b.{0,60}|A\.?[ \t]+(?!.*\d{3})[A-Z][a-z][^,.\n]{2,60})$",
    re.M,
)


# words


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


@cache
def identifier_terms(identifier: str) -> tuple[str, ...]:
    """Return the terms of an identifier; an abbreviation counts as itself and as its long form."""
    words: list[str] = []
    short: list[str] = []
    for word in split(identifier):
        long = ABBREVIATIONS.get(word, (word,))
        words += long
        if word not in long and len(word) > 1:
            short.append(word)
    return (*short, *_terms(words))


def text_terms(text: str) -> list[str]:
    """Return the terms of a docstring, a comment or a paper; identifiers in it are split, too."""
    words: list[str] = []
    for word in _WORD.findall(normal(text)):
        parts = (word.lower(),) if word.islower() or word.isupper() else split(word)
        words += (*parts, word.lower()) if len(parts) > 1 else parts
    return _terms(words)


def _terms(words: Sequence[str]) -> list[str]:
    """Return the stems of the words that say something, each followed by the pair it ends."""
    terms: list[str] = []
    last = ""
    for word in words:
        if word in STOP or word.isdecimal() or (len(word) == 1 and word.isascii()):
            last = ""
            continue
        stemmed = stem(word)
        terms.append(stemmed)
        if last:
            terms.append(f"{last} {stemmed}")
        last = stemmed
    return terms


def normal(text: str) -> str:
    """Return a text with ligatures, Greek letters and words broken at a line's end as code would spell them."""
    text = unbroken(unicodedata.normalize("NFKC", text))
    return text.translate(_GREEK)


@dataclass(frozen=True)
class FunctionWords:
    name: str
    class_name: str = ""
    parameters: Sequence[str] = ()
    identifiers: Sequence[str] = ()
    texts: Sequence[str] = ()
    file: str = ""

    @classmethod
    def of(cls, entry: IndexEntry) -> FunctionWords:
        return cls(
            entry.name,
            entry.class_name,
            entry.arguments,
            entry.identifiers,
            (entry.docstring,),
            PurePosixPath(entry.path).stem,
        )

    def terms(self) -> dict[str, float]:
        """Return its terms with their weights: a name weighs more than what the code calls."""
        weights: dict[str, float] = defaultdict(float)
        fields: tuple[tuple[float, Iterable[str]], ...] = (
            (4.0, [self.name]),
            (2.0, self.class_name.split(".")),
            (1.5, self.parameters),
            (1.0, self.identifiers),
            (1.0, [self.file]),
        )
        for weight, names in fields:
            for term in dict.fromkeys(term for name in names for term in identifier_terms(name)):
                weights[term] += weight
        for text in self.texts:
            for term in text_terms(text):
                weights[term] += 1.0
        return dict(weights)


# the paper


class PaperText:
    """The text of a paper: page number → text."""

    def __init__(self, pages: Mapping[int, str]) -> None:
        self.pages = dict(sorted(pages.items()))

    @classmethod
    def from_json(cls, data: Any) -> PaperText:
        """Read ``paper.json``: ``{"1": text, …}``; what is none has no pages."""
        entries = data.items() if isinstance(data, dict) else ()
        return cls({int(key): text for key, text in entries if key.isdecimal() and isinstance(text, str)})

    @cached_property
    def own_text(self) -> dict[int, str]:
        """The pages without the list of references, which may go on over several; an appendix is kept."""
        own: dict[int, str] = {}
        in_references = False
        for number, text in self.pages.items():
            own[number] = ""
            while text:
                mark = (_APPENDIX if in_references else _REFERENCES).search(text)
                if not in_references:
                    own[number] += text[: mark.start()] if mark else text
                if mark is None:
                    break
                in_references, text = not in_references, text[mark.end() :]
        return own

    @cached_property
    def page_terms(self) -> dict[int, Counter[str]]:
        """Terms of each page with their frequencies; the list of references is left out."""
        return {number: Counter(text_terms(text)) for number, text in self.own_text.items()}

    @cached_property
    def query(self) -> Mapping[str, float]:
        """Terms of the whole paper with their weights."""
        total: dict[str, float] = defaultdict(float)
        weight = FIRST_PAGE_WEIGHT
        for terms in self.page_terms.values():
            for term, count in terms.items():
                total[term] += count * weight
            weight = 1.0
        title = " ".join(next(iter(self.pages.values()), "").split()[:TITLE_WORDS])
        for term in text_terms(title):
            total[term] += TITLE_WEIGHT
        return total

    @cached_property
    def _spellings(self) -> dict[str, str]:
        words: dict[str, Counter[str]] = defaultdict(Counter)
        for text in self.pages.values():
            for word in re.findall(r"[^\W\d_]+", normal(text)):
                for part in {word.lower(), *split(word)} - STOP:
                    words[stem(part)][part] += 1
        return {stemmed: spelled.most_common(1)[0][0] for stemmed, spelled in words.items()}

    @cached_property
    def _compounds(self) -> dict[str, str]:
        """Terms → the word whose capitals divide it: "lora", "lo ra" → "LoRA", unless lo and ra are words, too."""
        words = Counter(
            word for text in self.pages.values() for word in re.findall(r"[^\W\d_]+", normal(text))
        )
        plain = {word.lower() for word in words}
        compounds: dict[str, str] = {}
        for word, _ in words.most_common():
            parts = split(word)
            if len(parts) > 1:
                compounds.setdefault(stem(word.lower()), word)
            for pair in pairwise(parts):
                if not plain.issuperset(pair):
                    compounds.setdefault(" ".join(map(stem, pair)), word)
        return compounds

    def telling_terms(self, parts: Mapping[str, float]) -> list[str]:
        """Return the terms that add most to a score; one that is part of a pair which adds as well is left out."""
        order = sorted(parts, key=lambda term: (-parts[term], term))
        in_pairs = {word for term in order if " " in term for word in term.split()}
        return [term for term in order if term not in in_pairs][:TERMS]

    def spelled(self, term: str) -> str:
        """Return a term as the paper writes it: stems as its words, and "lora" and "lo ra" as "LoRA"."""
        parts = term.split()
        return self._compounds.get(term) or " ".join(self._spellings.get(part, part) for part in parts)


class BM25:
    """Okapi BM25 with weighted fields, term by term, so that a score can be explained.

    S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009: section 3.4 for the
    score, 3.6 for fields (an occurrence in a field of weight w counts as w occurrences). The saturated frequency
    of a term in a long query (k3) is Okapi's, TREC-3, 1994. Libraries (bm25s, rank-bm25) give a document's total
    only, and take no weighted frequencies.
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

    def parts(self, number: int, query: Mapping[str, float]) -> dict[str, float]:
        """Return what each term of the query (with its frequency) adds to a document's score."""
        length = self._lengths[number] / self._average if self._average else 0.0
        norm = self.K1 * (1 - self.B + self.B * length)
        parts = {}
        for term, frequency in self._documents[number].items():
            asked = query.get(term)
            if asked:
                holding = self._holding[term]
                rarity = math.log(1 + (len(self._documents) - holding + 0.5) / (holding + 0.5))
                saturated = frequency * (self.K1 + 1) / (frequency + norm)
                parts[term] = rarity * saturated * asked * (self.K3 + 1) / (asked + self.K3)
        return parts


@dataclass(frozen=True)
class TermMatch:
    """A term that function and paper share, as the paper writes it, and the pages that use it, most often first."""

    term: str
    pages: tuple[int, ...]


@dataclass(frozen=True)
class Description:
    """The paper's description of a function.

    Attributes:
        share: of the best function's BM25 score, 0 to 1.
        matches, pages: the terms that count most, and the pages that describe it best, the best first.
    """

    share: float
    matches: tuple[TermMatch, ...] = ()
    pages: tuple[int, ...] = ()


class Descriptions:
    """The paper's descriptions of the functions of an index, by their numbers in it."""

    def __init__(self, index: Index, paper: PaperText) -> None:
        self._paper = paper
        bm25 = BM25([FunctionWords.of(entry).terms() for entry in index.functions])
        self._parts = [bm25.parts(number, paper.query) for number in range(len(index.functions))]
        self._scores = [sum(parts.values()) for parts in self._parts]
        self._best = max(self._scores, default=0.0)
        for earlier, later in _versions(index.functions):
            # BM25 counts the later version's additions as text beside the point.
            pair = self._scores[earlier], self._scores[later]
            self._scores[earlier], self._scores[later] = sorted(pair)

    def share(self, number: int) -> float:
        """Return a function's score as a share of the best one's, 0 to 1."""
        return self._scores[number] / self._best if self._best else 0.0

    def describe(self, number: int) -> Description:
        parts, paper = self._parts[number], self._paper
        worth: dict[int, float] = {}
        for page, counts in paper.page_terms.items():
            worth[page] = sum(parts[term] * counts[term] / (counts[term] + 2) for term in parts)
        matches = list[TermMatch]()
        for term in paper.telling_terms(parts):
            using = [page for page, counts in paper.page_terms.items() if counts[term]]
            using.sort(key=lambda page: (-paper.page_terms[page][term], page))
            spelled = paper.spelled(term)
            if all(match.term != spelled for match in matches):
                matches.append(TermMatch(spelled, tuple(using)))
        described = [page for page in worth if worth[page]]
        best = sorted(described, key=lambda page: -worth[page])[:PAGES]
        return Description(self.share(number), tuple(matches), tuple(best))


def _versions(functions: Sequence[IndexEntry]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of two functions of one name of which the second is longer and has all names of the first."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for number, entry in enumerate(functions):
        if entry.statements >= ALIKE:
            by_name[entry.qualname].append(number)
    for numbers in by_name.values():
        numbers.sort(key=lambda number: functions[number].statements)
        for earlier, later in combinations(numbers, 2):
            is_longer = functions[earlier].statements < functions[later].statements
            if is_longer and set(functions[earlier].identifiers) <= set(functions[later].identifiers):
                yield earlier, later


MARGIN = 2.0
"""Factor by which a section must beat the next one to be named where no title names the function."""
SAME = 5
"""Letters with which two words begin that are taken for one: "Decoder" and ``decode``."""

CLEAR = 4.0
"""How much more than twice as many words, the function's name counting as four, speak for another category."""

_IN_ANY_TITLE = {word[:SAME] for word in ("model", "models", "method", "training", "forward", "results")}
_INTRODUCTORY = re.compile(r"introduction|related work|conclusion|background|abstract|limitations", re.I)


def best_section(titled: Sequence[Section], function: FunctionWords) -> Section | None:
    """Return the section that describes a function clearly better than the others; None when there is none.

    The one that shares most words with the function; a title that names the function must be its own.
    """
    own = [section for section in titled if not _INTRODUCTORY.search(section.title)]
    paper = PaperText({number: f"{section.title}\n{section.text}" for number, section in enumerate(own)})
    ranked = _ranked(paper, function, range(len(own)))
    if not ranked:
        return None
    best = own[ranked[0][1]]
    named = [_words_of_title(section, function) for section in own]
    if most := max(named):
        is_clear = named[ranked[0][1]] == most and named.count(most) == 1
    else:
        is_clear = len(ranked) == 1 or ranked[0][0] >= MARGIN * ranked[1][0]
    return best if is_clear else None


def _words_of_title(section: Section, function: FunctionWords) -> int:
    names = {part[:SAME] for name in (function.name, function.class_name) for part in split(name)}
    words = {word.lower()[:SAME] for word in re.findall(r"[^\W\d_]{4,}", section.title)} - _IN_ANY_TITLE
    return len(words & names)


def _ranked(
    paper: PaperText, function: FunctionWords, pages: Sequence[int]
) -> list[tuple[float, int, dict[str, float]]]:
    """Return score, number and shared terms of the pages that share any with a function, the best first."""
    bm25, query = BM25([paper.page_terms[page] for page in pages]), function.terms()
    scored = []
    for position, page in enumerate(pages):
        if parts := bm25.parts(position, query):
            scored.append((sum(parts.values()), page, parts))
    return sorted(scored, key=lambda section: (-section[0], section[1]))


def likely_category(function: FunctionWords) -> str:
    """Return the category that a function's names and texts speak for most; "" when they speak for none."""
    scores = _category_scores(function)
    best = max(scores, key=lambda category: scores[category])
    return best if scores[best] else ""


def contradicting_category(function: FunctionWords, category: str) -> str:
    """Return the category that a function's words clearly speak for instead of a given one; "" for none.

    Of 50 targets of the starter tasks and the recipes, 2 are contradicted (13 have another likely category); with a
    wrong category, three of five are.
    """
    likely, scores = likely_category(function), _category_scores(function)
    is_clear = likely and scores[likely] >= 2 * scores.get(category, 0.0) + CLEAR
    return likely if is_clear and likely != category else ""


def _category_scores(function: FunctionWords) -> dict[str, float]:
    scores: dict[str, float] = defaultdict(float)
    named = [function.name, *function.class_name.split(".")]
    for weight, texts in ((4.0, named), (1.0, [*function.parameters, *function.texts])):
        parts = re.findall(r"\w+", "\n".join(texts))
        words = {word for part in parts for word in split(part)}
        for category, beginnings in TABLES["categories"].items():
            hits = sum(word.startswith(tuple(beginnings.split())) for word in words)
            scores[category] += weight * min(hits, 3)
    return scores
