"""``lmr-author instruct``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import NoInputOption, TaskOption, can_ask, current_task, text_or_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmr_author.task import Finding

KEEP, DRAFT, EDIT_OLD, EDIT_DRAFT = "Keep it", "Use the draft", "Edit it", "Edit the draft"


def instruct(
    implementation: Annotated[
        int | None,
        typer.Option("--implementation", metavar="N", help="Which one, when the task has several."),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="The instruction; @FILE reads a file.")] = None,
    draft: Annotated[
        bool,
        typer.Option("--draft", help="Print a draft from docstring, signature, comment and paper; no more."),
    ] = False,
    use_draft: Annotated[bool, typer.Option("--use-draft", help="Take the draft as it is.")] = False,
    category: Annotated[
        str | None, typer.Option("--category", help="One of the nine categories, to be set, too.")
    ] = None,
    task: TaskOption = None,
    no_input: NoInputOption = False,
) -> int:
    """Draft, check and set the instruction of a masked function, and its category; without options only check it."""
    from lmr_author.cli import render
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
    from lmr_author.masking import instruction as workflow

    folder = current_task(task)
    one = folder.load().implementation(implementation)
    if text is not None and use_draft:
        raise UsageError("--text and --use-draft exclude each other", "leave one of them out")
    if draft:
        print(workflow.draft_for(folder, one))
        return EXIT_CLEAN
    new = text_or_file(text, "--text")
    if category is not None:
        workflow.set_category(folder, one, category)
    if use_draft:
        new = workflow.draft_for(folder, one)
    elif new is None and category is None and can_ask(no_input):
        new = _ask(one.instruction, workflow.draft_for(folder, one))
    if new is not None and new != one.instruction:
        workflow.set_instruction(folder, one, new)
    render.console().print(new or one.instruction, markup=False)
    found = workflow.broken_rules(folder, one.index)
    _show(found)
    return EXIT_FINDINGS if any(item.severity.value != "note" for item in found) else EXIT_CLEAN


def _ask(old: str, draft: str) -> str:
    """Old and draft beside each other; either may be edited."""
    from lmr_author.cli import ask, render

    screen = render.console()
    screen.print(f"now:\n{old or 'none'}\n\ndraft:\n{draft}\n", markup=False)
    chosen = ask.choice("Which instruction?", [*([KEEP, EDIT_OLD] if old else []), DRAFT, EDIT_DRAFT])
    if chosen in (EDIT_OLD, EDIT_DRAFT):
        return ask.edit(old if chosen == EDIT_OLD else draft).strip()
    return old if chosen == KEEP else draft


def _show(found: Sequence[Finding]) -> None:
    from lmr_author.cli import render

    screen = render.console()
    for item in found:
        screen.print(f"{item.code} {item.severity.value}: {item.message}\n  hint: {item.hint}", markup=False)
    if not found:
        screen.print("every rule of a good instruction that can be checked holds")
