"""Replay recorded calls on the golden, keep those that reproduce, and derive their tolerances."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmr_author import replaying
from lmr_author.errors import LmrError
from lmr_author.model import Progress
from lmr_author.probe.document import Document
from lmr_author.probe.fixtures import as_written
from lmr_author.probe.states import STATE
from lmr_author.recording.checkers import with_chosen
from lmr_author.recording.choose import Call, Proven, order_of_choice
from lmr_author.recording.compiled import Compiled
from lmr_author.recording.golden import Golden
from lmr_author.recording.helpers import fixture_advice
from lmr_author.recording.rivals import MOST, OVERHEAD, SECONDS, Noticed, Rivals, Trial
from lmr_author.recording.sizes import Room, too_much
from lmr_author.recording.tolerance import derive
from lmr_author.texts import time_left

REPEATS = 3
"""Golden replays per call, each in a process of its own."""

SPARE = 3
"""How many more calls than wanted are replayed at once, so that rejected ones have a replacement."""

LOOKED_AT = 100
"""Calls among which those are looked for that notice wrong versions, at most."""
LOOKED_AT_BYTES = 48 * 2**20
"""Size of these together, at most."""
LOOKED_AT_SECONDS = 20.0
"""Time that these took together when they were recorded, at most."""

NOT_IMPORTED = "the goal file cannot be imported by itself"


@dataclass(frozen=True)
class Rejected:
    """A call that does not, and why."""

    call: Call
    reason: str


@dataclass(frozen=True)
class Proof:
    """The chosen calls in order, the rejected ones, and the versions of what ran them.

    Attributes:
        noticed: which wrong versions of the golden the chosen calls tell from it.
        compiled: which of them the golden takes as its decorators compile it.
    """

    chosen: tuple[Proven, ...]
    rejected: tuple[Rejected, ...]
    versions: dict[str, str]
    noticed: Noticed = field(default_factory=Noticed)
    compiled: Compiled = field(default_factory=Compiled)


def prove(
    golden: Golden,
    calls: Sequence[Call],
    wanted: int,
    progress: Progress,
    rivals: Rivals | None = None,
    checks: Mapping[str, Mapping[str, Any]] | None = None,
    room: Room | None = None,
) -> Proof:
    """Choose ``wanted`` calls that replay to the same outcome, and a few more that notice wrong versions.

    Args:
        calls: what was recorded.
        rivals: makes wrong versions of the goal file; None to choose by coverage alone.
        checks: path in the outcome → how it is compared, where the annotator says so.
        room: size that the chosen calls may have together; None for that of a task with nothing else in it.

    Raises:
        LmrError: not one call reproduces, or none has room in the task, with the reasons.
    """
    room = room or Room()
    proven, rejected, first = _reproducing(
        golden, calls, wanted, progress, checks or {}, to_choose=rivals is not None
    )
    if not proven:
        raise _irreproducible(golden.plan.qualname, rejected)
    proven, large = _with_room(golden.plan.qualname, proven, room)
    rejected += large
    chosen, noticed = proven[:wanted], Noticed()
    if rivals is not None:
        left = _left(first, 2, [item.call for item in proven[:wanted]])
        progress(f"trying wrong versions of the golden{left}")
        chosen, noticed = Trial(golden, first.used).choose(proven, wanted, rivals)
        chosen, large = _fitting(chosen, room)
        rejected += large
    progress(f"confirming the chosen cases{_left(first, 1)}")
    confirmed, failed = _confirmed(golden, chosen)
    if not confirmed:
        raise _irreproducible(golden.plan.qualname, failed)
    return Proof(tuple(confirmed), (*failed, *rejected), _versions(first), noticed)


def _reproducing(
    golden: Golden,
    calls: Sequence[Call],
    wanted: int,
    progress: Progress,
    checks: Mapping[str, Mapping[str, Any]],
    *,
    to_choose: bool,
) -> tuple[list[Proven], list[Rejected], replaying.Replay]:
    """Replay calls until enough reproduce: these, the others, and the first run.

    Args:
        to_choose: whether as many as can be are looked at, to choose from.
    """
    waiting = order_of_choice(calls)
    proven: list[Proven] = []
    rejected: list[Rejected] = []
    first: replaying.Replay | None = None
    while waiting and len(proven) < wanted:
        batch = _first(waiting, LOOKED_AT if to_choose else wanted - len(proven) + SPARE)
        waiting = waiting[len(batch) :]
        said = f"replaying {len(batch)} of {len(calls)} recorded calls on the golden"
        progress(said)
        golden.add(batch)
        runs: list[replaying.Replay] = []
        for number in range(1, REPEATS + 1):
            runs.append(_replay(golden, batch, number))
            starts = REPEATS - number + (3 if to_choose else 2)
            progress(said + _left(runs[0], starts, batch[:wanted] if to_choose else ()))
        precise = golden.precise([call.number for call in batch])
        first = first or runs[0]
        for call in batch:
            golden.complete(call, runs[0])
            judged = _judge(call, runs, precise.get(call.number), checks)
            if isinstance(judged, Rejected):
                rejected.append(judged)
            else:
                proven.append(judged)
    assert first is not None, "there is a call at least"
    return proven, rejected, first


def _with_room(qualname: str, proven: Sequence[Proven], room: Room) -> tuple[list[Proven], list[Rejected]]:
    """The calls that have room in the task, each by itself, and the others. Raises LmrError when none has."""
    alone = [_fitting([item], room) for item in proven]
    kept = [item for found, _ in alone for item in found]
    large = [item for _, left_out in alone for item in left_out]
    if not kept:
        smallest = min(large, key=lambda item: item.call.stored)
        raise LmrError(f"no call of {qualname} has room in the task", f"the smallest: {smallest.reason}")
    return kept, large


def _irreproducible(qualname: str, rejected: Sequence[Rejected]) -> LmrError:
    reasons = "; ".join(dict.fromkeys(item.reason for item in rejected))
    if all(item.reason.startswith(NOT_IMPORTED) for item in rejected):
        return LmrError(
            f"{qualname} was called, but no test can do that: {reasons[:400]}",
            "a test imports the file, with neither the command's arguments nor its data: choose a function of a "
            "file that does not run a program when it is imported",
        )
    left_out = {
        as_written(str(part["path"])): str(part["type"]) for item in rejected for part in item.call.omitted
    }
    advice = fixture_advice(left_out)
    if advice:
        parts = ", ".join(f"{path} ({kind})" for path, kind in list(left_out.items())[:3])
        return LmrError(
            f"no recorded call of {qualname} reproduces: {reasons[:400]}",
            f"of its inputs, {parts} could not be stored; {advice}",
        )
    return LmrError(
        f"no recorded call of {qualname} reproduces: {reasons[:400]}",
        "the function depends on what is no argument (a global, a file, the time); drive it with "
        "that passed in, or choose a function whose result its inputs determine",
    )


def _first(waiting: Sequence[Call], most: int) -> list[Call]:
    """The next calls to look at, until they get too large or too slow together; one at least."""
    batch, size, seconds = list(waiting[:1]), waiting[0].size, 0.0
    for call in waiting[1:most]:
        size, seconds = size + call.size, seconds + call.seconds + call.comparing
        if size > LOOKED_AT_BYTES or seconds > LOOKED_AT_SECONDS:
            break
        batch.append(call)
    return batch


def _fitting(proven: Sequence[Proven], room: Room) -> tuple[list[Proven], list[Rejected]]:
    """The calls that fit into the size that a task's recordings may have, best first; others smallest first."""
    kept, left_out, size = list[Proven](), list[Proven](), 0
    for item in proven:
        stored = item.call.stored
        if size + stored > room.left:
            left_out.append(item)
            continue
        kept.append(item)
        size += stored
    left_out.sort(key=lambda item: item.call.stored)
    return kept, [Rejected(item.call, too_much(item.call, room)) for item in left_out]


