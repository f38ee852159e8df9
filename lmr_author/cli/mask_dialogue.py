"""Ask at a terminal for what ``mask`` still needs: nothing that a flag, a file or an earlier mask has answered.

Every answer has a flag: ``--notes``, ``--docstring``, ``--retrieval``, ``--category``, ``--instruction``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lmr_author.authoring.masking.body import Described, MaskNotes
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
    restore_unfinished,
)
from lmr_author.authoring.masking.notes_file import read_notes_file, write_notes_file
from lmr_author.cli import ui
from lmr_author.core.errors import LmrError
from lmr_author.core.task import CATEGORIES, Task
from lmr_author.proof.checks.instruction import GAP
from lmr_author.proof.context import Proposal

USE, EDIT, WRITE, NOTHING = "Use the draft", "Edit the draft", "Write another", "Nothing but a TODO"


def complete(task: Task, options: MaskOptions, here: Path) -> MaskOptions:
    """Ask for what is missing.

    Raises:
        LmrError: as :func:`~lmr_author.authoring.masking.mask.mask` does, before the first question.
    """
    restore_unfinished(task, options.targets, here)
    selection = select(task, options.targets, here)
    check(options, selection)
    options = _complete_bodies(task, options, selection)
    described = describe(task, selection, options)
    uncategorized = [chosen for chosen in selection.chosen if not described[str(chosen.target)].category]
    if uncategorized:
        likely = likely_category(uncategorized[0])
        category = ui.choice("Category of the masked function", CATEGORIES, likely)
        options = replace(options, category=category)
    each = dict(options.each)
    for chosen in selection.chosen:
        name = str(chosen.target)
        if not described[name].instruction:
            notes = described[name].notes
            text = drafted_instruction(task, selection.info, chosen.path, chosen.definition, notes)
            own = each.get(name, Described())
            each[name] = replace(own, instruction=_instruction(name, text))
    return replace(options, each=each)


def _instruction(target: str, draft: str) -> str:
    """Show the draft of an instruction, whole, and return what the annotator makes of it; never ""."""
    ui.say(f"Draft of the instruction of {target}:", tone="bold")
    for line in draft.splitlines():
        ui.say(line, hang=0)
    ui.say("")
    answers = [EDIT, WRITE, USE] if GAP in draft else [USE, EDIT, WRITE]
    chosen = ui.choice("Which instruction should the model get?", answers)
    if chosen == WRITE:
        return ui.needed("Instruction:")
    return draft if chosen == USE else ui.edit(draft).strip() or draft


def _complete_bodies(task: Task, options: MaskOptions, selection: Selection) -> MaskOptions:
    """Ask for the notes and the context that are missing."""
    described = describe(task, selection, options)
    without_notes = [name for name, description in described.items() if description.notes is None]
    without_context = [name for name, description in described.items() if description.retrieval is None]
    if not without_notes and not without_context:
        return options
    with ui.progress("reading the repository"):
        proposed = drafts(selection)
    each = dict(options.each)
    open_drafts: Drafts = {}
    for name in without_notes:
        notes, proposals = proposed[name]
        # The editor shows the context, too, unless it was given.
        open_drafts[name] = notes, proposals if name in without_context else ()
    for name, answer in _notes(selection, open_drafts).items():
        each[name] = replace(each.get(name, Described()), notes=answer.notes)
        if name in without_context and answer.retrieval is not None:
            each[name] = replace(each[name], retrieval=answer.retrieval)
            without_context.remove(name)  # the editor has answered this question as well
    for name, paths in _context({name: proposed[name][1] for name in without_context}).items():
        each[name] = replace(each.get(name, Described()), retrieval=paths)
    return replace(options, each=each)


def pick_targets(task: Task) -> list[str]:
    """Ask which functions to mask, the best suggestions first. Raises LmrError when all are masked."""
    from lmr_author.authoring.suggesting import suggest
    from lmr_author.cli.suggest import remark

    with ui.progress("reading the repository"):
        ranking = suggest(task)
    remarks = {
        suggestion.target: remark(suggestion)
        for suggestion in ranking.suggestions
        if suggestion.masked is None
    }
    if not remarks:
        raise LmrError(f"every function of {ranking.repository}/ is masked", "name another target")
    return ui.several("Which functions?", remarks, search=True)


def _notes(selection: Selection, drafts: Drafts) -> dict[str, Described]:
    """Show the drafted bodies, and ask for docstrings and comments; by node id."""
    if not drafts:
        return {}
    functions = {str(chosen.target): chosen for chosen in selection.chosen}
    for name, (notes, _) in drafts.items():
        ui.say(name, tone="bold")
        ui.source(preview(functions[name], notes))
    bodies = "body" if len(drafts) == 1 else f"{len(drafts)} bodies"
    answer = ui.choice(f"What should replace the {bodies}?", [USE, EDIT, NOTHING])
    if answer == EDIT:
        return _edited(drafts, selection)
    if answer == NOTHING:
        return {name: Described(notes=MaskNotes()) for name in drafts}
    return {name: Described(notes=notes) for name, (notes, _) in drafts.items()}


def _edited(drafts: Drafts, selection: Selection) -> dict[str, Described]:
    """Return the drafts as edited; the editor opens again until they can be read."""
    text = write_notes_file(drafts, selection.documented)
    while True:
        text = ui.edit(text, suffix=".yaml")
        try:
            entries = _read_edited(text, drafts, selection)
        except LmrError as error:
            ui.say(error.message, tone="red")
            if ui.confirm("Edit again? (no: a bare TODO)"):
                continue
            entries = {}
        return {name: entries.get(name, Described(notes=MaskNotes())) for name in drafts}


def _read_edited(text: str, drafts: Drafts, selection: Selection) -> dict[str, Described]:
    """Read notes as edited. Raises LmrError where they cannot be read, or do not fit the functions."""
    functions = {str(chosen.target): chosen for chosen in selection.chosen}
    entries = {entry.target: entry.described for entry in read_notes_file(text, "notes")}
    for name, described in entries.items():
        if name not in drafts:
            raise LmrError(f"{name} is not one of the functions to mask")
        preview(functions[name], described.notes or MaskNotes())
    return entries


def _context(proposals: Mapping[str, tuple[Proposal, ...]]) -> dict[str, tuple[str, ...]]:
    """Ask which files a model is given with each function: one preselected list for all of them."""
    reasons: dict[str, str] = {}
    for proposed in proposals.values():
        for proposal in proposed:
            reasons.setdefault(proposal.path, "; ".join(proposal.reasons))
    if not reasons:
        return {}
    taken = ui.several("Retrieval context: which files should the model also see?", reasons)
    contexts = {}
    for name, proposed in proposals.items():
        contexts[name] = tuple(proposal.path for proposal in proposed if proposal.path in taken)
    return contexts
