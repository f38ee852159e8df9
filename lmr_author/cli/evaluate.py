"""``lmr-author evaluate``: the gates of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    CaseTimeOption,
    Format,
    FormatOption,
    PlaceOption,
    TasksArgument,
    named_tasks,
)
from lmr_author.cli.status import show_next
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, LmrError, SandboxError
from lmr_author.core.texts import counted

if TYPE_CHECKING:
    from lmr_author.core.task import GateResult, Task
    from lmr_author.core.task.mutation import Survivor
    from lmr_author.proof.evaluation.evaluate import EvaluateOptions, EvaluationRun
    from lmr_author.runtime.environment.where import Where

    _Runs = Iterator[tuple[Task, EvaluationRun | LmrError]]

MARKS = {
    "passed": ("green", "✓"),
    "failed": ("bold red", "✗"),
    "unproven": ("yellow", "?"),
    "skipped": ("dim", "-"),
}
MESSAGE = 28
SURVIVORS = 30
"""Surviving mutants that a failed gate shows; the evaluation's record has all."""
LOG_LINES = 8

_say = partial(ui.say, stderr=False)


def evaluate(
    words: TasksArgument = None,
    *,
    where: Where,
    repeats: Annotated[int, Option(min=1, max=100, help="Runs of the golden.")] = 3,
    timeout: CaseTimeOption = 60.0,
    mutants: Annotated[int, Option(min=0, help="Most mutants of each implementation.")] = 100,
    scheduler: Annotated[
        str, Option(help="Dask cluster that shares the tasks' folders, as tcp://host:8786.")
    ] = "",
    output: FormatOption = Format.text,
    task: PlaceOption = None,
) -> int:
    """Prove by running that a task is sound: exit code 0 only if every gate holds."""
    from lmr_author.proof.evaluation.evaluate import EvaluateOptions

    paths, tasks = named_tasks(words, task)
    options = EvaluateOptions(where, repeats, timeout, mutants)
    shown = output is Format.text
    runs = _on_cluster(tasks, options, scheduler, shown) if scheduler else _here(tasks, options, shown)
    return _summed_up(runs, len(tasks), paths, shown=shown)


def _here(tasks: Sequence[Task], options: EvaluateOptions, shown: bool) -> _Runs:
    from lmr_author.proof.evaluation.evaluate import evaluate as run_gates

    for task in tasks:
        table = GateTable(task.name)
        on_gate = table.show if shown else lambda _: None
        try:
            with ui.progress(f"evaluating {task.name}") as progress:
                run = run_gates(task, options, progress, on_gate)
        except SandboxError:
            raise
        except LmrError as error:
            yield task, error
            continue
        if shown:
            table.end(run)
        yield task, run


def _on_cluster(tasks: Sequence[Task], options: EvaluateOptions, scheduler: str, shown: bool) -> _Runs:
    from lmr_author.proof.evaluation.evaluate import evaluate_on_cluster

    with ui.progress(f"evaluating {counted(len(tasks), 'task')} on {scheduler}") as progress:
        for number, (task, run) in enumerate(evaluate_on_cluster(tasks, options, scheduler), 1):
            progress(f"{number} of {len(tasks)} tasks evaluated on {scheduler}")
            if shown and not isinstance(run, LmrError):
                table = GateTable(task.name)
                for gate in run.gates:
                    table.show(gate)
                table.end(run)
            yield task, run


def _summed_up(runs: _Runs, tasks: int, paths: Sequence[Path], *, shown: bool) -> int:
    documents: list[dict[str, Any]] = []
    for task, run in runs:
        if isinstance(run, LmrError):
            if tasks == 1:
                raise run
            if shown:
                _refuse(task, run)
            document = {"error": run.message, "hint": run.hint, "gates": [], "passed": False}
        else:
            document = run.record.to_json()
        documents.append({"task": task.name, **document})
    failed = [document["task"] for document in documents if not document["passed"]]
    if not shown:
        ui.print_json({"tasks": documents, "passed": not failed})
    elif len(documents) == 1:
        show_next(task, stderr=False)
    else:
        verdict = f"{len(documents) - len(failed)} sound"
        if failed:
            verdict += f", {len(failed)} not proven ({', '.join(failed)})"
        ui.say(f"{counted(len(documents), 'task')} evaluated: {verdict}", stderr=False)
        ui.then("status", *paths, stderr=False)
    return EXIT_FINDINGS if failed else EXIT_CLEAN


