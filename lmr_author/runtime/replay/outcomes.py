"""Read the outcomes that a sandbox reports as untrusted data: typed, bounded, and without exceptions.

A malformed message counts as a crash of its own case. Messages about versions or cases that are not in the run are
ignored, and only the first message about a case counts.
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
    """The exception of a call, or the reason why it ended.

    Attributes:
        type: class of the exception; "" for none.
        raised_in_target: the ``raise`` itself lies in the target's lines.
        part: the part of the inputs that failed to rebuild.
    """

    type: str = ""
    message: str = ""
    raised_in_target: bool = False
    part: str = ""

    def __post_init__(self) -> None:
        """Make texts printable and storable: no control characters, no lone surrogates."""
        for name in ("type", "message", "part"):
            object.__setattr__(self, name, printable(getattr(self, name), _TEXT))

    @property
    def text(self) -> str:
        """``TypeError: message``, or ""."""
        return f"{self.type}: {self.message}".strip() if self.type else ""


@dataclass(frozen=True)
class ReplayOutcome:
    """The outcome of one version in one case, as claimed by the sandbox.

    Attributes:
        entered: a statement of the target was executed; untrusted for candidates, as are ``hits``.
        file: file in the target's code object.
        hits: the executed blocks of the target.
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
    """Return the outcomes in a run's output. ``wanted``: the expected keys."""
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
