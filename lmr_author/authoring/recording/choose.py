"""Choose cases among replayed calls: by the mutants that they make fail, the blocks they execute, and their options.

All recorded calls are replayed. Those that together catch what any of them does become cases, and beside them, where
calls are small and fast, a few dozen that differ most: a misreading that is no mutant may differ on any of them.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from lmr_author.authoring.recording.job import MOST_BYTES, RecordOptions
from lmr_author.authoring.recording.replay import REPEATS, Golden, Rejected, Replayed, irreproducible
from lmr_author.authoring.recording.run import RecordedCall
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.core.texts import counted, listed, shortened, size_text
from lmr_author.proof.evaluation.bench import MUTANTS
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.proof.evaluation.wrong_versions import mutants_to_try
from lmr_author.runtime.probe.traits import Trait
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay, ReplayOutcome
from lmr_author.runtime.sandbox.base import Limits

NOT_GIVEN = "not given"
"""Value of a trait of a part that a call does not have."""
LONGEST = 40
"""Characters of a part of a call in a description."""
_NAME_IN_MODULE = re.compile(r"[\w.]+[.:]\w+")
FEWEST_MUTANTS = 5
"""With fewer, which is what a slow function leaves time for, nothing is shown."""
VERSIONS_AT_ONCE = 50
MUTANT_SECONDS, OVERHEAD = 120.0, 0.3
"""The processor time for trying mutants, by the golden's own times, and what starting one takes."""
MOST_BUSY = 10
"""So many times slower than that a busy machine may be."""
MOST_OPTION_SECONDS = 30.0
"""A call that only brings an option becomes a case as long as a run of the test takes less processor time."""
MOST_VALUES = 4
"""A part with more values than these is data and no option."""
MOST_COMBINATIONS = 8
"""Ways in which all flags stand together that are told apart: the most frequent ones, where there are more."""
ROOMY = 256 * 1024
"""Bytes of the largest call that is kept for its size: an answer may look at the first few items only."""
GENEROUS_CASES, GENEROUS_BYTES, GENEROUS_SECONDS = 30, 400_000, 3.0
"""So many cases at most, bytes of all their files, and processor seconds of a run, while calls are added that differ.

Five of sixty misreadings of five papers passed, and each differed on a small call that was recorded and not kept.
"""
LARGER = 4
"""A call is much larger than one that has this many times fewer bytes."""


def options_of(calls: Sequence[RecordedCall]) -> dict[int, frozenset[Trait]]:
    """Return number of a call → its options: the traits, also parts that are not given, by which calls differ."""
    paths = {trait.path for call in calls for trait in call.traits}
    traits: dict[int, frozenset[Trait]] = {}
    for call in calls:
        absent = paths - {trait.path for trait in call.traits}
        traits[call.number] = call.traits | {Trait(path, "type", NOT_GIVEN) for path in absent}
    counts = Counter(itertools.chain.from_iterable(traits.values()))
    values = Counter(trait.path for trait in counts if trait.kind == "value")
    flags = [trait for trait, _ in counts.most_common() if trait.kind == "flags"]
    telling = counts.keys() - set(flags[MOST_COMBINATIONS:])
    for trait, count in counts.items():
        is_data = trait.kind == "value" and values[trait.path] > MOST_VALUES
        if is_data or count == len(calls):
            telling.discard(trait)
    return {number: own & telling for number, own in traits.items()}


