"""``lmr-author unmask``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import TaskOption, current_task


def unmask(
    target: Annotated[
        str | None, typer.Argument(help="What to restore; by default everything masked.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Restore even a file that was edited outside of the mask; keeps a copy."
        ),
    ] = False,
    task: TaskOption = None,
) -> int:
    """Restore masked functions byte for byte."""
    from lmr_author import masking
    from lmr_author.cli import render

    result = masking.unmask(current_task(task), target, Path.cwd(), force=force)
    render.unmask_result(result)
    return 0
