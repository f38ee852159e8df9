"""``lmr-author mask``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import NoInputOption, TaskOption, current_task, text_or_file
from lmr_author.errors import UsageError
from lmr_author.texts import printable

if TYPE_CHECKING:
    from lmr_author.masking import MaskResult
    from lmr_author.masking.leftovers import OpenLeak
    from lmr_author.masking.notes import Described, NotesEntry
    from lmr_author.task import Task

FEW_CACHES = 4
"""Caches that are listed one by one; ``authoring/removed/from-repository.json`` has them all."""
PART = "For the comment in the masked body: "


class Style(StrEnum):
    """Content of a masked body."""

    structured = "structured"
    todo = "todo"


def mask(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET…", help="FILE::FUNCTION or FILE::Class.method; the name alone if it is unique."
        ),
    ] = None,
    instruction: Annotated[
        str | None, typer.Option(help="The task for the model; @FILE reads a file.")
    ] = None,
    category: Annotated[str | None, typer.Option(help="One of the nine categories.")] = None,
    retrieval: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="A file for the model to read, or auto (those that define what the target uses), or none; "
            "repeatable.",
        ),
    ] = None,
    docstring: Annotated[
        str | None, typer.Option(help="A docstring for a function without one; @FILE reads a file.")
    ] = None,
    objective: Annotated[str, typer.Option(help=PART + "the function's purpose.")] = "",
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help=PART + "one input, with its shape; repeatable.")
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option("--output", help=PART + "one output; repeatable.")
    ] = None,
    dependencies: Annotated[
        list[str] | None,
        typer.Option("--dependency", help=PART + "a name of the same file that it may use; repeatable."),
    ] = None,
    outside: Annotated[
        list[str] | None,
        typer.Option("--outside-dependency", help=PART + "an import that it may use; repeatable."),
    ] = None,
    steps: Annotated[list[str] | None, typer.Option("--step", help=PART + "one step; repeatable.")] = None,
    style: Annotated[
        Style, typer.Option(help="structured: a comment with these parts. todo: a bare TODO.")
    ] = Style.structured,
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE::NAME",
            help="A look-alike that gives the solution away: masked along with the target; repeatable.",
        ),
    ] = None,
    leaks: Annotated[
        bool, typer.Option("--leaks", help="Only search again for places that contain the solutions.")
    ] = False,
    notes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="YAML: docstring, comment and context of each target."),
    ] = None,
    draft_notes: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a draft for --notes (- is stdout); mask nothing."),
    ] = None,
    task: TaskOption = None,
    no_input: NoInputOption = False,
) -> int:
    """Mask functions: keep signature, decorators and docstring, save the golden, clean the tree."""
    from lmr_author.cli import leak_dialogue, mask_dialogue
    from lmr_author.masking import MaskOptions
    from lmr_author.masking import mask as mask_functions
    from lmr_author.masking.locate import targets_of
    from lmr_author.masking.notes import MaskNotes

    folder, here, asking = current_task(task), Path.cwd(), ui.can_ask(no_input)
    described: dict[str, Described] = {}
    if notes is not None:
        named, described = targets_of(folder, read_entries(notes), str(notes), here)
        targets = targets or list(named)
    if leaks and (targets or also or draft_notes is not None):
        raise UsageError("--leaks masks nothing new", "leave the targets out, or leave out --leaks")
    if leaks and not folder.load().implementations:
        raise UsageError(f"nothing is masked in {folder.name}", "mask a function first")
    if not targets and not also and not leaks:
        if not asking:
            raise UsageError("no target given", "name one: lmr-author mask trainers.py::preference_loss")
        targets = mask_dialogue.pick_targets(folder)
    if draft_notes is not None:
        return _draft(folder, tuple(targets or ()), here, draft_notes)
    paths = retrieval or []
    options = MaskOptions(
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
    if asking and options.targets:
        options = mask_dialogue.complete(folder, options, here)
    with ui.progress("masking"):
        result = mask_functions(folder, options, here)
    show(result)
    if not (options.targets or options.also or result.leaks):
        ui.say("no solution was found in the repository")
    if asking and result.leaks:
        leak_dialogue.settle(folder, result.leaks, here)
    if result.implementations:
        ui.then("record", result.implementations[0].target, *(["--task", task] if task else []))
    return 0


def show(result: MaskResult) -> None:
    """Print the masked functions, and where the solution can still be read."""
    missing = (
        "missing: `lmr-author instruct --category NAME` sets one of the nine (`lmr-author explain LMR004`)"
    )
    for item in result.implementations:
        ui.say(f"{item.target} as implementation {item.index}", "masked", "green")
        rows = {
            "golden": item.golden_file,
            "category": item.category or missing,
            "instruction": printable(item.instruction, 10_000),
            "context": ", ".join(item.retrieval_context),
        }
        for name, value in rows.items():
            if value:
                ui.say(f"{name:<12} {value}", indent=2, hang=15)
    for along in result.also:
        ui.say(f"{along.node_id}, like {along.target}", "masked too", "green")
    show_paths(result.cleaned.deleted, "deleted      {}, which a run had made again")
    show_paths(result.cleaned.moved, "moved        {} to authoring/removed/")
    for remark in result.remarks:
        ui.note(remark)
    for leak in result.leaks:
        show_leak(leak)


def show_leak(leak: OpenLeak) -> None:
    """Print one place where the solution, or something like it, can be read."""
    from lmr_author.task import Severity

    found = leak.finding
    place = f"{found.path}:{found.pointer.removeprefix('L')}" if found.pointer else found.path
    style = "bold red" if found.severity is Severity.ERROR else "yellow"
    ui.say(f"{place}: {found.message} {found.code}", "leak:", style)
    ui.hint(found.hint, indent=6)


def show_paths(names: Sequence[str], line: str) -> None:
    """Print a line for each path; of many caches only the first, and the number of the others."""
    from lmr_author.masking.leftovers import is_generated

    caches = [name for name in names if is_generated(name.rpartition("/")[2])]
    left_out = caches[FEW_CACHES:] if len(caches) > FEW_CACHES + 1 else []
    for name in names:
        if name not in left_out:
            ui.say(line.format(name), indent=2, hang=15)
    if left_out:
        ui.say(line.format(f"{len(left_out)} more caches"), indent=2, hang=15)


def read_entries(path: Path) -> tuple[NotesEntry, ...]:
    """Return the entries of a notes file. Raises UsageError when there is none, LmrError when it is wrong."""
    from lmr_author.masking.notes import read_notes_file

    if not path.is_file():
        raise UsageError(f"--notes {path}: there is no such file", "write one with --draft-notes FILE")
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"--notes {path}: not a UTF-8 text file", "save it as UTF-8") from error
    return read_notes_file(text, str(path))


def _draft(folder: Task, targets: tuple[str, ...], here: Path, to: str) -> int:
    """Write the drafts as a file to edit; an existing file is never overwritten."""
    from lmr_author import files
    from lmr_author.masking.locate import select
    from lmr_author.masking.mask import drafts
    from lmr_author.masking.notes import write_notes_file

    if to != "-" and Path(to).exists():
        raise UsageError(f"--draft-notes {to}: the file exists", "name another, or remove it")
    with ui.progress("drafting"):
        selection = select(folder, targets, here)
        text = write_notes_file(drafts(selection), selection.documented)
    if to == "-":
        sys.stdout.write(text)
        return 0
    files.write_text(Path(to), text)
    ui.say(f"wrote {to}: edit it first")
    ui.then("mask", "--notes", to)
    return 0
