"""``lmr-author status``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, PlaceOption, TasksArgument, named_tasks

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.release.reporting.status import Status

GLUE = "\u00a0"
DRAFTS = {"drafted": "not confirmed by anybody yet", "confirmed": "confirmed", "rejected": "rejected"}
"""What people made of a model's draft → in words."""
FEW = 3


def status(words: TasksArgument = None, task: PlaceOption = None, output: FormatOption = Format.text) -> int:
    """Show the state of each task by its records, and its next command; `validate` checks the tasks themselves."""
    from lmr_author.release.reporting.status import status_with, with_challenge

    _, tasks = named_tasks(words, task)
    statuses = []
    with ui.progress("reading") as progress:
        for number, each in enumerate(tasks, 1):
            progress(f"{number} of {len(tasks)} tasks: {each.name}")
            statuses.append(with_challenge(each, status_with(each, None)))
    if output is Format.json:
        counts = Counter(each.state for each in statuses)
        drafts = Counter(each.draft for each in statuses if each.draft)
        tasks_there = [each.to_json() for each in statuses]
        ui.print_json({"tasks": tasks_there, "states": dict(counts), "drafts": dict(drafts)})
    else:
        show(statuses)
    return 0


def show_next(task: Task, *, stderr: bool = True) -> None:
    from lmr_author.release.reporting.status import status_with

    found = status_with(task, None)
    ui.say(f"{found.next_label}: {found.next or 'lmr-author status'}", stderr=stderr, whole=True)


def show(statuses: Sequence[Status]) -> None:
    if len(statuses) > FEW:
        _show_table(statuses)
        return
    for each in statuses:
        _show_one(each)
    ui.say("by the records; `lmr-author validate` checks the task itself", stderr=False)


def _show_table(statuses: Sequence[Status]) -> None:
    from lmr_author.release.reporting.status import STATES

    challenged = any(each.challenged for each in statuses)
    columns = {"task": [each.task for each in statuses], "status": [each.state for each in statuses]}
    if challenged:
        columns["fail, pass"] = list(map(_challenge_counts, statuses))
    if any(each.difficulty for each in statuses):
        columns["solved"] = list(map(_solved_counts, statuses))
    columns["open"] = [each.note for each in statuses]
    ui.columns_of([tuple(columns), *zip(*columns.values(), strict=True)])
    if challenged:
        ui.say("fail, pass: misreadings that fail, rewrites that pass (`challenge`)", stderr=False)
    if "solved" in columns:
        ui.say("solved: models' answers that pass, of those judged (`judge --keep`)", stderr=False)
    counts = Counter(each.state for each in statuses)
    numbers = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    ui.say(f"{len(statuses)} tasks: {numbers}", stderr=False)
    drafts = Counter(each.draft for each in statuses if each.draft)
    if drafts:
        numbers = ", ".join(f"{drafts[state]} {DRAFTS[state]}" for state in DRAFTS if drafts[state])
        ui.say(f"{drafts.total()} drafted by a model: {numbers}", stderr=False)
    ui.say("by their records; `lmr-author validate` checks the tasks themselves", stderr=False)
    following = next((each for each in statuses if each.next), None)
    if following:
        ui.say(f"{following.next_label}: {following.next}", stderr=False, whole=True)


def _challenge_counts(status: Status) -> str:
    challenged = status.challenged
    if challenged is None:
        return "-"
    misreadings = f"{challenged.fail}/{challenged.misreadings}"
    rewrites = f"{challenged.passing}/{challenged.rewrites}"
    stale = ", stale" if challenged.status == "stale" else ""
    return f"{misreadings}, {rewrites}{stale}"


def _solved_counts(status: Status) -> str:
    tried = sum(target.tried for target in status.difficulty)
    return f"{sum(target.solved for target in status.difficulty)}/{tried}" if tried else "-"


def _show_one(status: Status) -> None:
    from lmr_author.release.reporting.status import STEPS, VALID
    from lmr_author.release.review.review_status import DISPUTED, REJECTED, WAITING

    ui.say(status.task, tone="bold", stderr=False)
    steps = [step for step in STEPS if step != VALID]
    marks = [f"{'✓' if step in status.done else '○'}{GLUE}{step}" for step in steps]
    if status.review in (DISPUTED, REJECTED):
        marks[-1] = f"✗{GLUE}{status.review}"
    styles = {"✓ [^ ]+": "green", "○ [^ ]+": "dim", "✗ [^ ]+": "bold red"}
    ui.say("  ".join(marks), indent=2, hang=2, stderr=False, styles=styles)
    if status.draft:
        ui.say(f"drafted by {status.drafted_by}: {DRAFTS[status.draft]}", indent=2, hang=2, stderr=False)
    if status.challenged:
        ui.say(f"challenged: {status.challenged.text}", indent=2, hang=2, stderr=False)
    for target in status.difficulty:
        several = f" (target {target.index})" if len(status.difficulty) > 1 else ""
        ui.say(f"models{several}: {target.text}", indent=2, hang=2, stderr=False)
    if status.note:
        ui.say(status.note, indent=2, hang=2, stderr=False)
    if status.review != WAITING:
        signed_off = ", ".join(status.signed_off_by)
        people = f"{status.people}: {signed_off}" if signed_off else status.people
        ui.say(people, indent=2, stderr=False)
    if status.next:
        ui.say(f"{status.next_label}: {status.next}", indent=2, stderr=False, whole=True)
