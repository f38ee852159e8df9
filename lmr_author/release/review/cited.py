"""The parts of the paper that an instruction names: sections, equations, algorithms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.authoring.suggesting.sections import Section, sections

_NUMBER = r"\d{1,2}(?:\.\d{1,2}){0,2}(?![\d%])"
_JOINT = r"\s*(?:,|and|&|to|–|-)\s*(?:and\s+)?(?:sections?\s+|§\s*)?"
_SECTIONS = re.compile(rf"(?:\bsections?\s|\bsec\.|§)\s*({_NUMBER}(?:{_JOINT}{_NUMBER})*)", re.I)
_EQUATIONS = re.compile(r"\b(?:equations?|eqs?)\.?\s*\(?(\d+)\)?(?:\s*(to|-|–|and|,)\s*\(?(\d+)\)?)?", re.I)
_ALGORITHM = re.compile(r"\balgorithm\s+(\d+)", re.I)
_HEAD_OF_ALGORITHM = re.compile(r"^\s*algorithm\s+(\d+)", re.I | re.M)
_EQUATION_AT_END = re.compile(r"\((\d{1,3})\)[ \t]*$", re.M)
_MOST_OF_A_RANGE = 50


@dataclass(frozen=True)
class Cited:
    """What an instruction names of a paper.

    Attributes:
        sections: the named sections, each with its subsections.
        absent: named sections that the paper does not have, by number.
        elsewhere: named equations and algorithms that are only in other sections → those sections.
        readable: False where no numbered section was found in the paper's text at all.
    """

    sections: tuple[Section, ...]
    absent: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, Section], ...] = ()
    readable: bool = True


def cite(instruction: str, pages: Mapping[int, str]) -> Cited:
    """Return the sections of a paper that an instruction names."""
    in_paper = sections(pages)
    chosen: list[Section] = []
    absent = []
    for number in named_sections(instruction):
        named = [section for section in in_paper if _is_within(section.number, number)]
        chosen += [section for section in named if section not in chosen]
        if not named:
            absent.append(number)
    chosen.sort(key=in_paper.index)
    outside: list[tuple[str, Section]] = []
    for label in labels_named(instruction):
        homes = [section for section in in_paper if label in labels_in(section.text)]
        if chosen and homes and not any(section in chosen for section in homes):
            outside.append((label, homes[0]))
    return Cited(tuple(chosen), tuple(absent), tuple(outside), bool(in_paper))


def named_sections(instruction: str) -> tuple[str, ...]:
    """Return the numbers of the sections that an instruction names, each once."""
    numbers: list[str] = []
    for match in _SECTIONS.finditer(instruction):
        numbers += _filled(re.split(rf"({_NUMBER})", match[1])[1:])
    return tuple(dict.fromkeys(numbers))


def _filled(parts: Sequence[str]) -> Iterator[str]:
    """Yield the numbers of "2, 3 to 5"; between two whole numbers that "to" joins, also those between."""
    last = ""
    for number, before in zip(parts[::2], ["", *parts[1::2]], strict=False):
        if last.isdecimal() and number.isdecimal() and re.search(r"\bto\b|–|-", before):
            yield from map(str, range(int(last) + 1, int(number)))
        yield number
        last = number


def labels_named(instruction: str) -> tuple[str, ...]:
    """Return the equations and algorithms that an instruction names, as :func:`labels_in` spells them."""
    equations: set[int] = set()
    for first, between, last in _EQUATIONS.findall(instruction):
        start, end = int(first), int(last or first)
        equations.update((start, end))
        if between in ("to", "-", "–"):
            equations.update(range(start, min(end, start + _MOST_OF_A_RANGE) + 1))
    return _labels(equations, set(map(int, _ALGORITHM.findall(instruction))))


def labels_in(text: str) -> tuple[str, ...]:
    """Return the equations and algorithms that stand in a text: ``equation (3)``, ``algorithm 1``."""
    equations = set(map(int, _EQUATION_AT_END.findall(text)))
    return _labels(equations, set(map(int, _HEAD_OF_ALGORITHM.findall(text))))


def _labels(equations: set[int], algorithms: set[int]) -> tuple[str, ...]:
    labels = [f"equation ({number})" for number in sorted(equations)]
    return (*labels, *(f"algorithm {number}" for number in sorted(algorithms)))


def paragraphs_of(section: Section, paragraphs: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers of a paper's paragraphs that belong to a section that was found in them, joined by lines."""
    begin = "\n".join(paragraphs).find(section.text)
    if begin < 0:
        return ()
    end, at, numbers = begin + len(section.text), 0, []
    for number, text in enumerate(paragraphs):
        if at < end and at + len(text) > begin and text.strip():
            numbers.append(number)
        at += len(text) + 1
    return tuple(numbers)


def _is_within(number: str, outer: str) -> bool:
    return number == outer or number.startswith(f"{outer}.")
