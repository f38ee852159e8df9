"""What a paper's text has, and what a text about it names: sections, equations, tables and their like, cited works."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from operator import itemgetter
from typing import NamedTuple

from lmr_author.core.texts import unbroken

# numbered sections

_HEADING = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,2})(?P<dot>\.?)[ \t]*\n?[ \t]*(?P<title>[a-z]{0,3}-?[A-Z][^\n]{2,90})$",
    re.M,
)
_NOT_A_TITLE = re.compile(
    r"[;=|∈≤≥*@]|\.(?:\s|$)|^\w+,|[-:,]$|\d{3}|\bet al\b|^(?:Table|Figure)\b"
    r"|\b(?:University|Universit\w+|Department|Institut\w*|School|Laborator\w+|College|Academy|Labs?|Inc)\b"
)
_LONGEST_SENTENCE = 8
"""Words of a title with one capital; a longer one begins a footnote or a list."""
_SMALL_CAPITALS = re.compile(r"\b([B-Z]) (?=[A-Z]{2,})")
"""In a PDF's text the large initial of small capitals is a word of its own: "I NTRODUCTION"."""
_END = re.compile(r"^\s*(?:references|bibliography|acknowledge?ments?)\s*$", re.I | re.M)

Heading = tuple[re.Match[str], str]


@dataclass(frozen=True)
class Section:
    """A section: its number as printed, its title, its text without the heading."""

    number: str
    title: str
    text: str

    @property
    def named(self) -> str:
        """As an instruction names it: ``section 3.2 (Training objective)``."""
        return f"section {self.number} ({self.title})"


def sections(pages: Mapping[int, str]) -> tuple[Section, ...]:
    """Return the numbered sections from "1 Introduction" to the references; none without such a heading.

    Many lines begin with a number: affiliations, footnotes, lists, cells of tables. The headings are the longest chain
    of lines whose numbers follow one another.
    """
    text = "\n".join(pages[number] for number in sorted(pages))
    end = _END.search(text)
    text = text[: end.start()] if end else text
    headings = _longest_chain(_headings(text))
    ends = [*(match.start() for match, _ in headings[1:]), len(text)]
    return tuple(
        Section(match["number"], title, text[match.end() : stop])
        for (match, title), stop in zip(headings, ends, strict=False)
    )


def _headings(text: str) -> list[Heading]:
    """Return the lines that may be headings, with their titles, from the introduction on."""
    candidates = []
    for match in _HEADING.finditer(text):
        title = unicodedata.normalize("NFKC", match["title"]).strip()
        candidates.append((match, _SMALL_CAPITALS.sub(r"\1", title)))
    # A title that occurs under several numbers is a table's column or a running head.
    often = Counter(title for _, title in candidates)
    titled = [(match, title) for match, title in candidates if often[title] == 1 and _is_title(title)]
    headings = list(dropwhile(lambda heading: not _is_introduction(*heading), titled))
    # A style puts a dot behind all section numbers or behind none; subsections may differ.
    dots = [match["dot"] for match, _ in headings[:1]]
    return [heading for heading in headings if "." in heading[0]["number"] or heading[0]["dot"] in dots]


def _is_introduction(match: re.Match[str], title: str) -> bool:
    return match["number"] == "1" and title.lower().startswith("introduction")


def _is_title(title: str) -> bool:
    words = title.split()
    is_sentence = len(words) > _LONGEST_SENTENCE and sum(word[0].isupper() for word in words) == 1
    is_cut = title.count("(") != title.count(")")
    return not is_sentence and not is_cut and not _NOT_A_TITLE.search(title)


