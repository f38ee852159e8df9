"""``next``: the command that ``status`` names, with its placeholders filled in by a person."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lmr_author.reporting.status import DRIVER, REASON, REVIEWER, TARGET, VERDICT, status
from lmr_author.task import Task

PLACES = ("--sandbox", "--base-image", "--python")
RUNS_CODE = ("record", "evaluate")
"""Verbs that take ``--sandbox`` and ``--python``."""


@dataclass(frozen=True)
class Missing:
    """A value that only a person knows: the question for it, and the option of ``next`` that passes it."""

    question: str
    option: str


MISSING = {
    TARGET: Missing("Which function is masked? (FILE::FUNCTION)", "--target FILE::FUNCTION"),
    DRIVER: Missing(
        "Which command of the repository calls the function?", "-- COMMAND, as in -- python driver.py"
    ),
    REVIEWER: Missing("Reviewer name:", "--reviewer NAME"),
    VERDICT: Missing("Decision about the disputed item (pass or fail):", "--verdict pass|fail"),
    REASON: Missing("Reason for the decision:", "--reason TEXT"),
}


@dataclass(frozen=True)
class Step:
    """The next step of a task.

    Attributes:
        task: its name.
        note: reason for this step.
        arguments: of ``lmr-author``, placeholders included.
        missing: the placeholders (keys of :data:`MISSING`) that are still in the arguments.
    """

    task: str
    note: str
    arguments: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def typed(self) -> str:
        """The command as typed into a shell."""
        return shlex.join(["lmr-author", *self.arguments])

    def filled(self, given: Mapping[str, str]) -> Step:
        """Return the step with some placeholders replaced. An empty text removes the placeholder.

        A command (for ``DRIVER``) is split as a shell does, and replaces ``python driver.py`` as a whole.
        """
        words: list[str] = []
        for word in self.arguments:
            item, _, placeholder = word.rpartition("=")
            value = given.get(placeholder or word) if (placeholder or word) in self.missing else word
            if value is None:
                words.append(word)
            elif item and placeholder in self.missing:
                words.append(f"{item}={value}")
            elif word == DRIVER and word in self.missing:
                words[words.index("--") + 1 :] = shlex.split(value)
            elif value:
                words.append(value)
        left = tuple(name for name in self.missing if name not in given)
        return Step(self.task, self.note, tuple(words), left)

    def running(self, options: Sequence[str]) -> Step:
        """Return the step with sandbox options, if it runs the repository's code."""
        verb, *rest = self.arguments
        if verb not in RUNS_CODE or not options:
            return self
        # What was asked for now counts in place of where it ran before.
        before = {n for n, word in enumerate(rest) if word in PLACES and verb == "evaluate"}
        kept = (word for n, word in enumerate(rest) if not {n, n - 1} & before)
        return replace(self, arguments=(verb, *options, *kept))


def next_step(tasks: Sequence[Task]) -> Step | None:
    """Return the next step of the first task that has one; None when all are accepted."""
    for task in tasks:
        found = status(task)
        if found.next:
            words = shlex.split(found.next)[1:]
            return Step(
                task.name,
                found.note,
                tuple(words),
                tuple(name for word in words if (name := word.rpartition("=")[2]) in MISSING),
            )
    return None
