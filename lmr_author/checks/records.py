"""LMR801–804: the records of how a task was made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lmr_author import accepted, resources
from lmr_author.checks.base import Check, Example
from lmr_author.checks.conforms import conforms
from lmr_author.checks.view import TaskView
from lmr_author.errors import LmrError
from lmr_author.evaluated import CONTENT, RUNNING, State
from lmr_author.model import Finding, Severity

REVIEW = {
    "format": "lmr-review/1",
    "reviewer": "ada",
    "created": "2025-01-01T00:00:00Z",
    "content_digest": "0" * 64,
    "items": [],
    "signed_off": True,
}


EVALUATION = {
    "format": "lmr-evaluation/1",
    "tool": "0.1.0",
    "sandbox": {"kind": "local"},
    "started": "2025-01-01T00:00:00Z",
    "seconds": 1,
    "content_digest": "0" * 64,
    "running_digest": "0" * 64,
    "gates": [],
    "passed": True,
}


ACCEPTED = {
    "format": "lmr-accepted/1",
    "accepted": [
        {
            "code": "LMR703",
            "implementation": None,
            "path": "margin-ranking/run.log",
            "where": "",
            "sha256": "0" * 64,
            "reason": "the paper's own log, which a table is made from",
            "by": "ada",
            "date": "2025-01-01T00:00:00Z",
        }
    ],
}


def _text(data: Any) -> str:
    return json.dumps(data, indent=2) + "\n"


class ProvenanceThere(Check):
    code = "LMR801"
    title = "authoring/provenance.json says where the task is from"
    rationale = (
        "Paper, repository, commit and what was changed: without them nobody can check a task or make it"
        " again."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "only other records", files={"authoring/provenance.json": None, "authoring/notes.md": "text\n"}
        ),
    )
    passing = (
        Example("it is there"),
        Example("a task made by hand, without authoring/", files={"authoring/provenance.json": None}),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """At most one finding; none for a task that keeps no records, but perhaps what `validate` put there."""
        if view.raw is None or view.has_provenance:
            return
        records = [entry.relative for entry in view.below("authoring") if entry.kind == "file"]
        ours = ("authoring/removed/", "authoring/accepted.json")
        if any(not record.startswith(ours) for record in records):
            yield self.finding(
                view,
                "no record of where the task is from",
                "`lmr-author new-task` writes one",
                path="authoring/provenance.json",
            )


class RecordsValid(Check):
    code = "LMR802"
    title = "authoring records are as their schemas say"
    rationale = (
        "Other commands read these records: a sign-off or a result that cannot be read counts as none."
    )
    failing = (
        Example("an evaluation that is no JSON", files={"authoring/evaluation.json": "passed\n"}),
        Example(
            "a review without a reviewer",
            files={
                "authoring/reviews/ada.json": _text(
                    {key: value for key, value in REVIEW.items() if key != "reviewer"}
                )
            },
            also=("LMR803",),
        ),
    )
    passing = (Example("no evaluation yet"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file, naming the first violation."""
        for entry in view.below("authoring"):
            name = _schema_name(entry.relative)
            if entry.kind != "file" or name is None:
                continue
            data = view.read_bytes(view.path(entry))
            problem = _violation(name, data)
            if problem:
                yield self.finding(
                    view,
                    problem[0],
                    "make it again with the command that writes it",
                    path=view.path(entry),
                    pointer=problem[1],
                )


WITH_SCHEMA = (
    "accepted",
    "adjudication",
    "also-masked",
    "equivalent-mutants",
    "evaluation",
    "leak-answers",
    "provenance",
    "vetting",
)


def _schema_name(relative: str) -> str | None:
    name = relative.removeprefix("authoring/").removesuffix(".json")
    if name in WITH_SCHEMA and relative == f"authoring/{name}.json":
        return name
    in_reviews = (
        relative.startswith("authoring/reviews/") and relative.endswith(".json") and relative.count("/") == 2
    )
    return "review" if in_reviews else None


def _violation(name: str, data: bytes | None) -> tuple[str, str] | None:
    try:
        schema = resources.schema(name)
    except (LmrError, OSError, ValueError):
        return None
    try:
        value = json.loads(data or b"")
    except (ValueError, RecursionError):
        return "not valid JSON", ""
    if conforms(value, schema):
        return None
    from jsonschema import Draft202012Validator

    errors = Draft202012Validator(schema).iter_errors(value)
    error = min(errors, key=lambda item: len(item.absolute_path), default=None)
    if error is None:
        return None
    return f"not as its schema says: {error.message[:160]}", "".join(
        f"/{part}" for part in error.absolute_path
    )


class RecordsCurrent(Check):
    code = "LMR803"
    title = "evaluation and sign-offs are of the task as it is now"
    rationale = (
        "A task that was changed after it was evaluated or signed off was evaluated and signed off by nobody."
        " An evaluation is about what is run: it holds while only the instruction, the category or what is said"
        " of the paper changes. A sign-off is about all of it."
    )
    severity = Severity.WARNING
    failing = (
        Example("changed after the sign-off", files={"authoring/reviews/ada.json": _text(REVIEW)}),
        Example("changed after the evaluation", files={"authoring/evaluation.json": _text(EVALUATION)}),
    )
    passing = (Example("no sign-off yet"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each record that is out of date."""
        state: State | None = None
        for entry in view.below("authoring"):
            name = _schema_name(entry.relative)
            if entry.kind != "file" or name not in ("evaluation", "review"):
                continue
            try:
                value = json.loads(view.read_bytes(view.path(entry)) or b"")
            except (ValueError, RecursionError):
                continue
            if not _about_a_state(name, value):
                continue
            state = state or State.of(view.task)
            of_review = name == "review"
            current = value.get(CONTENT) == state.content if of_review else state.evaluated(value)
            if not current:
                what, command = ("the sign-off", "review") if of_review else ("the evaluation", "evaluate")
                yield self.finding(
                    view,
                    f"{what} is of an earlier state of the task",
                    f"run `lmr-author {command}` again",
                    path=view.path(entry),
                )


def _about_a_state(name: str, value: Any) -> bool:
    """Whether a record says of which state of the task it is, and is no review without a sign-off."""
    if not isinstance(value, dict) or not any(isinstance(value.get(key), str) for key in (CONTENT, RUNNING)):
        return False
    return name != "review" or value.get("signed_off") is True


class AcceptedUsed(Check):
    code = "LMR804"
    title = "accepted findings are still there"
    rationale = (
        "An acceptance whose finding is gone would silence the next one at that place before anybody has read"
        " it."
    )
    severity = Severity.NOTE
    failing = (
        Example("nothing is found there any more", files={"authoring/accepted.json": _text(ACCEPTED)}),
    )
    passing = (Example("nothing accepted"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """Nothing: which acceptances are used is known when all checks have run; see :meth:`about`."""
        return iter(())

    def about(self, task: str, entry: accepted.Accepted) -> Finding:
        """The finding for an acceptance that nothing matches.

        Args:
            task: the task's name.
            entry: the acceptance.
        """
        place = f" in {entry.path}" if entry.path else ""
        at = f" at {entry.where}" if entry.where else ""
        return Finding(
            self.code,
            self.severity,
            task,
            f"{entry.code}{place}{at} was accepted, but is not found any more",
            "remove the entry",
            entry.implementation,
            "authoring/accepted.json",
        )
