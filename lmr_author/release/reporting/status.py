"""``status``: the state of each task, and its next command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from lmr_author.core.errors import LmrError
from lmr_author.core.task import (
    Evaluation,
    Finding,
    Implementation,
    Severity,
    Target,
    Task,
    TaskInfo,
    challenge,
    difficulty,
)
from lmr_author.core.task.challenge import AnswerKind
from lmr_author.core.task.difficulty import TargetDifficulty
from lmr_author.core.task.folder import TaskState
from lmr_author.core.task.provenance import drafted_by
from lmr_author.core.texts import counted
from lmr_author.release.review.review_status import (
    ACCEPTED,
    DISPUTED,
    REJECTED,
    WAITING,
    ReviewStatus,
    load_reviews,
    proof_of,
    review_status,
)

VALID = "valid"
STEPS = ("created", "masked", "recorded", VALID, "evaluated", ACCEPTED)
"""The steps of a task's life, in order."""
BROKEN = "broken"
STATES = (BROKEN, *STEPS[:-1], DISPUTED, REJECTED, ACCEPTED)
"""Every state of a task: its last step, or its reviewers' verdict."""


class NextStep(NamedTuple):
    """The next command ("" for none), why it is needed, and whether another person has to run it."""

    command: str
    note: str
    by_another: bool = False


@dataclass(frozen=True)
class ChallengeSummary:
    """Misreadings that fail and rewrites that pass, with their totals; ``status``: ``stale``, ``open`` or ``held``."""

    status: str
    fail: int
    misreadings: int
    passing: int
    rewrites: int
    text: str

    @classmethod
    def of(cls, task: Task) -> ChallengeSummary | None:
        info = task.load()
        status, record = challenge.status_of(task, info)
        if record is None:
            return None
        counts = (*record.count(AnswerKind.MISREADING), *record.count(AnswerKind.REWRITE))
        return cls(status.value, *counts, challenge.in_words(status, record))


@dataclass(frozen=True)
class Status:
    """The status of a task.

    Attributes:
        done: the steps that hold now.
        next: the next command, ready to paste; "" for none.
        by_another: another person has to run it: somebody has reviewed the task.
        note: why the first open step does not hold, and packages that differ from the lock.
        signed_off_by: reviewers who signed off; empty while ``waiting``, because reviews are blind until then.
    """

    task: str
    done: tuple[str, ...]
    next: str
    note: str
    review: str = WAITING
    reviewed_by: tuple[str, ...] = ()
    reviews_needed: int = 0
    signed_off_by: tuple[str, ...] = ()
    drafted_by: str = ""
    challenged: ChallengeSummary | None = None
    difficulty: tuple[TargetDifficulty, ...] = ()
    by_another: bool = False

    @property
    def state(self) -> str:
        if self.review in (DISPUTED, REJECTED):
            return self.review
        return self.done[-1] if self.done else BROKEN

    @property
    def draft(self) -> str:
        """The reviewers' verdict on a model's draft: ``drafted`` (none yet), ``confirmed`` or ``rejected``; else ""."""
        decided = {ACCEPTED: "confirmed", REJECTED: "rejected"}
        return decided.get(self.review, "drafted") if self.drafted_by else ""

    @property
    def people(self) -> str:
        """The reviews in numbers: "1 of 3 reviews done" while some are missing, then "2 of 3 sign-offs"."""
        if self.review == WAITING:
            done = f"{len(self.reviewed_by)} of {self.reviews_needed} reviews done"
            return done if self.reviewed_by else ""
        return f"{len(self.signed_off_by)} of {len(self.reviewed_by)} sign-offs"

    @property
    def next_label(self) -> str:
        """The label of ``next``: ``2 more reviewers`` where another person has to run it."""
        others = self.reviews_needed - len(self.reviewed_by)
        return counted(others, "more reviewer") if self.by_another else "next"

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "difficulty": [target.to_json() for target in self.difficulty],
            "state": self.state,
            "draft": self.draft,
        }


def with_challenge(task: Task, status: Status) -> Status:
    return replace(status, challenged=ChallengeSummary.of(task)) if "recorded" in status.done else status


def status_with(task: Task, findings: Sequence[Finding] | None) -> Status:
    """Return the status of a task by its records; without ``findings``, it leaves out the step "valid"."""
    try:
        info = task.load()
    except LmrError as error:
        return Status(task.name, (), _typed("validate", task.root), error.message)
    done = ["created"]
    if not info.implementations:
        note = "nothing masked yet (`lmr-author suggest` ranks the candidates)"
        return Status(task.name, tuple(done), _typed("mask", "--task", task.root), note)
    done.append("masked")
    untested = [each for each in info.implementations if not _has_test(task, info, each)]
    if untested:
        target = str(untested[0].target)
        command = _typed("record", target, "--task", task.root)
        return Status(task.name, tuple(done), command, f"{target} has no test yet")
    done.append("recorded")
    return _checked(task, done, findings)


