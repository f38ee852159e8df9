"""Ask at a terminal for what ``mask`` still needs: nothing that a flag, a file or an earlier mask has answered.

Every answer has a flag: ``--retrieval``, ``--category``, ``--instruction``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lmr_author.authoring.masking.body import FunctionNotes
from lmr_author.authoring.masking.instruction import drafted as drafted_instruction
from lmr_author.authoring.masking.locate import Selection, select
from lmr_author.authoring.masking.mask import (
    MaskOptions,
    check,
    describe,
    likely_category,
    propose_context,
    restore_unfinished,
)
from lmr_author.cli import ui
from lmr_author.core.errors import LmrError
from lmr_author.core.task import CATEGORIES, Task
from lmr_author.proof.checks.instruction import GAP
from lmr_author.proof.retrieval import Proposal

USE, EDIT, WRITE = "Use the draft", "Edit the draft", "Write another"


def complete(task: Task, options: MaskOptions, here: Path) -> MaskOptions:
    """Ask for what is missing.

    Raises:
        LmrError: as :func:`~lmr_author.authoring.masking.mask.mask` does, before the first question.
    """
    restore_unfinished(task, options.targets, here)
    selection = select(task, options.targets, here)
    check(options, selection)
    options = _complete_context(task, options, selection)
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
            own = each.get(name, FunctionNotes())
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


def _complete_context(task: Task, options: MaskOptions, selection: Selection) -> MaskOptions:
    """Ask for the context of functions of which nobody said whether they need one."""
    described = describe(task, selection, options)
    open_names = [name for name, description in described.items() if description.retrieval is None]
    if not open_names:
        return options
    with ui.progress("reading the repository"):
        proposed = propose_context(selection)
    each = dict(options.each)
    for name, paths in _context({name: proposed[name] for name in open_names}).items():
        each[name] = replace(each.get(name, FunctionNotes()), retrieval=paths)
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
