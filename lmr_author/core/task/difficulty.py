"""``authoring/difficulty.json``: what models' answers came to on a task, as ``judge --keep`` keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any, Literal

from lmr_author.core import files
from lmr_author.core.task.folder import Task
from lmr_author.core.task.record import Count, Digest, Index, Record, Text, Time
from lmr_author.core.texts import counted, printable

FEWEST_MODELS, FEWEST_ANSWERS = 2, 5
"""From one of these on it says something that all answers to a target pass, or none."""
MOST_NAME = 100
"""Length of a name of a model or a file: it comes from strangers."""


@dataclass(frozen=True)
class ModelAnswers(Record):
    """The answers of one model to one target.

    Attributes:
        model: its name.
        condition: how it was asked, and with what, as in a log; "" where that is not known.
        index: number of the target.
        source: name of the file or folder of answers.
        date: time of keeping (RFC 3339).
        content: SHA-256 of the task's content on which they were judged.
        solved: answers that pass.
        failed: answers that the test fails.
        timeout: those that exceed their time.
        crashed: those whose process ends.
        invalid: those that cannot replace the target.
        unjudged: answers without a verdict, as a provider, a client or a machine failed; not among those tried.
    """

    model: Text
    condition: str
    index: Index
    source: Text
    date: Time
    content: Digest
    solved: Count = 0
    failed: Count = 0
    timeout: Count = 0
    crashed: Count = 0
    invalid: Count = 0
    unjudged: Count = 0

    @property
    def tried(self) -> int:
        return self.solved + self.failed + self.timeout + self.crashed + self.invalid

    @property
    def failures(self) -> str:
        """Unsolved answers in words: ``3 failed, 1 crashed``; "" for none."""
        kinds = ("failed", "timeout", "crashed", "invalid")
        return ", ".join(f"{count} {kind}" for kind in kinds if (count := getattr(self, kind)))


@dataclass(frozen=True)
class Difficulty(Record):
    """The answers of models to a task's targets.

    Attributes:
        format: version of this document.
        answers: for each model, target and source.
    """

    format: Literal["lmr-difficulty/1"] = "lmr-difficulty/1"
    answers: tuple[ModelAnswers, ...] = ()


class Extreme(StrEnum):
    EVERY = "every model solves it"
    NONE = "no model solves it"


@dataclass(frozen=True)
class TargetDifficulty:
    index: int
    answers: tuple[ModelAnswers, ...]

    @property
    def models(self) -> int:
        return len({each.model for each in self.answers if each.tried})

    @property
    def solved(self) -> int:
        return sum(each.solved for each in self.answers)

    @property
    def tried(self) -> int:
        return sum(each.tried for each in self.answers)

    @property
    def unjudged(self) -> int:
        return sum(each.unjudged for each in self.answers)

    @property
    def is_measured(self) -> bool:
        return self.models >= FEWEST_MODELS or self.tried >= FEWEST_ANSWERS

    @property
    def extreme(self) -> Extreme | None:
        """EVERY if all answers pass, NONE if none does; None otherwise, or with too few answers."""
        if not self.is_measured:
            return None
        if self.solved == self.tried:
            return Extreme.EVERY
        return None if self.solved else Extreme.NONE

    @property
    def text(self) -> str:
        """The figures in words: ``5 of 8 answers of 3 models pass``."""
        unjudged = f", {self.unjudged} unjudged" if self.unjudged else ""
        answers = f"{self.solved} of {counted(self.tried, 'answer')}"
        return f"{answers} of {counted(self.models, 'model')} pass{unjudged}"

    def to_json(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "models": self.models,
            "solved": self.solved,
            "tried": self.tried,
            "unjudged": self.unjudged,
            "answers": [each.to_json() for each in self.answers],
        }


def short_name(name: str) -> str:
    """Return the name of a model or a file as it is kept: one line, and two long names stay two."""
    whole = printable(name, len(name) + 1)
    if len(whole) <= MOST_NAME:
        return whole or "unnamed"
    return f"{whole[: MOST_NAME - 10]}… {files.sha256_bytes(whole.encode())[:8]}"


def keep(task: Task, new: Sequence[ModelAnswers]) -> None:
    """Keep answers, in place of those of the same models and sources; the task is locked by the caller."""
    replaced = {(each.model, each.condition, each.source) for each in new}
    there = Difficulty.read(task.difficulty_path).answers if task.difficulty_path.is_file() else ()
    others = [each for each in there if (each.model, each.condition, each.source) not in replaced]
    Difficulty(answers=(*others, *new)).write(task.difficulty_path)


def current(task: Task, content: str = "") -> tuple[TargetDifficulty, ...]:
    """Return the results of models' answers on a task's targets as it is now; ``content``: its digest, if known."""
    kept = Difficulty.read_if_valid(task.difficulty_path)
    if kept is None:
        return ()
    content = content or task.content_digest()
    answers = [each for each in kept.answers if each.content == content]
    answers.sort(key=lambda each: (each.index, -each.solved, each.model))
    return tuple(
        TargetDifficulty(index, tuple(group))
        for index, group in groupby(answers, key=lambda each: each.index)
    )