def _checked(task: Task, done: list[str], findings: Sequence[Finding] | None) -> Status:
    """Continue with the steps that depend on content: valid, evaluated, accepted."""
    state = TaskState.of(task)
    reviews = review_status(task, None, state.reviewed)
    step = _next_proof(task, done, findings, state, reviews)
    if not step.command:
        done.append("evaluated")
        review = next_review(task, reviews)
        step = review._replace(note="; ".join(filter(None, (review.note, step.note))))
        if reviews.state == ACCEPTED:
            done.append(ACCEPTED)
    return Status(
        task.name,
        tuple(done),
        step.command,
        step.note,
        reviews.state,
        reviews.reviewers,
        len(reviews.reviewers) + reviews.missing,
        reviews.signed_off,
        drafted.model if (drafted := drafted_by(task)) else "",
        difficulty=difficulty.current(task, state.content),
        by_another=step.by_another,
    )


def _next_proof(
    task: Task, done: list[str], findings: Sequence[Finding] | None, state: TaskState, reviews: ReviewStatus
) -> NextStep:
    """Return the step before people review; its command is "" if there is none."""
    serious = [finding for finding in findings or () if finding.severity is not Severity.NOTE]
    if serious:
        errors = [finding for finding in serious if finding.severity is Severity.ERROR]
        worst = [*errors, *serious][0]
        count = f"{counted(len(serious), 'finding')}, first {worst.code}: {worst.message}"
        return NextStep(_typed("validate", task.root), count)
    if findings is not None:
        done.append(VALID)
    evaluation = proof_of(task, state.reviewed)
    if evaluation is None:
        return NextStep(_typed("evaluate", task.root), "never evaluated")
    command = _typed("evaluate", *evaluation.options, task.root)
    # An interpreter that this machine does not know has to be named again.
    other = evaluation.sandbox.other_python if "--python" not in evaluation.options else ""
    again = f" (add --python: the last run used {other})" if other else ""
    if not evaluation.is_of(state):
        return NextStep(command, f"changed since it was evaluated{again}")
    if evaluation.passed:
        return NextStep("", evaluation.doubts)
    note = f"evaluated: {evaluation.open_gates}"
    if evaluation.needs_approval:
        needed = len(reviews.reviewers) + reviews.missing
        review = next_review(task, reviews)
        note += f": more than a tenth is accepted, {needed} sign-offs are needed"
        return NextStep(review.command or _typed("review", task.root), note, review.by_another)
    if weak := weak_target(task, evaluation):  # the same gates would end the same way again
        return NextStep(_typed("record", weak, "--task", task.root), f"{note}: record other inputs")
    return NextStep(command, f"{note}{again}")


def weak_target(task: Task, evaluation: Evaluation) -> Target | None:
    """Return the first target whose test lets too many mutants survive, if no other gate failed."""
    index = evaluation.weak_test
    return next((each.target for each in task.load().implementations if each.index == index), None)


def next_review(task: Task, reviews: ReviewStatus) -> NextStep:
    if reviews.state == ACCEPTED:
        return NextStep("", "")
    if reviews.state == DISPUTED:
        items = [dispute.item for dispute in reviews.disputes]
        return NextStep(_typed("review", task.root, "--decide", items[0]), "disputed: " + ", ".join(items))
    if reviews.state == REJECTED:
        return NextStep(_typed("review", task.root, "--agreement"), "rejected: " + ", ".join(reviews.failed))
    done = len(reviews.reviewers)
    fell = any(review.signed_off for review in load_reviews(task))
    note = "the sign-off no longer holds: the task changed" if fell else "not reviewed"
    command = _typed("review", task.root)
    if done:
        note, command = f"{done} of {done + reviews.missing} reviews done", f"{command} --reviewer NAME"
    if reviews.damaged:
        note += f"; damaged reviews, not counted: {', '.join(reviews.damaged)}"
    return NextStep(command, note, by_another=done > 0)


def _typed(*words: object) -> str:
    return shlex.join(["lmr-author", *map(str, words)])


def _has_test(task: Task, info: TaskInfo, implementation: Implementation) -> bool:
    try:
        return task.unit_test(info, implementation).is_file()
    except LmrError:
        return False
