"""``lmr-author export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError


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
    force: Annotated[bool, Option("--force", help="Export unsound tasks, marked as such.")] = False,
) -> int:
    """Export tasks to the engines that run models. A task that is not proven to be sound is refused."""
    from lmr_author.export.export import ExportOptions
    from lmr_author.export.export import export as export_tasks
    from lmr_author.task import by_name, tasks_at
    from lmr_author.texts import counted

    if to is None:
        if not ui.can_ask():
            raise UsageError("no engine named", f"add --to {'|'.join(ExportFormat)}")
        to = ExportFormat(ui.choice("Export to:", list(ExportFormat)))
    if out is None:
        if not ui.can_ask():
            raise UsageError("no folder named", "add --out DIR")
        out = Path(ui.path("Folder to write:", check=_taken))
    chosen = list(by_name(tasks_at(tasks), "exports").values())
    done = export_tasks(chosen, ExportOptions(to.value, out, base_image, with_private, force))
    for name, problems in done.unsound.items():
        ui.say("is not proven to be sound:", name, "yellow")
        for problem in problems:
            ui.say(problem, indent=2)
    if done.unsound and not force:
        ui.say("nothing exported; --force exports, marked as not sound")
        ui.then("status", *tasks)
        return EXIT_FINDINGS
    marked = f", {len(done.unsound)} marked as not sound" if done.unsound else ""
    counts = f"{counted(len(chosen), 'task')} to {out} ({counted(done.files, 'file')}{marked})"
    ui.say(counts, "exported", "green")
    return EXIT_CLEAN


def _taken(answer: str) -> str:
    """Return what is wrong with a folder to write; "" for nothing."""
    folder = Path(answer).expanduser()
    return f"{answer} is not empty" if folder.is_file() or (folder.is_dir() and any(folder.iterdir())) else ""
