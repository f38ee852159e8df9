"""Answers about leaks, kept as they are given, so that an interruption costs none of them.

Format: ``schemas/leak-answers.schema.json``. The file is there only until the answers are carried out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.model import Finding
from lmr_author.taskdir import TaskDir

MASK, ACCEPT, LEAVE = "mask", "accept", "leave"


@dataclass(frozen=True)
class Answer:
    """What shall be done about a leak: ``mask``, ``accept`` (with a reason) or ``leave``."""

    answer: str
    reason: str = ""


def load(task: TaskDir) -> dict[tuple[Any, ...], Answer]:
    """The answers of a run that did not come to its end, by :func:`key`.

    Raises LmrError when the file is damaged: the next answer would be written over all of them.
    """
    data = files.read_object_to_change(task.leak_answers_path)
    try:
        return {
            (item["code"], item["implementation"], item["path"], item["message"]): Answer(
                item["answer"], item["reason"]
            )
            for item in data.get("answers", ())
            if item["answer"] in (MASK, LEAVE) or (item["answer"] == ACCEPT and item["reason"])
        }
    except (TypeError, KeyError) as error:
        raise LmrError(
            f"{task.leak_answers_path}: not as its schema says ({error!r})",
            "correct the file by hand, or remove it to be asked everything again",
        ) from error


def key(finding: Finding) -> tuple[Any, ...]:
    """What an answer is about; when the finding says something else by now, it is asked about again."""
    return (finding.code, finding.implementation, finding.path, finding.message)


def store(task: TaskDir, answers: dict[tuple[Any, ...], Answer]) -> None:
    """Write all answers given so far."""
    names = ("code", "implementation", "path", "message")
    entries = [
        {**dict(zip(names, about, strict=True)), **asdict(answer)} for about, answer in answers.items()
    ]
    files.write_json(task.leak_answers_path, {"answers": entries})


def clear(task: TaskDir) -> None:
    """They are carried out."""
    task.leak_answers_path.unlink(missing_ok=True)
