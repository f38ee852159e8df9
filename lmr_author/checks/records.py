"""LMR8xx: the records of how a task was made."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lmr_author.checks.base import NOTE, WARNING, Problem, check
from lmr_author.checks.listing import Entry
from lmr_author.checks.metadata import validator
from lmr_author.checks.view import TaskView
from lmr_author.errors import LmrError
from lmr_author.task import Evaluation, Finding
from lmr_author.task.accepted import Accepted
from lmr_author.task.state import State

WITH_SCHEMA = frozenset(
    """
    accepted adjudication also-masked equivalent-mutants evaluation leak-answers provenance vetting
    """.split()  # noqa: SIM905
)


@check(
    "LMR801",
    "the record of where the task is from is missing",
    rationale="Paper, repository, commit and what was changed: without them nobody can check a task or make it again.",
    severity=WARNING,
)
def provenance_present(task: TaskView) -> Iterator[Problem]:
    # A task made by hand keeps no records, except those that `validate` put there.
    ours = ("authoring/removed/", "authoring/accepted.json")
    records = [entry for entry in task.below("authoring") if entry.kind == "file"]
    kept = any(not entry.relative.startswith(ours) for entry in records)
    if kept and task.raw is not None and not task.has_provenance:
        message, hint = "no record of where the task is from", "`lmr-author new-task` writes one"
        yield Problem(message, hint, "authoring/provenance.json")


def _records(task: TaskView) -> Iterator[tuple[str, Entry]]:
    """Yield (name of the schema, file) of every record that has a schema."""
    for entry in task.below("authoring"):
        name = entry.name.removesuffix(".json")
        if entry.kind != "file" or entry.suffix != ".json":
            continue
        if entry.folder == "authoring" and name in WITH_SCHEMA:
            yield name, entry
        elif entry.folder == "authoring/reviews":
            yield "review", entry


@check(
    "LMR802",
    "an authoring record violates its schema",
    rationale="Other commands read these records: a sign-off or a result that cannot be read counts as none.",
)
def records_valid(task: TaskView) -> Iterator[Problem]:
    hint = "make it again with the command that writes it"
    for name, entry in _records(task):
        try:
            value = json.loads(task.read_bytes(task.path(entry)) or b"")
        except (ValueError, RecursionError):
            yield Problem("not valid JSON", hint, task.path(entry))
            continue
        errors = validator(name).iter_errors(value)
        error = min(errors, key=lambda item: len(item.absolute_path), default=None)
        if error is not None:
            pointer = "".join(f"/{part}" for part in error.absolute_path)
            yield Problem(
                f"violates its schema: {error.message[:160]}", hint, task.path(entry), pointer=pointer
            )


@check(
    "LMR803",
    "an evaluation or sign-off is out of date",
    rationale="A task that was changed after it was evaluated or signed off was evaluated and signed off by nobody. An"
    " evaluation is about what is run: it holds while only the instruction, the category or the paper's data"
    " change. A sign-off is about all of it.",
    severity=WARNING,
)
def records_current(task: TaskView) -> Iterator[Problem]:
    state: State | None = None
    for name, entry in _records(task):
        if name not in ("evaluation", "review"):
            continue
        try:
            value = json.loads(task.read_bytes(task.path(entry)) or b"")
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict):
            continue
        state = state or State.of(task.task)
        if name == "review":
            digest = value.get("content_digest")
            signed = value.get("signed_off") is True and isinstance(digest, str)
            current = not signed or digest == state.content
        else:
            current = _is_current(value, state)
        if not current:
            what, command = ("sign-off", "review") if name == "review" else ("evaluation", "evaluate")
            message = f"the {what} is of an earlier state of the task"
            yield Problem(message, f"run `lmr-author {command}` again", task.path(entry))


def _is_current(value: object, state: State) -> bool:
    try:
        return Evaluation.from_json(value).is_of(state)
    except LmrError:  # LMR802
        return True


@check(
    "LMR804",
    "an accepted finding no longer exists",
    rationale="An acceptance whose finding is gone would silence the next one at that place before anybody read it.",
    severity=NOTE,
)
def accepted_used(task: TaskView) -> Iterator[Problem]:
    """Yield nothing: whether acceptances are used is known only after all checks; see :func:`unused`."""
    return iter(())


def unused(task: str, entry: Accepted) -> Finding:
    """Return the finding for an acceptance that matches nothing."""
    place = f" in {entry.path}" if entry.path else ""
    at = f" at {entry.where}" if entry.where else ""
    message = f"{entry.code}{place}{at} was accepted, but is no longer found"
    path = "authoring/accepted.json"
    return Finding("LMR804", NOTE, task, message, "remove the entry", entry.implementation, path)
