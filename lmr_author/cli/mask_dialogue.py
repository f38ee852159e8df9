"""What ``mask`` asks at a terminal: only what no flag, file or earlier mask has said, each thing once.

Every answer has a flag: ``--notes``, ``--docstring``, ``--objective`` and its like, ``--style``,
``--retrieval``, ``--category``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lmr_author.cli import ask, render, render_mask
from lmr_author.errors import LmrError
from lmr_author.masking.context import Proposal
from lmr_author.masking.notes import MaskNotes
from lmr_author.masking.notes_file import Described, read_notes_file, write_notes_file
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import mask_drafts
from lmr_author.workflow.mask import MaskOptions, check
from lmr_author.workflow.mask_drafts import Drafts
from lmr_author.workflow.mask_select import Chosen, Selection, select

USE, EDIT = "Use it", "Edit it"
DOCSTRING_ONLY, COMMENT_ONLY = "Only the docstring", "Only the comment"
NOTHING = "Nothing but a TODO"

ONE_BY_ONE, EDIT_ALL = "Go through them one by one", "Edit the drafts of all in one file"
USE_ALL, NOTHING_FOR_ALL = "Use all drafts as they are", "Nothing but TODOs"


def complete(task: TaskDir, options: MaskOptions, here: Path) -> MaskOptions:
    """Ask for what is missing.

    Raises:
        LmrError: as :func:`~lmr_author.workflow.mask.mask` does, before the first question.
    """
    selection = select(task, options.targets, here)
    check(options, selection)
    open_notes = mask_drafts.without_notes(task, selection, options)
    open_context = mask_drafts.without_context(task, selection, options)
    drafts: Drafts = {}
    if open_notes or open_context:
        with render.progress("reading the repository"):
            drafts = mask_drafts.drafts(selection, use_jedi=bool(open_context))
    drafts = {name: (notes, files if name in open_context else ()) for name, (notes, files) in drafts.items()}
    each = dict(options.each)
    answers = _notes(selection, {name: drafts[name] for name in open_notes if name in drafts}, options)
    for name, said in answers.items():
        given = each.get(name, Described())
        each[name] = replace(given, notes=said.notes)
        if name in open_context and said.retrieval is not None:
            each[name] = replace(each[name], retrieval=said.retrieval)
    asked = [name for name in open_context if each.get(name, Described()).retrieval is None]
    for name, paths in _context({name: drafts[name][1] for name in asked if name in drafts}).items():
        each[name] = replace(each.get(name, Described()), retrieval=paths)
    category = options.category
    if open_category := mask_drafts.without_category(task, selection, replace(options, each=each)):
        category = ask.category(mask_drafts.likely_category(selection, open_category))
    return replace(options, each=each, category=category)


def _notes(selection: Selection, drafts: Drafts, options: MaskOptions) -> dict[str, Described]:
    """Docstring and comment of each function, by node id."""
    items = {str(item.target): item for item in selection.chosen}
    if options.style == "todo":
        drafts = {
            name: (notes.without_comment(), files)
            for name, (notes, files) in drafts.items()
            if notes.docstring
        }
    if len(drafts) > 1:
        render_mask.several({name: notes for name, (notes, _) in drafts.items()})
        answer = ask.choice(
            f"What shall stand in the {len(drafts)} bodies?", [ONE_BY_ONE, EDIT_ALL, USE_ALL, NOTHING_FOR_ALL]
        )
        if answer == EDIT_ALL:
            return _edited(drafts, selection)
        if answer != ONE_BY_ONE:
            said = {name: notes if answer == USE_ALL else MaskNotes() for name, (notes, _) in drafts.items()}
            return {name: Described(notes=notes) for name, notes in said.items()}
    answers: dict[str, Described] = {}
    for name, draft in drafts.items():
        answers |= _one(items[name], name, draft, selection)
    return answers


def _one(
    item: Chosen, name: str, draft: tuple[MaskNotes, tuple[Proposal, ...]], selection: Selection
) -> dict[str, Described]:
    notes = draft[0]
    render_mask.preview(name, mask_drafts.preview(item, notes))
    choices = [USE, EDIT, NOTHING]
    if notes.docstring and notes.has_comment:
        choices = [USE, EDIT, DOCSTRING_ONLY, COMMENT_ONLY, NOTHING]
    answer = ask.choice("A draft of the masked body. What shall stand there?", choices)
    if answer == EDIT:
        return _edited({name: draft}, selection)
    taken = {
        USE: notes,
        DOCSTRING_ONLY: notes.without_comment(),
        COMMENT_ONLY: replace(notes, docstring=""),
        NOTHING: MaskNotes(),
    }
    return {name: Described(notes=taken[answer])}


def _edited(drafts: Drafts, selection: Selection) -> dict[str, Described]:
    """What an annotator makes of the drafts in an editor; asked again until it can be read."""
    text = write_notes_file(drafts, mask_drafts.with_docstring(selection))
    while True:
        text = ask.edit(text, suffix=".yaml")
        try:
            entries = {entry.target: entry.described for entry in read_notes_file(text, "notes")}
            for name, said in entries.items():
                item = next((one for one in selection.chosen if str(one.target) == name), None)
                if name not in drafts or item is None:
                    raise LmrError(f"{name} is not one of the functions to mask")
                mask_drafts.preview(item, said.notes or MaskNotes())
        except LmrError as error:
            render.console().print(f"{error.message}", style="red", markup=False)
            if ask.confirm("Edit again? (no: a bare TODO)"):
                continue
            entries = {}
        return {name: entries.get(name, Described(notes=MaskNotes())) for name in drafts}


def _context(proposals: Mapping[str, tuple[Proposal, ...]]) -> dict[str, tuple[str, ...]]:
    """The files given to a model with each function: one list for all of them, everything preselected."""
    reasons: dict[str, str] = {}
    for found in proposals.values():
        for proposal in found:
            reasons.setdefault(proposal.path, "; ".join(proposal.reasons))
    if not reasons:
        return {}
    taken = ask.several("Retrieval context: which files is a model given too?", reasons)
    return {
        name: tuple(proposal.path for proposal in found if proposal.path in taken)
        for name, found in proposals.items()
    }
