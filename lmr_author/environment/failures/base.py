"""What an explainer is: a pattern in what was said, the cause that it tells, and the fix to try."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from lmr_author.environment.failures.changes import Change

Stage = Literal["build", "install", "import"]
"""``build``: an instruction of the Dockerfile; ``install``: uv, locally; ``import``: the smoke test."""


@dataclass(frozen=True)
class Failure:
    """Something that failed, and what it said.

    Attributes:
        stage: see :data:`Stage`.
        where: the instruction, or the file that was imported.
        text: its output, or the traceback.
        missing: all modules that the imported code needs and the environment lacks.
    """

    stage: Stage
    where: str
    text: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """A failure explained.

    Attributes:
        name: the explainer's.
        cause: one line, without a final full stop.
        advice: what to try, likewise.
        change: what ``--fix`` does about it; None when a person has to decide.
    """

    name: str
    cause: str
    advice: str
    change: Change | None = None


@dataclass(frozen=True)
class Example:
    """A real message, with words of the cause and of the change (or the advice) that it must give."""

    said: str
    cause: str
    remedy: str
    stage: Stage = "build"
    where: str = ""


class Explainer(ABC):
    """One kind of failure.

    Class attributes:
        name: short, for reports and tests.
        stages: where it can happen.
        pattern: found in what was said.
        examples: messages that it explains; they are its tests.
    """

    name: ClassVar[str]
    stages: ClassVar[tuple[Stage, ...]]
    pattern: ClassVar[re.Pattern[str]]
    examples: ClassVar[tuple[Example, ...]]

    def applies(self, failure: Failure) -> Explanation | None:
        """The explanation, if this is what happened."""
        match = self.pattern.search(failure.text) if failure.stage in self.stages else None
        return self.explain(match, failure) if match else None

    @abstractmethod
    def explain(self, match: re.Match[str], failure: Failure) -> Explanation | None:
        """The explanation of a failure in which the pattern was found; None when it is not this after all."""

    def told(self, cause: str, advice: str, change: Change | None = None) -> Explanation:
        """An explanation of this explainer."""
        return Explanation(self.name, cause, advice, change)

    def fixable(self, cause: str, change: Change) -> Explanation:
        """An explanation of what ``--fix`` puts right: to make the change is the advice."""
        return self.told(cause, str(change), change)


def compiled(*patterns: str) -> re.Pattern[str]:
    """Alternatives, without regard to case, ``^`` and ``$`` at each line."""
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)
