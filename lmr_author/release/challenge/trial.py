"""Answers run on recorded calls, as hostile code: on the cases of a task, or on any other calls of its golden."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lmr_author.core.task.challenge import CallDifference
from lmr_author.core.task.recording import Case
from lmr_author.proof.evaluation.candidates.fitting import Fitted
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions
from lmr_author.proof.evaluation.judges import RecordingJudge, Stop
from lmr_author.runtime.probe import compare
from lmr_author.runtime.probe.arrays import Spread
from lmr_author.runtime.probe.compare import DEFAULT
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.replaying import Replay, ReplayOutcome

Checkers = Mapping[str, Mapping[str, Any]]
_ID = "candidate"


@dataclass(frozen=True)
class Trial:
    """What an answer did on the calls of a recording.

    Attributes:
        judge: of the recording.
        replay: its outcomes; of an answer that was late or crashed, perhaps not on all calls.
    """

    judge: RecordingJudge
    replay: Replay

    @property
    def cases(self) -> list[Case]:
        """The calls on which it ran."""
        return [case for case in self.judge.recording.cases if (_ID, case.name) in self.replay.outcomes]

    def of(self, case: Case) -> ReplayOutcome:
        """Return its outcome on a call."""
        return self.replay.of(_ID, case.name)

    def differs(self, case: Case, checkers: Checkers | None = None) -> list[str]:
        """Return how its outcome on a call differs from the golden's; [] for not at all.

        Args:
            checkers: in place of the call's own.
        """
        expected = self.judge.expected[case.name]
        own = self.judge.checkers[case.name]
        try:
            return replaying.differences(expected, self.of(case), own if checkers is None else checkers)
        except Exception as error:  # an outcome made to break the comparison fails like any other
            return [f"what it returned cannot be read ({type(error).__name__})"]

    @cached_property
    def failing(self) -> list[Case]:
        """The calls on which it differs from the golden; all where it did nothing at all."""
        return [case for case in self.cases if self.differs(case)] or (
            [] if self.cases else list(self.judge.recording.cases)
        )

    def first_difference(self, *, is_case: bool) -> CallDifference | None:
        """Return the first difference. ``is_case``: the calls are the task's cases."""
        if not self.failing:
            return None
        case = self.failing[0]
        return _difference(self, case, case.name if is_case else "")


def run_trial(judge: RecordingJudge, fitted: Fitted, options: CandidateOptions, stop: Stop) -> Trial:
    """Run an answer on the calls of a recording, once more if its time ran out, as the machine may have been busy.

    Raises SandboxError: the sandbox failed. KeyboardInterrupt: it was ended by ``stop``.
    """
    limits = options.limits(judge.recording.cases)
    replay = judge.outcomes(fitted.data, fitted.line, limits, stop)
    if any(outcome.status == "timeout" for outcome in replay.outcomes.values()):
        replay = judge.outcomes(fitted.data, fitted.line, limits, stop)
    return Trial(judge, replay)


def _difference(tried: Trial, case: Case, name: str) -> CallDifference:
    outcome = tried.of(case)
    message = tried.differs(case)[0]
    if outcome.document is None:
        return CallDifference(case.call, name, "", message)
    expected, checkers = tried.judge.expected[case.name], tried.judge.checkers[case.name]
    found = compare.compare(expected, outcome.document, checkers)
    if not found:  # a function of the annotator says so
        return CallDifference(case.call, name, message.partition(":")[0], message)
    part = found[0].path
    spread = compare.spread([expected, outcome.document]).get(part, Spread())
    tolerance = nearest(checkers, part)
    absolute, relative = (size if size and math.isfinite(size) else None for size in spread)
    rtol, atol = tolerance.get("rtol"), tolerance.get("atol")
    return CallDifference(case.call, name, part, message, absolute, relative, rtol, atol)


def nearest(checkers: Checkers, path: str) -> Mapping[str, Any]:
    """Return how a part is compared: its own checker, else that of the nearest part above it, else the usual one."""
    while path:
        if path in checkers:
            return checkers[path]
        path = above(path)
    return checkers.get(DEFAULT, {})


def above(path: str) -> str:
    """Return the path of the part that a part belongs to; "" for a whole value."""
    return path[: max(path.rfind("."), path.rfind("["), 0)]


def paths_of(tried: Trial, cases: Sequence[Case]) -> list[str]:
    """Return the parts in which an answer differs on some calls."""
    found: dict[str, None] = {}
    for case in cases:
        document = tried.of(case).document
        if document is not None:
            differing = compare.compare(
                tried.judge.expected[case.name], document, tried.judge.checkers[case.name]
            )
            found.update(dict.fromkeys(one.path for one in differing))
    return list(found)