def _replay(golden: Golden, batch: Sequence[Call], seed: int) -> replaying.Replay:
    # Another number of threads sums in another order: the spread of that belongs to the tolerance.
    numbers, threads = [call.number for call in batch], 1 + seed // REPEATS
    return golden.replay(numbers, [replaying.Variant("golden")], seed=seed, threads=threads, tell=seed == 1)


def _left(first: replaying.Replay, starts: int, to_try: Sequence[Call] = ()) -> str:
    """What so many more runs and a trial of wrong versions take, by what the first run took: ", about 2 min left"."""
    trial = min(SECONDS, MOST * (OVERHEAD + sum(call.seconds for call in to_try))) if to_try else 0.0
    text = time_left(starts * first.result.seconds + trial)
    return f", {text}" if text else ""


def _judge(
    call: Call,
    runs: Sequence[replaying.Replay],
    precise: Document | None,
    checks: Mapping[str, Mapping[str, Any]],
) -> Proven | Rejected:
    expected = replaying.load_document(call.folder, "expected")
    outcomes = [run.of("golden", str(call.number)) for run in runs]
    documents = []
    for outcome in outcomes:
        if outcome.document is None:
            return Rejected(call, _why(outcome))
        documents.append(outcome.document)
    derived, wide = derive(expected, documents, precise)
    checkers = with_chosen(derived, checks, expected)
    for outcome in outcomes:
        found = replaying.differences(expected, outcome, checkers)
        if found:
            return Rejected(call, f"gives another result when replayed{_leaving(found[0])}: {found[0]}")
    wide = tuple(item for item in wide if checkers.get(item.path) == derived[item.path])
    return Proven(call, checkers, max(outcome.seconds for outcome in outcomes), wide)


def _leaving(difference: str) -> str:
    """How to leave out what a call does to an object of a fixture, where that is what differs."""
    match = re.match(re.escape(STATE) + r"\w+", difference)
    return f" (to leave it out: --check '{match.group()}=ignore')" if match else ""


def _confirmed(golden: Golden, chosen: Sequence[Proven]) -> tuple[list[Proven], list[Rejected]]:
    """The chosen calls once more, in a run that their tolerances were not derived from."""
    run = golden.replay(
        [item.call.number for item in chosen], [replaying.Variant("golden")], seed=REPEATS + 1, threads=3
    )
    confirmed, failed = [], []
    for item in chosen:
        expected = replaying.load_document(item.call.folder, "expected")
        found = replaying.differences(expected, run.of("golden", str(item.call.number)), item.checkers)
        if found:
            failed.append(Rejected(item.call, f"differs in one more run: {found[0]}"))
        else:
            confirmed.append(item)
    return confirmed, failed


def _why(outcome: replaying.Outcome) -> str:
    text = outcome.error_text or outcome.status
    if outcome.status == "import-error":
        return f"{NOT_IMPORTED}: {text}"
    return f"cannot be replayed: {text}"


def _versions(run: replaying.Replay) -> dict[str, str]:
    return {
        name: str(run.facts[name]) for name in ("python", "torch", "numpy", "pandas") if run.facts.get(name)
    }
