"""``status``: the state of each task, and its next command."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from lmr_author.errors import LmrError
from lmr_author.recording.run import words_of
from lmr_author.review.review import load_reviews, standing_of
from lmr_author.review.standing import ACCEPTED, DISPUTED, WAITING
from lmr_author.task import Finding, Implementation, Severity, Task, TaskInfo
from lmr_author.task import evaluation as evaluations
from lmr_author.task.state import State
from lmr_author.texts import counted
from lmr_author.validation.run import checked

STEPS = ("created", "masked", "recorded", "valid", "evaluated", "signed off", "accepted")
"""The steps of a task's life, in order."""


@dataclass(frozen=True)
class Status:
    """The status of a task.

    Attributes:
        task: folder name.
        done: the steps that hold now.
        next: the next command, which can be pasted and asks for what only a person knows; "" for none.
        note: why the first open step does not hold, and failures in other sandboxes.
        signed_off_by: reviewers whose sign-off holds for the task as it is.
    """

    task: str
    done: tuple[str, ...]
    next: str
    note: str
    signed_off_by: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The status as a JSON object."""
        return asdict(self)


def status(task: Task) -> Status:
    """Return the status of one task, also of a broken one."""
    return status_with(task, None)


def statuses(tasks: Sequence[Task], on_task: Callable[[str], None] | None = None) -> list[Status]:
    """Return the status of several tasks, checked in parallel."""
    found = checked(tasks, on_task).tasks
    return [status_with(task, one.findings) for task, one in zip(tasks, found, strict=True)]


def status_with(task: Task, findings: Sequence[Finding] | None) -> Status:
    """Return the status of a task whose findings are known already."""
    try:
        info = task.load()
    except LmrError as error:
        return Status(task.name, (), _typed("validate", task.root), error.message, ())
    done = ["created"]
    if not info.implementations:
        note = "nothing masked yet (`lmr-author suggest` ranks the candidates)"
        return Status(task.name, tuple(done), _typed("mask", "--task", task.root), note, ())
    done.append("masked")
    missing = [item for item in info.implementations if not _has_test(task, info, item)]
    if missing:
        target = str(missing[0].target)
        if words := words_of(task.run_folder(missing[0].index)):
            note = f"the recording of {target} was interrupted; its calls are kept"
            return Status(task.name, tuple(done), _typed("record", *words), note, ())
        command = _typed("record", target, "--task", task.root)
        return Status(task.name, tuple(done), command, f"{target} has no test yet", ())
    done.append("recorded")
    return _checked(task, done, findings)


def _checked(task: Task, done: list[str], known: Sequence[Finding] | None) -> Status:
    """Continue with the steps that depend on content: valid, evaluated, signed off."""
    state = State.of(task)
    if known is None:
        known = checked([task]).findings
    findings = [item for item in known if item.severity is not Severity.NOTE]
    if findings:
        worst = next((item for item in findings if item.severity is Severity.ERROR), findings[0])
        count = f"{counted(len(findings), 'finding')}, first {worst.code}: {worst.message}"
        return Status(task.name, tuple(done), _typed("validate", task.root), count, ())
    done.append("valid")
    evaluation = evaluations.load(task)
    if evaluation is None:
        return Status(task.name, tuple(done), _typed("evaluate", task.root), "never evaluated", ())
    command = _typed("evaluate", *evaluation.options, task.root)
    # An interpreter that this machine does not know has to be named again.
    other = evaluation.other_python if "--python" not in evaluation.options else ""
    again = f" (add --python: the last one was {other})" if other else ""
    if not evaluation.is_of(state):
        return Status(task.name, tuple(done), command, f"changed since it was evaluated{again}", ())
    if not evaluation.passed:
        return Status(task.name, tuple(done), command, f"evaluated: {evaluation.open_gates}{again}", ())
    done.append("evaluated")
    found = _reviewed(task, done, state.content)
    note = "; ".join(filter(None, (found.note, evaluation.doubts)))
    return replace(found, note=note)


def _reviewed(task: Task, done: list[str], digest: str) -> Status:
    """Continue with the steps of people: signed off by one, accepted by all."""
    reviews = load_reviews(task)
    signed = tuple(one.reviewer for one in reviews if one.signed_off and one.content_digest == digest)
    if signed:
        done.append("signed off")
    found = standing_of(task, None, digest)
    command = _typed("review", task.root)
    if found.state == ACCEPTED:
        return Status(task.name, (*done, "accepted"), "", "", signed)
    if found.state == WAITING:
        fell = not signed and any(item.signed_off for item in reviews)
        note = "the sign-off is void: the task changed" if fell else "not reviewed"
        if found.reviewers:
            note = f"{len(found.reviewers)} of {len(found.reviewers) + found.missing} reviews done"
        if found.damaged:
            note += f"; damaged reviews, not counted: {', '.join(found.damaged)}"
        return Status(task.name, tuple(done), command, note, signed)
    if found.state == DISPUTED:
        note = "disputed: " + ", ".join(item.item for item in found.disputes)
        command = _typed("review", task.root, "--adjudicate", found.disputes[0].item)
        return Status(task.name, tuple(done), command, note, signed)
    note = "rejected: " + ", ".join(found.failed)
    return Status(task.name, tuple(done), _typed("review", task.root, "--results"), note, signed)


def _typed(*words: object) -> str:
    """Return a command as it is typed into a shell."""
    return shlex.join(["lmr-author", *map(str, words)])


def _has_test(task: Task, info: TaskInfo, item: Implementation) -> bool:
    try:
        return task.unit_test(info, item).is_file()
    except LmrError:
        return False
