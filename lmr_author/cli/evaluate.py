"""``lmr-author evaluate``: the gates of tasks. Models' answers are in :mod:`lmr_author.cli.candidates`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import (
    BaseImageOption,
    Format,
    FormatOption,
    GpusOption,
    PythonOption,
    SandboxKind,
    SandboxOption,
    TasksArgument,
    Where,
    default_tasks,
)
from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from lmr_author.texts import counted

if TYPE_CHECKING:
    from lmr_author.evaluation.evaluate import Broken, EvaluateOptions, EvaluationRun
    from lmr_author.evaluation.own_test import OwnTest
    from lmr_author.task import GateResult, Task

MARKS = {
    "passed": ("green", "✓"),
    "failed": ("bold red", "✗"),
    "unproven": ("yellow", "?"),
    "skipped": ("dim", "-"),
}
MESSAGE = 28
"""Column of a gate's message."""
SURVIVORS = 30
"""Surviving mutants that a failed gate shows; the evaluation's record has all."""
LOG_LINES = 8
"""Last lines of the log that a failed gate shows."""


class Protocol(StrEnum):
    """The rule that judges candidates."""

    proof = "proof"
    lmr_bench = "lmr-bench"


def evaluate(
    paths: TasksArgument = None,
    sandbox: SandboxOption = SandboxKind.local,
    python: PythonOption = None,
    base_image: BaseImageOption = None,
    gpus: GpusOption = "",
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Number of runs of the golden.")] = 3,
    timeout: Annotated[float, typer.Option(min=1, help="Time limit of one case, in seconds.")] = 60.0,
    mutants: Annotated[
        int, typer.Option(min=0, help="Largest number of mutants of each implementation.")
    ] = 100,
    implementation: Annotated[
        int | None,
        typer.Option(metavar="N", help="Only this one; reuse the last evaluation for the others."),
    ] = None,
    accept_mutant: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Record that a surviving mutant is equivalent; repeatable."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why it is equivalent; with --accept-mutant.")] = "",
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|DIR",
            help="Judge models' answers instead: JSONL, a log of Inspect AI or Harbor, or agents' task folders.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of results.jsonl, which is resumed; with --predictions. By default lmr-results.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=256, help="Candidates judged side by side.")
    ] = 1,
    whole_file: Annotated[
        bool, typer.Option("--whole-file", help="Also apply an answer's changes outside of its target.")
    ] = False,
    protocol: Annotated[
        Protocol,
        typer.Option(help="proof, or lmr-bench: as its scripts score, by Passed in the log."),
    ] = Protocol.proof,
    memory: Annotated[int, typer.Option(min=64, metavar="MB", help="Memory limit of a candidate.")] = 8192,
    scheduler: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Judge candidates on a Dask cluster, as tcp://host:8786."),
    ] = "",
    output: FormatOption = Format.text,
) -> int:
    """Prove by running that a task is sound (exit code 0 only if every gate holds), or judge models' answers."""
    from lmr_author.evaluation.evaluate import EvaluateOptions
    from lmr_author.task import tasks_at

    tasks = tasks_at(paths or [default_tasks()])
    where = Where(sandbox, python, base_image, gpus)
    if accept_mutant:
        return _accept(tasks, accept_mutant, reason, [*where.words, *map(str, paths or [])])
    if predictions is not None:
        if implementation is not None:
            raise UsageError("--implementation is for gates, not for candidates", "leave it out")
        from lmr_author.cli import candidates
        from lmr_author.evaluation.candidates.scorer import CandidateOptions

        chosen = CandidateOptions(
            out or Path("lmr-results"),
            jobs,
            sandbox.value,
            python,
            base_image,
            gpus,
            scheduler,
            seconds=timeout,
            memory_mb=memory,
            whole_file=whole_file,
            protocol=protocol.value,
        )
        return candidates.judge(tasks, predictions, chosen, as_json=output is Format.json)
    if out is not None or whole_file or scheduler or protocol is not Protocol.proof:
        raise UsageError(
            "--out, --whole-file, --protocol and --scheduler are for candidates", "add --predictions FILE"
        )
    if implementation is not None and len(tasks) != 1:
        raise UsageError(f"--implementation is for one task, not {len(tasks)}", "name the task")
    options = EvaluateOptions(
        sandbox.value, python, base_image, repeats, timeout, mutants, gpus, implementation
    )
    return _gates(tasks, options, paths or [], output)


def _accept(tasks: Sequence[Task], identifiers: Sequence[str], reason: str, again: Sequence[str]) -> int:
    """Record that mutants are equivalent; ``again``: the words of the command that evaluates again."""
    from lmr_author.evaluation.evaluate import accept_mutants

    if len(tasks) != 1:
        raise UsageError(f"--accept-mutant is for one task, not {len(tasks)}", "name the task")
    for identifier, diff in accept_mutants(tasks[0], identifiers, reason).items():
        ui.say(f"{identifier} as equivalent: it no longer counts", "accepted", "green")
        ui.diff(diff.splitlines(), indent=8)
    ui.then("evaluate", *again)
    return EXIT_CLEAN


