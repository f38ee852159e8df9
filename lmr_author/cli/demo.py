"""``lmr-author demo``: each command as one would type it, and its result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import runs_code

if TYPE_CHECKING:
    from lmr_author.cli.demo_steps import DemoResult
    from lmr_author.cli.evaluate import GateTable
    from lmr_author.runtime.environment.where import Where

EXPLAINED = {
    "record": "A mutant is the original with a small mistake; a good test makes it fail.",
    "evaluate": "A gate is one thing that a run has to show; a task is sound if all hold.",
}
"""By verb: a word that the reader meets in what the verb prints."""


@runs_code
def demo(
    folder: Annotated[Path | None, Option("--dir", help="New folder; by default lmr-author-demo.")] = None,
    *,
    where: Where,
) -> int:
    """Author a complete task from a bundled paper and repository, offline, and show every gate."""
    from lmr_author.cli.demo_steps import DemoHooks
    from lmr_author.cli.demo_steps import demo as run
    from lmr_author.cli.evaluate import GateTable
    from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS
    from lmr_author.core.task import GateStatus

    gates = GateTable("gates")
    with ui.progress("preparing") as progress:

        def show_command(command: str) -> None:
            ui.say("")
            if explanation := EXPLAINED.get(command.split()[1]):
                ui.say(explanation, "#", tone="dim")
            ui.say(command, "$", "bold cyan", tone="bold", whole=True)

        def show(result: object) -> None:
            with progress.paused():
                _show(result, gates)

        hooks = DemoHooks(show_command, show, progress, gates.show)
        done = run(folder, where, hooks)
    ui.say("")
    ui.say(f"The task is in {done.task.root}")
    show_next(done)
    failed = any(gate.status in (GateStatus.FAILED, GateStatus.SKIPPED) for gate in done.evaluation.gates)
    return EXIT_FINDINGS if failed else EXIT_CLEAN


def show_next(done: DemoResult) -> None:
    """Say what is missing where the task is not proven, else how to go on."""
    from lmr_author.core.task import GateStatus

    if done.evaluation.passed:
        ui.say("Look at it, then author your own.")
        ui.then("new-task")
        return
    ui.say("It is not proven yet:")
    for gate in done.evaluation.gates:
        if gate.status in (GateStatus.FAILED, GateStatus.UNPROVEN):
            ui.say(f"{gate.gate}: {gate.message}", indent=2)
            ui.hint(gate.hint, indent=2)
    ui.then("evaluate", done.task.root)


def _show(result: object, gates: GateTable) -> None:
    """Show a step's result the way its own command does."""
    from lmr_author.authoring.masking import MaskResult
    from lmr_author.authoring.new_task.new_task import NewTaskResult
    from lmr_author.authoring.recording.record import RecordResult
    from lmr_author.cli import findings, mask, new_task, record, status
    from lmr_author.proof.evaluation.evaluate import EvaluationRun
    from lmr_author.proof.validation.report import Report
    from lmr_author.release.reporting.status import Status

    if isinstance(result, NewTaskResult):
        new_task.show(result)
    elif isinstance(result, MaskResult):
        mask.show(result)
    elif isinstance(result, RecordResult):
        record.show(result)
    elif isinstance(result, Report):
        findings.print_findings(result)
    elif isinstance(result, EvaluationRun):
        gates.end(result)
    elif isinstance(result, Status):
        status.show([result])
