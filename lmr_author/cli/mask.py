"""``lmr-author mask``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import NoInputOption, TaskOption, can_ask, current_task, text_or_file
from lmr_author.errors import UsageError

if TYPE_CHECKING:
    from lmr_author.masking import MaskOptions
    from lmr_author.masking.notes import Described, Entry
    from lmr_author.task import Task


class Style(StrEnum):
    """What stands in a masked body."""

    structured = "structured"
    todo = "todo"


PART = "For the comment in the masked body: "

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET…", help="FILE::FUNCTION or FILE::Class.method; the name alone if it is unique."
    ),
]
Instruction = Annotated[
    str | None, typer.Option("--instruction", help="What to implement, for the model; @FILE reads a file.")
]
Category = Annotated[str | None, typer.Option("--category", help="One of the nine categories.")]
Retrieval = Annotated[
    list[str] | None,
    typer.Option(
        "--retrieval",
        metavar="PATH",
        help="A file for the model to read, or auto (those that define what the target uses), or none; repeatable.",
    ),
]
Docstring = Annotated[
    str | None,
    typer.Option("--docstring", help="A docstring for a function that has none; @FILE reads a file."),
]
Objective = Annotated[str, typer.Option("--objective", help=PART + "what the function is for.")]
Inputs = Annotated[
    list[str] | None, typer.Option("--input", help=PART + "one input, with its shape; repeatable.")
]
Outputs = Annotated[list[str] | None, typer.Option("--output", help=PART + "one output; repeatable.")]
Dependencies = Annotated[
    list[str] | None,
    typer.Option("--dependency", help=PART + "a name of the same file that it may use; repeatable."),
]
Outside = Annotated[
    list[str] | None,
    typer.Option("--outside-dependency", help=PART + "an import that it may use; repeatable."),
]
Steps = Annotated[list[str] | None, typer.Option("--step", help=PART + "one step; repeatable.")]
Styled = Annotated[
    Style, typer.Option("--style", help="structured: the comment with these parts. todo: a bare TODO.")
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        metavar="FILE::NAME",
        help="A look-alike that gives the solution away: emptied along with the target; repeatable.",
    ),
]
Leaks = Annotated[
    bool,
    typer.Option("--leaks", help="Look again where the solutions can still be read; mask nothing new."),
]
Notes = Annotated[
    Path | None,
    typer.Option("--notes", metavar="FILE", help="YAML: docstring, comment, context of each target."),
]
DraftNotes = Annotated[
    str | None,
    typer.Option(
        "--draft-notes", metavar="FILE", help="Write a draft for --notes (- is stdout); mask nothing."
    ),
]


def mask(
    targets: Targets = None,
    instruction: Instruction = None,
    category: Category = None,
    retrieval: Retrieval = None,
    docstring: Docstring = None,
    objective: Objective = "",
    inputs: Inputs = None,
    outputs: Outputs = None,
    dependencies: Dependencies = None,
    outside: Outside = None,
    steps: Steps = None,
    style: Styled = Style.structured,
    also: Also = None,
    leaks: Leaks = False,
    notes: Notes = None,
    draft_notes: DraftNotes = None,
    task: TaskOption = None,
    no_input: NoInputOption = False,
) -> int:
    """Mask functions: keep signature, decorators and docstring, save the golden, clean the tree."""
    from lmr_author import masking
    from lmr_author.cli import pick
    from lmr_author.masking.notes import MaskNotes

    folder, here = current_task(task), Path.cwd()
    asking = can_ask(no_input)
    described: dict[str, Described] = {}
    if notes is not None:
        named, described = _from_file(folder, notes, here)
        targets = targets or list(named)
    if leaks and (targets or also or draft_notes is not None):
        raise UsageError("--leaks masks nothing new", "leave the targets out, or leave out --leaks")
    if leaks and not folder.load().implementations:
        raise UsageError(f"nothing is masked in {folder.name}", "mask a function first")
    if not targets and not also and not leaks:
        if not asking:
            raise UsageError("no target given", "name one: lmr-author mask trainers.py::preference_loss")
        targets = pick.pick_targets(folder)
    if draft_notes is not None:
        return _draft(folder, tuple(targets or ()), here, draft_notes)
    paths = retrieval or []
    options = masking.MaskOptions(
        targets=tuple(targets or ()),
        instruction=text_or_file(instruction, "--instruction"),
        category=category,
        retrieval=tuple(path for path in paths if path not in ("auto", "none")) if paths else None,
        notes=MaskNotes(
            objective,
            tuple(inputs or ()),
            tuple(outputs or ()),
            tuple(dependencies or ()),
            tuple(outside or ()),
            tuple(steps or ()),
            text_or_file(docstring, "--docstring") or "",
        ),
        each=described,
        propose_retrieval="auto" in paths,
        style=style.value,
        also=tuple(also or ()),
    )
    return _run(folder, options, here, asking=asking)


def _run(folder: Task, options: MaskOptions, here: Path, *, asking: bool) -> int:
    """Ask for what is missing, mask, and go through the leaks."""
    from lmr_author import masking
    from lmr_author.cli import render

    if asking and options.targets:
        from lmr_author.cli import mask_dialogue

        options = mask_dialogue.complete(folder, options, here)
    with render.progress("masking"):
        result = masking.mask(folder, options, here)
    render.mask_result(result)
    if not (options.targets or options.also or result.leaks):
        render.console().print("no solution was found in the repository")
    if asking and result.leaks:
        from lmr_author.cli import leak_dialogue

        leak_dialogue.settle(folder, result.leaks, here)
    render.mask_next(result)
    return 0


def _from_file(folder: Task, path: Path, here: Path) -> tuple[tuple[str, ...], dict[str, Described]]:
    """Targets and what is said about them, from ``--notes FILE``."""
    from lmr_author.masking import locate

    return locate.targets_of(folder, read_entries(path), str(path), here)


def read_entries(path: Path) -> tuple[Entry, ...]:
    """The entries of a notes file. Raises UsageError when there is none, LmrError when it is wrong."""
    from lmr_author.masking.notes import read_notes_file

    if not path.is_file():
        raise UsageError(f"--notes {path}: there is no such file", "write one with --draft-notes FILE")
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"--notes {path}: not a UTF-8 text file", "save it as UTF-8") from error
    return read_notes_file(text, str(path))


def _draft(folder: Task, targets: tuple[str, ...], here: Path, to: str) -> int:
    """``--draft-notes``: the drafts as a file to edit; an existing file is never overwritten."""
    from lmr_author import files
    from lmr_author.cli import render
    from lmr_author.masking import locate
    from lmr_author.masking.mask import drafts
    from lmr_author.masking.notes import write_notes_file

    path = Path(to)
    if to != "-" and path.exists():
        raise UsageError(f"--draft-notes {to}: the file exists", "name another, or remove it")
    with render.progress("drafting"):
        selection = locate.select(folder, targets, here)
        text = write_notes_file(drafts(selection), selection.documented)
    if to == "-":
        sys.stdout.write(text)
        return 0
    files.write_text(path, text)
    render.console().print(f"wrote {to}: edit it, then lmr-author mask --notes {to}", markup=False)
    return 0
