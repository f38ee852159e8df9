"""Make recorded calls cases that tell misreadings from the golden.

A call becomes a case only if the golden passes there in repeated runs, and every rewrite that passes goes on passing:
without that, a test is fitted to its golden.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author.authoring.recording.calls import RecordedCall, too_much
from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task.challenge import AddedCase, CallDifference, LeftOutCall
from lmr_author.core.texts import listed
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.release.challenge import recordings
from lmr_author.release.challenge.again import Again
from lmr_author.release.challenge.target import Target
from lmr_author.release.challenge.variants import Variant

REPEATS = 3
"""Runs of the golden that a call has to pass."""
MOST_LEFT_OUT = 20
"""Calls that are named with the reason why they are no cases."""


@dataclass
class Choice:
    """The choice among the recorded calls that tell misreadings apart.

    Attributes:
        tells: name of a misreading → numbers of the calls on which it fails.
        barred: number of a call → why it is no case.
    """

    again: Again
    tells: Mapping[str, frozenset[int]]
    barred: dict[int, LeftOutCall] = field(default_factory=dict)

    def bar(self, why: LeftOutCall) -> None:
        """Leave a call out."""
        self.barred.setdefault(why.call, why)

    def telling(self, number: int) -> tuple[str, ...]:
        """Return the names of the misreadings that fail on a call."""
        return tuple(name for name, calls in self.tells.items() if number in calls)

    def calls(self) -> list[RecordedCall]:
        """Return the fewest calls that tell all misreadings apart that any call does, as they fit into the task.

        Greedily: the one that tells most, the smallest of equals.
        """
        room = self.again.room.left
        usable = [call for call in self.again.calls if call.number not in self.barred]
        left, chosen = set(self.tells), list[RecordedCall]()
        while left:
            worth = {
                call.number: {name for name in left if call.number in self.tells[name]} for call in usable
            }
            telling = [call for call in usable if worth[call.number]]
            if not telling:
                break
            best = min(telling, key=lambda call: (-len(worth[call.number]), call.stored, call.number))
            usable.remove(best)
            if sum(call.stored for call in chosen) + best.stored > room:
                message = too_much(best, self.again.room)
                self.bar(LeftOutCall(best.number, "room", "", message))
                continue
            chosen.append(best)
            left -= worth[best.number]
        return self._needed(chosen)

    def _needed(self, chosen: Sequence[RecordedCall]) -> list[RecordedCall]:
        """Return calls without those whose misreadings others tell apart, too."""
        kept = list(chosen)
        for call in sorted(chosen, key=lambda call: -call.stored):
            others = {other.number for other in kept if other is not call}
            if all(not calls & {call.number} or calls & others for calls in self.tells.values()):
                kept.remove(call)
        return sorted(kept, key=lambda call: call.number)

    def adds(self, call: RecordedCall, chosen: Sequence[RecordedCall]) -> str:
        """Return what a call adds, in words."""
        others = {other.number for other in chosen if other is not call}
        names = self.telling(call.number)
        alone = [name for name in names if not self.tells[name] & others]
        return f"a misreading fails only here: {listed(alone or list(names), 3)}"

    def left_out(self) -> tuple[LeftOutCall, ...]:
        """Return the telling calls that are no cases, with the reasons."""
        telling = set[int]().union(*self.tells.values()) if self.tells else set[int]()
        return tuple(why for number, why in sorted(self.barred.items()) if number in telling)[:MOST_LEFT_OUT]


@dataclass(frozen=True)
class Strengthened:
    """What became of the calls that tell misreadings apart.

    Attributes:
        added: the new cases; none where nothing was changed.
        left_out: telling calls that are no cases.
        differences: name of a misreading that fails now → its first difference.
    """

    added: tuple[AddedCase, ...]
    left_out: tuple[LeftOutCall, ...]
    differences: Mapping[str, CallDifference]


def strengthen(target: Target, misreadings: Sequence[Variant], rewrites: Sequence[Variant]) -> Strengthened:
    """Make the fewest calls cases that tell some misreadings apart, and put the new recording and test in place.

    Args:
        misreadings: those that pass the cases, and that a recorded call tells apart.
        rewrites: those that pass, and have to go on passing.

    Raises:
        LmrError: the golden does not pass its old cases beside new ones.
        SandboxError: the sandbox failed.
    """
    tells = {one.name: frozenset(case.call for case in target.on_calls(one).failing) for one in misreadings}
    choice = Choice(target.again, tells)
    for case, reason in failing_golden(target.calls).items():
        number = next(item.call for item in target.calls.recording.cases if item.name == case)
        choice.bar(LeftOutCall(number, "golden", "", reason))
    for rewrite in rewrites:
        tried = target.on_calls(rewrite)
        for failing in tried.failing:
            choice.bar(LeftOutCall(failing.call, "rewrite", rewrite.name, tried.differs(failing)[0]))
    while chosen := choice.calls():
        with files.temporary_folder("lmr-author-strengthen-") as work:
            judge = _write_with(choice, chosen, target, work)
            if _barred(choice, chosen, judge, target, rewrites):
                continue
            found = {one.name: target.on(judge, one).first_difference(is_case=True) for one in misreadings}
            _put_in_place(choice, chosen, judge)
            new = judge.recording.cases[-len(chosen) :]
            added = tuple(AddedCase(case.name, case.call, choice.telling(case.call)) for case in new)
            return Strengthened(added, choice.left_out(), {name: one for name, one in found.items() if one})
    return Strengthened((), choice.left_out(), {})


def _barred(
    choice: Choice,
    chosen: Sequence[RecordedCall],
    judge: RecordingJudge,
    target: Target,
    rewrites: Sequence[Variant],
) -> bool:
    """Leave out the chosen calls on which the golden or a rewrite fails, beside the old cases; return whether any."""
    new = {case.name: case.call for case in judge.recording.cases[-len(chosen) :]}
    before = len(choice.barred)
    for name, reason in failing_golden(judge).items():
        if name not in new:
            raise LmrError(
                f"the golden does not pass {name} beside new cases: {reason}",
                "run `lmr-author evaluate`: does it pass by itself?",
            )
        choice.bar(LeftOutCall(new[name], "golden", "", reason))
    for rewrite in rewrites:
        tried = target.on(judge, rewrite)
        for case in tried.failing:
            # Where an old case fails only beside the new ones, all of these are suspect.
            for number in [new[case.name]] if case.name in new else new.values():
                choice.bar(LeftOutCall(number, "rewrite", rewrite.name, tried.differs(case)[0]))
    return len(choice.barred) > before


def _write_with(choice: Choice, chosen: Sequence[RecordedCall], target: Target, work: Path) -> RecordingJudge:
    """Write the recording with more cases into an empty folder of ours; return its judge."""
    again, bench = choice.again, target.scorer.bench
    index = bench.implementation.index
    calls = [(call, choice.adds(call, chosen)) for call in chosen]
    before = (bench.recording_folder, target.recording)
    recording = recordings.write_extended(work, index, again.plan, again.recorded, calls, before)
    return RecordingJudge(bench, recording, work / "recordings" / str(index))


def _put_in_place(choice: Choice, chosen: Sequence[RecordedCall], judge: RecordingJudge) -> None:
    """Put a recording with more cases, and its unit test, in the place of the task's own."""
    bench, again = judge.bench, choice.again
    recordings.put_in_place(
        bench.task,
        bench.info,
        bench.implementation,
        (judge.folder, judge.recording),
        again.golden.definition.function,
        again.plan.nth,
        again.uncompared(),
    )


def failing_golden(judge: RecordingJudge, repeats: int = REPEATS) -> dict[str, str]:
    """Return the cases that the golden does not pass in repeated runs, with the reason."""
    found: dict[str, str] = {}
    for seed in range(repeats):
        for case in judge.golden(seed=seed + 1).cases:
            if case.outcome.value != "passed":
                found.setdefault(case.case, case.reason)
    return found
