"""Turn recorded calls that distinguish misreadings from the golden into cases.

A call becomes a case only if the golden passes it in repeated runs and every passing rewrite still passes. Otherwise
the test would be fitted to its golden.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lmr_author.authoring.recording.run import RecordedCall
from lmr_author.authoring.recording.selection import too_much
from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task.challenge import AddedCase, CallDifference, Challenger, LeftOutCall
from lmr_author.core.texts import listed
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.release.challenge.calls import put_in_place, write_recording
from lmr_author.release.challenge.target import Trials

REPEATS = 3
"""Runs of the golden that must pass a call."""
MOST_LEFT_OUT = 20
"""Calls that are listed with the reason why they cannot be cases."""


@dataclass
class Choice:
    """A choice among the calls that distinguish misreadings.

    Attributes:
        room: bytes that cases may take.
        tells: name of a misreading → numbers of the calls on which it fails.
        barred: number of a call → why it cannot be a case.
    """

    room: int
    calls: Sequence[RecordedCall]
    tells: Mapping[str, frozenset[int]]
    barred: dict[int, LeftOutCall] = field(default_factory=dict)

    def bar(self, reason: LeftOutCall) -> None:
        self.barred.setdefault(reason.call, reason)

    def told_by(self, number: int) -> tuple[str, ...]:
        return tuple(name for name, calls in self.tells.items() if number in calls)

    def choose(self) -> list[RecordedCall]:
        """Return the fewest calls that distinguish every misreading that any call can, within the task's size.

        Greedy: the call that distinguishes most; of several, the smallest.
        """
        usable = [call for call in self.calls if call.number not in self.barred]
        waiting, chosen, room = set(self.tells), list[RecordedCall](), self.room
        while usable:
            new = {call.number: waiting.intersection(self.told_by(call.number)) for call in usable}
            best = min(usable, key=lambda call: (-len(new[call.number]), call.stored, call.number))
            if not new[best.number]:
                break
            usable.remove(best)
            if best.stored > room:
                self.bar(LeftOutCall(best.number, "room", "", too_much(best, self.room)))
                continue
            chosen.append(best)
            room -= best.stored
            waiting -= new[best.number]
        return self._without_spare(chosen)

    def _without_spare(self, chosen: Sequence[RecordedCall]) -> list[RecordedCall]:
        """Drop calls whose misreadings other calls distinguish as well, the largest first."""
        needed = {call.number: call for call in chosen}
        for call in sorted(chosen, key=lambda call: -call.stored):
            others = needed.keys() - {call.number}
            if all(self.tells[name] & others for name in self.told_by(call.number)):
                del needed[call.number]
        return [needed[number] for number in sorted(needed)]

    def adds(self, call: RecordedCall, chosen: Sequence[RecordedCall]) -> str:
        others = {other.number for other in chosen if other is not call}
        names = self.told_by(call.number)
        alone = [name for name in names if not self.tells[name] & others]
        return f"a misreading fails only here: {listed(alone or list(names), 3)}"

    def left_out(self) -> tuple[LeftOutCall, ...]:
        """Return the excluded calls that distinguish misreadings, with the reasons."""
        telling = [reason for number, reason in sorted(self.barred.items()) if self.told_by(number)]
        return tuple(telling[:MOST_LEFT_OUT])


@dataclass(frozen=True)
class StrengthenResult:
    added: tuple[AddedCase, ...]
    left_out: tuple[LeftOutCall, ...]
    differences: Mapping[str, CallDifference]


def strengthen(
    trials: Trials, misreadings: Sequence[Challenger], rewrites: Sequence[Challenger]
) -> StrengthenResult:
    """Turn the fewest calls that distinguish the misreadings into cases; install the new recording and test.

    Raises LmrError: the golden does not pass its old cases beside new ones. SandboxError: the sandbox failed.
    """
    calls, recording = trials.calls, trials.recording
    tells = {answer.name: frozenset(trials.on_calls(answer).failing_calls) for answer in misreadings}
    choice = Choice(calls.room, calls.others, tells)
    numbers = {case.name: case.call for case in trials.judge_of_calls.recording.cases}
    for case, reason in failing_golden(trials.judge_of_calls).items():
        choice.bar(LeftOutCall(numbers[case], "golden", "", reason))
    for rewrite in rewrites:
        trial = trials.on_calls(rewrite)
        for failing in trial.failing:
            choice.bar(LeftOutCall(failing.call, "rewrite", rewrite.name, trial.differs(failing)[0]))
    while chosen := choice.choose():
        with files.temporary_folder("lmr-author-strengthen-") as work:
            new = [(call, choice.adds(call, chosen)) for call in chosen]
            judge = write_recording(work, trials.trees, recording, calls, new, keep_cases=True)
            names = {case.name: case.call for case in judge.recording.cases[-len(chosen) :]}
            if _barred(choice, names, judge, trials, rewrites):
                continue
            differences = dict[str, CallDifference]()
            for answer in misreadings:
                difference = trials.run(judge, answer).first_difference(is_case=True)
                if difference is not None:
                    differences[answer.name] = difference
            put_in_place(judge, calls)
            made_of = {call.number: call.made_of for call in chosen}
            added = [
                AddedCase(name, number, choice.told_by(number), made_of[number])
                for name, number in names.items()
            ]
            return StrengthenResult(tuple(added), choice.left_out(), differences)
    return StrengthenResult((), choice.left_out(), {})


def _barred(
    choice: Choice,
    new: Mapping[str, int],
    judge: RecordingJudge,
    trials: Trials,
    rewrites: Sequence[Challenger],
) -> bool:
    """Exclude the new cases (name → number) on which the golden or a rewrite fails; return whether there were any."""
    before = len(choice.barred)
    for name, reason in failing_golden(judge).items():
        if name not in new:
            raise LmrError(
                f"the golden does not pass {name} beside new cases: {reason}",
                "run `lmr-author evaluate` to see if it passes by itself",
            )
        choice.bar(LeftOutCall(new[name], "golden", "", reason))
    for rewrite in rewrites:
        trial = trials.run(judge, rewrite)
        for case in trial.failing:
            # If an old case fails only together with the new ones, any of these may be the cause.
            for number in [new[case.name]] if case.name in new else new.values():
                choice.bar(LeftOutCall(number, "rewrite", rewrite.name, trial.differs(case)[0]))
    return len(choice.barred) > before


def failing_golden(judge: RecordingJudge) -> dict[str, str]:
    """Return the cases that the golden does not pass in repeated runs, with the reason."""
    failing: dict[str, str] = {}
    for seed in range(1, REPEATS + 1):
        for case in judge.golden(seed=seed).cases:
            if case.outcome.value != "passed":
                failing.setdefault(case.case, case.reason)
    return failing
