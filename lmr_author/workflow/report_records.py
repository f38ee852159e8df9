"""The records of a task as its report shows them: environment, vetting, reviews, history. Read leniently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmr_author import files, recorded
from lmr_author.errors import LmrError
from lmr_author.model import TaskInfo
from lmr_author.reporting.model import Event, ReviewView
from lmr_author.review import store
from lmr_author.review.agreement import Agreement
from lmr_author.taskdir import TaskDir
from lmr_author.workflow.evaluation_records import open_gates, others, place
from lmr_author.workflow.review import reviewed


def environment(task: TaskDir, evaluation: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Where the gates ran and what was found there, then what the Dockerfile starts from."""
    sandbox = evaluation.get("sandbox")
    facts = dict(sandbox) if isinstance(sandbox, dict) else {}
    shown = [(str(name), str(value)) for name, value in facts.items() if isinstance(value, (str, int, float))]
    for one in others(evaluation):
        outcome = "every gate held" if one.get("passed") is True else open_gates(one)
        shown.append((f"in {place(one)}", outcome))
    base = _inner(provenance(task), "environment", "base_image")
    if base.get("reference"):
        shown.append(("base image", f"{base['reference']} ({base.get('reason', '')})"))
    if evaluation.get("started"):
        shown.append(("evaluated", f"{evaluation['started']}, {evaluation.get('seconds', 0):.0f} s"))
    return tuple(shown)


def vetting(task: TaskDir) -> tuple[tuple[str, str, str], ...]:
    """(question, answer, justification or evidence) of ``authoring/vetting.json``."""
    questions = _inner(files.read_object_or_empty(task.vetting_path), "questions")
    found = []
    for entry in questions.values():
        if isinstance(entry, dict):
            evidence = entry.get("evidence")
            shown = "; ".join(str(item) for item in evidence) if isinstance(evidence, list) else ""
            why = str(entry.get("justification") or "") or (f"evidence: {shown}" if shown else "no evidence")
            found.append((str(entry.get("question", "")), str(entry.get("answer") or "open"), why))
    return tuple(found)


def reviews(task: TaskDir) -> dict[str, Any]:
    """The reviews, a note about them and their agreement: arguments of a ``TaskPage``. Blind until all are in."""
    digest = task.content_digest()
    try:
        found = reviewed(task)
    except LmrError as error:
        return {"reviews": (), "review_note": error.message, "agreement": ()}
    now = found.standing
    shown = []
    for path in sorted(task.reviews_folder.glob("*.json")) if task.reviews_folder.is_dir() else []:
        data = files.read_object_or_empty(path)
        if data.get("format") != store.FORMAT:
            continue
        items = [item for item in data.get("items", []) if isinstance(item, dict)] if now.open else []
        verdict = "signed off" if data.get("signed_off") is True else "did not sign off"
        shown.append(
            ReviewView(
                str(data.get("reviewer", path.stem)),
                str(data.get("created", "")),
                verdict if now.open else "",
                data.get("content_digest") == digest,
                tuple(
                    {key: str(item.get(key, "")) for key in ("question", "answer", "comment", "evidence")}
                    for item in items
                ),
            )
        )
    note = f"{now.state}: {now.missing} more reviews are needed" if now.missing else now.state
    disputes = [f"{item.item} is disputed" for item in now.disputes]
    decided = [f"{one.item}: {one.answer}, decided by {one.by}: {one.reason}" for one in now.decisions]
    return {
        "reviews": tuple(shown),
        "review_note": "; ".join([note, *disputes, *decided]),
        "agreement": _measures(found.agreement),
    }


def _measures(found: Agreement | None) -> tuple[tuple[str, str], ...]:
    """The measures of agreement that say something."""
    if found is None or found.percent is None:
        return ()
    named = (
        ("Cohen's kappa", found.cohen),
        ("Fleiss' kappa", found.fleiss),
        ("Krippendorff's alpha", found.krippendorff),
    )
    shown = [(name, f"{value:.2f}") for name, value in named if value is not None]
    return (("Pairs that agree", f"{found.percent:.0%}"), *shown)


def history(task: TaskDir, info: TaskInfo, evaluation: Mapping[str, Any]) -> tuple[Event, ...]:
    """What happened to the task, in order of time, as far as its records tell."""
    origin = provenance(task)
    repository = _inner(origin, "repository")
    found = [
        Event(
            str(repository.get("commit_date", "")), f"the repository's pinned commit {info.repo_commit[:12]}"
        ),
        Event(str(origin.get("created", "")), "the task was made"),
    ]
    for one in info.implementations:
        try:
            manifest = recorded.load(task.recording(info, one.index))
        except LmrError:
            continue
        if manifest is not None:
            found.append(Event(manifest.created, f"{one.target} was recorded: {len(manifest.cases)} cases"))
    for run in (evaluation, *others(evaluation)):
        outcome = "every gate held" if run.get("passed") else "not every gate held"
        found.append(
            Event(str(run.get("started", "")), f"evaluated, {place(run).removeprefix('the ')}: {outcome}")
        )
    for path in sorted(task.reviews_folder.glob("*.json*")) if task.reviews_folder.is_dir() else []:
        data = files.read_object_or_empty(path)
        if data.get("format") == store.FORMAT:
            found.append(
                Event(str(data.get("created", "")), f"reviewed by {data.get('reviewer', path.stem)}")
            )
    for path, what in ((task.accepted_path, "finding"), (task.equivalent_mutants_path, "mutant")):
        for entry in files.objects_in(files.read_object_or_empty(path).get("accepted")):
            name = entry.get("code") or entry.get("id")
            found.append(Event(str(entry.get("date", "")), f"{what} {name} accepted: {entry.get('reason')}"))
    return tuple(sorted((event for event in found if event.when), key=lambda event: event.when))


def provenance(task: TaskDir) -> dict[str, Any]:
    """``authoring/provenance.json``; empty when it is absent or damaged."""
    return files.read_object_or_empty(task.provenance_path)


def _inner(data: Any, *names: str) -> dict[str, Any]:
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}