class GateTable:
    """The gates of one task on stdout, each as it ends, and the verdict."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._implementation: int | None = None

    def show(self, gate: GateResult, *, survivors: bool = True) -> None:
        if self._title:
            # Not before: a task that cannot be evaluated at all has no table, only an error.
            _say(self._title, tone="bold")
            self._title = ""
        if gate.implementation is not None and gate.implementation != self._implementation:
            self._implementation = gate.implementation
            _say(f"implementation {gate.implementation}", indent=2)
        style, mark = MARKS[gate.status.value]
        seconds = f"{gate.seconds:5.1f} s" if gate.seconds >= 0.05 else " " * 7
        text = f"{gate.gate:<14} {seconds}  {gate.message}"
        if gate.status.value in ("passed", "skipped"):
            _say(ui.fitted(text, 4), mark, style, indent=2)
        else:
            _say(text, mark, style, indent=2, hang=MESSAGE)
            ui.hint(gate.hint, indent=MESSAGE, stderr=False)
            if survivors:
                _show_survivors(gate)
            _show_log(gate.detail.log)

    def end(self, result: EvaluationRun) -> None:
        for index, how in result.powerless.items():
            _say(how, f"the test of implementation {index} cannot fail:", "bold red", indent=2)
        held = sum(gate.status.value == "passed" for gate in result.gates)
        verdict = "sound: every gate holds" if result.passed else "not proven"
        record = result.record
        facts = (
            f"({held} of {len(result.gates)} gates, {record.kind} sandbox, {record.seconds:.1f} s; "
            f"{result.task.evaluation_path.relative_to(result.task.root)})"
        )
        _say(facts, verdict, "green" if result.passed else "bold red", indent=2)
        if result.counts:
            text = f"the evaluation in {result.counts} still counts for this task"
            _say(text, "note:", "cyan", indent=2)
        if result.lost:
            text = (
                "this replaced an evaluation in which every gate passed "
                f"({result.lost}); if only the machine failed, evaluate again"
            )
            _say(text, "note:", "yellow", indent=2)


def _show_log(log: str) -> None:
    lines = [line for line in log.splitlines() if line.strip()]
    for line in lines[-LOG_LINES:]:
        _say(f"| {line}", indent=6, hang=10, tone="dim")


def _refuse(task: Task, error: LmrError) -> None:
    _say(task.name, tone="bold")
    _say(error.message, "not evaluated:", "bold red", indent=2)
    ui.hint(error.hint, indent=2, stderr=False)


def _show_survivors(gate: GateResult) -> None:
    """Print undetected mutants by reason; only their ids where no case reaches them."""
    groups: dict[str, list[Survivor]] = {}
    for survivor in gate.detail.survivors:
        if not survivor.accepted:
            groups.setdefault(survivor.why, []).append(survivor)
    for why, group in groups.items():
        if why:
            _say(why, f"{counted(len(group), 'survivor')}:", "yellow", indent=6, hang=8)
        if group[0].unreached and len(group) > 1:  # one decision for all of them
            _say(" ".join(survivor.id for survivor in group), indent=8, hang=8)
            continue
        for survivor in group[:SURVIVORS]:
            text = f"line {survivor.line}, {survivor.operator}"
            _say(text, f"survivor {survivor.id}", "yellow", indent=8)
            ui.diff(survivor.diff.splitlines(), indent=10, stderr=False)
        if len(group) > SURVIVORS:
            _say(f"and {len(group) - SURVIVORS} more in authoring/evaluation.json", indent=8)
