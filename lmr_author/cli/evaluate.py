"""``lmr-author evaluate``: the gates of tasks. Models' answers are in :mod:`lmr_author.cli.candidates`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from lmr_author.texts import counted, listed

if TYPE_CHECKING:
    from lmr_author.evaluation.evaluate import Broken, EvaluateOptions, EvaluationRun
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
        typer.Option(
            metavar="ID|LINES",
            help="Record that a surviving mutant, or all on these lines (40-52), need not fail; repeatable.",
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option(help="Why, as 'equivalent: ...' or 'dead code'; with --accept-mutant.")
    ] = "",
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
            protocol=protocol.value,
        )
        return candidates.judge(tasks, predictions, chosen, as_json=output is Format.json)
    if out is not None or scheduler or protocol is not Protocol.proof:
        raise UsageError("--out, --protocol and --scheduler are for candidates", "add --predictions FILE")
    if implementation is not None and len(tasks) != 1:
        raise UsageError(f"--implementation is for one task, not {len(tasks)}", "name the task")
    options = EvaluateOptions(
        sandbox.value, python, base_image, repeats, timeout, mutants, gpus, implementation
    )
    return _gates(tasks, options, paths or [], output)


def _accept(tasks: Sequence[Task], words: Sequence[str], reason: str, again: Sequence[str]) -> int:
    """Record that mutants are equivalent, and show the gate without them.

    ``again``: the words of the command that evaluates again.
    """
    from lmr_author.evaluation.evaluate import accept_mutants

    if len(tasks) != 1:
        raise UsageError(f"--accept-mutant is for one task, not {len(tasks)}", "name the task")
    done = accept_mutants(tasks[0], words, reason)
    for identifier, diff in done.diffs.items():
        ui.say(f"{identifier}: it no longer counts", "accepted", "green")
        ui.diff(diff.splitlines(), indent=8)
    table = GateTable(tasks[0].name, stderr=True, survivors=False)
    for gate in done.gates:
        table(gate)
    if done.passed:
        ui.say("every gate holds, from the stored evaluation", "sound:", "green", indent=2)
        ui.then("next", "--task", tasks[0].root)
    else:
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

    def __init__(
        self, title: str, *, quiet: bool = False, stderr: bool = False, survivors: bool = True
    ) -> None:
        self._survivors = survivors
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
            if needs := gate.detail.get("needs"):
                note = (
                    f"the test needs {listed(needs, 5)}, masked too: with only this function solved, it fails"
                )
                self._say(note, "note:", "yellow", indent=MESSAGE)
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
        """Print the mutants that the test does not detect, by the reason; as ids alone where nothing reaches them."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for item in gate.detail.get("survivors") or [] if self._survivors else []:
            if isinstance(item, dict):
                groups.setdefault(str(item["why"]), []).append(item)
        for why, group in groups.items():
            if why:
                self._say(why, f"{counted(len(group), 'survivor')}:", "yellow", indent=6, hang=8)
            if " reaches line" in why and len(group) > 1:  # one decision for all of them
                self._say(" ".join(item["id"] for item in group), indent=8, hang=8)
                continue
            for item in group[:SURVIVORS]:
                text = f"line {item['line']}, {item['operator']}"
                self._say(text, f"survivor {item['id']}", "yellow", indent=8)
                ui.diff(item["diff"].splitlines(), indent=10, stderr=self._stderr)
            if len(group) > SURVIVORS:
                self._say(f"and {len(group) - SURVIVORS} more in authoring/evaluation.json", indent=8)

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
        for index, how in result.powerless.items():
            self._say(how, f"the test of implementation {index} cannot fail:", "bold red", indent=2)
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
