"""Pages of the paper that concern a masked function: the sections that its instruction names, and passages about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from lmr_author.authoring.masking.instruction import words_of
from lmr_author.authoring.suggesting.paper import FunctionWords
from lmr_author.authoring.suggesting.sections import passages
from lmr_author.core import paper
from lmr_author.core.errors import LmrError
from lmr_author.core.paper import PageImage, Paragraph
from lmr_author.core.task import Implementation
from lmr_author.proof.lookup import Pair
from lmr_author.proof.view import TaskView
from lmr_author.release.review.cited import cite, labels_in, labels_named, paragraphs_of

MOST_SECTION_PAGES = 6
"""Pages that are drawn only because a named section is on them."""


@dataclass(frozen=True)
class Mark:
    """A highlighted paragraph of the paper: its number, the reason for it, where it is and its text."""

    number: int
    reason: str
    block: Paragraph


@dataclass(frozen=True)
class NamedSection:
    """The part on one page of a section that the instruction names."""

    title: str
    blocks: tuple[Paragraph, ...]


@dataclass(frozen=True)
class PaperPage:
    """A page of the paper with its marks; without an image when it could not be drawn."""

    number: int
    image: PageImage | None
    marks: tuple[Mark, ...]
    sections: tuple[NamedSection, ...] = ()


def read_blocks(view: TaskView) -> tuple[tuple[Paragraph, ...], str]:
    """Return the paper's paragraphs, or none and the reason."""
    pdf = view.repository / "paper.pdf" if view.repository else None
    if pdf is None or not pdf.is_file() or pdf.is_symlink():
        return (), "no paper.pdf"
    try:
        return paper.blocks(pdf), ""
    except LmrError as error:
        return (), error.message


def pages_of(
    view: TaskView, implementation: Implementation, files: Pair, blocks: Sequence[Paragraph]
) -> tuple[PaperPage, ...]:
    """Return the pages with named sections or marked passages, those of the sections first."""
    named = _named_sections(implementation.instruction, blocks)
    marks: dict[int, list[Mark]] = defaultdict(list)
    for number, (block, reason) in enumerate(
        _marked(_words(implementation, files), implementation.instruction, blocks).items(), 1
    ):
        marks[blocks[block].page].append(Mark(number, reason, blocks[block]))
    # Marks are numbered in their order of importance, so that the most important page comes first.
    numbers = list(dict.fromkeys([*list(named)[:MOST_SECTION_PAGES], *marks]))
    if not numbers or view.repository is None:
        return ()
    try:
        drawn = paper.images(view.repository / "paper.pdf", numbers)
    except LmrError:
        drawn = {}
    pages = []
    for number in numbers:
        own = tuple(marks.get(number, ()))
        pages.append(PaperPage(number, drawn.get(number), own, tuple(named.get(number, ()))))
    return tuple(pages)


def _words(implementation: Implementation, files: Pair) -> FunctionWords:
    """Return the words of the golden, or of the masked function without a golden, and of the instruction."""
    parameters: list[str] = []
    identifiers: list[str] = []
    texts = [implementation.instruction]
    for target in files.targets:
        if function := target.golden or target.goal:
            words = words_of(function)
            parameters += words.parameters
            identifiers += words.identifiers
            texts += words.texts
    return FunctionWords(
        implementation.goal_function, implementation.class_name, parameters, identifiers, texts
    )


def _marked(words: FunctionWords, instruction: str, blocks: Sequence[Paragraph]) -> dict[int, str]:
    """Return the blocks to highlight and why: named equations and algorithms first, then passages."""
    named = labels_named(instruction)
    marked: dict[int, str] = {}
    for number, block in enumerate(blocks):
        labels = [label for label in labels_in(block.text) if label in named]
        if labels:
            marked[number] = ", ".join(labels)
    for passage in passages([block.text for block in blocks], words):
        marked.setdefault(passage.place, f"shares {', '.join(passage.terms)}")
    return marked


def _named_sections(instruction: str, blocks: Sequence[Paragraph]) -> dict[int, list[NamedSection]]:
    texts = [block.text for block in blocks]
    sections: dict[int, list[NamedSection]] = defaultdict(list)
    for section in cite(instruction, dict(enumerate(texts))).sections:
        pages: dict[int, list[Paragraph]] = defaultdict(list)
        for number in paragraphs_of(section, texts):
            if not texts[number].strip().isdecimal():  # the number of the page
                pages[blocks[number].page].append(blocks[number])
        for page, paragraphs in pages.items():
            sections[page].append(NamedSection(section.named, tuple(paragraphs)))
    return sections
