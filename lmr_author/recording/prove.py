"""Replay recorded calls on the golden, keep those that reproduce, derive their tolerances, and choose among them.

About three are chosen which together cover the target, and a few more where these kill mutants that the others do not.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lmr_author.errors import LmrError
from lmr_author.evaluation.bench import MUTANTS
from lmr_author.probe.document import Document, dump
from lmr_author.probe.outcome import as_written
from lmr_author.recording.calls import Proven, RecordedCall, Room, hits_of, order_of_choice, too_much
from lmr_author.recording.checkers import Helpers, fixture_advice, with_chosen
from lmr_author.recording.tolerance import derive, in_double
from lmr_author.replay import judging, replaying
from lmr_author.replay.replaying import CONTROL, beside_the_golden
from lmr_author.sandbox.base import Limits, Sandbox
from lmr_author.task import Progress
from lmr_author.texts import time_left

REPEATS = 3
"""Golden replays per call, each in a process of its own."""
BATCH_CALLS, BATCH_BYTES, BATCH_SECONDS = 100, 48 * 2**20, 20.0
"""Calls that are replayed, and searched for those that kill mutants: their number, size and time, at most."""
FEWEST_MUTANTS = 5
"""With fewer, which is what a slow function leaves time for, nothing is shown."""
MUTANT_SECONDS, OVERHEAD = 120.0, 0.3
"""The time for trying mutants, by the golden's own times, and what starting one takes."""
NOT_IMPORTED = "the goal file cannot be imported by itself"
DOUBLE = "-double"
"""Ends the name of a case whose inputs are float64."""

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
        complete: all mutants were tried that ``evaluate`` tries; a slow function leaves time for fewer.
    """

    tried: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    complete: bool = True


@dataclass(frozen=True)
class Proof:
    """The chosen calls in order, the rejected ones, the versions of what ran them, and the mutants they kill."""

    chosen: tuple[Proven, ...]
    rejected: tuple[Rejected, ...]
    versions: dict[str, str]
    killed: Killed = field(default_factory=Killed)


@dataclass(frozen=True)
class Golden:
    """The golden tree, ready to replay recorded calls on it, or on mutants of its goal file.

    Attributes:
        plan: target and module; ``recording`` is a folder of ours, which :meth:`add` fills.
        tree, inside: the golden tree, without tests, and where it appears.
        helpers: what the annotator wrote beside the tests.
        functions: path in the outcome → function of ``unit_test/checkers.py`` that judges it.
    """

    sandbox: Sandbox
    plan: replaying.ReplayPlan
    tree: Path
    inside: str
    helpers: Helpers
    functions: Mapping[str, str]

    def add(self, calls: Sequence[RecordedCall]) -> None:
        """Make calls ready to be replayed: as they are and, where they hold float32, as float64."""
        for call in calls:
            folder = self.plan.recording / str(call.number)
            shutil.copytree(call.folder, folder)
            precise = in_double(replaying.load_document(folder, "inputs"))
            if precise is not None:
                double = self.plan.recording / f"{call.number}{DOUBLE}"
                double.mkdir()
                dump(precise, str(double), "inputs")

    def replay(
        self,
        calls: Sequence[RecordedCall],
        variants: Sequence[replaying.Variant] = (replaying.Variant("golden"),),
        *,
        seed: int = 0,
        threads: int = 1,
        limits: Limits | None = None,
        **changes: Any,
    ) -> replaying.Replay:
        """Replay calls, named by their number. ``changes``: of the plan. Raises SandboxError."""
        cases = tuple(str(call.number) for call in calls)
        custom = None
        if self.helpers.checkers is not None and self.functions:
            custom = judging.Judging(
                self.helpers.checkers, self.plan.recording, dict.fromkeys(cases, self.functions)
            )
        plan = replace(self.plan, cases=cases, judging=custom, fixtures=self.helpers.fixtures, **changes)
        return replaying.replay(
            self.sandbox,
            self.tree,
            self.inside,
            plan,
            variants,
            hash_seed=seed,
            threads=threads,
            limits=limits,
        )

    def precise(self, calls: Sequence[RecordedCall]) -> dict[int, Document]:
        """Return outcomes of calls with float64 in the place of float32, where the golden accepts that."""
        names = {call.number: f"{call.number}{DOUBLE}" for call in calls}
        names = {number: name for number, name in names.items() if (self.plan.recording / name).is_dir()}
        if not names:
            return {}
        plan = replace(self.plan, cases=tuple(names.values()), fixtures=self.helpers.fixtures)
        run = replaying.replay(self.sandbox, self.tree, self.inside, plan, [replaying.Variant("golden")])
        outcomes = {number: run.of("golden", name) for number, name in names.items()}
        return {
            number: item.document
            for number, item in outcomes.items()
            if item.document is not None and item.status == "returned"
        }


def prove(
    golden: Golden,
    calls: Sequence[RecordedCall],
    wanted: int,
    progress: Progress,
    mutants: Mutants,
    checks: Mapping[str, Mapping[str, Any]],
    room: Room,
) -> Proof:
    """Choose ``wanted`` calls that replay to the same outcome, and a few more that kill mutants.

    Args:
        calls: as recorded.
        checks: path in the outcome → how it is compared, where the annotator says so.
        room: size that the chosen calls may have together.

    Raises:
        LmrError: not one call reproduces, or none has room in the task, with the reasons.
    """
    proven, rejected, first = _reproducing(golden, calls, wanted, progress, checks)
    if not proven:
        raise _irreproducible(golden.plan.qualname, rejected)
    fitting = [item for item in proven if item.call.stored <= room.left]
    if not fitting:
        smallest = min(proven, key=lambda item: item.call.stored)
        raise LmrError(
            f"no call of {golden.plan.qualname} has room in the task",
            f"the smallest: {too_much(smallest.call, room)}",
        )
    left = time_left(2 * first.result.seconds + MUTANT_SECONDS / 3)
    progress(f"trying mutants of the golden{', ' + left if left else ''}")
    cost = sum(item.cost for item in fitting[:wanted])
    affordable = int(MUTANT_SECONDS / (OVERHEAD + cost))
    versions = mutants(affordable, fitting) if affordable >= FEWEST_MUTANTS else ()
    chosen, killed_by = _choose(golden, fitting, wanted, versions)
    without_room = [item.call for item in proven if item not in fitting]
    size, kept = 0, list[Proven]()
    for item in chosen:
        if size + item.call.stored > room.left:
            without_room.append(item.call)
            continue
        kept.append(item)
        size += item.call.stored
    without_room.sort(key=lambda call: call.stored)
    rejected += [Rejected(call, too_much(call, room)) for call in without_room]
    progress("confirming the chosen cases")
    confirmed, failed = _confirmed(golden, kept)
    if not confirmed:
        raise _irreproducible(golden.plan.qualname, failed)
    dead = set[str]().union(*(killed_by.get(item.call.number, ()) for item in confirmed))
    alive = [version for version in versions if version.id not in dead]
    if (
        len(confirmed) < len(chosen) and alive
    ):  # some died of a dropped case, and were not tried on the others
        dead |= set[str]().union(*_killed(golden, confirmed, alive).values())
    tried = tuple(version.id for version in versions)
    complete = affordable >= MUTANTS or len(tried) < affordable
    killed = Killed(tried, tuple(item for item in tried if item not in dead), complete)
    names = ("python", "torch", "numpy", "pandas")
    found = {name: str(first.facts[name]) for name in names if first.facts.get(name)}
    return Proof(tuple(confirmed), (*failed, *rejected), found, killed)


def _reproducing(
    golden: Golden,
    calls: Sequence[RecordedCall],
    wanted: int,
    progress: Progress,
    checks: Mapping[str, Mapping[str, Any]],
) -> tuple[list[Proven], list[Rejected], replaying.Replay]:
    """Replay calls until enough reproduce; return these, the others, and the first run."""
    waiting = order_of_choice(calls)
    proven, rejected, first = list[Proven](), list[Rejected](), list[replaying.Replay]()
    while waiting and len(proven) < wanted:
        batch, size, seconds = waiting[:1], waiting[0].size, 0.0
        for call in waiting[1:BATCH_CALLS]:
            size, seconds = size + call.size, seconds + call.seconds + call.comparing
            if size > BATCH_BYTES or seconds > BATCH_SECONDS:
                break
            batch.append(call)
        waiting = waiting[len(batch) :]
        golden.add(batch)
        runs: list[replaying.Replay] = []
        for seed in range(1, REPEATS + 1):
            left = time_left((REPEATS + 3 - seed) * runs[0].result.seconds) if runs else ""
            progress(
                f"replaying {len(batch)} of {len(calls)} recorded calls on the golden{', ' + left if left else ''}"
            )
            # Another number of threads sums in another order: the spread of that belongs to the tolerance.
            runs.append(golden.replay(batch, seed=seed, threads=1 + seed // REPEATS))
        precise = golden.precise(batch)
        first = first or runs
        for call in batch:
            judged = _judge(call, runs, precise.get(call.number), checks)
            if isinstance(judged, Rejected):
                rejected.append(judged)
            else:
                proven.append(judged)
    return proven, rejected, first[0]


def _judge(
    call: RecordedCall,
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
    golden: Golden, proven: Sequence[Proven], wanted: int, versions: Sequence[replaying.Variant]
) -> tuple[list[Proven], dict[int, frozenset[str]]]:
    """Take the first ``wanted`` calls, and up to as many again that kill other mutants or execute other blocks.

    Then drop those whose place others fill as well, in the blocks they execute and the mutants they kill.

    Returns the chosen calls, and number of a call → ids of the mutants it kills.
    """
    chosen, rest = list(proven[:wanted]), list(proven[wanted:])
    killed: dict[int, frozenset[str]] = {item.call.number: frozenset() for item in proven}
    killed |= _killed(golden, chosen, versions)
    left = {item.id for item in versions}.difference(*killed.values())
    budget, tried = MUTANT_SECONDS - OVERHEAD * len(left), list[Proven]()
    for item in rest:
        budget -= item.cost * len(left)
        if tried and budget < 0:
            break
        tried.append(item)
    if tried:
        killed |= _killed(golden, tried, [item for item in versions if item.id in left])
    covered = hits_of(item.call for item in chosen)

    def gain(item: Proven) -> int:
        return len(killed[item.call.number] & left) + len(item.call.hits - covered)

    while rest and len(chosen) < 2 * wanted:
        best = max(rest, key=gain)
        if not gain(best):
            break
        rest.remove(best)
        chosen.append(best)
        left -= killed[best.call.number]
        covered |= best.call.hits
    for item in sorted(chosen, key=lambda item: -item.call.size):
        others = [other for other in chosen if other is not item]
        dead = set[str]().union(*(killed[other.call.number] for other in others))
        superfluous = item.call.hits <= hits_of(other.call for other in others)
        if len(chosen) > wanted and superfluous and killed[item.call.number] <= dead:
            chosen = others
    return chosen, killed


def _killed(
    golden: Golden, calls: Sequence[Proven], versions: Sequence[replaying.Variant]
) -> dict[int, frozenset[str]]:
    """Return number of a call → the versions that fail its case, with the limits that ``evaluate`` has.

    Versions that the time did not suffice for survive.
    """
    by_name = {str(item.call.number): item for item in calls}
    expected = {name: replaying.load_document(item.call.folder, "expected") for name, item in by_name.items()}
    found: dict[str, set[str]] = {name: set() for name in by_name}

    def passes(case: str, outcome: replaying.ReplayOutcome) -> bool:
        return not replaying.differences(expected[case], outcome, by_name[case].checkers)

    def run(variants: Sequence[replaying.Variant], seconds: float, shared: bool) -> replaying.Replay:
        limits = Limits(seconds=60 + 3 * MUTANT_SECONDS)
        called = [item.call for item in calls]
        return golden.replay(
            called, variants, limits=limits, case_seconds=seconds, share=shared, until_lost=True
        )

    patience = max(5.0, 20 * max((item.seconds for item in calls), default=0.0))
    step = max(1, min(50, replaying.BATCH_BYTES // max(1, sum(item.call.size for item in calls))))
    for start in range(0, len(versions), step):
        batch = versions[start : start + step]
        tried = beside_the_golden(run, replaying.Variant(CONTROL), batch, by_name, patience, passes)
        for version in batch:
            for case in tried.fair:
                outcome = tried.run.outcomes.get((version.id, case))
                if outcome and not passes(case, outcome):
                    found[case].add(version.id)
    return {int(case): frozenset(ids) for case, ids in found.items()}


def _confirmed(golden: Golden, chosen: Sequence[Proven]) -> tuple[list[Proven], list[Rejected]]:
    """Run the chosen calls once more, in a run that their tolerances were not derived from."""
    run = golden.replay([item.call for item in chosen], seed=REPEATS + 1, threads=3)
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
