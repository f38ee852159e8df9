"""How the demo looks: each command as one would type it, and what it gave."""

from __future__ import annotations

from types import TracebackType

from rich.status import Status as Spinner

from lmr_author.cli.render import Progress, console, mask_result
from lmr_author.cli.render_record import record_result
from lmr_author.cli.render_runs import GateTable, status_table
from lmr_author.demo import DemoHooks, DemoResult
from lmr_author.evaluation.evaluate import EvaluationRun
from lmr_author.masking import MaskResult
from lmr_author.new_task.new_task import NewTaskResult
from lmr_author.recording.record import RecordResult
from lmr_author.reporting.status import Status
from lmr_author.task import GateResult
from lmr_author.validation.report import Report


class DemoScreen:
    """The demo's screen. A context manager; its :attr:`hooks` are what the workflow tells it."""

    def __init__(self) -> None:
        self._screen = console()
        self._spinner: Spinner | None = self._screen.status("") if self._screen.is_terminal else None
        self._progress = Progress(self._spinner)
        self._gates: GateTable | None = None
        self.hooks = DemoHooks(self._command, self._result, self._progress, self._gate)

    def __enter__(self) -> DemoScreen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._spinner is not None:
            self._spinner.stop()

    def end(self, result: DemoResult) -> None:
        """Say where the task is, and what to try next."""
        self._screen.print(f"\nThe task is in {result.task.root}", markup=False)
        self._screen.print(
            "Look at it, then author your own: lmr-author new-task PAPER --repo URL", markup=False
        )

    def _command(self, text: str) -> None:
        if self._spinner is not None:
            self._spinner.start()
        self._screen.print(f"\n[bold cyan]$[/] [bold]{text.replace('[', chr(92) + '[')}[/]")

    def _gate(self, gate: GateResult) -> None:
        if self._gates is None:
            self._gates = GateTable("gates", stderr=True)
        self._gates(gate)

    def _result(self, result: object) -> None:
        """Show a step's result the way its own command does."""
        if self._spinner is not None:
            self._spinner.stop()
        if isinstance(result, NewTaskResult):
            from lmr_author.cli.new_task import show

            show(result)
        elif isinstance(result, MaskResult):
            mask_result(result)
        elif isinstance(result, RecordResult):
            record_result(result)
        elif isinstance(result, Report):
            self._report(result)
        elif isinstance(result, EvaluationRun) and self._gates is not None:
            self._gates.end(result)
        elif isinstance(result, Status):
            status_table([result], stderr=True)

    def _report(self, report: Report) -> None:
        for finding in report.findings:
            self._screen.print(f"  {finding.code} {finding.severity.value}: {finding.message}", markup=False)
        if report.clean:
            self._screen.print("[green]No problems found[/]")
