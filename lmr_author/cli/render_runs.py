"""How the results of evaluate, review and status look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.cli.render import console
from lmr_author.cli.render_text import escape
from lmr_author.task import GateResult, GateStatus

if TYPE_CHECKING:
    from rich.console import Console

    from lmr_author.evaluation.evaluate import Broken, EvaluationRun
    from lmr_author.evaluation.own_test import OwnTest
    from lmr_author.reporting.status import Status
    from lmr_author.task.reviews import Review, ReviewItem

MARKS = {
    GateStatus.PASSED: ("green", "✓"),
    GateStatus.FAILED: ("bold red", "✗"),
    GateStatus.UNPROVEN: ("yellow", "?"),
    GateStatus.SKIPPED: ("dim", "-"),
}


FEW_TASKS = 3
"""Tasks whose status is shown in full; of more there is a table."""

SURVIVORS = {GateStatus.PASSED: 5, GateStatus.FAILED: 30}
"""Surviving mutants shown of one implementation, more where each has to be judged; the evaluation's record has all."""


def mutant_diff(diff: str, screen: Console) -> None:
    """The lines of a mutant's change, red and green."""
    for line in diff.splitlines():
        style = {"-": "red", "+": "green"}.get(line[:1], "")
        screen.print(f"        {line}", style=style, markup=False)


def accepted_mutant(identifier: str, diff: str) -> None:
    """A mutant was recorded as equivalent."""
    screen = console()
    screen.print(f"[green]accepted[/] {identifier} as equivalent: it does not count any more")
    mutant_diff(diff, screen)


def after_accepting() -> None:
    """What comes after mutants were accepted."""
    console().print(
        "next: `lmr-author evaluate` once more, in the same sandbox: the record is of before", markup=False
    )


class GateTable:
    """Prints each gate as soon as it is known, a line each, and a last line that says what they prove."""

    def __init__(self, task: str, *, quiet: bool = False, stderr: bool = False) -> None:
        self._screen = console(stderr=stderr)
        self._quiet = quiet
        self._implementation: int | None = -1
        self._title = task

    def __call__(self, gate: GateResult) -> None:
        """Print one gate."""
        if self._quiet:
            return
        if self._title:
            # Not before: a task that cannot be evaluated at all has no table, only an error.
            self._screen.print(f"[bold]{escape(self._title)}[/]")
            self._title = ""
        if gate.implementation is not None and gate.implementation != self._implementation:
            self._implementation = gate.implementation
            self._screen.print(f"  implementation {gate.implementation}")
        style, mark = MARKS[gate.status]
        seconds = f"[dim]{gate.seconds:5.1f} s[/]" if gate.seconds >= 0.05 else "       "
        self._screen.print(f"  [{style}]{mark}[/] {gate.gate:<14} {seconds}  {escape(gate.message)}")
        if gate.hint and gate.status is not GateStatus.PASSED:
            self._screen.print(f"                            [cyan]hint:[/] {escape(gate.hint)}")

        self._survivors(gate.detail.get("survivors"), SURVIVORS.get(gate.status, 5))

    def _survivors(self, survivors: Any, most: int) -> None:
        """Mutants that the test does not notice, as coloured diffs."""
        mutants = [item for item in survivors or [] if isinstance(item, dict)]
        for item in mutants[:most]:
            self._screen.print(
                f"      [yellow]survivor {item['id']}[/] line {item['line']}, {item['operator']}"
                + (f" [dim]({escape(item['why'])})[/]" if item["why"] else "")
            )
            mutant_diff(item["diff"], self._screen)
        if len(mutants) > most:
            self._screen.print(f"      [dim]and {len(mutants) - most} more in authoring/evaluation.json[/]")

    def end(self, result: EvaluationRun | Broken) -> None:
        """Print what it all comes to."""
        from lmr_author.evaluation.evaluate import Broken

        if self._quiet:
            return
        if isinstance(result, Broken):
            self._screen.print(f"[bold]{escape(result.task.name)}[/]")
            self._screen.print(f"  [bold red]not evaluated[/]: {escape(result.error.message)}")
            self._screen.print(f"  [cyan]hint:[/] {escape(result.error.hint)}")
            return
        own_tests(result.own_tests, self._screen)
        held = sum(gate.status is GateStatus.PASSED for gate in result.gates)
        verdict = "[green]sound: every gate holds[/]" if result.passed else "[bold red]not proven[/]"
        kind = result.record.kind
        self._screen.print(
            f"  {verdict} ({held} of {len(result.gates)} gates, {kind} sandbox, {result.record.seconds:.1f} s; "
            f"{escape(str(result.task.evaluation_path.relative_to(result.task.root)))})"
        )
        if result.counts:
            self._screen.print(
                f"  [cyan]note:[/] the evaluation in {escape(result.counts)} still counts for this task"
            )
        if result.lost:
            self._screen.print(
                "  [yellow]note:[/] this replaced an evaluation in the same sandbox in which every gate passed "
                f"({escape(result.lost)}); if only the machine failed, evaluate again"
            )


