"""``lmr-author export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError

if TYPE_CHECKING:
    from lmr_author.release.export.export import Exported, ExportOptions

MOST_NAMES = 5


class ExportFormat(StrEnum):
    """The engine to export to."""

    agent = "agent"
    lmr_bench = "lmr-bench"
    harbor = "harbor"
    huggingface = "huggingface"


def export(
    tasks: Annotated[list[Path], Argument(metavar="TASK…", help="Tasks, or a folder of them.")],
    to: Annotated[
        ExportFormat | None,
        Option(
            help="agent: what a model receives; lmr-bench: task folders for its scripts; harbor: "
            "Harbor tasks, one for each implementation; huggingface: a data set for the hub."
        ),
    ] = None,
    out: Annotated[Path | None, Option(help="Folder to write; new, or empty.")] = None,
    base_image: Annotated[str, Option(help="Base image of the exported Dockerfiles.")] = "",
    with_private: Annotated[
        Path | None, Option(help="huggingface: folder for goldens and tests, for the evaluator alone.")
    ] = None,
    unreviewed: Annotated[
        bool, Option("--unreviewed", help="Export tasks before all reviews are in; the export says so.")
    ] = False,
    force: Annotated[bool, Option("--force", help="Export every task, marked with what is wrong.")] = False,
) -> int:
    """Export tasks to the engines that run models. Tasks must be proven to be sound, reviewed and not rejected."""
    from lmr_author.core.task import by_name, tasks_at
    from lmr_author.core.texts import counted, listed
    from lmr_author.release.export.export import ExportOptions
    from lmr_author.release.export.export import export as export_tasks

    if to is None:
        if not ui.can_ask():
            raise UsageError("no engine named", f"add --to {'|'.join(ExportFormat)}")
        to = ExportFormat(ui.choice("Export to:", list(ExportFormat)))
    if out is None:
        if not ui.can_ask():
            raise UsageError("no folder named", "add --out DIR")
        out = Path(ui.path("Folder to write:", check=_taken))
    chosen = list(by_name(tasks_at(tasks), "exports").values())
    options = ExportOptions(to.value, out, base_image, with_private, unreviewed, force)
    done = export_tasks(chosen, options)
    for name, problems in done.unsound.items():
        ui.say("is not fit for release:", name, "yellow")
        for problem in problems:
            ui.say(problem, indent=2)
    if done.unreviewed:
        ui.say(listed(done.unreviewed, MOST_NAMES), "not reviewed:", "yellow")
    if not done.files:
        return _refused(done, tasks, options)
    marks = [f"{len(done.unsound)} marked as not fit for release"] if done.unsound else []
    marks += [f"{len(done.unreviewed)} marked as not reviewed"] if done.unreviewed else []
    counts = ", ".join([counted(done.files, "file"), *marks])
    ui.say(f"{counted(len(chosen), 'task')} to {out} ({counts})", "exported", "green")
    return EXIT_CLEAN


def _refused(done: Exported, tasks: list[Path], options: ExportOptions) -> int:
    """Say what to do where nothing was exported."""
    if done.unsound:
        ui.say("nothing exported; --force exports, marked with what is wrong")
        ui.then("status", *tasks)
        return EXIT_FINDINGS
    ui.say("nothing exported; --unreviewed exports before all reviews are in, marked as not reviewed")
    base = ("--base-image", options.base_image) if options.base_image else ()
    private = ("--with-private", options.private) if options.private else ()
    ui.then("export", *tasks, "--to", options.format, "--out", options.out, *base, *private, "--unreviewed")
    return EXIT_FINDINGS


def _taken(answer: str) -> str:
    """Return what is wrong with a folder to write; "" for nothing."""
    folder = Path(answer).expanduser()
    return f"{answer} is not empty" if folder.is_file() or (folder.is_dir() and any(folder.iterdir())) else ""