def order_of_choice(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Return all calls, best first: those with blocks or options that no earlier one has, then the most different.

    Small calls come before large ones, and calls that raised last, unless they alone cover something: a test made of
    errors says little about the method.
    """
    options = options_of(calls)
    remaining = sorted(calls, key=lambda call: (call.outcome != "returned", call.size, call.number))
    chosen, hits, options_so_far = list[RecordedCall](), set[int](), set[Trait]()

    def worth(call: RecordedCall) -> tuple[int, bool, int, int]:
        new = len(options[call.number] - options_so_far)
        return len(call.hits - hits), call.outcome == "returned", new, _difference(call, chosen)

    while remaining:
        best = max(remaining, key=worth)  # the first of equals, and they come sorted
        remaining.remove(best)
        chosen.append(best)
        hits |= best.hits
        options_so_far |= options[best.number]
    return chosen


def _difference(call: RecordedCall, chosen: Sequence[RecordedCall]) -> int:
    """Return how many parts differ from those of the most similar of the last chosen calls."""
    parts = set(call.summary.items())
    return min((len(parts ^ set(other.summary.items())) for other in chosen[-12:]), default=0)


Gain = tuple[str, object]
"""A thing that a call brings as a case: ``mutant``, ``block``, ``option`` or ``size``, and which one."""


class Catch:
    """All that replayed calls bring: mutants, blocks, options, and their size. A choice among them is made by these.

    Args:
        killed: number of a call → ids of the mutants that fail its case.
    """

    def __init__(self, calls: Sequence[RecordedCall], killed: Mapping[int, frozenset[str]]) -> None:
        options = options_of(calls)
        roomy = {
            call.number: call.size for call in calls if call.outcome == "returned" and call.size <= ROOMY
        }
        large = max(roomy.values(), default=0) / LARGER
        self.gains: dict[int, frozenset[Gain]] = {}
        for call in calls:
            gains: set[Gain] = {("mutant", name) for name in killed.get(call.number, ())}
            gains |= {("block", block) for block in call.hits}
            gains |= {("option", trait) for trait in options[call.number]}
            if roomy.get(call.number, 0) > large:
                gains.add(("size", "large"))
            self.gains[call.number] = frozenset(gains)

    def choose(self, calls: Sequence[RecordedCall], wanted: int) -> list[RecordedCall]:
        """Return calls that bring all there is, greedily; at least ``wanted``.

        Args:
            calls: in the order in which those are taken that bring equally much.
        """
        waiting, chosen, gained = list(calls), list[RecordedCall](), set[Gain]()
        seconds = 0.0

        def worth(call: RecordedCall) -> tuple[int, int]:
            new = self.gains[call.number] - gained
            options = sum(kind == "option" for kind, _ in new)
            return len(new) - options, options

        while waiting:
            best = max(waiting, key=worth)
            waiting.remove(best)
            certain, options = worth(best)  # certain: mutants, blocks, size
            if certain or (options and seconds + best.cost <= MOST_OPTION_SECONDS):
                seconds += best.cost
                chosen.append(best)
                gained |= self.gains[best.number]
        chosen = self._needed(chosen)
        fill = [call for call in calls if call not in chosen]
        return chosen + fill[: max(0, wanted - len(chosen))]

    def _needed(self, chosen: list[RecordedCall]) -> list[RecordedCall]:
        """Return calls without those that bring nothing beside the others, the largest first."""
        for call in sorted(chosen, key=lambda call: -call.size):
            others = [other for other in chosen if other is not call]
            if self.gains[call.number] <= set().union(*(self.gains[other.number] for other in others)):
                chosen = others
        return chosen


@dataclass(frozen=True)
class Proof:
    """The cases chosen among the recorded calls, and their worth.

    Attributes:
        chosen: the cases, in the order of the recorded calls.
        rejected: calls that were not taken.
        versions: of what ran them.
        adds: number of a call → what it adds to the others, in words.
        hits: blocks that any replayed call executes.
        fragile: why correct versions that compute in float64 would fail.
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


def choose(
    golden: Golden,
    replayed: Replayed,
    options: RecordOptions,
    room: int,
    progress: Progress,
) -> Proof:
    """Choose among the calls that reproduce those that catch all that any call does, and further small ones.

    Args:
        options: say how many, where the annotator does.
        room: bytes that the chosen calls may have together.

    Raises:
        LmrError: not one call reproduces, or none has room in the task, with the reasons.
        SandboxError: the sandbox failed.
    """
    proven = replayed.proven
    if not proven:
        raise irreproducible(golden.plan.qualname, replayed.rejected)
    wanted = options.fewest_cases
    first = Catch(proven, {}).choose(proven, wanted)
    sample, made = _mutants(golden, proven, first)
    killed = _killed(golden, proven, first, sample, progress)
    catch = Catch(proven, killed)
    others = [call for call in proven if call not in first]
    catching = catch.choose([*first, *others], wanted)
    more = [] if options.cases else further(catching, proven)
    cases, too_large = _fitting([*catching, *more], room)
    if not cases:
        raise LmrError(f"no call of {golden.plan.qualname} has room in the task", too_large[0].reason)

    progress(f"confirming the {len(cases)} chosen cases")
    chosen, failed = _confirmed(golden, cases)
    if not chosen:
        raise irreproducible(golden.plan.qualname, failed)
    survivors = _left(sample, (killed[call.number] for call in chosen))
    return Proof(
        chosen=tuple(chosen),
        rejected=(*failed, *replayed.rejected, *too_large),
        versions=replayed.versions,
        adds=additions(chosen, catch.gains),
        hits=frozenset[int]().union(*(call.hits for call in proven)),
        fragile=tuple(dict.fromkeys(call.fragile for call in chosen if call.fragile)),
        tried=len(sample),
        made=made,
        survivors=tuple(survivors),
    )


def further(chosen: Sequence[RecordedCall], proven: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Return calls to keep beside the chosen ones, the most different first, as long as all stay small and fast."""
    size, seconds = sum(call.stored for call in chosen), sum(call.cost for call in chosen)
    more, inputs = list[RecordedCall](), {call.inputs_digest for call in chosen}
    for call in order_of_choice(proven):
        fits = size + call.stored <= GENEROUS_BYTES and seconds + call.cost <= GENEROUS_SECONDS
        if call.inputs_digest in inputs or call.outcome != "returned" or not fits:
            continue
        if len(inputs) >= GENEROUS_CASES:
            break
        more.append(call)
        inputs.add(call.inputs_digest)
        size += call.stored
        seconds += call.cost
    return more


def _fitting(calls: Sequence[RecordedCall], room: int) -> tuple[list[RecordedCall], list[Rejected]]:
    """Return the calls that have room together, the first ones first, and the others."""
    fitting, too_large, left = list[RecordedCall](), list[Rejected](), room
    for call in calls:
        if call.stored <= left:
            fitting.append(call)
            left -= call.stored
        else:
            too_large.append(Rejected(call, too_much(call, room)))
    return fitting, too_large


def too_much(call: RecordedCall, room: int) -> str:
    """Return why a call does not fit beside others, and how to make it fit."""
    return (
        f"{size_text(call.stored)} beside the others, and the task has {size_text(MOST_BYTES)} in all, of which its "
        f"other functions leave {size_text(room)}; slice the batch in the driver"
    )


def _confirmed(golden: Golden, cases: Sequence[RecordedCall]) -> tuple[list[RecordedCall], list[Rejected]]:
    """Replay cases in one more run, that their tolerances were not derived from; return those that pass, and not."""
    run = golden.replay(cases, seed=REPEATS + 1, threads=3)
    confirmed, failed = list[RecordedCall](), list[Rejected]()
    for call in sorted(cases, key=lambda call: call.number):
        expected = replaying.load_document(call.folder, "expected")
        differences = replaying.differences(expected, run.of("golden", str(call.number)), call.checkers)
        if differences:
            failed.append(Rejected(call, f"differs in one more run: {differences[0]}"))
        else:
            confirmed.append(call)
    return confirmed, failed


# what a case adds, in words


def additions(chosen: Sequence[RecordedCall], gains: Mapping[int, frozenset[Gain]]) -> dict[int, str]:
    """Return number of a call → what it adds to the others, and how it differs from them; "" for nothing.

    Args:
        gains: number of a call → all that it brings.
    """
    counts = Counter(gain for call in chosen for gain in gains[call.number])
    shared = Counter(pair for call in chosen for pair in call.summary.items())
    most = max(1, len(chosen) - 1)  # a call that is alone differs in all its parts
    words = {}
    for call in chosen:
        only_here = Counter(gain[0] for gain in gains[call.number] if counts[gain] <= 1 < len(chosen))
        parts = []
        if number := only_here["mutant"]:
            parts.append(f"{counted(number, 'mutant')} fail{'s' * (number == 1)} only here")
        if only_here["block"]:
            parts.append("takes a path of its own")
        differs = [_in_few_words(*pair) for pair in call.summary.items() if shared[pair] <= most]
        if differs:
            parts.append(listed(differs, 3))
        words[call.number] = "; ".join(parts)
    return words


def in_words(path: str, text: str) -> str:
    """Return a part of a call as it is shown: ``margin=2.0``, or ``x: tensor float32[4]``."""
    return f"{path}: {text}" if " " in text.strip("'") else f"{path}={text}"


def _in_few_words(path: str, text: str) -> str:
    """Return a part of a call, cut where it is long: of a name in a module the end stays, which tells calls apart."""
    room = LONGEST - len(f"{path}=…")
    if len(text) > room > 0 and _NAME_IN_MODULE.fullmatch(text):
        text = "…" + re.sub(r"^\w*[.:]", "", text[-room:])
    return shortened(in_words(path, text), LONGEST)


# mutants


def _mutants(
    golden: Golden, fitting: Sequence[RecordedCall], first: Sequence[RecordedCall]
) -> tuple[list[Mutant], int]:
    """Return the mutants to try, as many as there is time for, and how many ``evaluate`` will try."""
    # The first call in a process is slow, as a library loads parts of itself: that is no cost of every mutant.
    affordable = int(MUTANT_SECONDS / (OVERHEAD + len(first) * median(call.cost for call in first)))
    paths = [path for call in fitting for path in call.checkers]

    def sample(most: int) -> list[Mutant]:
        return mutants_to_try(golden.module, [golden.definition], paths, most)

    every = sample(MUTANTS)
    if affordable >= len(every):
        return every, len(every)
    return sample(affordable) if affordable >= FEWEST_MUTANTS else [], len(every)


def _left(mutants: Sequence[Mutant], killed: Iterable[frozenset[str]]) -> list[Mutant]:
    dead = frozenset[str]().union(*killed)
    return [mutant for mutant in mutants if mutant.id not in dead]


def _killed(
    golden: Golden,
    calls: Sequence[RecordedCall],
    first: Sequence[RecordedCall],
    mutants: Sequence[Mutant],
    progress: Progress,
) -> dict[int, frozenset[str]]:
    """Return number of a call → mutants that fail its case: all on the first calls, survivors on the others."""
    killed: dict[int, frozenset[str]] = {call.number: frozenset() for call in calls}
    killed |= try_mutants(golden, first, mutants, progress)
    left = _left(mutants, killed.values())
    budget, others = MUTANT_SECONDS - OVERHEAD * len(left), list[RecordedCall]()
    for call in calls:
        budget -= call.cost * len(left)
        if call not in first and (budget >= 0 or not others):
            others.append(call)
    return killed | try_mutants(golden, others, left, progress)


def try_mutants(
    golden: Golden, calls: Sequence[RecordedCall], mutants: Sequence[Mutant], progress: Progress
) -> dict[int, frozenset[str]]:
    """Return number of a call → the mutants that fail its case, with the limits that ``evaluate`` has.

    Mutants that the time did not suffice for survive.
    """
    by_name = {str(call.number): call for call in calls}
    expected = {name: replaying.load_document(call.folder, "expected") for name, call in by_name.items()}
    killed: dict[str, set[str]] = {name: set() for name in by_name}

    def passes(case: str, outcome: ReplayOutcome) -> bool:
        return not replaying.differences(expected[case], outcome, by_name[case].checkers)

    def run(variants: Sequence[replaying.Variant], seconds: float, shared: bool) -> Replay:
        limits = Limits(seconds=60 + MOST_BUSY * MUTANT_SECONDS)
        return golden.replay(
            calls, variants, limits=limits, case_seconds=seconds, share=shared, until_lost=True
        )

    control = replaying.Variant(replaying.CONTROL)
    patience = max(5.0, 20 * max((call.seconds for call in calls), default=0.0))
    size = sum(call.size for call in calls)
    step = max(1, min(VERSIONS_AT_ONCE, replaying.BATCH_BYTES // max(1, size)))
    for start in range(0, len(mutants) if calls else 0, step):
        batch = [
            replaying.Variant(mutant.id, mutant.data, golden.definition.line)
            for mutant in mutants[start : start + step]
        ]
        progress(f"trying mutant {min(start + step, len(mutants))} of {len(mutants)} on {len(calls)} calls")
        tried = replaying.beside_the_golden(run, control, batch, by_name, patience, passes)
        for version in batch:
            for case in tried.fair:
                outcome = tried.run.outcomes.get((version.id, case))
                if outcome and not passes(case, outcome):
                    killed[case].add(version.id)
    return {int(case): frozenset(ids) for case, ids in killed.items()}
