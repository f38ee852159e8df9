"""``lmr-author evaluate``: the gates of tasks, or models' answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    BaseImageOption,
    Format,
    FormatOption,
    GpusOption,
    PythonOption,
    ReasonOption,
    SandboxKind,
    SandboxOption,
    TasksArgument,
    default_tasks,
)
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, LmrError, SandboxError, UsageError
from lmr_author.core.texts import counted, listed, shortened

if TYPE_CHECKING:
    from lmr_author.core.task import GateResult, Task
    from lmr_author.proof.evaluation.candidates.results import CandidateResult, Row
    from lmr_author.proof.evaluation.candidates.run import ScoredPredictions
    from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions
    from lmr_author.proof.evaluation.evaluate import EvaluateOptions, EvaluationRun

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
EVERY = 50
"""Without a terminal, a line is printed after this many results."""
REASONS = 10
"""Candidates that did not pass whose reasons are shown; the file of results has all."""
HEADER = ("model", "passed", "rate", "95 % interval", "not passed")

_say = partial(ui.say, stderr=False)


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
    repeats: Annotated[int, Option(min=1, max=100, help="Number of runs of the golden.")] = 3,
    timeout: Annotated[float, Option(min=1, help="Time limit of one case, in seconds.")] = 60.0,
    mutants: Annotated[int, Option(min=0, help="Largest number of mutants of each implementation.")] = 100,
    implementation: Annotated[
        int | None, Option(help="Only this one; the others keep their results.")
    ] = None,
    accept_mutant: Annotated[
        list[str] | None,
        Option(
            metavar="ID|LINES", help="Record that a survivor, or all on these lines (40-52), need not fail."
        ),
    ] = None,
    reason: ReasonOption = "",
    predictions: Annotated[
        Path | None, Option(help="Judge answers: JSONL, a log of Inspect AI or Harbor, or agents' tasks.")
    ] = None,
    out: Annotated[
        Path | None, Option(help="Folder of results, by default lmr-results, to be resumed.")
    ] = None,
    jobs: Annotated[int, Option("--jobs", "-j", min=1, max=256, help="Candidates judged side by side.")] = 1,
    protocol: Annotated[
        Protocol, Option(help="lmr-bench: by Passed in the log, as its scripts score.")
    ] = Protocol.proof,
    memory: Annotated[int, Option(min=64, help="Memory limit of a candidate, in MB.")] = 8192,
    scheduler: Annotated[str, Option(help="Judge candidates on a Dask cluster, as tcp://host:8786.")] = "",
    output: FormatOption = Format.text,
) -> int:
    """Prove by running that a task is sound (exit code 0 only if every gate holds), or judge models' answers."""
    from lmr_author.core.task import tasks_at
    from lmr_author.proof.evaluation.evaluate import EvaluateOptions

    tasks = tasks_at(paths or [default_tasks()])
    if accept_mutant:
        return _accept(tasks, accept_mutant, reason)
    if predictions is not None:
        if implementation is not None:
            raise UsageError("--implementation is for gates, not for candidates", "leave it out")
        from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions

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
        return _judge(tasks, predictions, chosen, as_json=output is Format.json)
    if out is not None or scheduler or protocol is not Protocol.proof:
        raise UsageError("--out, --protocol and --scheduler are for candidates", "add --predictions FILE")
    if implementation is not None and len(tasks) != 1:
        raise UsageError(f"--implementation is for one task, not {len(tasks)}", "name the task")
    options = EvaluateOptions(
        sandbox.value, python, base_image, repeats, timeout, mutants, gpus, implementation
    )
    return _gates(tasks, options, paths or [], output)


def _accept(tasks: Sequence[Task], words: Sequence[str], reason: str) -> int:
    """Record that mutants are equivalent, and show the gate without them."""
    from lmr_author.proof.evaluation.evaluate import accept_mutants, mutant_gates

    if len(tasks) != 1:
        raise UsageError(f"--accept-mutant is for one task, not {len(tasks)}", "name the task")
    diffs, stored = accept_mutants(tasks[0], words, reason)
    for identifier, diff in diffs.items():
        ui.say(f"{identifier}: it no longer counts", "accepted", "green")
        ui.diff(diff.splitlines(), indent=8)
    table = GateTable(tasks[0].name)
    for gate in mutant_gates(stored):
        table.show(gate, survivors=False)
    if stored is not None and stored.passed:
        ui.say("every gate holds, from the stored evaluation", "sound:", "green", indent=2)
    ui.then("next", "--task", tasks[0].root)
    return EXIT_CLEAN