def own_tests(found: Sequence[OwnTest], screen: Console) -> None:
    """Print what running each hand-written test has shown, by its exit code and by its log."""
    styles = {"sound": "green", "unproven": "yellow", "weak": "yellow"}
    for item in found:
        style = styles.get(item.verdict.value, "bold red")
        reason = f": {escape(item.reason)}" if item.reason else ""
        screen.print(
            f"  test of implementation {item.implementation}: [{style}]{item.verdict.value}[/]{reason}"
        )
        if item.counts:
            screen.print(f"    {'passes':<14}{'golden':<10}{'masked':<10}wrong versions")
        for one in item.counts:
            golden, masked, wrong = (
                f"{passed} of {runs}" for passed, runs in (one.golden, one.masked, one.wrong)
            )
            screen.print(f"    {'by ' + one.by:<14}{golden:<10}{masked:<10}{wrong}")


def checklist_items(items: Iterable[ReviewItem]) -> None:
    """Items of a checklist with their evidence."""
    screen = console()
    for item in items:
        style = {"pass": "green", "fail": "bold red"}.get(item.answer, "yellow")
        more = item.evidence or item.comment
        screen.print(f"  [{style}]{item.answer:<6}[/] {escape(item.question)} {escape(more)}")


def review_result(result: Review, path: Path) -> None:
    """The whole checklist, and whether it signs off."""
    checklist_items(result.items)
    screen = console()
    if result.signed_off:
        screen.print(f"[green]signed off[/]: {escape(str(path))} (holds until the task changes)")
    else:
        screen.print(f"[bold red]not signed off[/]: stored in {escape(str(path))}")


def status_table(found: Sequence[Status], *, stderr: bool = False) -> None:
    """A block for each of a few tasks; a table of many."""
    from rich.padding import Padding

    from lmr_author.reporting.status import STEPS

    screen = console(stderr=stderr)
    if len(found) > FEW_TASKS:
        _status_rows(found, screen)
        return
    for item in found:
        marks = "  ".join(
            f"[green]✓ {step}[/]" if step in item.done else f"[dim]○ {step}[/]" for step in STEPS
        )
        screen.print(f"[bold]{escape(item.task)}[/]")
        screen.print(f"  {marks}")
        if item.note:
            screen.print(Padding(escape(item.note), (0, 0, 0, 2), expand=False), soft_wrap=False)
        if item.signed_off_by:
            screen.print(f"  signed off by {escape(', '.join(item.signed_off_by))}")
        if item.next:
            screen.print(f"  next: {item.next}", markup=False, soft_wrap=True)  # to be copied whole


def _status_rows(found: Sequence[Status], screen: Console) -> None:
    """One row for each task, and the number of tasks at each step."""
    from rich.table import Table

    rows = [(item.task, item.done[-1] if item.done else "broken", item.note) for item in found]
    if screen.is_terminal:
        table = Table("task", "reached", "open", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for row in rows:
            table.add_row(*map(escape, row))
        screen.print(table)
    else:  # whole lines for a pipe
        name, reached = (max(len(row[column]) for row in rows) for column in (0, 1))
        for one in (("task", "reached", "open"), *rows):
            screen.print(f"{one[0]:<{name}}  {one[1]:<{reached}}  {one[2]}".rstrip(), markup=False)
    counts = Counter(row[1] for row in rows)
    screen.print(f"{len(found)} tasks: " + ", ".join(f"{number} {step}" for step, number in counts.items()))
    if any(item.next for item in found):
        screen.print("next: lmr-author next, or lmr-author status TASK for one task")
