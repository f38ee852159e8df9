"""Replay recorded calls on the golden, keep those that reproduce, derive their tolerances, and choose among them.

About three are chosen which together cover the target, and a few more where these notice wrong versions of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmr_author import replaying
from lmr_author.controlled import CONTROL, beside_the_golden
from lmr_author.errors import LmrError
from lmr_author.probe.document import Document
from lmr_author.probe.outcome import as_written
from lmr_author.recording.checkers import with_chosen
from lmr_author.recording.choose import Call, Proven, order_of_choice
from lmr_author.recording.golden import Golden
from lmr_author.recording.helpers import fixture_advice
from lmr_author.recording.sizes import Room, too_much
from lmr_author.recording.tolerance import derive
from lmr_author.sandbox.base import Limits
from lmr_author.task import Progress
from lmr_author.texts import time_left

REPEATS = 3
"""Golden replays per call, each in a process of its own."""
LOOKED_AT, LOOKED_AT_BYTES, LOOKED_AT_SECONDS = 100, 48 * 2**20, 20.0
"""Calls among which those are looked for that notice wrong versions, their size and their time, at most."""
MOST_MUTANTS, FEWEST_MUTANTS = 60, 5
"""Wrong versions tried; with fewer, what a slow function leaves time for, nothing can be told."""
MUTANT_SECONDS, OVERHEAD = 90.0, 0.3
"""What trying them may take, by the golden's own times, and what starting one takes."""
NOT_IMPORTED = "the goal file cannot be imported by itself"

Mutants = Callable[[int], Sequence[replaying.Variant]]
"""Makes so many wrong versions of the goal file, or fewer."""


@dataclass(frozen=True)
class Rejected:
    """A call that was not taken, and why."""

    call: Call
    reason: str


@dataclass(frozen=True)
class Noticed:
    """Wrong versions that were tried, and those that no chosen call tells from the golden."""

    tried: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proof:
    """The chosen calls in order, the rejected ones, the versions of what ran them, and what they notice."""

    chosen: tuple[Proven, ...]
    rejected: tuple[Rejected, ...]
    versions: dict[str, str]
    noticed: Noticed = field(default_factory=Noticed)


def prove(
    golden: Golden,
    calls: Sequence[Call],
    wanted: int,
    progress: Progress,
    mutants: Mutants,
    checks: Mapping[str, Mapping[str, Any]] | None = None,
    room: Room | None = None,
) -> Proof:
    """Choose ``wanted`` calls that replay to the same outcome, and a few more that notice wrong versions.

    Args:
        calls: what was recorded.
        checks: path in the outcome → how it is compared, where the annotator says so.
        room: size that the chosen calls may have together; None for that of a task with nothing else in it.

    Raises:
        LmrError: not one call reproduces, or none has room in the task, with the reasons.
    """
    room = room or Room()
    proven, rejected, first = _reproducing(golden, calls, wanted, progress, checks or {})
    if not proven:
        raise _irreproducible(golden.plan.qualname, rejected)
    alone = [item for item in proven if item.call.stored <= room.left]
    if not alone:
        smallest = min(proven, key=lambda item: item.call.stored)
        raise LmrError(
            f"no call of {golden.plan.qualname} has room in the task",
            f"the smallest: {too_much(smallest.call, room)}",
        )
    left = time_left(2 * first.result.seconds + MUTANT_SECONDS / 3)
    progress(f"trying wrong versions of the golden{', ' + left if left else ''}")
    chosen, noticed = _choose(golden, alone, wanted, mutants)
    chosen, large = _fitting(chosen, room)
    rejected += [
        Rejected(item.call, too_much(item.call, room)) for item in proven if item not in alone
    ] + large
    progress("confirming the chosen cases")
    confirmed, failed = _confirmed(golden, chosen)
    if not confirmed:
        raise _irreproducible(golden.plan.qualname, failed)
    versions = {
        name: str(first.facts[name])
        for name in ("python", "torch", "numpy", "pandas")
        if first.facts.get(name)
    }
    return Proof(tuple(confirmed), (*failed, *rejected), versions, noticed)


