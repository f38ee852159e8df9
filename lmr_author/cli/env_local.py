"""``lmr-author env local``."""

from __future__ import annotations

from typing import Annotated

import typer

from lmr_author.cli.common import TaskOption, current_task


def env_local(
    python: Annotated[
        str | None, typer.Option("--python", metavar="X.Y|PATH", help="This Python, rather than the lock's.")
    ] = None,
    extra: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="REQUIREMENT", help="Install this too, as in torch==2.6.0; repeatable."
        ),
    ] = None,
    cuda: Annotated[
        bool,
        typer.Option("--cuda", help="Take PyTorch's CUDA build (gigabytes) although there is no GPU here."),
    ] = False,
    task: TaskOption = None,
) -> int:
    """Make a virtual environment from the task's lock, for the local sandbox; print its interpreter."""
    from lmr_author.cli.render import console, progress
    from lmr_author.environment.local import LocalOptions, make_local

    folder = current_task(task)
    with progress("looking for a Python") as say:
        result = make_local(folder, LocalOptions(python, tuple(extra or ()), cuda), say)
    screen = console()
    for remark in result.remarks:
        screen.print(f"note: {remark}", markup=False)
    how = "made" if result.local.made else "found"
    screen.print(f"{how} {result.local.path.name}: Python {result.local.python}", markup=False)
    screen.print("`record` and `evaluate --sandbox local` use it for this task by themselves", markup=False)
    print(result.local.interpreter)
    return 0
