"""Base class of the criteria, with their input and their judgement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lmr_author.indexing import Entry, Index
from lmr_author.suggesting.copies import NearCopy
from lmr_author.suggesting.described import Description
from lmr_author.suggesting.origin import Origin


@dataclass(frozen=True)
class Judgement:
    """The judgement of one criterion about a function.

    Attributes:
        value: 0 (no task) to 1.
        sentence: why, for the annotator.
        warning: the same in two or three words when it speaks against the function, else "".
    """

    criterion: str
    value: float
    sentence: str
    warning: str = ""


@dataclass(frozen=True)
class Case:
    """A function, and what is known about it.

    Attributes:
        copies: near copies; empty as long as they have not been looked for.
        origin: the project that it seems to be taken over from; None where it is the repository's own.
        obstacle: why it cannot run in a test, as a sentence; "" where nothing is known, or was looked at.
    """

    entry: Entry
    index: Index
    description: Description
    copies: Sequence[NearCopy] = ()
    origin: Origin | None = None
    obstacle: str = ""


class Criterion(ABC):
    """One reason for or against a function."""

    name: ClassVar[str]

    @abstractmethod
    def judge(self, case: Case) -> Judgement:
        """The value and the reason for a function."""

    def says(self, value: float, sentence: str, warning: str = "") -> Judgement:
        """A judgement of this criterion."""
        return Judgement(self.name, value, sentence, warning)


def pages(numbers: Sequence[int]) -> str:
    """``p. 4`` or ``p. 4, 5, 7 …``."""
    listed = ", ".join(map(str, sorted(numbers[:3])))
    return f"p. {listed}{' …' if len(numbers) > 3 else ''}"
