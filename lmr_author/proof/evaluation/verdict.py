"""The verdict of a judge about one version of a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lmr_author.core.errors import LmrError

BUSY = "evaluate again when the machine is less busy, or with a larger --seconds"
"""Hint if the golden fails beside the versions, but not alone."""


class UnprovenGate(LmrError):
    """A gate cannot be proven here and now; the task itself may be sound."""


class Outcome(StrEnum):
    """The outcome of a candidate.

    PASSED and FAILED: the test's verdict. TIMEOUT and CRASHED: it exceeded its time, or its process died. INVALID: it
    cannot be spliced in (not Python, no such function), or it could forge a test script's verdict. UNJUDGED: the
    provider, the client or the machine failed; not counted in any denominator.
    """

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    INVALID = "invalid"
    UNJUDGED = "unjudged"


@dataclass(frozen=True)
class CaseScore:
    case: str
    outcome: Outcome
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """The result of one version of the target.

    Attributes:
        reason: why it failed, in one line; "" if it passed.
        by_mask: every case failed because the masked body raised.
        entered: a statement of the target's body was executed; None if not traced.
        file: file that defines the executed target, relative to the tree; absolute if outside.
        facts: the sandbox's report about itself.
        identity: equal for two runs exactly if their outputs are bit-identical; "" if unknown.
        cut_short: the whole run was killed at its time limit.
        obstacle: why a test script cannot run here; "" if it can, or for another failure.
        by_exit_code, by_log: verdicts of a test script's exit code and of its log alone.
    """

    passed: bool
    reason: str = ""
    cases: tuple[CaseScore, ...] = ()
    by_mask: bool = False
    entered: bool | None = None
    file: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    identity: str = ""
    cut_short: bool = False
    log: str = ""
    obstacle: str = ""
    hint: str = ""
    by_exit_code: bool = False
    by_log: bool = False

    @property
    def outcome(self) -> Outcome:
        outcomes = {case.outcome for case in self.cases}
        order = (Outcome.CRASHED, Outcome.TIMEOUT, Outcome.FAILED, Outcome.PASSED)
        return next((outcome for outcome in order if outcome in outcomes), Outcome.FAILED)

    @property
    def late(self) -> bool:
        failed = [case.outcome for case in self.cases if case.outcome is not Outcome.PASSED]
        return bool(failed) and all(outcome is Outcome.TIMEOUT for outcome in failed)

    @property
    def seconds(self) -> float:
        return max((case.seconds for case in self.cases), default=0.0)
