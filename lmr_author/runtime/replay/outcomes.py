"""The outcomes that a sandbox reports: read as data of hostile code, typed and bounded, never with an exception.

A message that is not as the replayer writes it makes its own case crash. No message speaks for a version or a case that
the run does not have, and only the first one about a case counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from lmr_author.core.texts import printable
from lmr_author.runtime.probe import checking
from lmr_author.runtime.probe.document import BadDocument, Document
from lmr_author.runtime.sandbox.base import ExecResult

Status = Literal["returned", "raised", "unstorable", "bad-inputs", "import-error", "timeout", "crashed"]
Key = tuple[str, str]
"""Id of a version, name of a case."""

_TEXT = 2000
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e7)]
_Block = Annotated[int, msgspec.Meta(gt=-(2**31), lt=2**31)]


@dataclass(frozen=True)
class Problem:
    """The exception of a call, or what ended it.

    Attributes:
        type: class of the exception; "" where there was none.
        raised_in_target: the ``raise`` itself lies in the target's lines.
        part: the part of the inputs that could not be rebuilt.
    """

    type: str = ""
    message: str = ""
    raised_in_target: bool = False
    part: str = ""

    def __post_init__(self) -> None:
        """Keep texts fit to print and to store: no control characters, no halves of surrogate pairs."""
        for name in ("type", "message", "part"):
            object.__setattr__(self, name, printable(getattr(self, name), _TEXT))

    @property
    def text(self) -> str:
        """``TypeError: message``, or ""."""
        return f"{self.type}: {self.message}".strip() if self.type else ""


@dataclass(frozen=True)
class ReplayOutcome:
    """The outcome of one version in one case, as the sandbox claims.

    Attributes:
        entered: a statement of the target was executed; proves nothing where the version is not ours, nor do ``hits``.
        file: file that the target's code says it is from.
        hits: the blocks of the target that it executed.
    """

    status: Status
    entered: bool = False
    file: str = ""
    error: Problem = Problem()
    document: Document | None = None
    seconds: float = 0.0
    hits: frozenset[int] = frozenset()


class _Report(msgspec.Struct, frozen=True):
    status: Status
    entered: bool = False
    file: str = ""
    error: Problem = Problem()
    seconds: _Seconds = 0.0
    hits: frozenset[_Block] = frozenset()


@dataclass(frozen=True)
class Replay:
    """All outcomes of one run, by (version, case), and facts about the sandbox."""

    outcomes: Mapping[Key, ReplayOutcome]
    facts: Mapping[str, Any]
    result: ExecResult

    def of(self, variant: str, case: str) -> ReplayOutcome:
        return self.outcomes.get(
            (variant, case), ReplayOutcome("timeout" if self.result.timed_out else "crashed")
        )


def read(result: ExecResult, wanted: Collection[Key]) -> Replay:
    """Return the outcomes in a run's output. ``wanted``: those that the run was to give."""
    outcomes: dict[Key, ReplayOutcome] = {}
    facts: dict[str, Any] = {}
    for header, payload in checking.read_frames(result.stdout):
        kind, variant, case = (header.get(name) for name in ("kind", "variant", "case"))
        if kind == "facts":
            facts = facts or header
        elif kind == "end":
            peak = header.get("peak_rss")
            facts["peak_rss"] = peak if isinstance(peak, int) and 0 <= peak < 2**62 else None
        elif kind == "case" and isinstance(variant, str) and isinstance(case, str):
            key = (variant, case)
            if key in wanted and key not in outcomes:
                outcomes[key] = _outcome(header, payload)
    return Replay(outcomes, facts, result)


def _outcome(header: Mapping[str, Any], payload: bytes) -> ReplayOutcome:
    try:
        report = msgspec.convert(header, _Report)
        document = checking.from_bytes(payload) if payload else None
    except (ValueError, BadDocument, RecursionError) as error:  # msgspec's errors are ValueErrors
        return ReplayOutcome("crashed", error=Problem("BadReport", str(error)))
    return ReplayOutcome(
        report.status, report.entered, printable(report.file, _TEXT), report.error, document,
        report.seconds, report.hits,
    )  # fmt: skip
