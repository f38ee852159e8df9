"""``lmr-author evaluate --predictions``: progress while it runs, then a table by model and category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli import ui
from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
from lmr_author.texts import listed

if TYPE_CHECKING:
    from lmr_author.evaluation.candidates.results import CandidateResult, Row
    from lmr_author.evaluation.candidates.run import Pace, ScoredPredictions
    from lmr_author.evaluation.candidates.scorer import CandidateOptions
    from lmr_author.task import Task

EVERY = 50
"""Without a terminal, a line is printed after this many results."""
HEADER = ("category", "judged", "passed", "rate", "95 % interval")


def judge(tasks: Sequence[Task], predictions: Path, options: CandidateOptions, *, as_json: bool) -> int:
    """Judge models' answers; the exit code is 0 when each has a verdict, whatever it is."""
    from lmr_author.evaluation.candidates.run import score

    counts: Counter[str] = Counter()
    with ui.progress("reading the predictions") as progress:

        def count(result: CandidateResult, pace: Pace) -> None:
            counts[result.outcome.value] += 1
            outcomes = ", ".join(f"{number} {outcome}" for outcome, number in counts.most_common())
            left = pace.seconds_left
            estimate = f", about {timedelta(seconds=round(left))} left" if left is not None else ""
            line = f"{pace.done} of {pace.total} candidates: {outcomes}{estimate}"
            if progress.live:
                progress(line)
            elif pace.done % EVERY == 0 or pace.done == pace.total:
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
        _show(found)
    return EXIT_CLEAN if found.complete else EXIT_FINDINGS


def _show(found: ScoredPredictions) -> None:
    """Print the tables, the candidates that could not be judged, and the file of results."""
    for model, group in groupby(found.rows, key=lambda row: row.model):
        rows = list(group)
        ui.say(model, tone="bold", stderr=False)
        ui.columns_of([HEADER, *map(_cells, rows)], right=1, stderr=False)
        for row in (row for row in rows if row.category == "all"):
            kinds = ("failed", "timeout", "crashed", "invalid", "infrastructure")
            counts = [f"{count} {kind}" for kind in kinds if (count := getattr(row, kind))]
            if counts:
                ui.say(f"not passed: {', '.join(counts)}", stderr=False)
    apart = [result for result in found.results if result.outcome.value == "infrastructure"]
    reasons = Counter(f"{result.task} {result.index}: {result.reason}" for result in apart)
    for reason, number in reasons.most_common(10):
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


def _cells(row: Row) -> tuple[str, ...]:
    interval = f"{row.low:.1%} to {row.high:.1%}"
    return (row.category, str(row.judged), str(row.passed), f"{row.share:.1%}", interval)
