"""``lmr-author judge``: models' answers against the unit tests of tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.by_hand import GradeOption, grade_by_hand
from lmr_author.cli.options import (
    CaseTimeOption,
    Format,
    FormatOption,
    MemoryOption,
    PlaceOption,
    TasksArgument,
    named_tasks,
)
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from lmr_author.core.texts import Step, counted, listed, shortened

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.proof.evaluation.candidates.results import CandidateResult, ScoreRow
    from lmr_author.proof.evaluation.candidates.run import ScoredPredictions
    from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions
    from lmr_author.runtime.environment.where import Where

EVERY = 50
"""Without a terminal, a line is printed after this many results."""
REASONS = 10
"""Candidates that did not pass whose reasons are shown; the file of results has all."""
_by_hand = partial(Option, rich_help_panel="With --by-hand")
HEADER = ("model", "problems", "passed", "rate", "95 % interval", "not passed", "unjudged")


def judge(
    words: TasksArgument = None,
    predictions: Annotated[
        Path | None,
        Option(
            help="JSONL, a harness's output (docs/evaluating-models.md), agents' folders, or one Python file."
        ),
    ] = None,
    out: Annotated[Path, Option(help="Folder of results; an interrupted run resumes there.")] = Path(
        "lmr-results"
    ),
    *,
    where: Where,
    keep: Annotated[bool, Option("--keep", help="Store solved of tried by model with each task.")] = False,
    jobs: Annotated[int, Option("--jobs", "-j", min=1, max=256, help="Answers judged in parallel.")] = 1,
    timeout: CaseTimeOption = 60.0,
    memory: MemoryOption = 8192,
    scheduler: Annotated[str, Option(help="Dask cluster, as tcp://host:8786.")] = "",
    by_hand: Annotated[
        bool, Option("--by-hand", help="People grade the answers, as in LMR-Bench's paper.")
    ] = False,
    candidate: Annotated[Path | None, _by_hand(help="One answer: a Python file.")] = None,
    model: Annotated[str | None, _by_hand(help="Only this model's answers.")] = None,
    reviewer: Annotated[
        str | None, _by_hand(metavar="NAME", help="Your name, stored with each grade.")
    ] = None,
    grade: Annotated[GradeOption | None, _by_hand(help="The grade of --candidate.")] = None,
    reason: Annotated[str, _by_hand(help="Why it has this grade.")] = "",
    grades: Annotated[Path | None, _by_hand(help="YAML or JSON file: answer → grade.")] = None,
    show: Annotated[bool, _by_hand("--list", help="Only list the answers you have not graded.")] = False,
    results: Annotated[bool, _by_hand("--results", help="Show the graders' agreement.")] = False,
    implementation: Annotated[
        int | None, _by_hand(help="The implementation, if the task has several.")
    ] = None,
    output: FormatOption = Format.text,
    task: PlaceOption = None,
) -> int:
    """Judge models' answers by the tasks' unit tests, each as hostile code in a sandbox of its own."""
    from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions

    _, tasks = named_tasks(words, task)
    if by_hand:
        if keep:
            raise UsageError("--keep excludes --by-hand", "leave one of them out")
        return grade_by_hand(
            tasks,
            predictions,
            output,
            candidate=candidate,
            model=model,
            reviewer=reviewer,
            grade=grade.value if grade else "",
            reason=reason,
            grades=grades,
            show=show,
            results=results,
            implementation=implementation,
        )
    if candidate is not None:
        raise UsageError(
            "--candidate names an answer to grade by hand",
            f"add --by-hand, or run it with --predictions {candidate}",
        )
    if any((model, reviewer, grade, reason, grades, show, results, implementation)):
        hint = (
            "--model, --reviewer, --grade, --reason, --grades, --list, --results and --implementation need it"
        )
        raise UsageError("people's grades are given with --by-hand", f"add --by-hand: {hint}")
    if predictions is None:
        raise UsageError(
            "no answers named",
            "add --predictions FILE: JSON lines, a Python file, or what Inspect AI, Harbor, SWE-agent or OpenHands"
            " left",
        )
    options = CandidateOptions(out, jobs, where, scheduler, seconds=timeout, memory_mb=memory)
    return _judge(tasks, predictions, options, keep=keep, as_json=output is Format.json)


def _judge(
    tasks: Sequence[Task], predictions: Path, options: CandidateOptions, *, keep: bool, as_json: bool
) -> int:
    """Judge models' answers; the exit code is 0 when each has a verdict, whatever it is."""
    from lmr_author.proof.evaluation.candidates import results
    from lmr_author.proof.evaluation.candidates.run import score

    counts = Counter[str]()
    with ui.progress("reading the answers") as progress:

        def count(result: CandidateResult, done: int, total: int) -> None:
            counts[result.outcome.value] += 1
            outcomes = ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
            earlier = done - counts.total()
            before = ui.framed(" (", earlier, " judged by an earlier run)")
            line = f"{done} of {counted(total, 'candidate')}{before}: {outcomes}"
            if progress.live:
                progress(Step(line, done, total))
            elif done % EVERY == 0 or done == total:
                ui.say(line)

        # A task that is changed meanwhile is not the one that was judged.
        contents = {task.name: task.content_digest() for task in tasks if keep}
        scored = score(tasks, predictions, options, progress, count)
        kept = results.keep(tasks, scored.results, predictions, contents) if keep else 0
    if as_json:
        ui.print_json(
            {
                "results": [result.to_json() for result in scored.results],
                "summary": [row.to_json() for row in scored.rows],
                "resumed": scored.resumed,
                "complete": scored.complete,
                "broken": {name: error.message for name, error in scored.broken.items()},
                "elsewhere": dict(scored.elsewhere),
                "path": str(scored.path),
            }
        )
    else:
        _show_scored(scored)
        if kept:
            ui.say(f"kept in {counted(kept, 'task')}: authoring/difficulty.json", stderr=False)
            ui.then("status", *(task.root for task in tasks[:1]), stderr=False)
    return EXIT_CLEAN if scored.complete else EXIT_FINDINGS


