"""Replay recorded calls on the golden, keep those that reproduce, derive their tolerances, and choose among them.

All recorded calls are replayed. About three become cases, and more where these catch what the others do not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from lmr_author.authoring.recording.calls import RecordedCall, Room, too_much
from lmr_author.authoring.recording.checkers import check_option, fixture_advice, with_chosen
from lmr_author.authoring.recording.choose import Catch, additions, order_of_choice
from lmr_author.authoring.recording.drivers import DRIVER
from lmr_author.authoring.recording.tolerance import Exactness, derive, differs_in_double, narrowed
from lmr_author.authoring.recording.versions import DOUBLE, MUTANT_SECONDS, OVERHEAD, Golden, try_mutants
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.core.texts import time_left
from lmr_author.proof.evaluation.bench import MUTANTS
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.proof.evaluation.wrong_versions import mutants_to_try
from lmr_author.runtime.probe.calling import RANDOM
from lmr_author.runtime.probe.compare import Spread
from lmr_author.runtime.probe.document import Document, walk
from lmr_author.runtime.probe.outcome import as_written
from lmr_author.runtime.replay import replaying

REPEATS = 2
"""Golden replays per call, each in a process of its own, with another hash seed and number of threads."""
BATCH_CALLS, BATCH_BYTES, BATCH_SECONDS = 100, 48 * 2**20, 20.0
"""Calls that are replayed at once: their number, size and time, at most."""
MOST_SECONDS = 60.0
"""Processor time of the calls that are replayed, by the recorded run; at least those that are wanted are."""
FEWEST_MUTANTS = 5
"""With fewer, which is what a slow function leaves time for, nothing is shown."""
MOST_ROUNDED = 0.01
"""Largest distance that a wider tolerance is advised for: what differs by more is another result."""


@dataclass(frozen=True)
class Rejected:
    """A call that was recorded and not taken, and why.

    Attributes:
        not_imported: the goal file cannot be imported by itself.
    """

    call: RecordedCall
    reason: str
    not_imported: bool = False


@dataclass(frozen=True)
class Proof:
    """The cases chosen among the recorded calls, and their worth.

    Attributes:
        chosen: the cases, in the order of the recorded calls.
        rejected: calls that were not taken.
        versions: of what ran them.
        adds: number of a call → what it adds to the others, in words.
        hits: blocks that any replayed call executes.
        fragile: correct rewrites that would fail, and why.
        tried: number of mutants that were tried.
        made: number of those that ``evaluate`` tries; a slow function leaves time for fewer.
        survivors: those that survive all chosen cases.
    """

    chosen: tuple[RecordedCall, ...]
    rejected: tuple[Rejected, ...]
    versions: Mapping[str, str]
    adds: Mapping[int, str] = field(default_factory=dict)
    hits: frozenset[int] = frozenset()
    fragile: tuple[str, ...] = ()
    tried: int = 0
    made: int = 0
    survivors: tuple[Mutant, ...] = ()


def prove(
    golden: Golden,
    calls: Sequence[RecordedCall],
    wanted: int,
    room: Room,
    accepted: Collection[str],
    progress: Progress,
) -> Proof:
    """Choose about ``wanted`` of the calls that replay to the same outcome: those that catch all that any call does.

    Args:
        calls: as recorded.
        room: size that the chosen calls may have together.
        accepted: ids of mutants that count as equivalent.

    Raises:
        LmrError: not one call reproduces, or none has room in the task, with the reasons.
    """
    replayed = Replayed(golden, progress)
    replayed.replay(calls, wanted)
    fitting = _fitting(replayed, golden, room)
    first = Catch(fitting, {}).choose(fitting, wanted)
    sample, made = _mutants(golden, fitting, first, accepted)
    killed = _killed(golden, fitting, first, sample, progress)
    catch = Catch(fitting, killed)

    kept: list[RecordedCall] = []
    without_room = [call for call in replayed.proven if call not in fitting]
    others = [call for call in fitting if call not in first]
    for call in catch.choose([*first, *others], wanted):
        fits = sum(chosen.stored for chosen in kept) + call.stored <= room.left
        (kept if fits else without_room).append(call)
    without_room.sort(key=lambda call: call.stored)

    progress(f"confirming the {len(kept)} chosen cases")
    confirmed, failed, fragile = _confirmed(golden, kept, calls)
    if not confirmed:
        raise _irreproducible(golden.plan.qualname, failed)
    confirmed.sort(key=lambda call: call.number)
    survivors = _left(sample, (killed[call.number] for call in confirmed))
    if (
        failed and survivors
    ):  # one that died of a dropped case may die of another one that it was not tried on
        survivors = _left(survivors, try_mutants(golden, confirmed, survivors, progress).values())
    fragile += [replayed.fragile[call.number] for call in confirmed if call.number in replayed.fragile]
    too_large = [Rejected(call, too_much(call, room)) for call in without_room]
    return Proof(
        chosen=tuple(confirmed),
        rejected=(*failed, *replayed.rejected, *too_large),
        versions=replayed.versions,
        adds=additions(confirmed, catch),
        hits=frozenset[int]().union(*(call.hits for call in replayed.proven)),
        fragile=tuple(dict.fromkeys(fragile)),
        tried=len(sample),
        survivors=tuple(survivors),
        made=made,
    )


def _fitting(replayed: Replayed, golden: Golden, room: Room) -> list[RecordedCall]:
    """Return the calls that reproduce and have room in the task. Raises LmrError where there is none."""
    if not replayed.proven:
        raise _irreproducible(golden.plan.qualname, replayed.rejected)
    fitting = [call for call in replayed.proven if call.stored <= room.left]
    if not fitting:
        smallest = min(replayed.proven, key=lambda call: call.stored)
        raise LmrError(
            f"no call of {golden.plan.qualname} has room in the task",
            f"the smallest: {too_much(smallest, room)}",
        )
    return fitting


def _mutants(
    golden: Golden, fitting: Sequence[RecordedCall], first: Sequence[RecordedCall], accepted: Collection[str]
) -> tuple[list[Mutant], int]:
    """Return the mutants to try, as many as there is time for, and how many ``evaluate`` will try."""
    # The first call in a process is slow, as a library loads parts of itself: that is no cost of every mutant.
    affordable = int(MUTANT_SECONDS / (OVERHEAD + len(first) * median(call.cost for call in first)))
    paths = [path for call in fitting for path in call.checkers]
    every = mutants_to_try(golden.module, [golden.definition], paths, MUTANTS)
    sample = every if affordable >= len(every) else []
    if not sample and affordable >= FEWEST_MUTANTS:
        sample = mutants_to_try(golden.module, [golden.definition], paths, affordable)
    counting = [mutant for mutant in sample if mutant.id not in accepted]
    return counting, sum(mutant.id not in accepted for mutant in every)


def _left(mutants: Sequence[Mutant], killed: Iterable[frozenset[str]]) -> list[Mutant]:
    """Return the mutants that no case kills."""
    dead = frozenset[str]().union(*killed)
    return [mutant for mutant in mutants if mutant.id not in dead]


class Replayed:
    """Calls that were replayed on the golden.

    Attributes:
        proven: those that reproduce.
        fragile: number of a call → why a correct version that computes in float64 would fail it.
    """

    def __init__(self, golden: Golden, progress: Progress) -> None:
        self.golden, self.progress = golden, progress
        self.proven: list[RecordedCall] = []
        self.rejected: list[Rejected] = []
        self.fragile: dict[int, str] = {}
        self.versions: dict[str, str] = {}
        self._exact: dict[int, Mapping[str, Exactness]] = {}

    def replay(self, calls: Sequence[RecordedCall], wanted: int) -> None:
        """Replay calls in batches, the best first, until the time is up and enough reproduce."""
        self.rejected = [Rejected(call, why) for call in calls if (why := self._lacks(call))]
        lacking = {rejected.call.number for rejected in self.rejected}
        waiting = [call for call in order_of_choice(calls) if call.number not in lacking]
        total, spent = len(waiting), 0.0
        while waiting and (spent < MOST_SECONDS or len(self.proven) < wanted):
            batch, size, seconds = waiting[:1], waiting[0].size, waiting[0].cost
            for call in waiting[1:BATCH_CALLS]:
                size, seconds = size + call.size, seconds + call.cost
                if size > BATCH_BYTES or seconds > BATCH_SECONDS:
                    break
                batch.append(call)
            waiting, spent = waiting[len(batch) :], spent + seconds
            self._replay(batch, f"{total - len(waiting)} of {total}")
        late = f"not replayed: the calls before it took {MOST_SECONDS:.0f} s"
        self.rejected += [Rejected(call, late) for call in waiting]
        exact = [self._exact[call.number] for call in self.proven]
        checkers = narrowed([call.checkers for call in self.proven], exact)
        self.proven = [
            replace(call, checkers=exacter) for call, exacter in zip(self.proven, checkers, strict=True)
        ]

    def _lacks(self, call: RecordedCall) -> str:
        """Return why a call is no case although it could be stored: a correct version may read what it lacks."""
        for part in call.omitted:
            path, kind = as_written(str(part["path"])), str(part["type"])
            if path.rpartition(".")[2] in self.golden.named:
                advice = fixture_advice({path: kind}) or "drive the function with what can be stored"
                return f"{path} ({kind}) could not be stored, and the function names it; {advice}"
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
            judged = self._judge(call, runs)
            if isinstance(judged, Rejected):
                self.rejected.append(judged)
            else:
                self.proven.append(judged)

    def _judge(self, call: RecordedCall, runs: Sequence[replaying.Replay]) -> RecordedCall | Rejected:
        """Return a call with its tolerances, or why it is no case; the last of the runs had float64 inputs, too."""
        expected = replaying.load_document(call.folder, "expected")
        inputs = replaying.load_document(call.folder, "inputs")
        outcomes = [run.of("golden", str(call.number)) for run in runs]
        for outcome in outcomes:
            if outcome.part:
                lacking = {"path": outcome.part, "type": _class_at(inputs, outcome.part)}
                call = replace(call, omitted=(lacking,))
            if outcome.document is None:
                text = outcome.error_text or outcome.status
                if outcome.status == "import-error":
                    return Rejected(call, f"the goal file cannot be imported by itself: {text}", True)
                return Rejected(call, f"cannot be replayed: {text}")
        documents = [outcome.document for outcome in outcomes if outcome.document is not None]
        in_double = runs[-1].of("golden", f"{call.number}{DOUBLE}")
        precise = in_double.document if in_double.status == "returned" else None
        derived = derive(expected, documents, precise, inputs)
        self._exact[call.number] = derived.exact
        golden = self.golden
        checkers = with_chosen(derived.checkers, golden.checks, expected, golden.ignored, golden.grads)
        for outcome in outcomes:
            differences = replaying.differences(expected, outcome, checkers)
            if differences:
                return Rejected(call, f"gives another result when replayed: {differences[0]}")
        if precise is not None and RANDOM not in inputs.tree:
            parts = differs_in_double(expected, precise, checkers)
            if parts:
                self.fragile[call.number] = _fragile(*parts[0])
        wide = [part for part in derived.wide if checkers.get(part.path) == derived.checkers[part.path]]
        return replace(
            call,
            checkers=checkers,
            hits=outcomes[0].hits or call.hits,
            seconds=max(outcome.seconds for outcome in outcomes),
            wide=tuple(wide),
        )


def _class_at(inputs: Document, path: str) -> str:
    """Return the class of an object among some inputs, as in ``m.Words``; "" where its node has none."""
    node = dict(walk(inputs.tree)).get(path)
    if isinstance(node, dict) and node.get("$") == "call":
        node = next(iter(node["args"]), node)  # what copyreg makes an object of
    named = node.get("cls", node.get("v", "")) if isinstance(node, dict) else ""
    return str(named).replace(":", ".")


def _fragile(part: str, spread: Spread | None) -> str:
    """Return what to do about a part that is another one in float64.

    Args:
        spread: how far numbers in it differ; None for what is no float.
    """
    kind = "ignore"
    if spread is not None and min(spread) <= MOST_ROUNDED:
        absolute, relative = (2 * min(distance, MOST_ROUNDED) for distance in spread)
        kind = f"allclose:{relative:.0e},{absolute:.0e}"
    return (
        f"in float64 the golden gives another {part}: a correct version that rounds otherwise fails, unless that is "
        f"the point; use inputs without ties, or {check_option(part, kind)}"
    )


def _killed(
    golden: Golden,
    proven: Sequence[RecordedCall],
    first: Sequence[RecordedCall],
    mutants: Sequence[Mutant],
    progress: Progress,
) -> dict[int, frozenset[str]]:
    """Return number of a call → mutants that fail its case: all on the first calls, survivors on the others."""
    killed: dict[int, frozenset[str]] = {call.number: frozenset() for call in proven}
    killed |= try_mutants(golden, first, mutants, progress)
    left = _left(mutants, killed.values())
    budget, others = MUTANT_SECONDS - OVERHEAD * len(left), list[RecordedCall]()
    for call in proven:
        budget -= call.cost * len(left)
        if call not in first and (budget >= 0 or not others):
            others.append(call)
    return killed | try_mutants(golden, others, left, progress)


def _confirmed(
    golden: Golden, chosen: Sequence[RecordedCall], calls: Sequence[RecordedCall]
) -> tuple[list[RecordedCall], list[Rejected], list[str]]:
    """Run the chosen calls once more, in a run that their tolerances were not derived from, and correct rewrites.

    Returns the calls that pass, those that do not, and the rewrites that fail, with the reason.

    Args:
        calls: all that were recorded.
    """
    variants = [replaying.Variant("golden")]
    # Where its changes count, a version that leaves the arguments alone is none.
    if not any(set(call.changed) - set(golden.ignored) for call in calls):
        variants += golden.with_copied_arguments()
    run = golden.replay(chosen, variants, seed=REPEATS + 1, threads=3)
    confirmed, failed, fragile = list[RecordedCall](), list[Rejected](), list[str]()
    for call in chosen:
        expected = replaying.load_document(call.folder, "expected")
        differences = {
            version.id: replaying.differences(expected, run.of(version.id, str(call.number)), call.checkers)
            for version in variants
        }
        if own := differences.pop("golden"):
            failed.append(Rejected(call, f"differs in one more run: {own[0]}"))
            continue
        confirmed.append(call)
        for rewrite, texts in differences.items():
            if texts:
                fragile.append(f"the golden with {rewrite} fails: {texts[0]}")
    return confirmed, failed, fragile


def _irreproducible(qualname: str, rejected: Sequence[Rejected]) -> LmrError:
    reasons = "; ".join(dict.fromkeys(one.reason for one in rejected))[:400]
    if all(one.not_imported for one in rejected):
        return LmrError(
            f"{qualname} was called, but no test can do that: {reasons}",
            "a test imports the file, with neither the command's arguments nor its data: choose a function of a "
            "file that does not run a program when it is imported",
        )
    omitted = [part for one in rejected for part in one.call.omitted]
    parts = {as_written(str(part["path"])): str(part["type"]) for part in omitted}
    hint = (
        "the function depends on what is no argument (a global, a file, the time); drive it with "
        "that passed in, or choose a function whose result its inputs determine"
    )
    if any(_names_folder_of_driver(one.call) for one in rejected):
        hint = (
            "it is given the path of a file beside the driver, and a test sees the repository alone: give it a file of "
            "the repository, by a path relative to it"
        )
    if advice := fixture_advice(parts):
        named = ", ".join(f"{path} ({kind})" for path, kind in list(parts.items())[:3])
        hint = f"of its inputs, {named} could not be stored; {advice}"
    return LmrError(f"no recorded call of {qualname} reproduces: {reasons}", hint)


def _names_folder_of_driver(call: RecordedCall) -> bool:
    """Return whether a call was given a path in the driver's folder, which no test sees."""
    tree = replaying.load_document(call.folder, "inputs").tree
    return any(isinstance(node, str) and node.startswith(f"{DRIVER}/") for _, node in walk(tree))
