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


Counts = Mapping[str, Any]
"""``by``: exit code or log; ``golden``, ``masked``, ``wrong``: (passed, runs) of the golden, the masked code and wrong
versions of the target."""


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


def own_tests(gates: Sequence[GateResult], handwritten: Sequence[int]) -> tuple[OwnTest, ...]:
    """Return the results of implementations without a recording, whose indices are given, from all gates."""
    found = []
    for index in handwritten:
        own = {gate.gate: gate for gate in gates if gate.implementation in (index, None)}
        found.append(OwnTest(index, *_verdict(own, passes_without_solution(gates, index)), _counts(own)))
    return tuple(found)


def _verdict(gates: Mapping[str, GateResult], powerless: str) -> tuple[OwnVerdict, str]:
    for name, verdict in _FAILURES.items():
        gate = gates.get(name)
        if powerless and name == "masked-fails":
            return OwnVerdict.CANNOT_FAIL, powerless
        if gate is not None and gate.status is GateStatus.FAILED:
            return verdict, gate.message
        if name != "build" and (gate is None or gate.status is not GateStatus.PASSED):
            before = name in ("untampered", "golden-passes")
            return (
                OwnVerdict.UNPROVEN,
                f"{'' if before else f'{name}: '}{gate.message if gate else 'not run'}",
            )
    return OwnVerdict.SOUND, ""


_FAILURES = {
    "build": OwnVerdict.UNPROVEN,  # an environment that does not come up says nothing about the test
    "untampered": OwnVerdict.WRONG,
    "golden-passes": OwnVerdict.WRONG,
    "masked-fails": OwnVerdict.WRONG,
    "target-entered": OwnVerdict.WRONG,
    "trivial-fails": OwnVerdict.WRONG,
    "mutants-die": OwnVerdict.WEAK,
}
"""What it means for the test that a gate fails, in the order in which they are asked."""


def _counts(gates: Mapping[str, GateResult]) -> tuple[Counts, ...]:
    versions = {
        "golden": ("golden-passes",),
        "masked": ("masked-fails",),
        "wrong": ("trivial-fails", "mutants-die"),
    }

    def passed(sign: str, names: Sequence[str]) -> tuple[int, int]:
        details = [gates[name].detail.get(SIGNALS, {}) for name in names if name in gates]
        return sum(one.get(sign, 0) for one in details), sum(one.get("runs", 0) for one in details)

    found = tuple(
        {
            "by": sign.replace("_", " "),
            **{version: passed(sign, names) for version, names in versions.items()},
        }
        for sign in ("exit_code", "log")
    )
    return found if passed("exit_code", versions["golden"])[1] else ()