def _show_scored(scored: ScoredPredictions) -> None:
    from lmr_author.proof.evaluation.candidates.results import ALL

    table: list[tuple[str, ...]] = [HEADER]
    for model, rows in groupby(scored.rows, key=lambda row: row.model):
        *categories, whole = rows
        table.append(_cells(model, whole))
        if len(categories) > 1:
            table += [_cells(f"  {row.category}", row) for row in categories]
    ui.columns_of(table)
    for row in scored.rows:
        if row.category == ALL and row.most > 1:
            ui.say(_samples(row), stderr=False)
    wrong = [result for result in scored.results if result.outcome.value not in ("passed", "unjudged")]
    for result in wrong[:REASONS]:
        text = f"{result.who}, {result.task} {result.index}: {shortened(result.reason, 160)}"
        ui.say(text, result.outcome.value, "yellow", stderr=False)
    if len(wrong) > REASONS:
        ui.say(f"and {len(wrong) - REASONS} more that did not pass", stderr=False)
    _show_differing(scored)
    _show_unjudged([result for result in scored.results if result.outcome.value == "unjudged"])
    for name, error in scored.broken.items():
        ui.say(f"unjudged: all for {name}: {error.message}", stderr=False)
    if scored.elsewhere:
        names = [f"{name} ({number})" for name, number in scored.elsewhere.items()]
        ui.say(f"skipped, no such task here: {listed(names, 5)}", stderr=False)
    notes = Counter(note for result in scored.results for note in result.dropped)
    if notes:
        most = ", ".join(f"{note} ({number})" for note, number in notes.most_common(3))
        ui.say(f"not applied, outside the target: {most}", stderr=False)
    if any(result.method == "test script" for result in scored.results):
        ui.say("judged by hand-written test scripts, which detect mistakes but not cheating", stderr=False)
    resumed = ui.framed(", ", scored.resumed, " of them by an earlier run")
    ui.say(f"{counted(len(scored.results), 'candidate')}{resumed}: {scored.path}", stderr=False)
    ui.then("analyze", scored.path, "--out", "analysis", stderr=False)


def _show_differing(scored: ScoredPredictions) -> None:
    """Show which passing answers differ on a generated call: a reason to read them, not a verdict."""
    differing = [result for result in scored.results if result.differs is not None]
    for result in differing[:REASONS]:
        assert result.differs is not None
        call = f"generated call {result.differs.call} ({result.differs.made_of})"
        text = f"{result.who}, {result.task} {result.index}: passes the test, differs on {call}"
        ui.say(f"{text}: {shortened(result.differs.message, 160)}", "note:", "yellow", stderr=False)
    for model, rows in groupby(scored.rows, key=lambda row: row.model):
        *_, whole = rows
        if whole.differing:
            text = f"{whole.differing} of {counted(whole.passed, 'answer')} of {model} that pass"
            ui.say(f"{text} differ on generated calls", stderr=False)


def _show_unjudged(results: Sequence[CandidateResult]) -> None:
    from lmr_author.proof.evaluation.candidates.results import in_words

    if not results:
        return
    ui.say(in_words(dict(Counter(result.error for result in results).most_common())), stderr=False)
    reasons = Counter(f"{result.task} {result.index}: {result.reason}" for result in results)
    for reason, number in reasons.most_common(REASONS):
        ui.say(f"unjudged ({number}): {shortened(reason, 300)}", stderr=False)


def _samples(row: ScoreRow) -> str:
    known = [
        f"pass@{k} {rate.share:.1%} ({rate.low:.1%} to {rate.high:.1%})" for k, rate in row.pass_at.items()
    ]
    fewest = max(row.pass_at)
    left_out = f"; no larger k up to {row.most}: a problem has {counted(fewest, 'judged sample')}"
    return f"{row.model}: {', '.join(known)}{left_out if fewest < row.most else ''}"


def _cells(name: str, row: ScoreRow) -> tuple[str, ...]:
    kinds = ("failed", "timeout", "crashed", "invalid")
    counts = ", ".join(f"{count} {kind}" for kind in kinds if (count := getattr(row, kind)))
    unjudged = ", ".join(f"{count} {error}" for error, count in row.unjudged.items())
    rate, interval = "–", "–"
    if row.judged:
        rate, interval = f"{row.share:.1%}", f"{row.low:.1%} to {row.high:.1%}"
    return (name, str(row.problems), f"{row.passed} of {row.judged}", rate, interval, counts, unjudged)