def _reproducing(
    golden: Golden,
    calls: Sequence[Call],
    wanted: int,
    progress: Progress,
    checks: Mapping[str, Mapping[str, Any]],
) -> tuple[list[Proven], list[Rejected], replaying.Replay]:
    """Replay calls until enough reproduce: these, the others, and the first run."""
    waiting = order_of_choice(calls)
    proven: list[Proven] = []
    rejected: list[Rejected] = []
    first: replaying.Replay | None = None
    while waiting and len(proven) < wanted:
        batch = _first(waiting)
        waiting = waiting[len(batch) :]
        golden.add(batch)
        numbers = [call.number for call in batch]
        runs: list[replaying.Replay] = []
        for seed in range(1, REPEATS + 1):
            left = time_left((REPEATS + 3 - seed) * runs[0].result.seconds) if runs else ""
            progress(
                f"replaying {len(batch)} of {len(calls)} recorded calls on the golden{', ' + left if left else ''}"
            )
            # Another number of threads sums in another order: the spread of that belongs to the tolerance.
            variants = [replaying.Variant("golden")]
            runs.append(golden.replay(numbers, variants, seed=seed, threads=1 + seed // REPEATS))
        precise = golden.precise(numbers)
        first = first or runs[0]
        for call in batch:
            judged = _judge(call, runs, precise.get(call.number), checks)
            (rejected if isinstance(judged, Rejected) else proven).append(judged)  # type: ignore[arg-type]
    assert first is not None, "there is a call at least"
    return proven, rejected, first


def _first(waiting: Sequence[Call]) -> list[Call]:
    """The next calls to look at, until they get too large or too slow together; one at least."""
    batch, size, seconds = list(waiting[:1]), waiting[0].size, 0.0
    for call in waiting[1:LOOKED_AT]:
        size, seconds = size + call.size, seconds + call.seconds + call.comparing
        if size > LOOKED_AT_BYTES or seconds > LOOKED_AT_SECONDS:
            break
        batch.append(call)
    return batch


def _judge(
    call: Call,
    runs: Sequence[replaying.Replay],
    precise: Document | None,
    checks: Mapping[str, Mapping[str, Any]],
) -> Proven | Rejected:
    expected = replaying.load_document(call.folder, "expected")
    outcomes = [run.of("golden", str(call.number)) for run in runs]
    for outcome in outcomes:
        if outcome.document is None:
            text = outcome.error_text or outcome.status
            why = NOT_IMPORTED if outcome.status == "import-error" else "cannot be replayed"
            return Rejected(call, f"{why}: {text}")
    documents = [outcome.document for outcome in outcomes if outcome.document is not None]
    derived, wide = derive(expected, documents, precise)
    checkers = with_chosen(derived, checks, expected)
    for outcome in outcomes:
        found = replaying.differences(expected, outcome, checkers)
        if found:
            return Rejected(call, f"gives another result when replayed: {found[0]}")
    wide = tuple(item for item in wide if checkers.get(item.path) == derived[item.path])
    return Proven(call, checkers, max(outcome.seconds for outcome in outcomes), wide)


def _choose(
    golden: Golden, proven: Sequence[Proven], wanted: int, mutants: Mutants
) -> tuple[list[Proven], Noticed]:
    """Take the first ``wanted`` calls, and up to as many again that notice wrong versions which those do not.

    Then those go whose place others fill as well, in what they execute and in what they notice.
    """
    chosen, rest = list(proven[:wanted]), list(proven[wanted:])
    affordable = int(MUTANT_SECONDS / (OVERHEAD + sum(item.cost for item in chosen)))
    versions = mutants(min(MOST_MUTANTS, affordable)) if affordable >= FEWEST_MUTANTS else ()
    if not versions:
        return chosen, Noticed()
    noticed = _noticed(golden, chosen, versions)
    left = {item.id for item in versions}.difference(*noticed.values())
    if left and rest:
        budget, looked_at = MUTANT_SECONDS - OVERHEAD * len(left), list[Proven]()
        for item in rest:
            budget -= item.cost * len(left)
            if looked_at and budget < 0:
                break
            looked_at.append(item)
        noticed |= _noticed(golden, looked_at, [item for item in versions if item.id in left])
        while left and len(chosen) < 2 * wanted and looked_at:
            best = max(looked_at, key=lambda item: len(noticed[item.call.number] & left))
            if not noticed[best.call.number] & left:
                break
            looked_at.remove(best)
            chosen.append(best)
            left -= noticed[best.call.number]
    for item in sorted(chosen, key=lambda item: -item.call.size):
        others = [other for other in chosen if other is not item]
        blocks = set[int]().union(*(other.call.hits for other in others))
        seen = set[str]().union(*(noticed[other.call.number] for other in others))
        if len(chosen) > wanted and item.call.hits <= blocks and noticed[item.call.number] <= seen:
            chosen = others
    # Per cents are those of the chosen cases, as `evaluate` counts them, not of the whole recording.
    seen = set().union(*(noticed[item.call.number] for item in chosen))
    return chosen, Noticed(
        tuple(item.id for item in versions), tuple(item.id for item in versions if item.id not in seen)
    )


def _noticed(
    golden: Golden, calls: Sequence[Proven], versions: Sequence[replaying.Variant]
) -> dict[int, frozenset[str]]:
    """Number of a call → the versions whose outcome it tells from the golden's.

    What the time did not suffice for counts as not noticed.
    """
    found: dict[int, set[str]] = {item.call.number: set() for item in calls}
    by_name = {str(item.call.number): item for item in calls}
    expected = {name: replaying.load_document(item.call.folder, "expected") for name, item in by_name.items()}

    def passes(case: str, outcome: replaying.Outcome) -> bool:
        return not replaying.differences(expected[case], outcome, by_name[case].checkers)

    def run(variants: Sequence[replaying.Variant], seconds: float, shared: bool) -> replaying.Replay:
        limits = Limits(seconds=60 + 3 * MUTANT_SECONDS)
        return golden.replay(list(found), variants, case_seconds=seconds, limits=limits, share=shared)

    slowest = max((item.seconds for item in calls), default=0.0)
    size = max(1, sum(item.call.size for item in calls))
    step = max(1, min(50, replaying.BATCH_BYTES // size))
    for start in range(0, len(versions), step):
        batch = versions[start : start + step]
        tried = beside_the_golden(
            run, replaying.Variant(CONTROL), batch, by_name, max(2.0, 20 * slowest), passes
        )
        for version in batch:
            for case in tried.fair:
                outcome = tried.run.outcomes.get((version.id, case))
                if outcome and not passes(case, outcome):
                    found[int(case)].add(version.id)
    return {number: frozenset(ids) for number, ids in found.items()}


def _fitting(proven: Sequence[Proven], room: Room) -> tuple[list[Proven], list[Rejected]]:
    """The calls that fit into the size that a task's recordings may have, best first; others smallest first."""
    kept, left_out, size = list[Proven](), list[Proven](), 0
    for item in proven:
        fits = size + item.call.stored <= room.left
        (kept if fits else left_out).append(item)
        size += item.call.stored if fits else 0
    left_out.sort(key=lambda item: item.call.stored)
    return kept, [Rejected(item.call, too_much(item.call, room)) for item in left_out]


def _confirmed(golden: Golden, chosen: Sequence[Proven]) -> tuple[list[Proven], list[Rejected]]:
    """Run the chosen calls once more, in a run that their tolerances were not derived from."""
    numbers = [item.call.number for item in chosen]
    run = golden.replay(numbers, [replaying.Variant("golden")], seed=REPEATS + 1, threads=3)
    confirmed, failed = [], []
    for item in chosen:
        expected = replaying.load_document(item.call.folder, "expected")
        found = replaying.differences(expected, run.of("golden", str(item.call.number)), item.checkers)
        if found:
            failed.append(Rejected(item.call, f"differs in one more run: {found[0]}"))
        else:
            confirmed.append(item)
    return confirmed, failed


def _irreproducible(qualname: str, rejected: Sequence[Rejected]) -> LmrError:
    reasons = "; ".join(dict.fromkeys(item.reason for item in rejected))[:400]
    if all(item.reason.startswith(NOT_IMPORTED) for item in rejected):
        return LmrError(
            f"{qualname} was called, but no test can do that: {reasons}",
            "a test imports the file, with neither the command's arguments nor its data: choose a function of a "
            "file that does not run a program when it is imported",
        )
    parts = {
        as_written(str(part["path"])): str(part["type"]) for item in rejected for part in item.call.omitted
    }
    advice = fixture_advice(parts)
    if advice:
        named = ", ".join(f"{path} ({kind})" for path, kind in list(parts.items())[:3])
        return LmrError(
            f"no recorded call of {qualname} reproduces: {reasons}",
            f"of its inputs, {named} could not be stored; {advice}",
        )
    return LmrError(
        f"no recorded call of {qualname} reproduces: {reasons}",
        "the function depends on what is no argument (a global, a file, the time); drive it with "
        "that passed in, or choose a function whose result its inputs determine",
    )
