"""The records of a task as its report shows them: environment, vetting, reviews, history. Read leniently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lmr_author.errors import LmrError
from lmr_author.reporting.model import HistoryEvent, ReviewRow, ReviewView
from lmr_author.review.agreement import Agreement
from lmr_author.review.review import load_reviews, result_of
from lmr_author.task import Evaluation, Task, TaskInfo, accepted, provenance
from lmr_author.task import recording as recorded
from lmr_author.task.equivalents import EquivalentMutants
from lmr_author.task.reviews import Review
from lmr_author.task.vetting import VettingRecord
from lmr_author.texts import counted


def environment(task: Task, evaluation: Evaluation | None) -> tuple[tuple[str, str], ...]:
    """Return the facts of the evaluation's sandbox, then the Dockerfile's base image."""
    facts = evaluation.sandbox if evaluation else {}
    shown = [(name, str(value)) for name, value in facts.items() if isinstance(value, (str, int, float))]
    for one in evaluation.others if evaluation else ():
        shown.append((f"in {one.place}", "every gate passed" if one.passed else one.open_gates))
    base = provenance.load(task).environment.base_image
    if base.reference:
        shown.append(("base image", f"{base.reference} ({base.reason})"))
    if evaluation:
        shown.append(("evaluated", f"{evaluation.started}, {evaluation.seconds:.0f} s"))
    return tuple(shown)


def vetting(task: Task) -> tuple[tuple[str, str, str], ...]:
    """Return (question, answer, justification or evidence) of ``authoring/vetting.json``."""
    record = VettingRecord.read_if_valid(task.vetting_path)
    return tuple(
        (
            one.question,
            one.answer or "open",
            one.justification or (f"evidence: {'; '.join(one.evidence)}" if one.evidence else "no evidence"),
        )
        for one in (record.questions.values() if record else ())
    )


def reviews(task: Task) -> dict[str, Any]:
    """Return reviews, their standing and agreement as arguments of a ``TaskPage``; blind until all are done."""
    digest = task.content_digest()
    try:
        found = result_of(task)
    except LmrError as error:
        return {"reviews": (), "review_rows": (), "review_note": error.message, "agreement": ()}
    now, stored = found.standing, load_reviews(task)
    shown = [
        ReviewView(
            one.reviewer,
            one.created,
            ("signed off" if one.signed_off else "did not sign off") if now.open else "",
            one.content_digest == digest,
        )
        for one in stored
    ]
    note = f"{now.state}: {counted(now.missing, 'more review')} needed" if now.missing else now.state
    disputes = ["disputed: " + ", ".join(item.item for item in now.disputes)] if now.disputes else []
    decided = [f"{one.item}: {one.answer}, decided by {one.by}: {one.reason}" for one in now.decisions]
    current = [one for one in stored if one.content_digest == digest] if now.open else []
    return {
        "reviews": tuple(shown),
        "review_rows": _review_rows(current),
        "review_note": "; ".join([note, *disputes, *decided]),
        "agreement": _measures(found.agreement),
    }


def _review_rows(stored: Sequence[Review]) -> tuple[ReviewRow, ...]:
    """Return one row for each item of the checklist, disputed ones first."""
    answers = [
        {item.question: (item.answer, item.comment or item.evidence) for item in one.items} for one in stored
    ]
    questions = dict.fromkeys(question for given in answers for question in given)
    rows = (ReviewRow(name, tuple(given.get(name, ("–", "")) for given in answers)) for name in questions)
    return tuple(sorted(rows, key=lambda row: not row.disputed))


def _measures(found: Agreement | None) -> tuple[tuple[str, str], ...]:
    """Return the measures of agreement that are defined."""
    if found is None or found.percent is None:
        return ()
    named = (
        ("Cohen's kappa", found.cohen),
        ("Fleiss' kappa", found.fleiss),
        ("Krippendorff's alpha", found.krippendorff),
    )
    shown = [(name, f"{value:.2f}") for name, value in named if value is not None]
    return (("Pairs that agree", f"{found.percent:.0%}"), *shown)


def history(task: Task, info: TaskInfo, evaluation: Evaluation | None) -> tuple[HistoryEvent, ...]:
    """Return the task's history in order of time, as far as its records go."""
    origin = provenance.load(task)
    found = [
        HistoryEvent(origin.repository.commit_date, f"commit {info.repo_commit[:12]} of the repository"),
        HistoryEvent(origin.created, "task created"),
    ]
    for one in info.implementations:
        try:
            manifest = recorded.load(task.recording(info, one.index))
        except LmrError:
            continue
        if manifest is not None:
            found.append(
                HistoryEvent(
                    manifest.created, f"{one.target} recorded: {counted(len(manifest.cases), 'case')}"
                )
            )
    for run in (evaluation, *evaluation.others) if evaluation else ():
        outcome = "every gate passed" if run.passed else run.open_gates
        found.append(HistoryEvent(run.started, f"evaluated, {run.place.removeprefix('the ')}: {outcome}"))
    found += [HistoryEvent(one.created, f"reviewed by {one.reviewer}") for one in load_reviews(task)]
    found += [
        HistoryEvent(one.date, f"finding {one.code} accepted: {one.reason}") for one in accepted.load(task)
    ]
    equivalent = EquivalentMutants.read_if_valid(task.equivalent_mutants_path)
    for mutant in equivalent.accepted if equivalent else ():
        found.append(HistoryEvent(mutant.date, f"mutant {mutant.id} accepted: {mutant.reason}"))
    return tuple(sorted((event for event in found if event.when), key=lambda event: event.when))
