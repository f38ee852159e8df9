"""``lmr-author evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import (
    BaseImageOption,
    Format,
    FormatOption,
    PythonOption,
    SandboxKind,
    SandboxOption,
    default_tasks,
    print_json,
)

if TYPE_CHECKING:
    from lmr_author.evaluation.candidates.scorer import CandidateOptions
    from lmr_author.evaluation.evaluate import EvaluateOptions
    from lmr_author.task import Task


class Protocol(StrEnum):
    """How candidates are judged."""

    proof = "proof"
    lmr_bench = "lmr-bench"


def evaluate(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH…", help="Tasks, or a folder of them.")
    ] = None,
    sandbox: SandboxOption = SandboxKind.local,
    python: PythonOption = None,
    base_image: BaseImageOption = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, max=100, help="How often the golden is run.")
    ] = 3,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds one case may take.")] = 60.0,
    mutants: Annotated[
        int, typer.Option("--mutants", min=0, help="Mutants tried of each implementation, at most.")
    ] = 100,
    implementation: Annotated[
        int | None,
        typer.Option(
            "--implementation", metavar="N", help="Only this one; of the others the last evaluation counts."
        ),
    ] = None,
    accept_mutant: Annotated[
        list[str] | None,
        typer.Option(
            "--accept-mutant", metavar="ID", help="Record that a surviving mutant is equivalent; repeatable."
        ),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why it is equivalent; with --accept-mutant.")] = "",
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions",
            metavar="FILE|DIR",
            help="Judge models' answers instead: JSONL, or a tree of task folders that agents worked in.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Where results.jsonl is written and resumed; with --predictions. By default lmr-results.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=256, help="Candidates judged side by side.")
    ] = 1,
    whole_file: Annotated[
        bool, typer.Option("--whole-file", help="Apply what an answer changes outside of its target, too.")
    ] = False,
    protocol: Annotated[
        Protocol,
        typer.Option(
            "--protocol", help="proof, or lmr-bench: as its scripts score, logs grepped for Passed."
        ),
    ] = Protocol.proof,
    memory: Annotated[
        int, typer.Option("--memory", min=64, metavar="MB", help="Memory a candidate may use.")
    ] = 8192,
    gpus: Annotated[
        str, typer.Option("--gpus", metavar="N|all", help="GPUs a container is given; with --sandbox docker.")
    ] = "",
    scheduler: Annotated[
        str,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Judge candidates on a Dask cluster, as in tcp://host:8786.",
        ),
    ] = "",
    output: FormatOption = Format.text,
) -> int:
    """Prove by running that a task is sound (exit code 0 only if every gate holds), or judge models' answers."""
    from lmr_author.cli import render_runs
    from lmr_author.errors import EXIT_CLEAN, UsageError
    from lmr_author.evaluation import evaluate as workflow
    from lmr_author.task import tasks_at

    tasks = tasks_at(paths or [default_tasks()])
    if accept_mutant:
        if len(tasks) != 1:
            raise UsageError(f"--accept-mutant is for one task, not {len(tasks)}", "name the task")
        for identifier, diff in workflow.accept_mutants(tasks[0], accept_mutant, reason).items():
            render_runs.accepted_mutant(identifier, diff)
        render_runs.after_accepting()
        return EXIT_CLEAN
    if predictions is not None:
        if implementation is not None:
            raise UsageError("--implementation is for gates, not for candidates", "leave it out")
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
        return _candidates(tasks, predictions, chosen, output)
    if out is not None or whole_file or scheduler or protocol is not Protocol.proof:
        raise UsageError(
            "--out, --whole-file, --protocol and --scheduler are for candidates", "add --predictions FILE"
        )
    if implementation is not None and len(tasks) != 1:
        raise UsageError(f"--implementation is for one task, not {len(tasks)}", "name the task")
    options = workflow.EvaluateOptions(
        sandbox.value, python, base_image, repeats, timeout, mutants, gpus, implementation
    )
    return _gates(tasks, options, output)


def _gates(tasks: Sequence[Task], options: EvaluateOptions, output: Format) -> int:
    """Run the gates of tasks; exit code 0 when all hold."""
    from lmr_author.cli import render_runs
    from lmr_author.cli.render import progress
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
    from lmr_author.evaluation import evaluate as workflow

    results = []
    for task in tasks:
        show = render_runs.GateTable(task.name, quiet=output is Format.json)
        with progress(f"evaluating {task.name}") as say:
            results.append(workflow.attempt(task, options, say, show, alone=len(tasks) == 1))
        show.end(results[-1])
    if output is Format.json:
        documents = [{"task": item.task.name, **item.to_json()} for item in results]
        print_json({"tasks": documents, "passed": all(item.passed for item in results)})
    return EXIT_CLEAN if all(item.passed for item in results) else EXIT_FINDINGS


def _candidates(tasks: Sequence[Task], predictions: Path, options: CandidateOptions, output: Format) -> int:
    """Judge models' answers; exit code 0 when each has a verdict, whatever it is."""
    from lmr_author.cli import render_candidates
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
    from lmr_author.evaluation.candidates import run as workflow

    with render_candidates.display() as show:
        found = workflow.score(tasks, predictions, options, show.say, show.result)
    if output is Format.json:
        print_json(
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
        render_candidates.scored(found)
    return EXIT_CLEAN if found.complete else EXIT_FINDINGS
