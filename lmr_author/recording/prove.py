"""Replay recorded calls on the golden, keep those that reproduce, derive their tolerances, and choose among them.

All recorded calls are replayed. About three become cases, and more where these catch what the others do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from lmr_author.errors import LmrError
from lmr_author.evaluation.bench import MUTANTS
from lmr_author.probe.calling import RANDOM
from lmr_author.probe.document import Document
from lmr_author.probe.outcome import as_written
from lmr_author.recording.calls import Proven, RecordedCall, Room, too_much
from lmr_author.recording.checkers import fixture_advice, with_chosen
from lmr_author.recording.choose import Catch, additions, order_of_choice
from lmr_author.recording.tolerance import derive, differs_in_double
from lmr_author.recording.versions import DOUBLE, MUTANT_SECONDS, OVERHEAD, Golden, try_versions
from lmr_author.replay import replaying
from lmr_author.task import Progress
from lmr_author.texts import time_left

REPEATS = 2
"""Golden replays per call, each in a process of its own, with another hash seed and number of threads."""
BATCH_CALLS, BATCH_BYTES, BATCH_SECONDS = 100, 48 * 2**20, 20.0
"""Calls that are replayed at once: their number, size and time, at most."""
MOST_SECONDS = 60.0
"""Time of the calls that are replayed, by the recorded run; at least those that are wanted are."""
FEWEST_MUTANTS = 5
"""With fewer, which is what a slow function leaves time for, nothing is shown."""
NOT_IMPORTED = "the goal file cannot be imported by itself"
Mutants = Callable[[int, Sequence[Proven]], Sequence[replaying.Variant]]
"""Makes so many mutants of the goal file, or fewer, for cases that some calls become."""


@dataclass(frozen=True)
class Rejected:
    """A call that was recorded and not taken, and why."""

    call: RecordedCall
    reason: str


@dataclass(frozen=True)
class Killed:
    """Mutants that were tried, and those that survive all chosen cases.

    Attributes:
        diffs: of the survivors, each with its line.
        complete: all mutants were tried that ``evaluate`` tries; a slow function leaves time for fewer.
    """

    tried: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    complete: bool = True
    diffs: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Proof:
    """The cases chosen among the recorded calls, and their worth.

    Attributes:
        chosen: the cases, in the order of the recorded calls.
        rejected: calls that were not taken.
        versions: of what ran them.
        killed: the mutants that the cases kill.
        adds: number of a call → what it adds to the others, in words.
        hits: blocks that any replayed call executes.
        fragile: correct rewrites that would fail, and why.
    """

    chosen: tuple[Proven, ...]
    rejected: tuple[Rejected, ...]
    versions: dict[str, str]
    killed: Killed = field(default_factory=Killed)
    adds: Mapping[int, str] = field(default_factory=dict)
    hits: frozenset[int] = frozenset()
    fragile: tuple[str, ...] = ()


def prove(
    golden: Golden,
    calls: Sequence[RecordedCall],
    wanted: int,
    progress: Progress,
    mutants: Mutants,
    room: Room,
    rewrites: Sequence[replaying.Variant] = (),
) -> Proof:
    """Choose about ``wanted`` of the calls that replay to the same outcome: those that catch all that any call does.

    Args:
        calls: as recorded.
        room: size that the chosen calls may have together.
        rewrites: correct versions, which have to pass.

    Raises:
        LmrError: not one call reproduces, or none has room in the task, with the reasons.
    """
    found = _Replayed(golden, progress)
    found.replay(calls, wanted)
    proven, rejected = found.proven, found.rejected
    if not proven:
        raise _irreproducible(golden.plan.qualname, rejected)
    fitting = [item for item in proven if item.call.stored <= room.left]
    if not fitting:
        smallest = min(proven, key=lambda item: item.call.stored)
        raise LmrError(
            f"no call of {golden.plan.qualname} has room in the task",
            f"the smallest: {too_much(smallest.call, room)}",
        )
    without_room = [item.call for item in proven if item not in fitting]
    first = Catch(fitting, {}).choose(fitting, wanted)
    # The first call in a process is slow, as a library loads parts of itself: that is no cost of every mutant.
    cost = len(first) * median(item.cost for item in first)
    affordable = int(MUTANT_SECONDS / (OVERHEAD + cost))
    versions = mutants(affordable, fitting) if affordable >= FEWEST_MUTANTS else ()
    killed = _killed(golden, fitting, first, versions, progress)
    catch = Catch(fitting, killed)
    size, kept = 0, list[Proven]()
    for item in catch.choose([*first, *(item for item in fitting if item not in first)], wanted):
        if size + item.call.stored > room.left:
            without_room.append(item.call)
            continue
        kept.append(item)
        size += item.call.stored
    without_room.sort(key=lambda call: call.stored)
    rejected += [Rejected(call, too_much(call, room)) for call in without_room]
    progress(f"confirming the {len(kept)} chosen cases")
    confirmed, failed, fragile = _confirmed(golden, kept, rewrites)
    if not confirmed:
        raise _irreproducible(golden.plan.qualname, failed)
    confirmed.sort(key=lambda item: item.call.number)
    # One that died of a dropped case only may die of another one that was not tried on it.
    dead = set[str]().union(*(killed[item.call.number] for item in confirmed))
    left = [version for version in versions if version.id not in dead]
    if len(confirmed) < len(kept) and left:
        dead |= set[str]().union(*try_versions(golden, confirmed, left, progress).values())
    tried = tuple(version.id for version in versions)
    survivors = tuple(item for item in tried if item not in dead)
    complete = affordable >= MUTANTS or len(tried) < affordable
    doubtful = [found.fragile[item.call.number] for item in confirmed if item.call.number in found.fragile]
    return Proof(
        chosen=tuple(confirmed),
        rejected=(*failed, *rejected),
        versions=found.versions,
        killed=Killed(tried, survivors, complete),
        adds=additions(confirmed, catch),
        hits=frozenset[int]().union(*(item.hits for item in proven)),
        fragile=tuple(dict.fromkeys([*fragile, *doubtful])),
    )


class _Replayed:
    """Calls that were replayed on the golden.

    Attributes:
        proven: those that reproduce.
        fragile: number of a call → why a correct version that computes in float64 would fail it.
    """

    def __init__(self, golden: Golden, progress: Progress) -> None:
        self.golden, self.progress = golden, progress
        self.proven: list[Proven] = []
        self.rejected: list[Rejected] = []
        self.fragile: dict[int, str] = {}
        self.versions: dict[str, str] = {}

    def replay(self, calls: Sequence[RecordedCall], wanted: int) -> None:
        """Replay calls in batches, the best first, until the time is up and enough reproduce."""
        self.rejected = [Rejected(call, why) for call in calls if (why := self._lacks(call))]
        lacking = {item.call.number for item in self.rejected}
        waiting = [call for call in order_of_choice(calls) if call.number not in lacking]
        total, spent = len(waiting), 0.0
        while waiting and (spent < MOST_SECONDS or len(self.proven) < wanted):
            batch, size, seconds = waiting[:1], waiting[0].size, waiting[0].seconds
            for call in waiting[1:BATCH_CALLS]:
                size, seconds = size + call.size, seconds + call.seconds + call.comparing
                if size > BATCH_BYTES or seconds > BATCH_SECONDS:
                    break
                batch.append(call)
            waiting, spent = waiting[len(batch) :], spent + seconds
            self._replay(batch, f"{total - len(waiting)} of {total}")
        late = f"not replayed: the calls before it took {MOST_SECONDS:.0f} s"
        self.rejected += [Rejected(call, late) for call in waiting]

    def _lacks(self, call: RecordedCall) -> str:
        """Return why a call is no case although it could be stored: a correct version may read what it lacks."""
        for item in call.omitted:
            path = as_written(str(item["path"]))
            if path.rpartition(".")[2] in self.golden.named:
                advice = fixture_advice([path]) or "drive the function with what can be stored"
                return f"{path} ({item['type']}) could not be stored, and the function names it; {advice}"
        return ""

    def _replay(self, batch: Sequence[RecordedCall], count: str) -> None:
        self.golden.add(batch)
        runs: list[replaying.Replay] = []
        for repeat in range(1, REPEATS + 1):
            left = time_left((REPEATS + 3 - repeat) * runs[0].result.seconds) if runs else ""
            text = f"replaying call {count} on the golden, {repeat} of {REPEATS} times"
            self.progress(f"{text}{', ' + left if left else ''}")
            # Another number of threads sums in another order: the spread of that belongs to the tolerance.
            last = repeat == REPEATS
            runs.append(self.golden.replay(batch, seed=repeat, threads=2 if last else 1, doubles=last))
        names = ("python", "torch", "numpy", "pandas")
        self.versions = {name: str(runs[0].facts[name]) for name in names if runs[0].facts.get(name)}
        for call in batch:
            outcome = runs[-1].outcomes.get(("golden", f"{call.number}{DOUBLE}"))
            returned = outcome is not None and outcome.status == "returned"
            judged = self._judge(call, runs, outcome.document if outcome and returned else None)
            if isinstance(judged, Rejected):
                self.rejected.append(judged)
            else:
                self.proven.append(judged)

    def _judge(
        self, call: RecordedCall, runs: Sequence[replaying.Replay], precise: Document | None
    ) -> Proven | Rejected:
        expected = replaying.load_document(call.folder, "expected")
        inputs = replaying.load_document(call.folder, "inputs")
        outcomes = [run.of("golden", str(call.number)) for run in runs]
        for outcome in outcomes:
            if outcome.document is None:
                text = outcome.error_text or outcome.status
                why = NOT_IMPORTED if outcome.status == "import-error" else "cannot be replayed"
                return Rejected(call, f"{why}: {text}")
        documents = [outcome.document for outcome in outcomes if outcome.document is not None]
        derived, wide = derive(expected, documents, precise, inputs)
        checkers = with_chosen(derived, self.golden.checks, expected, self.golden.ignored)
        for outcome in outcomes:
            found = replaying.differences(expected, outcome, checkers)
            if found:
                return Rejected(call, f"gives another result when replayed: {found[0]}")
        if precise is not None and RANDOM not in inputs.tree:
            parts = differs_in_double(expected, precise, checkers)
            if parts:
                self.fragile[call.number] = (
                    f"in float64 the golden gives another {parts[0]}: a correct version that rounds otherwise fails, "
                    f"unless that is the point; use inputs without ties, or --check '{parts[0]}=allclose:1e-3,1e-3'"
                )
        wide = tuple(item for item in wide if checkers.get(item.path) == derived[item.path])
        hits = outcomes[0].hits or call.hits
        return Proven(call, checkers, hits, max(outcome.seconds for outcome in outcomes), wide)


def _killed(
    golden: Golden,
    proven: Sequence[Proven],
    first: Sequence[Proven],
    versions: Sequence[replaying.Variant],
    progress: Progress,
) -> dict[int, frozenset[str]]:
    """Return number of a call → mutants that fail its case: all on the first calls, survivors on the others."""
    killed: dict[int, frozenset[str]] = {item.call.number: frozenset() for item in proven}
    killed |= try_versions(golden, first, versions, progress)
    left = [item for item in versions if item.id not in set().union(*killed.values())]
    budget, others = MUTANT_SECONDS - OVERHEAD * len(left), list[Proven]()
    for item in proven:
        budget -= item.cost * len(left)
        if item not in first and (budget >= 0 or not others):
            others.append(item)
    return killed | try_versions(golden, others, left, progress)


def _confirmed(
    golden: Golden, chosen: Sequence[Proven], rewrites: Sequence[replaying.Variant]
) -> tuple[list[Proven], list[Rejected], list[str]]:
    """Run the chosen calls once more, in a run that their tolerances were not derived from, and correct rewrites.

    Returns the calls that pass, those that do not, and the rewrites that fail, with the reason.
    """
    variants = [replaying.Variant("golden"), *rewrites]
    run = golden.replay([item.call for item in chosen], variants, seed=REPEATS + 1, threads=3)
    confirmed, failed, fragile = [], [], []
    for item in chosen:
        name, expected = str(item.call.number), replaying.load_document(item.call.folder, "expected")
        outcomes = {version.id: run.of(version.id, name) for version in variants}
        found = {
            key: replaying.differences(expected, outcome, item.checkers) for key, outcome in outcomes.items()
        }
        if difference := found.pop("golden"):
            failed.append(Rejected(item.call, f"differs in one more run: {difference[0]}"))
            continue
        confirmed.append(item)
        fragile += [f"the golden with {key} fails: {texts[0]}" for key, texts in found.items() if texts]
    return confirmed, failed, fragile


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
