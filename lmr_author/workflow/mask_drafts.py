"""Drafts of what ``mask`` is told, and what is still to be said: for a dialogue, or for a file to edit."""

from __future__ import annotations

from collections.abc import Sequence

from lmr_author import source
from lmr_author.masking.context import Proposal, propose
from lmr_author.masking.describe import draft
from lmr_author.masking.mask import mask_source
from lmr_author.masking.notes import MaskNotes
from lmr_author.masking.notes_file import Described
from lmr_author.suggesting import category
from lmr_author.taskdir import TaskDir
from lmr_author.workflow.mask import MaskOptions
from lmr_author.workflow.mask_instruction import words_of
from lmr_author.workflow.mask_records import earlier
from lmr_author.workflow.mask_select import Chosen, Selection

Drafts = dict[str, tuple[MaskNotes, tuple[Proposal, ...]]]
"""By node id: drafts of docstring and comment, and the files proposed as context."""


def drafts(selection: Selection, *, use_jedi: bool = True) -> Drafts:
    """Drafts for functions that are to be masked. Nothing is written.

    Args:
        selection: of functions that are not masked yet; others are left out.
        use_jedi: see :func:`~lmr_author.masking.context.propose`.
    """
    return {
        str(item.target): (
            draft(selection.repository, item.module, item.definition),
            propose(selection.repository, item.module, item.definition, use_jedi=use_jedi),
        )
        for item in selection.chosen
        if not item.begun
    }


def preview(item: Chosen, notes: MaskNotes) -> str:
    """A function as it would stand in the masked file, from its decorators on.

    Of a docstring that it has already, the first line is shown.
    """
    data = mask_source(item.module, [item.definition], {item.definition.label: notes}).data
    module = source.Module.parse(data, item.path)
    now = next(
        one
        for one in module.definitions
        if (one.qualname, one.nth) == (item.definition.qualname, item.definition.nth)
    )
    first = source.first_line(now.node)
    lines = {number: module.line_text(number) for number in range(first, now.end_line + 1)}
    own = now.node.body[0] if item.definition.docstring is not None else None
    if own is not None and own.end_lineno and own.end_lineno > own.lineno:
        lines = {number: text for number, text in lines.items() if not own.lineno < number <= own.end_lineno}
        lines[own.lineno] += " …"
    return "\n".join(lines.values())


def with_docstring(selection: Selection) -> list[str]:
    """Node ids of the functions that have a docstring."""
    return [str(item.target) for item in selection.chosen if item.definition.docstring is not None]


def without_notes(task: TaskDir, selection: Selection, options: MaskOptions) -> list[str]:
    """Node ids of functions about whose body nothing is said, now or by an earlier mask."""
    if options.notes is not None and options.notes != MaskNotes():
        return []
    return [
        str(item.target)
        for item in selection.chosen
        if not item.begun
        and options.each.get(str(item.target), Described()).notes is None
        and earlier(task, item.target).notes in (None, MaskNotes())
    ]


def without_context(task: TaskDir, selection: Selection, options: MaskOptions) -> list[str]:
    """Node ids of functions for which nobody has said which files a model is given."""
    if options.retrieval is not None or options.propose_retrieval:
        return []
    return [
        str(item.target)
        for item in selection.chosen
        if not item.begun
        and options.each.get(str(item.target), Described()).retrieval is None
        and not earlier(task, item.target).retrieval
    ]


def likely_category(selection: Selection, names: Sequence[str]) -> str:
    """A guess at the category of the first of some functions, by their node ids; "" when there is none."""
    found = [item.definition for item in selection.chosen if str(item.target) in names]
    return category.likely_category(words_of(found[0])) if found else ""


def without_category(task: TaskDir, selection: Selection, options: MaskOptions) -> list[str]:
    """Node ids of functions without a category."""
    return [
        str(item.target)
        for item in selection.chosen
        if not (
            options.category
            or options.each.get(str(item.target), Described()).category
            or earlier(task, item.target).category
        )
    ]