def _longest_chain(candidates: Sequence[Heading]) -> list[Heading]:
    """Return the longest chain from the first candidate in which each number may follow the one before.

    A heading whose title is no line of its own may be missing from the chain, which costs most of a heading.
    """
    if not candidates:
        return []
    numbers = [tuple(map(int, match["number"].split("."))) for match, _ in candidates]
    # The best chain that ends in each candidate, and its worth.
    chains: list[tuple[float, list[int]]] = [(1.0, [0])]
    for position in range(1, len(numbers)):
        longer = []
        for worth, chain in chains:
            gap = _gap(numbers[chain[-1]], numbers[position])
            longer.append((worth + 1 - gap, [*chain, position]))
        chains.append(max(longer, key=itemgetter(0)))
    _, best = max(chains, key=itemgetter(0))
    return [candidates[position] for position in best]


def _gap(old: tuple[int, ...], new: tuple[int, ...]) -> float:
    """Return the cost of one number following another: 0 for 3 after 2.4 or 2.1 after 2; infinite where it cannot."""
    nexts = _following(old, 1)
    if new in nexts:
        return 0.0
    after = [*_following(old, 2), *((*number, 1) for number in nexts)]
    return 0.8 if new in after else math.inf


def _following(number: tuple[int, ...], step: int) -> list[tuple[int, ...]]:
    """Return the numbers one step later: for 2.4 and step 1 those are 2.4.1, 3 and 2.5."""
    return [(*number, step), *((*number[:depth], number[depth] + step) for depth in range(len(number)))]


# numbered parts that a text names

_WORDS = {
    "section": r"(?:sub)?sections?|secs?\.?|§+",
    "equation": r"equations?|eqs?\.?|eqns?\.?",
    "algorithm": r"algorithms?|algs?\.",
    "table": r"tables?|tabs?\.",
    "figure": r"figures?|figs?\.?",
    "appendix": r"appendix|appendices|app\.",
}
_NUMBER = r"(?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3}){0,3}(?![\d%])|[IVX]{1,5}(?![A-Za-z\d])|[A-Z](?![A-Za-z\d'’-])"
_ITEM = rf"(?:\(\s*(?:{_NUMBER})[a-z]?\s*\)|(?:{_NUMBER})(?:[a-z](?![a-z]))?)"
# Behind a comma a bare number may begin something else: "equation (1), 50 steps".
_LISTED = rf",\s*(?:\(\s*(?:{_NUMBER})\s*\)|(?:{_NUMBER})(?=\s*(?:[,.;:)]|$|(?:and|to|of|in)\b|[-–&])))"
_JOINED = rf"\s*(?:{_LISTED}|(?:,\s*)?(?:(?:and|to|or|through)\s+|[&–-]\s*){_ITEM})"
_NAMED = {
    kind: re.compile(rf"(?<![\w.])(?i:{words})(?:\s|~)*({_ITEM}(?:{_JOINED})*)")
    for kind, words in _WORDS.items()
}
_YEAR = r"\bet al\b|\b(?:19|20)\d\d\b"
_OTHER_WORK = re.compile(
    r"\s+of\s+(?:the\s+)?(?!Section|Algorithm|Equation|Appendix)"
    r"(?:`|[A-Z]|(?:readme|documentation|docs|specification|repository)\b)(?!.*\b(?:paper|article|appendix)\b)"
    rf"|.*(?:{_YEAR})"
)
"""Behind a part of another work: "section 3.2 of the README", "section 3 of Kim et al. (2019)"."""
_BEFORE = re.compile(rf"\([^()]*(?:{_YEAR})[^()]*$|\b(?:et al\.|[A-Z]\w*)['’]s\s*$")
"""Before a part of another work: "(Kim et al., 2019, section 3", "ASAM's equation (2)"."""

_ROMAN = {"I": 1, "V": 5, "X": 10}
_MOST_OF_A_RANGE = 50

