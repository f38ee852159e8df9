"""The records of a task as its report shows them: environment, vetting, reviews, history. Read leniently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Evaluation, Task, TaskInfo, accepted, provenance
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.equivalents import EquivalentMutants
from lmr_author.core.task.reviews import Review
from lmr_author.core.texts import counted
from lmr_author.release.review.agreement import Agreement
from lmr_author.release.review.review import load_reviews, result_of

History = tuple[tuple[str, str], ...]
"""Time (RFC 3339) and event, in order of time."""


def environment(task: Task, evaluation: Evaluation | None) -> tuple[tuple[str, str], ...]:
    """Return the facts of the evaluation's sandbox, then the Dockerfile's base image."""
    facts = evaluation.sandbox.to_json() if evaluation else {}
    shown = [(name, value) for name, value in facts.items() if name != "packages"]
    for one in evaluation.others if evaluation else ():
        shown.append((f"in {one.place}", "every gate passed" if one.passed else one.open_gates))
    base = provenance.load(task).environment.base_image
    if base.reference:
        shown.append(("base image", f"{base.reference} ({base.reason})"))
    if evaluation:
        shown.append(("evaluated", f"{evaluation.started}, {evaluation.seconds:.0f} s"))
    return tuple(shown)


@dataclass(frozen=True)
class ReviewView:
    """Reviews as a report may show them.

    Attributes:
        note: their standing, or the reason why it cannot be told.
        stored: the last review of each person, with whether it is about the task as it is.
        open: answers may be shown, because all reviews are in.
        rows: question, and answer with comment by each reviewer of the task as it is; disputed ones first.
        agreement: measures that are defined, by name.
    """

    note: str
    stored: Sequence[tuple[Review, bool]] = ()
    open: bool = False
    rows: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    agreement: Sequence[tuple[str, str]] = ()


def reviews(task: Task) -> ReviewView:
    """Return reviews, their standing and agreement; blind until all are done."""
    digest = task.content_digest()
    try:
        found = result_of(task)
    except LmrError as error:
        return ReviewView(error.message)
    now, stored = found.standing, [(one, one.content_digest == digest) for one in load_reviews(task)]
    note = f"{now.state}: {counted(now.missing, 'more review')} needed" if now.missing else now.state
    disputes = ["disputed: " + ", ".join(item.item for item in now.disputes)] if now.disputes else []
    decided = [f"{one.item}: {one.answer}, decided by {one.by}: {one.reason}" for one in now.decisions]
    current = [one for one, holds in stored if holds and now.open]
    answers = [
        {item.question: (item.answer, item.comment or item.evidence) for item in one.items} for one in current
    ]
    questions = dict.fromkeys(question for given in answers for question in given)
    rows = [(name, [given.get(name, ("–", "")) for given in answers]) for name in questions]
    rows.sort(key=lambda row: len({answer for answer, _ in row[1]}) == 1)
    return ReviewView(
        "; ".join([note, *disputes, *decided]), stored, now.open, rows, _measures(found.agreement)
    )


def _measures(found: Agreement | None) -> list[tuple[str, str]]:
    """Return the measures of agreement that are defined."""
    if found is None or found.percent is None:
        return []
    return [("Pairs that agree", f"{found.percent:.0%}"), *found.coefficients]


def history(task: Task, info: TaskInfo, evaluation: Evaluation | None) -> History:
    """Return the task's history in order of time, as far as its records go."""
    origin = provenance.load(task)
    found = [
        (origin.repository.commit_date, f"commit {info.repo_commit[:12]} of the repository"),
        (origin.created, "task created"),
    ]
    for one in info.implementations:
        try:
            manifest = recorded.load(task.recording(info, one.index))
        except LmrError:
            continue
        if manifest is not None:
            found.append((manifest.created, f"{one.target} recorded: {counted(len(manifest.cases), 'case')}"))
    for run in (evaluation, *evaluation.others) if evaluation else ():
        outcome = "every gate passed" if run.passed else run.open_gates
        found.append((run.started, f"evaluated, {run.place.removeprefix('the ')}: {outcome}"))
    found += [(one.created, f"reviewed by {one.reviewer}") for one in load_reviews(task)]
    found += [(one.date, f"finding {one.code} accepted: {one.reason}") for one in accepted.load(task)]
    equivalent = EquivalentMutants.read_if_valid(task.equivalent_mutants_path)
    for mutant in equivalent.accepted if equivalent else ():
        found.append((mutant.date, f"mutant {mutant.id} accepted: {mutant.reason}"))
    return tuple(sorted((event for event in found if event[0]), key=lambda event: event[0]))
