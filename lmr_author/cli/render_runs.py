"""How the results of evaluate, review and status look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.cli.render import console
from lmr_author.cli.render_text import escape
from lmr_author.model import GateResult, GateStatus

if TYPE_CHECKING:
    from rich.console import Console

    from lmr_author.review.checklist import Item
    from lmr_author.workflow.evaluate import Broken, Evaluation
    from lmr_author.workflow.review import Review
    from lmr_author.workflow.status import Status

MARKS = {
    GateStatus.PASSED: ("green", "✓"),
    GateStatus.FAILED: ("bold red", "✗"),
    GateStatus.UNPROVEN: ("yellow", "?"),
    GateStatus.SKIPPED: ("dim", "-"),
}


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

    def end(self, result: Evaluation | Broken) -> None:
        """Print what it all comes to."""
        from lmr_author.workflow.evaluate import Broken

        if self._quiet:
            return
        if isinstance(result, Broken):
            self._screen.print(f"[bold]{escape(result.task.name)}[/]")
            self._screen.print(f"  [bold red]not evaluated[/]: {escape(result.error.message)}")
            self._screen.print(f"  [cyan]hint:[/] {escape(result.error.hint)}")
            return
        held = sum(gate.status is GateStatus.PASSED for gate in result.gates)
        verdict = "[green]sound: every gate holds[/]" if result.passed else "[bold red]not proven[/]"
        kind = result.sandbox.get("kind", "?")
        self._screen.print(
            f"  {verdict} ({held} of {len(result.gates)} gates, {kind} sandbox, {result.seconds:.1f} s; "
            f"{escape(str(result.task.evaluation_path.relative_to(result.task.root)))})"
        )
        if result.counts:
            said = "both are kept, and" if result.passed else "for this state every gate held in"
            self._screen.print(f"  {said} {escape(result.counts)}, whose result counts")
        if result.lost:
            self._screen.print(
                "  [yellow]note:[/] this took the place of an evaluation of the same state in the same sandbox in "
                f"which every gate held ({escape(result.lost)}): if it was the machine that failed, run it again"
            )


def checklist_items(items: Iterable[Item]) -> None:
    """Items of a checklist with their evidence."""
    screen = console()
    for item in items:
        style = {"pass": "green", "fail": "bold red"}.get(item.answer, "yellow")
        more = item.evidence or item.comment
        screen.print(f"  [{style}]{item.answer:<6}[/] {escape(item.question)} {escape(more)}")


def review_result(result: Review) -> None:
    """The whole checklist, and whether it signs off."""
    checklist_items(result.items)
    screen = console()
    if result.signed_off:
        screen.print(f"[green]signed off[/]: {escape(str(result.path))} (holds until the task changes)")
    else:
        screen.print(f"[bold red]not signed off[/]: stored in {escape(str(result.path))}")


def status_table(found: Sequence[Status], *, stderr: bool = False) -> None:
    """One block per task: what holds, and the next command."""
    screen = console(stderr=stderr)
    from lmr_author.workflow.status import STEPS

    for item in found:
        marks = " ".join(
            f"[green]✓ {step}[/]" if step in item.done else f"[dim]· {step}[/]" for step in STEPS
        )
        screen.print(f"[bold]{escape(item.task)}[/]")
        screen.print(f"  {marks}")
        if item.note:
            screen.print(f"  {escape(item.note)}")
        if item.signed_off_by:
            screen.print(f"  signed off by {escape(', '.join(item.signed_off_by))}")
        if item.next:
            screen.print(f"  next: {item.next}", markup=False, soft_wrap=True)  # to be copied whole


def exported(destination: Path, count: int) -> None:
    """A bundle was written."""
    console().print(f"[green]exported[/] {escape(str(destination))} ({count} files)")


def exported_too_early(found: Status) -> None:
    """That a bundle is of a task whose soundness is not proven."""
    if "evaluated" not in found.done:
        line = f"  [yellow]note:[/] {escape(found.task)} is not proven to be sound: {escape(found.note)}"
        console().print(f"{line}\n  next: {escape(found.next)}", soft_wrap=True)
