"""The parts of the paper that an instruction names: sections, equations, algorithms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.authoring.suggesting.paper import PaperText
from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.paper.parts import NamedPart, Section, named_parts, sections
from lmr_author.core.task import Task, TaskInfo

_HEAD_OF_ALGORITHM = re.compile(r"^\s*algorithm\s+(\d+)", re.I | re.M)
_EQUATION_AT_END = re.compile(r"\((\d{1,3})\)[ \t]*$", re.M)


@dataclass(frozen=True)
class Citation:
    """What an instruction names of a paper.

    Attributes:
        sections: the named sections, each with its subsections.
        absent: named sections that the paper does not have, by number.
        elsewhere: named equations and algorithms that are only in other sections → those sections.
        readable: False where no numbered section was found in the paper's text at all.
        pages: those with the named sections, equations and algorithms.
    """

    sections: tuple[Section, ...]
    absent: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, Section], ...] = ()
    readable: bool = True
    pages: tuple[int, ...] = ()


def paper_pages(task: Task, info: TaskInfo) -> Mapping[int, str]:
    """Return the paper's text by page; nothing where it cannot be read, which `validate` names."""
    try:
        return PaperText.from_json(files.read_object_or_empty(task.paper_json(info))).pages
    except LmrError:
        return {}


def cite(instruction: str, pages: Mapping[int, str]) -> Citation:
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
    labels = labels_named(instruction)
    for label in labels:
        homes = [section for section in in_paper if label in labels_in(section.text)]
        if chosen and homes and not any(section in chosen for section in homes):
            outside.append((label, homes[0]))
    numbers = _pages_of(chosen, labels, pages)
    return Citation(tuple(chosen), tuple(absent), tuple(outside), bool(in_paper), numbers)


def named_sections(instruction: str) -> tuple[str, ...]:
    return tuple(part.number for part in named_parts(instruction) if part.kind == "section")


def labels_named(instruction: str) -> tuple[str, ...]:
    """Return the equations and algorithms that an instruction names, as :func:`labels_in` spells them."""
    return _labels(part for part in named_parts(instruction) if part.kind in ("equation", "algorithm"))


def labels_in(text: str) -> tuple[str, ...]:
    """Return the equations and algorithms that stand in a text: ``equation (3)``, ``algorithm 1``."""
    equations = [NamedPart("equation", number) for number in _EQUATION_AT_END.findall(text)]
    algorithms = [NamedPart("algorithm", number) for number in _HEAD_OF_ALGORITHM.findall(text)]
    return _labels([*equations, *algorithms])


def _labels(parts: Iterable[NamedPart]) -> tuple[str, ...]:
    whole = {part for part in parts if part.number.isdecimal()}
    return tuple(map(str, sorted(whole, key=lambda part: (part.kind != "equation", int(part.number)))))


def _pages_of(
    wanted: Sequence[Section], labels: Collection[str], pages: Mapping[int, str]
) -> tuple[int, ...]:
    """Return the pages with any of some sections, equations or algorithms, as far as their text is there."""
    whole = "\n".join(pages[number] for number in sorted(pages))
    spans = [(begin, begin + len(part.text)) for part in wanted if (begin := whole.find(part.text)) >= 0]
    at, numbers = 0, []
    for number in sorted(pages):
        end = at + len(pages[number])
        shared = any(begin < end and at < stop for begin, stop in spans)
        if shared or not set(labels).isdisjoint(labels_in(pages[number])):
            numbers.append(number)
        at = end + 1
    return tuple(numbers)


def _is_within(number: str, outer: str) -> bool:
    return number == outer or number.startswith(f"{outer}.")
