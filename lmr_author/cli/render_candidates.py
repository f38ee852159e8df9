"""How ``evaluate --predictions`` looks: a bar while it runs, then a table by model and category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from lmr_author.cli.render import console
from lmr_author.cli.render_text import escape

if TYPE_CHECKING:
    from lmr_author.evaluation.candidates.results import Result, Row
    from lmr_author.evaluation.candidates.run import Pace, Scored

EVERY = 50
"""Without a terminal, a line is printed after so many results."""


HEADER = (
    "model", "category", "judged", "passed", "rate", "95 % interval", "failed", "timeout", "crashed", "invalid",
    "not judged",
)  # fmt: skip


def _cells(row: Row) -> tuple[str, ...]:
    interval = f"{row.low:.1%} to {row.high:.1%}"
    counts = (row.failed, row.timeout, row.crashed, row.invalid, row.infrastructure)
    head = (row.model, row.category, str(row.judged), str(row.passed), f"{row.share:.1%}", interval)
    return (*head, *map(str, counts))


class Display:
    """Shows what is done and how long it will take."""

    def __init__(self, update: Callable[[str], None] | None) -> None:
        self._update = update
        self._counts: Counter[str] = Counter()
        self._screen = console()

    def say(self, message: str) -> None:
        """Say what is being done now."""
        if self._update is not None:
            self._update(message.strip()[:120])

    def result(self, result: Result, pace: Pace) -> None:
        """Count one more result in."""
        self._counts[result.outcome.value] += 1
        counts = ", ".join(f"{number} {outcome}" for outcome, number in self._counts.most_common())
        left = pace.seconds_left
        estimate = f", about {timedelta(seconds=round(left))} left" if left is not None else ""
        line = f"{pace.done} of {pace.total} candidates: {counts}{estimate}"
        if self._update is not None:
            self._update(line)
        elif pace.done % EVERY == 0 or pace.done == pace.total:
            self._screen.print(line, markup=False)


@contextmanager
def display() -> Iterator[Display]:
    """A changing line on a terminal; elsewhere a line now and then."""
    screen = console()
    if not screen.is_terminal:
        yield Display(None)
        return

    with screen.status("reading the predictions") as status:
        yield Display(lambda message: status.update(escape(message)))


def scored(found: Scored) -> None:
    """The table, what could not be judged, and where the results are."""
    screen = console(stderr=False)
    lines = [HEADER, *map(_cells, found.rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEADER))]
    for line in lines:
        cells = [
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        screen.print("  ".join(cells).rstrip(), markup=False, style="bold" if line[1] == "all" else "")
    apart = [result for result in found.results if result.outcome.value == "infrastructure"]
    reasons = Counter(f"{result.task} {result.index}: {result.reason}" for result in apart)
    for reason, number in reasons.most_common(10):
        screen.print(f"not judged ({number}): {reason}", markup=False)
    for name, error in found.broken.items():
        screen.print(f"not judged: all for {name}: {error.message}", markup=False)
    if found.elsewhere:
        some = ", ".join(f"{name} ({number})" for name, number in list(found.elsewhere.items())[:5])
        more = f", and {len(found.elsewhere) - 5} more" if len(found.elsewhere) > 5 else ""
        screen.print(f"left out, as these tasks are not here: {some}{more}", markup=False)
    notes = Counter(note for result in found.results for note in result.dropped)
    if notes:
        most = ", ".join(f"{note} ({number})" for note, number in notes.most_common(3))
        screen.print(
            f"not applied, as outside of the target: {most}; --whole-file applies them", markup=False
        )
    if any(result.method == "test script" for result in found.results):
        screen.print(
            "judged by hand-written test scripts: sound against mistakes, not against code that cheats",
            markup=False,
        )
    resumed = f", {found.resumed} of them by an earlier run" if found.resumed else ""
    screen.print(f"{len(found.results)} candidates{resumed}: {found.path}", markup=False)