_NUMBERED_LINE = re.compile(
    r"^[ \t]*(\d{1,2}(?:\.\d{1,2}){0,3})\.?[ \t]*\n?[ \t]*(?=[A-Z(“\"]|[a-z]{1,2}[A-Z-])", re.M
)
_ROMAN_LINE = re.compile(r"^[ \t]*([IVX]{1,5})\.[ \t]*\n?[ \t]*(?=[A-Z])", re.M)
_LETTERED_LINE = re.compile(r"^[ \t]*([A-Z](?:\.\d{1,2}){0,3})\.?[ \t]*\n?[ \t]*(?=[A-Z][A-Za-z ])", re.M)
_APPENDIX = re.compile(r"^\W*(?:appendix|appendices|supplement)", re.I | re.M)
_LABEL = re.compile(r"\(\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?)\s*[a-z]?\s*\)")
_LABEL_AT_END = re.compile(r"\([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?\)[ \t]*$", re.M)


@dataclass(frozen=True)
class NamedPart:
    """A part of a paper by its kind and number; an appendix has a letter, perhaps with numbers behind it."""

    kind: str
    number: str

    def __str__(self) -> str:
        return f"{self.kind} ({self.number})" if self.kind == "equation" else f"{self.kind} {self.number}"


def named_parts(text: str) -> tuple[NamedPart, ...]:
    """Return the parts of the paper that a text names, each once, by kind; those of other works are left out."""
    parts: dict[NamedPart, None] = {}
    for kind, pattern in _NAMED.items():
        for match in pattern.finditer(text):
            if not _is_elsewhere(text, match):
                parts.update(dict.fromkeys(_parts(kind, match[1])))
    return tuple(parts)


def missing_parts(text: str, pages: Mapping[int, str]) -> tuple[NamedPart, ...]:
    """Return the parts that a text names and a paper lacks, of the kinds that the paper numbers at all."""
    named = named_parts(text)
    if not named:
        return ()
    present = _parts_of(pages)
    return tuple(part for part in named if present.get(part.kind) and part.number not in present[part.kind])


def _is_elsewhere(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 80) : match.start()]
    behind = re.split(r"[.;:](?:\s|$)", text[match.end() : match.end() + 60], maxsplit=1)[0]
    return bool(_BEFORE.search(before) or _OTHER_WORK.match(behind))


def _parts(kind: str, text: str) -> Iterator[NamedPart]:
    """Yield the parts of "2, 3 to 5"; between two whole numbers that "to" joins, also those between."""
    last, at = "", 0
    for match in re.finditer(_NUMBER, text):
        part = _part(kind, match[0])
        if part is None:
            continue
        if (
            last.isdecimal()
            and part.number.isdecimal()
            and re.search(r"\bto\b|\bthrough\b|–|-", text[at : match.start()])
        ):
            stop = min(int(part.number), int(last) + _MOST_OF_A_RANGE)
            yield from (NamedPart(kind, str(number)) for number in range(int(last) + 1, stop))
        yield part
        last, at = part.number, match.end()


def _part(kind: str, number: str) -> NamedPart | None:
    """Return the part that a number means beside a kind; None where it may be something else."""
    if re.fullmatch("[IVX]+", number) and kind != "appendix" and (kind != "equation" or len(number) > 1):
        return NamedPart(kind, str(_arabic(number)))
    if number.isalpha():
        return NamedPart("appendix", number) if kind in ("section", "appendix") and len(number) == 1 else None
    if number[0].isalpha():
        number = f"{number[0]}.{number[1:].lstrip('.')}"
        return NamedPart("appendix" if kind == "section" else kind, number)
    return None if kind == "appendix" else NamedPart(kind, number)


def _arabic(roman: str) -> int:
    values = [_ROMAN[letter] for letter in roman]
    return sum(-value if value < max(values[at:]) else value for at, value in enumerate(values))


