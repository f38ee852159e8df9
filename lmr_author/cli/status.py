"""``lmr-author status``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, TasksArgument, default_tasks

if TYPE_CHECKING:
    from lmr_author.release.reporting.status import Status

GLUE = "\u00a0"
"""A space at which no line is broken."""
FEW = 3
"""Tasks whose status is shown in full; more are shown as a table."""


def status(paths: TasksArgument = None, output: FormatOption = Format.text) -> int:
    """Show the state of each task and its next command; of more than a few, by their records alone."""
    from lmr_author.core.task import tasks_at
    from lmr_author.proof.validation.run import checked
    from lmr_author.release.reporting.status import status_with

    tasks, found = tasks_at(paths or [default_tasks()]), []
    with ui.progress("reading") as progress:
        # Together, as some findings are of one task beside another.
        reports = checked(tasks).tasks if len(tasks) <= FEW else ()
        for number, task in enumerate(tasks, 1):
            progress(f"{number} of {len(tasks)} tasks: {task.name}")
            found.append(status_with(task, reports[number - 1].findings if reports else None))
    if output is Format.json:
        counts = Counter(item.state for item in found)
        ui.print_json({"tasks": [item.to_json() for item in found], "states": dict(counts)})
    else:
        show(found)
    return 0


def show(found: Sequence[Status]) -> None:
    """Print a block for each of a few tasks; of many a row each, and the number of tasks in each state."""
    from lmr_author.release.reporting.status import STATES

    if len(found) > FEW:
        shown = any(item.challenged for item in found)  # a column that says nothing is left out
        head = ("task", "status", *(["fail, pass"] if shown else []), "open")
        rows = [(item.task, item.state, *([_challenged(item)] if shown else []), item.note) for item in found]
        ui.columns_of([head, *rows])
        if shown:
            ui.say("fail, pass: misreadings that fail, rewrites that pass (`challenge`)", stderr=False)
        counts = Counter(item.state for item in found)
        numbers = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
        ui.say(f"{len(found)} tasks: {numbers}", stderr=False)
        ui.say("by their records; `lmr-author validate` checks the tasks themselves", stderr=False)
        if any(item.next for item in found):
            ui.then("next", stderr=False)
        return
    for item in found:
        _show_one(item)


def _challenged(item: Status) -> str:
    found = item.challenged
    if found is None:
        return "-"
    numbers = f"{found.fail}/{found.misreadings}, {found.passing}/{found.rewrites}"
    return numbers if found.standing != "stale" else f"{numbers}, stale"


def _show_one(item: Status) -> None:
    from lmr_author.release.reporting.status import STEPS
    from lmr_author.release.review.standing import DISPUTED, REJECTED, WAITING

    ui.say(item.task, tone="bold", stderr=False)
    marks = [f"{'✓' if step in item.done else '○'}{GLUE}{step}" for step in STEPS]
    if item.review in (DISPUTED, REJECTED):
        marks[-1] = f"✗{GLUE}{item.review}"
    styles = {f"✓{GLUE}[^ ]+": "green", f"○{GLUE}[^ ]+": "dim", f"✗{GLUE}[^ ]+": "bold red"}
    ui.say("  ".join(marks), indent=2, hang=2, stderr=False, styles=styles)
    if item.challenged:
        ui.say(f"challenged: {item.challenged.text}", indent=2, hang=2, stderr=False)
    if item.note:
        ui.say(item.note, indent=2, hang=2, stderr=False)
    if item.review != WAITING:
        ui.say(": ".join(filter(None, (item.people, ", ".join(item.signed_off_by)))), indent=2, stderr=False)
    if item.next:
        ui.say(f"next: {item.next}", indent=2, stderr=False, whole=True)
