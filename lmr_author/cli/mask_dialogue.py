"""Ask at a terminal for what ``mask`` still needs: nothing that a flag, a file or an earlier mask has answered.

Every answer has a flag: ``--retrieval``, ``--category``, ``--instruction``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lmr_author.authoring.masking.body import FunctionNotes
from lmr_author.authoring.masking.instruction import drafted as drafted_instruction
from lmr_author.authoring.masking.locate import FunctionToMask, Selection, select
from lmr_author.authoring.masking.mask import (
    MaskOptions,
    check,
    describe,
    likely_category,
    propose_context,
    restore_unfinished,
)
from lmr_author.cli import ui
from lmr_author.cli.options import text_or_file
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
    dialogue = _Dialogue(task, options, selection)
    ui.steps(dialogue.ask_context, dialogue.ask_category, *dialogue.instructions())
    return dialogue.options


class _Dialogue:
    """The questions of one run; Escape returns to the previous one."""

    def __init__(self, task: Task, options: MaskOptions, selection: Selection) -> None:
        self.task, self.options, self.selection = task, options, selection
        self.described = describe(task, selection, options)

    def ask_context(self) -> bool:
        names = [name for name, known in self.described.items() if known.retrieval is None]
        if not names:
            return False
        with ui.progress("reading the repository"):
            proposed = propose_context(self.selection)
        contexts = _context({name: proposed[name] for name in names})
        for name, paths in contexts.items():
            self._note(name, retrieval=paths)
        return bool(contexts)

    def ask_category(self) -> bool:
        chosen = [one for one in self.selection.chosen if not self.described[str(one.target)].category]
        if not chosen:
            return False
        category = ui.choice("Category of the masked function", CATEGORIES, likely_category(chosen[0]))
        self.options = replace(self.options, category=category)
        return True

    def instructions(self) -> Iterator[Callable[[], None]]:
        for chosen in self.selection.chosen:
            if not self.described[str(chosen.target)].instruction:
                yield partial(self._ask_instruction, chosen)

    def _ask_instruction(self, chosen: FunctionToMask) -> None:
        name = str(chosen.target)
        notes = self.described[name].notes
        draft = drafted_instruction(self.task, self.selection.info, chosen.path, chosen.definition, notes)
        self._note(name, instruction=_instruction(name, draft))

    def _note(self, name: str, **known: Any) -> None:
        each = self.options.each
        self.options = replace(
            self.options, each={**each, name: replace(each.get(name, FunctionNotes()), **known)}
        )


def _instruction(target: str, draft: str) -> str:
    """Show the draft of an instruction and return the final one; never ""."""
    ui.say(f"Draft of the instruction of {target}:", tone="bold")
    ui.say_lines(draft, hang=0)
    ui.say("")
    answers = [EDIT, WRITE, USE] if GAP in draft else [USE, EDIT, WRITE]
    while True:
        chosen = ui.choice("Which instruction should the model get?", answers)
        if chosen == USE:
            return draft
        try:
            with ui.going_back():
                if chosen != WRITE:
                    return ui.edit(draft).strip() or draft
                if answer := text_or_file(ui.needed("Instruction (@FILE reads a file):"), "instruction"):
                    return answer
        except ui.Back:
            continue
        except LmrError as error:  # the editor, or @FILE
            ui.note(f"{error.message}: {error.hint}")


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
    """Ask for the retrieval context of all functions in one preselected list."""
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
