"""``lmr-author extract``."""

from __future__ import annotations

import sys
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.authoring.extracting.extract import As
from lmr_author.cli import ui
from lmr_author.cli.options import DryRunOption, Format, FormatOption, TaskOption, current_task, task_words

if TYPE_CHECKING:
    from lmr_author.authoring.extracting.task_file import Planned


def extract(
    block: Annotated[str, Argument(metavar="FILE:START-END", help="Lines: whole statements of one block.")],
    name: Annotated[str | None, Option(help="Name of the new function.")] = None,
    kind: Annotated[
        As | None, Option("--as", help="For a method's block; by default by its use of self.")
    ] = None,
    dry_run: DryRunOption = False,
    yes: Annotated[bool, Option("--yes", "--no-input", "-y", help="Write without asking.")] = False,
    output: FormatOption = Format.text,
    task: TaskOption = None,
) -> int:
    """Turn a block of a script or of a long function into a function, and call it there."""
    from lmr_author.authoring.extracting.task_file import ExtractOptions, plan, write

    folder = current_task(task)
    if name is None:
        ui.require_person(ui.can_ask(yes), "no name for the new function", "add --name NAME")
        name = ui.needed("Name of the new function:", check=_name_problem)
    planned = plan(folder, ExtractOptions(block, name, kind), Path.cwd())
    if output is Format.json:
        remarks = () if dry_run else write(folder, planned)
        document = planned.to_json(written=not dry_run)
        ui.print_json({**document, "remarks": [*document["remarks"], *remarks]})
        return 0
    _preview(planned)
    if dry_run:
        ui.say("nothing was written (--dry-run)")
        return 0
    if ui.can_ask(yes) and not ui.confirm("Write it?"):
        ui.say("nothing was written")
        return 0
    for remark in write(folder, planned):
        ui.note(remark)
    ui.say(str(planned.target), "extracted", "green")
    ui.say("original     kept in authoring/removed/", indent=2)
    ui.then("mask", planned.target, *task_words(task))
    return 0


def _name_problem(name: str) -> str:
    return "" if name.isidentifier() and not iskeyword(name) else f"{name} is no name"


def _preview(planned: Planned) -> None:
    """Print the diff on stdout; inputs, outputs and remarks on stderr."""
    done = planned.extraction
    if sys.stdout.isatty():
        ui.diff(done.diff.rstrip("\n").split("\n"), stderr=False)
    else:  # byte for byte, so that it can be applied
        sys.stdout.write(done.diff)
    ui.say(f"inputs   {', '.join(done.inputs) or 'none'}", hang=9)
    ui.say(f"outputs  {', '.join(done.outputs) or 'none'}", hang=9)
    for remark in done.remarks:
        ui.note(remark)
