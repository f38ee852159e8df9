"""``lmr-author demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import BaseImageOption, SandboxKind, SandboxOption


def demo(
    folder: Annotated[
        Path | None,
        typer.Option("--dir", help="Where to work; by default a new folder lmr-author-demo here."),
    ] = None,
    sandbox: SandboxOption = SandboxKind.local,
    base_image: BaseImageOption = None,
) -> int:
    """Author a complete task from a bundled paper and repository, offline, and show every gate."""
    from lmr_author import demo as workflow
    from lmr_author.cli import render_demo
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
    from lmr_author.task import GateStatus

    with render_demo.DemoScreen() as screen:
        result = workflow.demo(folder, sandbox.value, base_image, screen.hooks)
    screen.end(result)
    failed = any(gate.status in (GateStatus.FAILED, GateStatus.SKIPPED) for gate in result.evaluation.gates)
    return EXIT_FINDINGS if failed else EXIT_CLEAN
