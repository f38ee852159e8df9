"""``lmr-author export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ExportFormat(StrEnum):
    """The engine to export to."""

    agent = "agent"
    lmr_bench = "lmr-bench"
    harbor = "harbor"
    huggingface = "huggingface"


def export(
    tasks: Annotated[list[Path], typer.Argument(metavar="TASK…", help="Tasks, or a folder of them.")],
    to: Annotated[
        ExportFormat,
        typer.Option(
            "--to",
            help="agent: what a model receives. lmr-bench: task folders for LMR-Bench's own scripts. "
            "harbor: Harbor tasks, one for each implementation. huggingface: a data set for the hub.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder to write; it must not exist yet, or be empty.")],
    base_image: Annotated[
        str, typer.Option("--base-image", help="Make this the base image of the exported Dockerfiles.")
    ] = "",
    with_private: Annotated[
        Path | None,
        typer.Option(
            "--with-private",
            metavar="DIR",
            help="huggingface: also write goldens and tests, for the evaluator alone, to this folder.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Export tasks that are not sound, marked as such.")
    ] = False,
) -> int:
    """Export tasks to the engines that run models. A task that is not proven to be sound is refused."""
    from lmr_author.cli.render_text import escape
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
    from lmr_author.export.export import ExportOptions
    from lmr_author.export.export import export as run
    from lmr_author.task import by_name, tasks_at
    from lmr_author.texts import counted

    chosen = list(by_name(tasks_at(tasks), "exports").values())
    done = run(chosen, ExportOptions(to.value, out, base_image, with_private, force))
    for name, problems in done.unsound.items():
        _say(f"[yellow]{escape(name)}[/] is not proven to be sound:")
        for problem in problems:
            _say(f"  {escape(problem)}")
    if done.unsound and not force:
        _say(
            "nothing exported: `lmr-author status` names the next step, --force exports it marked as not sound"
        )
        return EXIT_FINDINGS
    marked = f", {len(done.unsound)} marked as not sound" if done.unsound else ""
    _say(
        f"[green]exported[/] {counted(len(chosen), 'task')} to {escape(str(out))} "
        f"({counted(done.files, 'file')}{marked})"
    )
    return EXIT_CLEAN


def _say(line: str) -> None:
    from lmr_author.cli.render import console

    console().print(line, soft_wrap=True)
