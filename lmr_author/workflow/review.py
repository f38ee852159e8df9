"""``review``: the checklist of one task by one reviewer, and its sign-off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.errors import UsageError
from lmr_author.review import checklist, store
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import select_checks, validate
from lmr_author.workflow.evaluate import load_evaluation

STALE_RECORDS = "LMR803"
"""Finds an evaluation or sign-off of an earlier state. Here and in ``status`` each is asked about by itself:
as a finding, one reviewer's old sign-off would keep every other reviewer from signing off."""


@dataclass(frozen=True)
class Review:
    """A finished review: its items, whether it signs off, and where it is stored."""

    items: tuple[checklist.Item, ...]
    signed_off: bool
    path: Path


def automatic(task: TaskDir) -> tuple[checklist.Item, checklist.Item]:
    """The automatic items of a task, as they are now."""
    findings = validate([task], select_checks(ignore=[STALE_RECORDS])).findings
    return checklist.automatic_items(findings, load_evaluation(task), task.content_digest())


def read_answers(path: Path) -> Mapping[str, Any]:
    """An answers file, JSON. Raises UsageError when it is no JSON object."""
    if not path.is_file():
        raise UsageError(
            f"--answers {path}: there is no such file", "write one with `lmr-author review --template`"
        )
    data = files.read_json(path)
    if not isinstance(data, dict):
        raise UsageError(f"--answers {path}: not a JSON object", 'as in {"instruction": "pass", …}')
    return data


def review(task: TaskDir, reviewer: str, answers: Mapping[str, Any]) -> Review:
    """Store a review. It signs off when every item passes, and holds until the task's content changes.

    Raises:
        UsageError: an answer is missing or none, or the name cannot be a file's.
        LmrError: not a task folder.
    """
    task.load()
    path = store.path_for(task.reviews_folder, reviewer)
    items = (*automatic(task), *checklist.human_items(answers))
    stored = store.save(task.reviews_folder, reviewer, items, task.content_digest())
    return Review(items, stored.signed_off, path)