def _gates(tasks: Sequence[Task], options: EvaluateOptions, paths: Sequence[Path], output: Format) -> int:
    """Run the gates of tasks; the exit code is 0 if all hold."""
    from lmr_author.proof.evaluation.evaluate import evaluate as run_gates

    documents: list[dict[str, Any]] = []
    for task in tasks:
        table = GateTable(task.name)
        on_gate = table.show if output is Format.text else lambda _: None
        try:
            with ui.progress(f"evaluating {task.name}") as progress:
                run = run_gates(task, options, progress, on_gate)
            document = run.record.to_json()
            if output is Format.text:
                table.end(run)
        except LmrError as error:
            if isinstance(error, SandboxError) or len(tasks) == 1:
                raise
            if output is Format.text:
                _refuse(task, error)
            document = {"error": error.message, "hint": error.hint, "gates": [], "passed": False}
        documents.append({"task": task.name, **document})
    failed = [document["task"] for document in documents if not document["passed"]]
    if output is Format.json:
        ui.print_json({"tasks": documents, "passed": not failed})
    elif len(documents) > 1:
        open_tasks = f", {len(failed)} not proven ({', '.join(failed)})" if failed else ""
        sound = f"{len(documents) - len(failed)} sound{open_tasks}"
        ui.say(f"{counted(len(documents), 'task')} evaluated: {sound}", stderr=False)
        ui.then("status", *paths, stderr=False)
    elif not failed:
        ui.then("next", *(word for path in paths for word in ("--task", path)), stderr=False)
    return EXIT_FINDINGS if failed else EXIT_CLEAN


class GateTable:
    """The gates of one task on stdout: each as soon as it is known, and a last line with the verdict."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._implementation: int | None = None

    def show(self, gate: GateResult, *, survivors: bool = True) -> None:
        """Print one gate: a line; details only where it does not hold."""
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
            screen = ui.console(stderr=False)
            _say(shortened(text, screen.width - 4) if screen.is_terminal else text, mark, style, indent=2)
            if needs := gate.detail.get("needs"):
                named = listed(needs, 5)
                why = f"the test needs {named}, masked too: with only this function solved, it fails"
                _say(why, "note:", "yellow", indent=MESSAGE)
            return
        _say(text, mark, style, indent=2, hang=MESSAGE)
        if gate.hint:
            ui.hint(gate.hint, indent=MESSAGE, stderr=False)
        if survivors:
            _show_survivors(gate)
        log = [line for line in str(gate.detail.get("log", "")).splitlines() if line.strip()]
        for line in log[-LOG_LINES:]:
            _say(f"| {line}", indent=6, hang=10, tone="dim")

    def end(self, result: EvaluationRun) -> None:
        """Print the verdict."""
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
                "this replaced an evaluation in the same sandbox in which every gate passed "
                f"({result.lost}); if only the machine failed, evaluate again"
            )
            _say(text, "note:", "yellow", indent=2)


def _refuse(task: Task, error: LmrError) -> None:
    """Print why a task cannot be evaluated at all, beside others that can."""
    _say(task.name, tone="bold")
    _say(error.message, "not evaluated:", "bold red", indent=2)
    ui.hint(error.hint, indent=2, stderr=False)


def _show_survivors(gate: GateResult) -> None:
    """Print the mutants that the test does not detect, by the reason; as ids alone where nothing reaches them."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for item in gate.detail.get("survivors") or []:
        if isinstance(item, dict):
            groups.setdefault(str(item["why"]), []).append(item)
    for why, group in groups.items():
        if why:
            _say(why, f"{counted(len(group), 'survivor')}:", "yellow", indent=6, hang=8)
        if " reaches line" in why and len(group) > 1:  # one decision for all of them
            _say(" ".join(item["id"] for item in group), indent=8, hang=8)
            continue
        for item in group[:SURVIVORS]:
            text = f"line {item['line']}, {item['operator']}"
            _say(text, f"survivor {item['id']}", "yellow", indent=8)
            ui.diff(item["diff"].splitlines(), indent=10, stderr=False)
        if len(group) > SURVIVORS:
            _say(f"and {len(group) - SURVIVORS} more in authoring/evaluation.json", indent=8)