def _parts_of(pages: Mapping[int, str]) -> dict[str, set[str]]:
    """Return the numbers of each kind in a paper's text, rather too many; none of a kind without numbers."""
    text = "\n".join(pages[number] for number in sorted(pages))
    present: dict[str, set[str]] = {kind: set() for kind in _WORDS}
    for part in named_parts(text):
        present[part.kind].add(part.number)
    roman = {str(_arabic(match[1])) for match in _ROMAN_LINE.finditer(text)}
    if sections(pages) or {"1", "2", "3"} <= roman:
        present["section"] |= roman | _with_outer(_NUMBERED_LINE.findall(text))
    else:
        present["section"] = set()
    if present["appendix"] or _APPENDIX.search(text):
        present["appendix"] |= _with_outer([*present["appendix"], *_LETTERED_LINE.findall(text)])
    if _LABEL_AT_END.search(text):
        present["equation"] |= {re.sub(r"^([A-Z])\.?", r"\1.", number) for number in _LABEL.findall(text)}
    for numbers in present.values():  # the extraction may lose one between two others
        whole = {int(number) for number in numbers if number.isdecimal()}
        numbers |= {str(number + 1) for number in whole if number + 2 in whole}
    return present


def _with_outer(numbers: Iterable[str]) -> set[str]:
    """Return numbers and those of the sections around them: for 3.2.1 also 3.2 and 3."""
    pieces = [number.split(".") for number in numbers]
    return {".".join(piece[:depth]) for piece in pieces for depth in range(1, len(piece) + 1)}


# works that a text cites by author and year

NEAR = 400
"""Characters of an entry of a bibliography, from the first author to the year."""
YEARS_APART = 1
"""A preprint and its publication: one may be cited in the instruction, the other in the paper."""
_OWN_YEARS = 2

_NAME = r"[A-Z][\w'’]*[a-zà-ÿ](?:-[A-Z][\w'’]*[a-zà-ÿ])?"
_CITED = re.compile(
    rf"(?<![\w.`/])(?P<name>{_NAME})(?P<others>,? et al\.?|(?:,? (?:and|&) {_NAME}))?"
    r"(?P<mark>,? \(|,? )(?P<year>(?:19|20)\d\d)[a-z]?(?!\w)"
)
_FOLLOWED = re.compile(r"\)|;|, (?:section|§|eq|alg|table|fig|app)", re.I)
"""Behind "Kim, 2019" where it is a citation, and not a place and a date."""


class Work(NamedTuple):
    """A work by the family name of an author and its year."""

    author: str
    year: int

    def __str__(self) -> str:
        return f"{self.author} ({self.year})"


def cited_works(text: str) -> Iterator[Work]:
    """Yield the works that a text cites: "Kim et al. (2019)", "Kim and Lee, 2019", "(Kim, 2019, section 3)"."""
    for match in _CITED.finditer(text):
        others, mark = match["others"] or "", match["mark"]
        in_list = mark == ", " and _FOLLOWED.match(text, match.end())
        if "et al" in others or (others and mark != " ") or mark.endswith("(") or in_list:
            yield Work(match["name"], int(match["year"]))


def missing_works(text: str, pages: Mapping[int, str], year: int) -> list[Work]:
    """Return the works that a text cites and a paper does not, by an author's name with the year near it.

    Args:
        year: of the paper itself, which the text may cite: its authors are on the first page.
    """
    works = list(dict.fromkeys(cited_works(text)))
    if not works or not pages:
        return []
    whole = [_plain(pages[number]) for number in sorted(pages)]
    everything = "\n".join(whole)
    missing = []
    for work in works:
        name = re.compile(rf"(?<!\w){re.escape(_plain(work.author))}(?!\w)")
        is_own = abs(work.year - year) <= _OWN_YEARS and name.search(whole[0])
        if not is_own and not any(
            _has_year(everything, match.end(), work.year) for match in name.finditer(everything)
        ):
            missing.append(work)
    return missing


def _has_year(text: str, at: int, year: int) -> bool:
    years = re.findall(r"(?:19|20)\d\d", text[at : at + NEAR])
    return any(abs(int(other) - year) <= YEARS_APART for other in years)


def _plain(text: str) -> str:
    """Return a text in lower case, without accents and hyphens of line ends."""
    text = unbroken(unicodedata.normalize("NFKD", text))
    return "".join(char for char in text if not unicodedata.combining(char)).lower()
