"""``lmr-author demo``: each command as one would type it, and its result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import BaseImageOption, SandboxKind, SandboxOption


def demo(
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Folder to make; by default lmr-author-demo here.")
    ] = None,
    sandbox: SandboxOption = SandboxKind.local,
    base_image: BaseImageOption = None,
) -> int:
    """Author a complete task from a bundled paper and repository, offline, and show every gate."""
    from lmr_author.cli.evaluate import GateTable
    from lmr_author.demo import DemoHooks
    from lmr_author.demo import demo as run
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
    from lmr_author.task import GateStatus

    gates = GateTable("gates", stderr=True)
    with ui.progress("preparing") as progress:

        def show_command(command: str) -> None:
            ui.say("")
            ui.say(command, "$", "bold cyan", tone="bold", whole=True)

        def show(result: object) -> None:
            with progress.paused():
                _show(result, gates)

        done = run(folder, sandbox.value, base_image, DemoHooks(show_command, show, progress, gates))
    ui.say("")
    ui.say(f"The task is in {done.task.root}")
    ui.say("Look at it, then author your own.")
    ui.then("new-task")
    failed = any(gate.status in (GateStatus.FAILED, GateStatus.SKIPPED) for gate in done.evaluation.gates)
    return EXIT_FINDINGS if failed else EXIT_CLEAN


def _show(result: object, gates: object) -> None:
    """Show a step's result the way its own command does."""
    from lmr_author.cli import evaluate, mask, new_task, record, status
    from lmr_author.evaluation.evaluate import EvaluationRun
    from lmr_author.masking import MaskResult
    from lmr_author.new_task.new_task import NewTaskResult
    from lmr_author.recording.record import RecordResult
    from lmr_author.reporting.status import Status
    from lmr_author.validation.report import Report

    if isinstance(result, NewTaskResult):
        new_task.show(result)
    elif isinstance(result, MaskResult):
        mask.show(result)
    elif isinstance(result, RecordResult):
        record.show(result)
    elif isinstance(result, Report):
        for finding in result.findings:
            ui.say(f"{finding.code} {finding.severity.value}: {finding.message}", indent=2)
        if result.clean:
            ui.say("", "No problems found", "green")
    elif isinstance(result, EvaluationRun) and isinstance(gates, evaluate.GateTable):
        gates.end(result)
    elif isinstance(result, Status):
        status.show([result], stderr=True)
