"""``lmr-author mask``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import NoInputOption, TaskOption, can_ask, current_task, text_or_file


def mask(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="TARGET…", help="FILE::FUNCTION or FILE::Class.method.")
    ] = None,
    instruction: Annotated[
        str | None,
        typer.Option("--instruction", help="What to implement, for the model; @FILE reads a file."),
    ] = None,
    category: Annotated[str | None, typer.Option("--category", help="One of the nine categories.")] = None,
    retrieval: Annotated[
        list[str] | None,
        typer.Option("--retrieval", metavar="PATH", help="A file the model is given; repeatable."),
    ] = None,
    objective: Annotated[str, typer.Option("--objective", help="For the comment in the masked body.")] = "",
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="Likewise: one input, repeatable.")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option("--output", help="Likewise: one output, repeatable.")
    ] = None,
    dependencies: Annotated[
        list[str] | None, typer.Option("--dependency", help="Likewise: something it may use, repeatable.")
    ] = None,
    steps: Annotated[list[str] | None, typer.Option("--step", help="Likewise: one step, repeatable.")] = None,
    task: TaskOption = None,
    no_input: NoInputOption = False,
) -> int:
    """Mask a function: keep signature, decorators and docstring, save the golden, clean the tree."""
    from lmr_author.cli import ask, render
    from lmr_author.errors import UsageError
    from lmr_author.masking.notes import MaskNotes
    from lmr_author.workflow import mask as workflow

    folder = current_task(task)
    if not targets:
        if not can_ask(no_input):
            raise UsageError("no target given", "name one: lmr-author mask trainers.py::preference_loss")
        targets = [ask.text("Which function? (FILE::FUNCTION)")]
    if category is None and can_ask(no_input):
        category = ask.category()
    options = workflow.MaskOptions(
        targets=tuple(targets),
        instruction=text_or_file(instruction, "--instruction"),
        category=category,
        retrieval=tuple(retrieval) if retrieval else None,
        notes=MaskNotes(
            objective,
            tuple(inputs or ()),
            tuple(outputs or ()),
            tuple(dependencies or ()),
            tuple(steps or ()),
        ),
    )
    result = workflow.mask(folder, options, Path.cwd())
    render.mask_result(result)
    return 0
