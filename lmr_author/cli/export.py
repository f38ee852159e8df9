"""``lmr-author export``."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import PlaceOption, TasksArgument, check_image, default_tasks, named_tasks
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS
from lmr_author.core.texts import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lmr_author.core.task import Task
    from lmr_author.release.export.export import ExportResult
    from lmr_author.release.export.options import ExportOptions

MOST_NAMES = 5


class ExportFormat(StrEnum):
    agent = "agent"
    lmr_bench = "lmr-bench"
    harbor = "harbor"
    huggingface = "huggingface"


def export(
    words: TasksArgument = None,
    to: Annotated[
        ExportFormat | None,
        Option(
            help="agent: the bundle for a model; lmr-bench: folders for its scripts; harbor: Harbor tasks, "
            "one for each implementation; huggingface: a data set for the hub."
        ),
    ] = None,
    out: Annotated[Path | None, Option(help="Folder to write; new, or empty.")] = None,
    base_image: Annotated[
        str,
        Option(callback=check_image, help="Base image of all Dockerfiles; by default each keeps its own."),
    ] = "",
    with_private: Annotated[
        Path | None, Option(help="huggingface: the evaluator's folder of goldens and tests.")
    ] = None,
    unreviewed: Annotated[
        bool, Option("--unreviewed", help="Export tasks before all reviews are in, marked.")
    ] = False,
    challenged: Annotated[
        bool, Option("--challenged", help="Refuse tasks not challenged, or with open answers.")
    ] = False,
    force: Annotated[bool, Option("--force", help="Export every task, marked with its defects.")] = False,
    name: Annotated[
        str, Option(help="harbor, huggingface: the data set's name.")
    ] = "research-code-to-implement-from-papers",
    release_version: Annotated[str, Option(help="harbor, huggingface: the release's version.")] = "1.0.0",
    organization: Annotated[str, Option(help="harbor, huggingface: the publisher.")] = "lmr-author",
    author: Annotated[list[str] | None, Option(help="harbor, huggingface: an author of the tasks.")] = None,
    offline: Annotated[bool, Option("--offline", help="harbor: no network from the start.")] = False,
    push: Annotated[
        str, Option(metavar="REGISTRY", help="harbor: build and push an image of each task, named by digest.")
    ] = "",
    task: PlaceOption = None,
) -> int:
    """Export tasks to the engines that run models. Tasks must be proven sound, reviewed and not rejected."""
    from lmr_author.core.task import by_name
    from lmr_author.release.export.export import export as export_tasks
    from lmr_author.release.export.options import ExportOptions, Publication

    asking = ui.can_ask()
    ui.require_person(asking or to is not None, "no engine named", f"add --to {'|'.join(ExportFormat)}")
    ui.require_person(asking or out is not None, "no folder named", "add --out DIR")
    answers = ui.ask(
        to=lambda _: None if to else ui.choice("Export to:", list(ExportFormat)),
        out=lambda _: None if out else ui.path("Folder to write:", check=_taken),
    )
    to, out = to or ExportFormat(answers["to"]), out or Path(answers["out"])
    paths, tasks = named_tasks(words, task)
    chosen = list(by_name(tasks, "exports").values())
    publication = Publication(release_version, organization, tuple(author or ()), name)
    with ui.progress("exporting") as progress:
        options = ExportOptions(
            to.value, out, base_image, with_private, unreviewed, force, challenged, publication, offline,
            push, progress,
        )  # fmt: skip
        done = export_tasks(chosen, options)
    for task_name, problems in done.unsound.items():
        ui.say("not fit for release:", task_name, "yellow")
        for problem in problems:
            ui.say(problem, indent=2)
    for state in dict.fromkeys(done.unreviewed.values()):
        names = [name for name, missing in done.unreviewed.items() if missing == state]
        ui.say(listed(names, MOST_NAMES), f"{state}:", "yellow")
    if not done.files:
        way = "--force exports" if done.unsound else "--unreviewed exports before all reviews are in"
        ui.say(f"nothing exported; {way}, marked with what is missing")
        ui.then("status", *(paths or [default_tasks()]))
        return EXIT_FINDINGS
    _show_exported(done, chosen, options)
    if to is ExportFormat.harbor:
        ui.say(f"next: harbor run --path {shlex.quote(str(out))} --agent oracle", whole=True)
    elif to is ExportFormat.agent:
        ui.then("judge", *(paths or [default_tasks()]), "--predictions", "ANSWERS.jsonl")
    return EXIT_CLEAN


def _show_exported(done: ExportResult, tasks: Sequence[Task], options: ExportOptions) -> None:
    from lmr_author.release.export.lmr_bench import image_of

    unsound = ui.framed(", ", len(done.unsound), " marked as not fit for release")
    unreviewed_ones = ui.framed(", ", len(done.unreviewed), " marked as not reviewed")
    counts = f"{counted(done.files, 'file')}{unsound}{unreviewed_ones}"
    ui.say(f"{counted(len(tasks), 'task')} to {options.out} ({counts})", "exported", "green")
    if options.format == ExportFormat.lmr_bench:
        images = listed([image_of(task.name) for task in tasks], MOST_NAMES)
        ui.say(
            f"LMR-Bench's scripts pull these images where they exist, instead of building: {images}", indent=2
        )


def _taken(answer: str) -> str:
    folder = Path(answer).expanduser()
    return f"{answer} is not empty" if folder.is_file() or (folder.is_dir() and any(folder.iterdir())) else ""
