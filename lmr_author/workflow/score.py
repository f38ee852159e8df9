"""``score``: people grade candidate implementations; agreement over those that enough people graded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import files
from lmr_author.errors import LmrError, UsageError
from lmr_author.model import Implementation
from lmr_author.review import scores
from lmr_author.review.agreement import Agreement, agreement
from lmr_author.review.scores import Score
from lmr_author.taskdir import TaskDir, implementation_of

NEEDED = 2
"""How many people grade a candidate before anybody sees what the others said."""
MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Scored:
    """The grades of a task's candidates: agreement, how many are hidden still, and who differs on what."""

    agreement: Agreement
    hidden: int
    disputes: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


@dataclass(frozen=True)
class Candidate:
    """A candidate to grade: its file's name, its text, and the golden to compare it with."""

    name: str
    sha256: str
    text: str
    implementation: Implementation
    golden: str
    golden_sha256: str


def candidate(task: TaskDir, path: Path, index: int | None) -> Candidate:
    """Read a candidate. Raises UsageError: no such file or implementation; LmrError: no golden."""
    info = task.load()
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise UsageError(
            f"{path}: there is no such file, or it is too large", "name a candidate's Python file"
        )
    one = implementation_of(info, index)
    golden = task.golden(one)
    if not golden.is_file():
        raise LmrError(f"{one.golden_file} is missing", "run `lmr-author validate`")
    data, reference = path.read_bytes(), golden.read_bytes()
    return Candidate(
        path.name,
        files.sha256_bytes(data),
        data.decode("utf-8", "replace"),
        one,
        reference.decode("utf-8", "replace"),
        files.sha256_bytes(reference),
    )


def score(task: TaskDir, given: Candidate, reviewer: str, grade: str, why: str) -> Path:
    """Store a grade. Raises UsageError for what is no grade, and without a justification."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    entry = Score(
        given.name, given.sha256, given.implementation.index, grade, why.strip(), now, given.golden_sha256
    )
    return scores.save(task.scores_folder, reviewer, entry)


def scored(tasks: Sequence[TaskDir]) -> Scored:
    """The grades of several tasks together; those of another golden, or not yet by enough people, are left out."""
    merged: dict[str, dict[str, str]] = {}
    hidden = 0
    for task in tasks:
        golden = _goldens(task)
        found, more = scores.judgements(scores.load(task.scores_folder), golden, NEEDED)
        hidden += more
        for person, said in found.items():
            merged.setdefault(person, {}).update(
                {f"{task.name}/{name}": grade for name, grade in said.items()}
            )
    things = sorted({thing for said in merged.values() for thing in said})
    disputes = []
    for thing in things:
        given = tuple((person, merged[person][thing]) for person in sorted(merged) if thing in merged[person])
        if len({grade for _, grade in given}) > 1:
            disputes.append((thing, given))
    return Scored(agreement(merged), hidden, tuple(disputes))


def _goldens(task: TaskDir) -> dict[int, str]:
    found = {}
    for one in task.load().implementations:
        try:
            found[one.index] = files.sha256_file(task.golden(one))
        except (LmrError, OSError):
            continue
    return found