def _judge(tasks: Sequence[Task], predictions: Path, options: CandidateOptions, *, as_json: bool) -> int:
    """Judge models' answers; the exit code is 0 when each has a verdict, whatever it is."""
    from lmr_author.proof.evaluation.candidates.run import score

    counts, started = Counter[str](), time.monotonic()
    with ui.progress("reading the predictions") as progress:

        def count(result: CandidateResult, done: int, total: int) -> None:
            counts[result.outcome.value] += 1
            outcomes = ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
            seconds = (time.monotonic() - started) / counts.total() * (total - done)
            left = f", about {timedelta(seconds=round(seconds))} left" if done < total else ""
            earlier = done - counts.total()
            before = f" ({earlier} judged by an earlier run)" if earlier else ""
            line = f"{done} of {total} candidates{before}: {outcomes}{left}"
            if progress.live:
                progress(line)
            elif done % EVERY == 0 or done == total:
                ui.say(line)

        found = score(tasks, predictions, options, progress, count)
    if as_json:
        ui.print_json(
            {
                "results": [result.to_json() for result in found.results],
                "summary": [row.to_json() for row in found.rows],
                "resumed": found.resumed,
                "complete": found.complete,
                "broken": {name: error.message for name, error in found.broken.items()},
                "elsewhere": dict(found.elsewhere),
                "path": str(found.path),
            }
        )
    else:
        _show_scored(found)
    return EXIT_CLEAN if found.complete else EXIT_FINDINGS


def _show_scored(found: ScoredPredictions) -> None:
    """Print a row for each model, why candidates did not pass or were not judged, and the file of results."""
    table: list[tuple[str, ...]] = [HEADER]
    for model, rows in groupby(found.rows, key=lambda row: row.model):
        *categories, whole = rows
        table.append(_cells(model, whole))
        if len(categories) > 1:
            table += [_cells(f"  {row.category}", row) for row in categories]
    ui.columns_of(table)
    passed = ("passed", "infrastructure")
    wrong = [result for result in found.results if result.outcome.value not in passed]
    for result in wrong[:REASONS]:
        text = f"{result.who}, {result.task} {result.index}: {shortened(result.reason, 160)}"
        ui.say(text, result.outcome.value, "yellow", stderr=False)
    if len(wrong) > REASONS:
        ui.say(f"and {len(wrong) - REASONS} more that did not pass", stderr=False)
    apart = [result for result in found.results if result.outcome.value == "infrastructure"]
    reasons = Counter(f"{result.task} {result.index}: {result.reason}" for result in apart)
    for reason, number in reasons.most_common(REASONS):
        ui.say(f"not judged ({number}): {reason}", stderr=False)
    for name, error in found.broken.items():
        ui.say(f"not judged: all for {name}: {error.message}", stderr=False)
    if found.elsewhere:
        names = [f"{name} ({number})" for name, number in found.elsewhere.items()]
        ui.say(f"left out, as these tasks are not here: {listed(names, 5)}", stderr=False)
    notes = Counter(note for result in found.results for note in result.dropped)
    if notes:
        most = ", ".join(f"{note} ({number})" for note, number in notes.most_common(3))
        ui.say(f"not applied, as outside of the target: {most}", stderr=False)
    if any(result.method == "test script" for result in found.results):
        ui.say(
            "judged by hand-written test scripts: sound against mistakes, not against code that cheats",
            stderr=False,
        )
    resumed = f", {found.resumed} of them by an earlier run" if found.resumed else ""
    ui.say(f"{len(found.results)} candidates{resumed}: {found.path}", stderr=False)


def _cells(name: str, row: Row) -> tuple[str, ...]:
    kinds = ("failed", "timeout", "crashed", "invalid", "infrastructure")
    counts = ", ".join(f"{count} {kind}" for kind in kinds if (count := getattr(row, kind)))
    interval = f"{row.low:.1%} to {row.high:.1%}"
    return (name, f"{row.passed} of {row.judged}", f"{row.share:.1%}", interval, counts)
