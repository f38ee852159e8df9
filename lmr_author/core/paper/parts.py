"""The numbered parts of a paper that a text names: sections, equations, algorithms, tables, figures, appendices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.core.paper.sections import sections

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
_CITED = r"\bet al\b|\b(?:19|20)\d\d\b"
_OTHER_WORK = re.compile(
    r"\s+of\s+(?:the\s+)?(?!Section|Algorithm|Equation|Appendix)"
    r"(?:`|[A-Z]|(?:readme|documentation|docs|specification|repository)\b)(?!.*\b(?:paper|article|appendix)\b)"
    rf"|.*(?:{_CITED})"
)
"""Behind a part of another work: "section 3.2 of the README", "section 3 of Kim et al. (2019)"."""
_BEFORE = re.compile(rf"\([^()]*(?:{_CITED})[^()]*$|\b(?:et al\.|[A-Z]\w*)['’]s\s*$")
"""Before a part of another work: "(Kim et al., 2019, section 3", "ASAM's equation (2)"."""
_ROMAN = {"I": 1, "V": 5, "X": 10}
_MOST_OF_A_RANGE = 50

_HEADING = re.compile(
    r"^[ \t]*(\d{1,2}(?:\.\d{1,2}){0,3})\.?[ \t]*\n?[ \t]*(?=[A-Z(“\"]|[a-z]{1,2}[A-Z-])", re.M
)
_ROMAN_HEADING = re.compile(r"^[ \t]*([IVX]{1,5})\.[ \t]*\n?[ \t]*(?=[A-Z])", re.M)
_LETTER_HEADING = re.compile(r"^[ \t]*([A-Z](?:\.\d{1,2}){0,3})\.?[ \t]*\n?[ \t]*(?=[A-Z][A-Za-z ])", re.M)
_APPENDIX = re.compile(r"^\W*(?:appendix|appendices|supplement)", re.I | re.M)
_LABEL = re.compile(r"\(\s*([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?)\s*[a-z]?\s*\)")
_LABEL_AT_END = re.compile(r"\([A-Z]?\.?\d{1,3}(?:\.\d{1,3})?\)[ \t]*$", re.M)


@dataclass(frozen=True)
class NamedPart:
    """A part of a paper by its kind and number: arabic, or the letter of an appendix and what follows it."""

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
    """Return the parts that a text names and a paper does not have, of the kinds that the paper numbers at all."""
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
    """Return what a number means beside a kind; None where it may be something else."""
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
    """Return the numbers that a paper's text has of each kind, rather too many; none of a kind without numbers."""
    text = "\n".join(pages[number] for number in sorted(pages))
    present: dict[str, set[str]] = {kind: set() for kind in _WORDS}
    for part in named_parts(text):
        present[part.kind].add(part.number)
    roman = {str(_arabic(match[1])) for match in _ROMAN_HEADING.finditer(text)}
    if sections(pages) or {"1", "2", "3"} <= roman:
        present["section"] |= roman | _with_outer(_HEADING.findall(text))
    else:
        present["section"] = set()
    if present["appendix"] or _APPENDIX.search(text):
        present["appendix"] |= _with_outer(_LETTER_HEADING.findall(text)) | _with_outer(
            tuple(present["appendix"])
        )
    if _LABEL_AT_END.search(text):
        present["equation"] |= {re.sub(r"^([A-Z])\.?", r"\1.", number) for number in _LABEL.findall(text)}
    for numbers in present.values():  # one that the extraction lost, between two that it has
        whole = {int(number) for number in numbers if number.isdecimal()}
        numbers |= {str(number + 1) for number in whole if number + 2 in whole}
    return present


def _with_outer(numbers: Sequence[str]) -> set[str]:
    """Return numbers and those of the sections around them: 3.2.1, 3.2 and 3."""
    pieces = [number.split(".") for number in numbers]
    return {".".join(piece[:depth]) for piece in pieces for depth in range(1, len(piece) + 1)}
