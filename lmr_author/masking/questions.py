"""Find what the annotator has still to say about functions that are to be masked, and draft the answers."""

from __future__ import annotations

from collections.abc import Sequence

from lmr_author import code
from lmr_author.masking.body import mask_source
from lmr_author.masking.context import Proposal, propose
from lmr_author.masking.draft import draft
from lmr_author.masking.earlier import earlier
from lmr_author.masking.instruction import words_of
from lmr_author.masking.mask import MaskOptions
from lmr_author.masking.notes import MaskNotes
from lmr_author.masking.notes_file import Described
from lmr_author.masking.select import Chosen, Selection
from lmr_author.suggesting import sections
from lmr_author.task import Task

Drafts = dict[str, tuple[MaskNotes, tuple[Proposal, ...]]]
"""By node id: drafts of docstring and comment, and the files proposed as context."""


def drafts(selection: Selection) -> Drafts:
    """Draft notes and context of functions that are not masked yet. Nothing is written."""
    return {
        str(item.target): (
            draft(item.module, item.definition),
            propose(selection.repository, item.module, item.definition),
        )
        for item in selection.chosen
        if not item.begun
    }


def preview(item: Chosen, notes: MaskNotes) -> str:
    """Return a function as it would be in the masked file; of a docstring that it has already, the first line."""
    definition = item.definition
    data = mask_source(item.module, [definition], {definition.label: notes}).data
    module = code.Module.parse(data, item.path)
    now = next(
        one for one in module.definitions if (one.qualname, one.nth) == (definition.qualname, definition.nth)
    )
    lines = {at: module.line_text(at) for at in range(code.first_line(now.node), now.end_line + 1)}
    own = now.node.body[0] if definition.docstring is not None else None
    if own is not None and own.end_lineno and own.end_lineno > own.lineno:
        lines = {at: text for at, text in lines.items() if not own.lineno < at <= own.end_lineno}
        lines[own.lineno] += " …"
    return "\n".join(lines.values())


def with_docstring(selection: Selection) -> list[str]:
    """Return the node ids of the functions that have a docstring."""
    return [str(item.target) for item in selection.chosen if item.definition.docstring is not None]


def without_notes(task: Task, selection: Selection, options: MaskOptions) -> list[str]:
    """Return the node ids of functions about whose body nothing is said, now or by an earlier mask."""
    if options.notes is not None and options.notes != MaskNotes():
        return []
    return [
        str(item.target)
        for item in selection.chosen
        if not item.begun
        and _given(options, item).notes is None
        and earlier(task, item.target).notes in (None, MaskNotes())
    ]


def without_context(task: Task, selection: Selection, options: MaskOptions) -> list[str]:
    """Return the node ids of functions for which nobody has said which files a model is given."""
    if options.retrieval is not None or options.propose_retrieval:
        return []
    return [
        str(item.target)
        for item in selection.chosen
        if not item.begun
        and _given(options, item).retrieval is None
        and not earlier(task, item.target).retrieval
    ]


def without_category(task: Task, selection: Selection, options: MaskOptions) -> list[str]:
    """Return the node ids of functions without a category."""
    return [
        str(item.target)
        for item in selection.chosen
        if not (options.category or _given(options, item).category or earlier(task, item.target).category)
    ]


def likely_category(selection: Selection, names: Sequence[str]) -> str:
    """Guess the category of the first of some functions, by their node ids; "" when there is none."""
    found = [item.definition for item in selection.chosen if str(item.target) in names]
    return sections.likely_category(words_of(found[0])) if found else ""


def _given(options: MaskOptions, item: Chosen) -> Described:
    return options.each.get(str(item.target), Described())
