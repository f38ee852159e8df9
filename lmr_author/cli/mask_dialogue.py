"""Ask at a terminal for what ``mask`` still needs: nothing that a flag, a file or an earlier mask has answered.

Every answer has a flag: ``--notes``, ``--docstring``, ``--objective`` and its like, ``--retrieval``, ``--category``,
``--instruction``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lmr_author.authoring.masking.body import Described, MaskNotes
from lmr_author.authoring.masking.context import Proposal
from lmr_author.authoring.masking.instruction import drafted as drafted_instruction
from lmr_author.authoring.masking.locate import Selection, select
from lmr_author.authoring.masking.mask import (
    Drafts,
    MaskOptions,
    check,
    describe,
    drafts,
    likely_category,
    preview,
)
from lmr_author.authoring.masking.notes_file import read_notes_file, write_notes_file
from lmr_author.authoring.masking.unmask import restore_unfinished
from lmr_author.cli import instruct, ui
from lmr_author.core.errors import LmrError
from lmr_author.core.task import CATEGORIES, Task

USE, EDIT, NOTHING = "Use the draft", "Edit the draft", "Nothing but a TODO"


def complete(task: Task, options: MaskOptions, here: Path) -> MaskOptions:
    """Ask for what is missing.

    Raises:
        LmrError: as :func:`~lmr_author.authoring.masking.mask.mask` does, before the first question.
    """
    restore_unfinished(task, options.targets, here)
    selection = select(task, options.targets, here)
    check(options, selection)
    known = describe(task, selection, options)
    open_notes = [name for name, described in known.items() if described.notes is None]
    open_context = [name for name, described in known.items() if described.retrieval is None]
    drafted: Drafts = {}
    if open_notes or open_context:
        with ui.progress("reading the repository"):
            drafted = drafts(selection)
    drafted = {
        name: (notes, files if name in open_context else ()) for name, (notes, files) in drafted.items()
    }
    each = dict(options.each)
    answers = _notes(selection, {name: drafted[name] for name in open_notes})
    for name, answer in answers.items():
        each[name] = replace(each.get(name, Described()), notes=answer.notes)
        if name in open_context and answer.retrieval is not None:
            each[name] = replace(each[name], retrieval=answer.retrieval)
    asked = [name for name in open_context if each.get(name, Described()).retrieval is None]
    for name, paths in _context({name: drafted[name][1] for name in asked}).items():
        each[name] = replace(each.get(name, Described()), retrieval=paths)
    category = options.category
    known = describe(task, selection, replace(options, each=each))
    if without := [item for item in selection.chosen if not known[str(item.target)].category]:
        likely = likely_category(without[0])
        category = ui.choice("Category of the masked function", CATEGORIES, likely)
    for item in selection.chosen:
        name = str(item.target)
        if not known[name].instruction:
            text = drafted_instruction(task, selection.info, item.path, item.definition, known[name].notes)
            each[name] = replace(each.get(name, Described()), instruction=instruct.choose(name, "", text))
    return replace(options, each=each, category=category)


def pick_targets(task: Task) -> list[str]:
    """Ask which functions to mask, the best suggestions first. Raises LmrError when all are masked."""
    from lmr_author.authoring.suggesting import suggest
    from lmr_author.cli.suggest import remark

    with ui.progress("reading the repository"):
        found = suggest(task)
    remarks = {item.target: remark(item) for item in found.suggestions if item.masked is None}
    if not remarks:
        raise LmrError(f"every function of {found.repository}/ is masked", "name another target")
    return ui.several("Which functions?", remarks, search=True)


def _notes(selection: Selection, drafts: Drafts) -> dict[str, Described]:
    """Show the drafted bodies, and ask for docstrings and comments; by node id."""
    if not drafts:
        return {}
    items = {str(item.target): item for item in selection.chosen}
    for name, (notes, _) in drafts.items():
        ui.say(name, tone="bold")
        ui.source(preview(items[name], notes))
    bodies = "body" if len(drafts) == 1 else f"{len(drafts)} bodies"
    answer = ui.choice(f"What should replace the {bodies}?", [USE, EDIT, NOTHING])
    if answer == EDIT:
        return _edited(drafts, selection)
    return {
        name: Described(notes=notes if answer == USE else MaskNotes()) for name, (notes, _) in drafts.items()
    }


def _edited(drafts: Drafts, selection: Selection) -> dict[str, Described]:
    """Return the drafts as edited; the editor opens again until they can be read."""
    text = write_notes_file(drafts, selection.documented)
    while True:
        text = ui.edit(text, suffix=".yaml")
        try:
            entries = {entry.target: entry.described for entry in read_notes_file(text, "notes")}
            for name, described in entries.items():
                item = next((one for one in selection.chosen if str(one.target) == name), None)
                if name not in drafts or item is None:
                    raise LmrError(f"{name} is not one of the functions to mask")
                preview(item, described.notes or MaskNotes())
        except LmrError as error:
            ui.say(error.message, tone="red")
            if ui.confirm("Edit again? (no: a bare TODO)"):
                continue
            entries = {}
        return {name: entries.get(name, Described(notes=MaskNotes())) for name in drafts}


def _context(proposals: Mapping[str, tuple[Proposal, ...]]) -> dict[str, tuple[str, ...]]:
    """Ask which files a model is given with each function: one preselected list for all of them."""
    reasons: dict[str, str] = {}
    for found in proposals.values():
        for proposal in found:
            reasons.setdefault(proposal.path, "; ".join(proposal.reasons))
    if not reasons:
        return {}
    taken = ui.several("Retrieval context: which files should the model also see?", reasons)
    return {
        name: tuple(proposal.path for proposal in found if proposal.path in taken)
        for name, found in proposals.items()
    }
