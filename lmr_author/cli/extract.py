"""``lmr-author extract``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import Format, FormatOption, TaskOption, can_ask, current_task, print_json
from lmr_author.extracting.extract import As


def extract(
    place: Annotated[
        str, typer.Argument(metavar="FILE:START-END", help="The lines: whole statements of one block.")
    ],
    name: Annotated[str, typer.Option("--name", help="Name of the new function.")],
    kind: Annotated[
        As | None,
        typer.Option("--as", help="For a block of a method; by default a method where the block uses self."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the diff and write nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "--no-input", "-y", help="Write without asking.")] = False,
    output: FormatOption = Format.text,
    task: TaskOption = None,
) -> int:
    """Turn a block of a script or of a long function into a function, and call it there."""
    from lmr_author.cli import ask, render_extract
    from lmr_author.extracting import task_file as workflow

    folder = current_task(task)
    options = workflow.ExtractOptions(place, name, kind)
    planned = workflow.plan(folder, options, Path.cwd())
    as_text = output is Format.text
    if as_text:
        render_extract.preview(planned)
    if not dry_run and not yes and as_text and can_ask(False) and not ask.confirm("Write it?"):
        render_extract.left()
        return 0
    remarks = () if dry_run else workflow.write(folder, planned)
    if as_text:
        render_extract.done(planned, remarks, written=not dry_run)
    else:
        document = planned.to_json(written=not dry_run)
        print_json({**document, "remarks": [*document["remarks"], *remarks]})
    return 0
