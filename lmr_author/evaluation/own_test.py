"""Sum up what the gates showed of a hand-written test: with the golden, the masked code and wrong versions.

A test made elsewhere has two readers: shells and CI read its exit code, LMR-Bench's script greps its logs. Both
verdicts are counted, as many tests exit with 0 whatever they find, and some write no log at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lmr_author.task import GateResult, GateStatus
from lmr_author.task.evaluation import SIGNALS, passes_without_solution


class OwnVerdict(StrEnum):
    """The verdict about a hand-written test, from running it.

    WEAK: too many mutants pass. CANNOT_FAIL: it passes without the solution. WRONG: it fails with the golden, or
    for another reason than the mask. UNPROVEN: it cannot run here.
    """

    SOUND = "sound"
    WEAK = "weak"
    CANNOT_FAIL = "cannot fail"
    WRONG = "wrong"
    UNPROVEN = "unproven"


@dataclass(frozen=True)
class Counts:
    """Runs that passed, and all runs, by one sign.

    Attributes:
        by: ``exit code`` or ``log``.
        golden, masked, wrong: (passed, runs) of the golden, the masked code and wrong versions of the target.
    """

    by: str
    golden: tuple[int, int]
    masked: tuple[int, int]
    wrong: tuple[int, int]


@dataclass(frozen=True)
class OwnTest:
    """The results of running one implementation's hand-written test.

    Attributes:
        implementation: its index.
        verdict: see :class:`OwnVerdict`.
        reason: one line; "" for a sound test.
        counts: by exit code, and by log; empty when nothing ran.
    """

    implementation: int
    verdict: OwnVerdict
    reason: str
    counts: tuple[Counts, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            "implementation": self.implementation,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "counts": [
                {"by": one.by, "golden": one.golden, "masked": one.masked, "wrong": one.wrong}
                for one in self.counts
            ],
        }


def own_tests(gates: Sequence[GateResult], handwritten: Sequence[int]) -> tuple[OwnTest, ...]:
    """Return the results of implementations without a recording.

    Args:
        gates: of the whole task.
        handwritten: indices of those implementations.
    """
    found = []
    for index in handwritten:
        own = {gate.gate: gate for gate in gates if gate.implementation == index}
        build = next((gate for gate in gates if gate.implementation is None), None)
        if build is not None and build.status is not GateStatus.PASSED:
            own = {"build": build}
        verdict, reason = _verdict(own, passes_without_solution(tuple(own.values()), index))
        found.append(OwnTest(index, verdict, reason, _counts(own)))
    return tuple(found)


def _verdict(gates: Mapping[str, GateResult], powerless: str) -> tuple[OwnVerdict, str]:
    for name in ("build", "untampered", "golden-passes"):
        gate = gates.get(name)
        if gate is not None and gate.status is not GateStatus.PASSED:
            # An environment that does not come up says nothing about the test.
            wrong = gate.status is GateStatus.FAILED and name != "build"
            return (OwnVerdict.WRONG if wrong else OwnVerdict.UNPROVEN), gate.message
    if powerless:
        return OwnVerdict.CANNOT_FAIL, powerless
    for name, verdict in (
        ("masked-fails", OwnVerdict.WRONG),
        ("target-entered", OwnVerdict.WRONG),
        ("trivial-fails", OwnVerdict.WRONG),
        ("mutants-die", OwnVerdict.WEAK),
    ):
        gate = gates.get(name)
        if gate is not None and gate.status is GateStatus.FAILED:
            return verdict, gate.message
        if gate is None or gate.status is not GateStatus.PASSED:
            return OwnVerdict.UNPROVEN, f"{name}: {gate.message if gate else 'not run'}"
    return OwnVerdict.SOUND, ""


def _counts(gates: Mapping[str, GateResult]) -> tuple[Counts, ...]:
    def passed(sign: str, *names: str) -> tuple[int, int]:
        details = [gates[name].detail.get(SIGNALS, {}) for name in names if name in gates]
        return sum(one.get(sign, 0) for one in details), sum(one.get("runs", 0) for one in details)

    found = tuple(
        Counts(
            sign.replace("_", " "),
            passed(sign, "golden-passes"),
            passed(sign, "masked-fails"),
            passed(sign, "trivial-fails", "mutants-die"),
        )
        for sign in ("exit_code", "log")
    )
    return found if found[0].golden[1] else ()
