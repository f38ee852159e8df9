"""``review``: the checklist of a task by one reviewer; agreement of several; decisions; the queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author.errors import LmrError, UsageError
from lmr_author.evaluated import State
from lmr_author.review import checklist, drafts, standing, store
from lmr_author.review.agreement import Agreement, agreement
from lmr_author.review.checklist import Checklist
from lmr_author.review.standing import Decision, Standing
from lmr_author.taskdir import TaskDir
from lmr_author.workflow.answer_files import read_object
from lmr_author.workflow.checking import checked
from lmr_author.workflow.evaluation_records import doubts, load_evaluation

BESIDE_THE_TASKS = ("checklist.yaml", "checklist.yml", "checklist.json")
"""A lab's own list, found in the folder that holds the tasks."""


@dataclass(frozen=True)
class Review:
    """A finished review: its items, whether it signs off, and where it is stored."""

    items: tuple[checklist.Item, ...]
    signed_off: bool
    path: Path


@dataclass(frozen=True)
class Reviewed:
    """A task's review as far as it is: agreement only over answers that were given blind."""

    task: str
    standing: Standing
    agreement: Agreement | None


def checklist_for(task: TaskDir, given: Path | None = None) -> Checklist:
    """The list that a task is reviewed by: the one given, else the lab's beside the tasks, else our own.

    Raises UsageError when it is not as its schema says.
    """
    beside = [task.root.parent / name for name in BESIDE_THE_TASKS]
    place = given or next((path for path in beside if path.is_file()), None)
    return read_checklist(place) if place else Checklist()


def read_checklist(path: Path) -> Checklist:
    """A lab's list, YAML or JSON. Raises UsageError when it is none."""
    data = read_object(path, "--checklist", "see schemas/checklist.schema.json")
    return Checklist.from_document(data, str(path))


def automatic(task: TaskDir) -> tuple[checklist.Item, checklist.Item]:
    """The automatic items of a task, as they are now."""
    findings = checked([task]).findings
    evaluation = load_evaluation(task)
    static, gates = checklist.automatic_items(findings, evaluation, State.of(task))
    doubt = doubts(evaluation or {})
    return static, replace(gates, evidence=f"{gates.evidence}; {doubt}") if doubt else gates


def read_answers(path: Path) -> Mapping[str, Any]:
    """An answers file, YAML or JSON. Raises UsageError when it is none."""
    return read_object(path, "--answers", "write one with `lmr-author review --template`")


def review(
    task: TaskDir, reviewer: str, answers: Mapping[str, Any], asked: Checklist | None = None
) -> Review:
    """Store a review. It signs off when every item passes, and holds until the task's content changes.

    A review that is made when all others are in, and so could be seen, is stored as no longer blind.

    Raises:
        UsageError: an answer is missing or none, or the name cannot be a file's.
        LmrError: not a task folder.
    """
    task.load()
    asked = asked or checklist_for(task)
    path = store.path_for(task.reviews_folder, reviewer)
    human = checklist.human_items(answers, asked.questions)
    items = (*automatic(task), *human)
    digest = task.content_digest()
    blind = not where(task, asked, digest).open
    stored = store.save(task.reviews_folder, reviewer, items, digest, checklist=asked.name, blind=blind)
    drafts.forget(task.reviews_folder, reviewer)
    return Review(items, stored.signed_off, path)


@dataclass(frozen=True)
class ReviewDraft:
    """Answers of a reviewer that are kept until the review of this very state of the task is finished.

    Attributes:
        outdated: where answers about an earlier state were put aside, None when there were none.
    """

    folder: Path
    reviewer: str
    content_digest: str
    outdated: Path | None = None

    def kept(self) -> dict[str, dict[str, str]]:
        """What an interrupted review has left, by item. Raises LmrError when its file is damaged."""
        return drafts.kept(self.folder, self.reviewer, self.content_digest)

    def keep(self, answers: Mapping[str, Any]) -> None:
        """Store the answers so far."""
        drafts.keep(self.folder, self.reviewer, self.content_digest, answers)


def draft(task: TaskDir, reviewer: str) -> ReviewDraft:
    """The reviewer's answers so far; those about an earlier state of the task are put aside.

    Raises UsageError for a name that is no file name, LmrError when the answers' file is damaged.
    """
    folder, digest = task.reviews_folder, task.content_digest()
    return ReviewDraft(folder, reviewer, digest, drafts.set_aside(folder, reviewer, digest))


def where(task: TaskDir, asked: Checklist | None = None, digest: str | None = None) -> Standing:
    """Where a task's review stands now."""
    digest = digest or task.content_digest()
    found = standing.standing(
        store.load_all(task.reviews_folder),
        standing.load_decisions(task.adjudication_path, digest),
        asked or checklist_for(task),
        digest,
    )
    return replace(found, damaged=store.damaged(task.reviews_folder))


def reviewed(task: TaskDir, given: Path | None = None) -> Reviewed:
    """The standing of a task's review, and the agreement when all are in."""
    asked, digest = checklist_for(task, given), task.content_digest()
    found = where(task, asked, digest)
    if not found.open:
        return Reviewed(task.name, found, None)
    return Reviewed(task.name, found, agreement(_judgements(task, asked, digest)))


def overall(tasks: Sequence[TaskDir], given: Path | None = None) -> Agreement:
    """The agreement over all tasks whose reviews are in."""
    merged: dict[str, dict[str, str]] = {}
    for task in tasks:
        asked, digest = checklist_for(task, given), task.content_digest()
        if where(task, asked, digest).open:
            for person, said in _judgements(task, asked, digest).items():
                merged.setdefault(person, {}).update(said)
    return agreement(merged)


def _judgements(task: TaskDir, asked: Checklist, digest: str) -> dict[str, dict[str, str]]:
    """Person → task and item → answer, of blind reviews of the task as it is."""
    names = {question.id for question in asked.questions}
    return {
        one.reviewer: {f"{task.name}:{item}": answer for item, answer in one.answers.items() if item in names}
        for one in store.load_blind(task.reviews_folder, digest)
    }


def adjudicate(
    task: TaskDir, item: str, answer: str, reason: str, by: str, given: Path | None = None
) -> Standing:
    """Decide an item on which the reviewers differ; returns where the review stands then.

    Raises UsageError: not all reviews are in, no such item, no reason.
    """
    asked, digest = checklist_for(task, given), task.content_digest()
    names = [question.id for question in asked.questions]
    if item not in names:
        raise UsageError(f"unknown checklist item {item!r}", "items: " + ", ".join(names))
    found = where(task, asked, digest)
    if not found.open:
        raise UsageError(
            f"{task.name}: {found.missing} review(s) are missing, so nothing can be decided yet",
            "reviews stay blind until all are in",
        )
    store.path_for(task.reviews_folder, by)  # the name is checked as a reviewer's is
    standing.decide(task.adjudication_path, Decision(item, answer, reason, by), digest)
    return where(task, asked, digest)


def queue(tasks: Sequence[TaskDir], reviewer: str, given: Path | None = None) -> list[TaskDir]:
    """The tasks that this person should review next: evaluated, still waiting, and not reviewed by them."""
    found = []
    for task in tasks:
        try:
            task.load()
            state = State.of(task)
            now = where(task, checklist_for(task, given), state.content)
        except LmrError:
            continue
        evaluation = load_evaluation(task) or {}
        ready = evaluation.get("passed") is True and state.evaluated(evaluation)
        if ready and not now.open and reviewer not in now.reviewers:
            found.append(task)
    return found
