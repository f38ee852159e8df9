"""``lmr-author instruct``."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    ImplementationOption,
    NoInputOption,
    TaskOption,
    current_task,
    task_words,
    text_or_file,
)
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError

KEEP, EDIT_OLD = "Keep the one in info.json", "Edit the one in info.json"
USE, EDIT, WRITE = "Use the draft", "Edit the draft", "Write another"


def instruct(
    implementation: ImplementationOption = None,
    text: Annotated[str | None, Option(help="The instruction; @FILE reads a file.")] = None,
    draft: Annotated[bool, Option("--draft", help="Only print a draft from code and paper.")] = False,
    use_draft: Annotated[bool, Option("--use-draft", help="Take the draft as it is.")] = False,
    task: TaskOption = None,
    no_input: NoInputOption = False,
) -> int:
    """Draft, check and set the instruction of a masked function; without options only check it."""
    from lmr_author.authoring.masking.instruction import broken_rules, draft_for, set_instruction

    folder = current_task(task)
    masked = folder.load().implementation(implementation)
    if text is not None and use_draft:
        raise UsageError("--text and --use-draft exclude each other", "leave one of them out")
    if draft:
        print(draft_for(folder, masked))
        return EXIT_CLEAN
    instruction = text_or_file(text, "--text")
    if use_draft:
        instruction = draft_for(folder, masked)
    elif instruction is None and ui.can_ask(no_input):
        instruction = choose(str(masked.target), masked.instruction, draft_for(folder, masked))
    if instruction is not None and instruction != masked.instruction:
        set_instruction(folder, masked, instruction)
    _print_text(instruction or masked.instruction)
    findings = broken_rules(folder, masked.index)
    for finding in findings:
        ui.say(f"{finding.code} {finding.severity.value}: {finding.message}")
        ui.hint(finding.hint, indent=2)
    if not findings:
        ui.say("No problems found in the instruction")
        ui.then("next", *task_words(task))
    return EXIT_FINDINGS if any(finding.severity.value != "note" for finding in findings) else EXIT_CLEAN


def choose(target: str, old: str, draft: str) -> str:
    """Show the instruction of a target and a draft, whole, and return what the annotator chooses; never "".

    Args:
        old: the instruction in ``info.json``; "" for none.
    """
    from lmr_author.proof.checks.instruction import GAP

    if old:
        _print_titled(f"Instruction of {target}:", old)
    _print_titled(f"Draft of the instruction of {target}:", draft)
    answers = [EDIT, WRITE, USE] if GAP in draft else [USE, EDIT, WRITE]
    if old:
        answers = [KEEP, EDIT_OLD, *answers]
    chosen = ui.choice("Which instruction should the model get?", answers)
    if chosen == WRITE:
        return ui.needed("Instruction:")
    if chosen == KEEP:
        return old
    if chosen == USE:
        return draft
    text = old if chosen == EDIT_OLD else draft
    return ui.edit(text).strip() or text


def _print_titled(title: str, text: str) -> None:
    ui.say(title, tone="bold")
    _print_text(text)
    ui.say("")


def _print_text(text: str) -> None:
    for line in text.splitlines():
        ui.say(line, hang=0)