def _gates(tasks: Sequence[Task], options: EvaluateOptions, paths: Sequence[Path], output: Format) -> int:
    """Run the gates of tasks; the exit code is 0 if all hold."""
    from lmr_author.evaluation.evaluate import attempt

    results = []
    for task in tasks:
        table = GateTable(task.name, quiet=output is Format.json)
        with ui.progress(f"evaluating {task.name}") as progress:
            results.append(attempt(task, options, progress, table, alone=len(tasks) == 1))
        table.end(results[-1])
    passed = all(item.passed for item in results)
    if output is Format.json:
        documents = [{"task": item.task.name, **item.to_json()} for item in results]
        ui.print_json({"tasks": documents, "passed": passed})
    elif len(results) > 1:
        failed = [item.task.name for item in results if not item.passed]
        open_tasks = f", {len(failed)} not proven ({', '.join(failed)})" if failed else ""
        sound = f"{len(results) - len(failed)} sound{open_tasks}"
        ui.say(f"{counted(len(results), 'task')} evaluated: {sound}", stderr=False)
        ui.then("status", *paths, stderr=False)
    elif passed:
        ui.then("next", *(word for path in paths for word in ("--task", path)), stderr=False)
    return EXIT_CLEAN if passed else EXIT_FINDINGS


class GateTable:
    """Prints each gate as soon as it is known, and a last line with the verdict."""

    def __init__(self, title: str, *, quiet: bool = False, stderr: bool = False) -> None:
        self._stderr = stderr
        self._quiet = quiet
        self._implementation: int | None = None
        self._title = title

    def __call__(self, gate: GateResult) -> None:
        """Print one gate: a line; details only where it does not hold."""
        if self._quiet:
            return
        self._print_heading(gate)
        style, mark = MARKS[gate.status.value]
        seconds = f"{gate.seconds:5.1f} s" if gate.seconds >= 0.05 else " " * 7
        text = f"{gate.gate:<14} {seconds}  {gate.message}"
        if gate.status.value in ("passed", "skipped"):
            self._say(self._cut(text), mark, style, indent=2)
            return
        self._say(text, mark, style, indent=2, hang=MESSAGE)
        if gate.hint:
            self._say(gate.hint, "hint:", "cyan", indent=MESSAGE)
        self._print_survivors(gate)
        log = [line for line in str(gate.detail.get("log", "")).splitlines() if line.strip()]
        for line in log[-LOG_LINES:]:
            self._say(f"| {line}", indent=6, hang=10, tone="dim")

    def _print_heading(self, gate: GateResult) -> None:
        if self._title:
            # Not before: a task that cannot be evaluated at all has no table, only an error.
            self._say(self._title, tone="bold")
            self._title = ""
        if gate.implementation is not None and gate.implementation != self._implementation:
            self._implementation = gate.implementation
            self._say(f"implementation {gate.implementation}", indent=2)

    def _print_survivors(self, gate: GateResult) -> None:
        """Print the mutants that the test does not detect, as diffs."""
        mutants = [item for item in gate.detail.get("survivors") or [] if isinstance(item, dict)]
        for item in mutants[:SURVIVORS]:
            why = f" ({item['why']})" if item["why"] else ""
            text = f"line {item['line']}, {item['operator']}{why}"
            self._say(text, f"survivor {item['id']}", "yellow", indent=6)
            ui.diff(item["diff"].splitlines(), indent=8, stderr=self._stderr)
        if len(mutants) > SURVIVORS:
            self._say(f"and {len(mutants) - SURVIVORS} more in authoring/evaluation.json", indent=6)

    def end(self, result: EvaluationRun | Broken) -> None:
        """Print the verdict."""
        from lmr_author.evaluation.evaluate import Broken

        if self._quiet:
            return
        if isinstance(result, Broken):
            self._say(result.task.name, tone="bold")
            self._say(result.error.message, "not evaluated:", "bold red", indent=2)
            self._say(result.error.hint, "hint:", "cyan", indent=2)
            return
        self._show_own_tests(result.own_tests)
        held = sum(gate.status.value == "passed" for gate in result.gates)
        verdict = "sound: every gate holds" if result.passed else "not proven"
        record = result.record
        facts = (
            f"({held} of {len(result.gates)} gates, {record.kind} sandbox, {record.seconds:.1f} s; "
            f"{result.task.evaluation_path.relative_to(result.task.root)})"
        )
        self._say(facts, verdict, "green" if result.passed else "bold red", indent=2)
        if result.counts:
            text = f"the evaluation in {result.counts} still counts for this task"
            self._say(text, "note:", "cyan", indent=2)
        if result.lost:
            text = (
                "this replaced an evaluation in the same sandbox in which every gate passed "
                f"({result.lost}); if only the machine failed, evaluate again"
            )
            self._say(text, "note:", "yellow", indent=2)

    def _show_own_tests(self, found: Sequence[OwnTest]) -> None:
        """Print the results of each hand-written test, by its exit code and by its log."""
        styles = {"sound": "green", "unproven": "yellow", "weak": "yellow"}
        for item in found:
            style = styles.get(item.verdict.value, "bold red")
            text = f"{item.verdict.value}{f': {item.reason}' if item.reason else ''}"
            self._say(text, f"test of implementation {item.implementation}:", style, indent=2)
            if item.counts:
                self._say(f"{'passes':<14}{'golden':<10}{'masked':<10}wrong versions", indent=4)
            for one in item.counts:
                golden, masked, wrong = (
                    f"{passed} of {runs}" for passed, runs in (one.golden, one.masked, one.wrong)
                )
                self._say(f"{'by ' + one.by:<14}{golden:<10}{masked:<10}{wrong}", indent=4)

    def _cut(self, text: str) -> str:
        from lmr_author.texts import shortened

        screen = ui.console(stderr=self._stderr)
        return shortened(text, screen.width - 4) if screen.is_terminal else text

    def _say(
        self,
        text: str,
        head: str = "",
        style: str = "",
        *,
        indent: int = 0,
        hang: int | None = None,
        tone: str = "",
    ) -> None:
        ui.say(text, head, style, indent=indent, hang=hang, tone=tone, stderr=self._stderr)
