"""What evidence is made of: pieces that a screen or a page shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

LineMark = Literal["", "not reached", "always true"]


@dataclass(frozen=True)
class CodeLine:
    """A line of a file.

    Attributes:
        mark: what the cases leave open about it; "" for nothing.
        returns: a statement on it returns or yields.
    """

    number: int
    text: str
    mark: LineMark = ""
    returns: bool = False


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence.

    Attributes:
        lines: facts, one a line.
        prose: running text of the paper.
        code: lines of a file.
        table: rows; the first one and the first column are heads.
        diff: a change, as lines with - and +.
        anchor: id of its place on the task's page; "" for none of its own.
    """

    title: str
    lines: tuple[str, ...] = ()
    prose: str = ""
    code: tuple[CodeLine, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    diff: str = ""
    anchor: str = ""

    @classmethod
    def of(cls, title: str, lines: Iterable[str], nothing: str = "none") -> Evidence:
        """Return facts under a title; ``nothing`` where there are none."""
        return cls(title, tuple(lines) or (nothing,))


@dataclass(frozen=True)
class QuestionEvidence:
    """The evidence for one question.

    Attributes:
        pieces: what to look at.
        doubts: why the evidence is weak, one reason each; a "pass" then needs a sentence of its own.
    """

    pieces: tuple[Evidence, ...]
    doubts: tuple[str, ...] = ()

    @property
    def weak(self) -> bool:
        return bool(self.doubts)
