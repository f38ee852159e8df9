"""Answers of a review that is not finished: kept until it is, so that an interruption loses none.

They are the reviewer's own and nobody else is shown them; they count for nothing until the review is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.review import store

FORMAT = "lmr-review-draft/1"


def keep(folder: Path, reviewer: str, content_digest: str, answers: Mapping[str, Any]) -> None:
    """Store the answers so far.

    Args:
        folder: of the task's reviews.
        content_digest: of the task as it was when they were given.
        answers: ``{item id: {"answer": …, "comment": …}}``.
    """
    document = {"format": FORMAT, "content_digest": content_digest, "answers": dict(answers)}
    files.write_json(_path(folder, reviewer), document)


def kept(folder: Path, reviewer: str, content_digest: str) -> dict[str, dict[str, str]]:
    """The answers that an interrupted review has left; none when the task has changed since.

    Raises LmrError when the file is damaged: the next answer would be written over all of them.
    """
    about, answers = _read(_path(folder, reviewer))
    return answers if about == content_digest else {}


def set_aside(folder: Path, reviewer: str, content_digest: str) -> Path | None:
    """Move answers about an earlier state of the task to ``<reviewer>.draft.N``; None when there are none.

    Raises LmrError when the file is damaged.
    """
    path = _path(folder, reviewer)
    about, answers = _read(path)
    if not answers or about == content_digest:
        return None
    return path.rename(store.numbered(path))


def forget(folder: Path, reviewer: str) -> None:
    """The review is stored: nothing is left to go on with."""
    _path(folder, reviewer).unlink(missing_ok=True)


def _path(folder: Path, reviewer: str) -> Path:
    """No ``.json``: it is no review, and nothing that reads reviews takes it for one."""
    return store.path_for(folder, reviewer).with_suffix(".draft")


def _read(path: Path) -> tuple[str, dict[str, dict[str, str]]]:
    """The digest of the task that the answers are about, and the answers."""
    data = files.read_object_to_change(path)
    answers = data.get("answers", {})
    whole = isinstance(answers, dict) and all(isinstance(given, dict) for given in answers.values())
    if data and (data.get("format") != FORMAT or not whole):
        raise LmrError(
            f"{path}: not the answers of an interrupted review",
            "correct the file by hand, or move it away to be asked everything again",
        )
    return str(data.get("content_digest", "")), {
        item: {"answer": str(given.get("answer")), "comment": str(given.get("comment") or "")}
        for item, given in answers.items()
    }
