"""Select cases by what calls bring: mutants that they make fail, blocks that they execute, options, sizes.

Those that together bring all that any of them does, and beside them, where calls are small and fast, a few dozen that
differ most: a misreading that is no mutant may differ on any of them.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lmr_author.authoring.recording.explored import (
    KnownVersions,
    explore,
    left_of,
    sample_of_mutants,
    try_mutants,
    try_on_all,
    with_misreadings,
)
from lmr_author.authoring.recording.job import MOST_BYTES, RecordJob, room_left
from lmr_author.authoring.recording.replay import (
    REPEATS,
    GoldenRunner,
    RejectedCall,
    differences,
    irreproducible,
    replay,
)
from lmr_author.authoring.recording.run import RecordedCall, RecordedRun
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.core.texts import counted, listed, shortened, size_text
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.runtime.probe.traits import Trait
from lmr_author.runtime.replay.outcomes import Replay

NOT_GIVEN = "not given"
"""Value of a trait of a part that a call does not have."""
LONGEST = 40
"""Characters of a part of a call in a description."""
_NAME_IN_MODULE = re.compile(r"[\w.]+[.:]\w+")
MOST_OPTION_SECONDS = 30.0
"""A call that only brings an option becomes a case as long as a run of the test takes less processor time."""
MOST_VALUES = 4
"""A part with more values than these is data and no option."""
MOST_COMBINATIONS = 8
"""Combinations of all flags that are distinguished: the most frequent ones, if there are more."""
ROOMY = 256 * 1024
"""Bytes of the largest call that is kept for its size: an answer may look at the first few items only."""
LARGER = 4
"""A call is much larger than one that has this many times fewer bytes."""
GENEROUS_CASES, GENEROUS_BYTES, GENEROUS_SECONDS = 30, 400_000, 3.0
"""So many cases at most, bytes of all their files, and processor seconds of a run, while calls are added that differ.

Five of sixty misreadings of five papers passed, and each differed on a small call that was recorded and not kept.
"""
MOST_GENERATED = 20
"""Cases that are generated calls, at most."""


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
    parts = set(call.summary.items())
    return min((len(parts ^ set(other.summary.items())) for other in chosen[-12:]), default=0)


Contribution = tuple[str, object]
"""A thing that a call brings as a case: ``mutant``, ``block``, ``option`` or ``size``, and which one."""


class CaseSelection:
    """What replayed calls bring: mutants and misreadings that fail (``killed``), blocks, options, and their size."""

    def __init__(self, calls: Sequence[RecordedCall], killed: Mapping[int, frozenset[str]]) -> None:
        options = options_of(calls)
        roomy = {
            call.number: call.size for call in calls if call.outcome == "returned" and call.size <= ROOMY
        }
        large = max(roomy.values(), default=0) / LARGER
        self.contributions: dict[int, frozenset[Contribution]] = {}
        for call in calls:
            brought: set[Contribution] = {("mutant", name) for name in killed.get(call.number, ())}
            brought |= {("block", block) for block in call.hits}
            brought |= {("option", trait) for trait in options[call.number]}
            if roomy.get(call.number, 0) > large:
                brought.add(("size", "large"))
            self.contributions[call.number] = frozenset(brought)

    def choose(self, calls: Sequence[RecordedCall], wanted: int) -> list[RecordedCall]:
        """Return calls that bring all there is, greedily, in the given order; at least ``wanted``."""
        waiting, chosen, covered = list(calls), list[RecordedCall](), set[Contribution]()
        seconds = 0.0

        def worth(call: RecordedCall) -> tuple[int, int]:
            new = self.contributions[call.number] - covered
            options = sum(kind == "option" for kind, _ in new)
            return len(new) - options, options

        while waiting:
            best = max(waiting, key=worth)
            waiting.remove(best)
            certain, options = worth(best)  # certain: mutants, blocks, size
            if certain or (options and seconds + best.cost <= MOST_OPTION_SECONDS):
                seconds += best.cost
                chosen.append(best)
                covered |= self.contributions[best.number]
        chosen = self._needed(chosen)
        fill = [call for call in calls if call not in chosen]
        return chosen + fill[: max(0, wanted - len(chosen))]

    def _needed(self, chosen: list[RecordedCall]) -> list[RecordedCall]:
        """Return calls without those that bring nothing beside the others, the largest first."""
        for call in sorted(chosen, key=lambda call: -call.size):
            others = [other for other in chosen if other is not call]
            of_others = set().union(*(self.contributions[other.number] for other in others))
            if self.contributions[call.number] <= of_others:
                chosen = others
        return chosen


def further(chosen: Sequence[RecordedCall], calls: Sequence[RecordedCall], most: int) -> list[RecordedCall]:
    """Return at most ``most`` further calls, the most different first, while all cases stay small and fast."""
    size, seconds = sum(call.stored for call in chosen), sum(call.cost for call in chosen)
    more, inputs = list[RecordedCall](), {call.inputs_digest for call in chosen}
    for call in order_of_choice(calls):
        fits = size + call.stored <= GENEROUS_BYTES and seconds + call.cost <= GENEROUS_SECONDS
        if call.inputs_digest in inputs or call.outcome != "returned" or not fits:
            continue
        if len(inputs) >= most:
            break
        more.append(call)
        inputs.add(call.inputs_digest)
        size += call.stored
        seconds += call.cost
    return more


def fewest_that_tell(
    calls: Sequence[RecordedCall], killed: Mapping[int, frozenset[str]]
) -> list[RecordedCall]:
    """Return the fewest generated calls that make fail all that any of them does: those first that tell most."""
    waiting = frozenset[str]().union(*(killed[call.number] for call in calls))
    chosen = list[RecordedCall]()
    while waiting and len(chosen) < MOST_GENERATED:
        best = max(calls, key=lambda call: (len(killed[call.number] & waiting), -call.stored))
        chosen.append(best)
        waiting -= killed[best.number]
    return chosen


# what a case adds, in words


def additions(
    chosen: Sequence[RecordedCall], contributions: Mapping[int, frozenset[Contribution]]
) -> dict[int, str]:
    """Return number of a call → what it adds to the others, and how it differs from them; "" for nothing."""
    counts = Counter(each for call in chosen for each in contributions[call.number])
    shared = Counter(pair for call in chosen for pair in call.summary.items())
    most = max(1, len(chosen) - 1)  # a call that is alone differs in all its parts
    words = {}
    for call in chosen:
        only_here = Counter(each[0] for each in contributions[call.number] if counts[each] <= 1 < len(chosen))
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
    """Return a part of a call, shortened; a name in a module keeps its end, which distinguishes calls."""
    room = LONGEST - len(f"{path}=…")
    if len(text) > room > 0 and _NAME_IN_MODULE.fullmatch(text):
        text = "…" + re.sub(r"^\w*[.:]", "", text[-room:])
    return shortened(in_words(path, text), LONGEST)


VERSIONS = ("python", "torch", "numpy", "pandas")


@dataclass(frozen=True)
class SelectedCases:
    """The chosen cases, and their worth.

    Attributes:
        rejected: calls that were not taken.
        adds: number of a call → what it adds to the others, in words.
        hits: blocks that any replayed call executes.
        fragile: why correct versions that compute in float64 would fail.
        tried, made: mutants that were tried, and those that a fast function leaves time for.
        survivors: mutants that survive all chosen cases.
        unexplored: generated calls were made, and none of them counts.
    """

    calls: tuple[RecordedCall, ...]
    rejected: tuple[RejectedCall, ...]
    versions: Mapping[str, str]
    adds: Mapping[int, str] = field(default_factory=dict)
    hits: frozenset[int] = frozenset()
    fragile: tuple[str, ...] = ()
    tried: int = 0
    made: int = 0
    survivors: tuple[Mutant, ...] = ()
    unexplored: bool = False


def choose(
    golden: GoldenRunner, job: RecordJob, recorded: RecordedRun, known: KnownVersions, progress: Progress
) -> SelectedCases:
    """Choose among the calls that reproduce those that catch all that any call does, and further small ones.

    What survives them all is tried on generated calls. Those that make it fail become cases, and a few others.

    Args:
        known: rewrites, with which generated calls must agree, and misreadings, which some call should catch.

    Raises:
        LmrError: not one call reproduces, or none fits in the task, with the reasons.
        SandboxError: the sandbox failed.
    """
    wanted = job.options.fewest_cases
    proven, rejected = replay(golden, order_of_choice(recorded.calls), wanted, progress)
    if not proven:
        raise irreproducible(job.qualname, rejected)
    first = CaseSelection(proven, {}).choose(proven, wanted)
    sample, made = sample_of_mutants(golden, proven, first)
    killed = try_on_all(golden, proven, first, sample, progress)
    killed = with_misreadings(golden, proven, killed, known.wrong, progress)
    selection = CaseSelection(proven, killed)
    needed = selection.choose([*first, *(call for call in proven if call not in first)], wanted)

    left = left_of(sample, killed.values())
    failing = frozenset[str]().union(*killed.values())
    wrong = {name: version for name, version in known.wrong.items() if name not in failing}
    explored = list[RecordedCall]()
    is_exploring = bool(left or wrong or job.options.cases is None)
    if is_exploring:
        explored = explore(
            golden, proven, recorded.summary.calls + 1, len(left) + len(wrong), known, progress
        )
    killed |= with_misreadings(
        golden, explored, try_mutants(golden, explored, left, progress), wrong, progress
    )
    telling = fewest_that_tell(explored, killed)
    cases = [*needed, *telling]
    if job.options.cases is None:
        cases += further(cases, proven, GENEROUS_CASES)
        cases += further(cases, explored, GENEROUS_CASES + MOST_GENERATED)[:MOST_GENERATED]
    cases, too_large = _fitting(cases, room_left(job))
    if not cases:
        raise LmrError(f"no call of {job.qualname} fits in the task", too_large[0].reason)

    progress(f"confirming the {len(cases)} chosen cases")
    # The tolerances were derived from other runs than this one.
    run = golden.replay(cases, seed=REPEATS + 1, threads=3)
    chosen, failed = _confirmed(cases, run)
    if not chosen:
        raise irreproducible(job.qualname, failed)
    return SelectedCases(
        calls=tuple(chosen),
        rejected=(*failed, *rejected, *too_large),
        versions={name: str(run.facts[name]) for name in VERSIONS if run.facts.get(name)},
        adds=additions(chosen, _contributions(selection, chosen, killed)),
        hits=frozenset[int]().union(*(call.hits for call in (*proven, *chosen))),
        fragile=tuple(dict.fromkeys(call.fragile for call in chosen if call.fragile)),
        tried=len(sample),
        made=made,
        survivors=tuple(left_of(sample, (killed[call.number] for call in chosen))),
        unexplored=is_exploring and not explored,
    )


def _contributions(
    selection: CaseSelection, chosen: Sequence[RecordedCall], killed: Mapping[int, frozenset[str]]
) -> dict[int, frozenset[Contribution]]:
    """Return number of a case → all that it brings; of a generated one, what it makes fail."""
    of_generated = {
        call.number: frozenset[Contribution](("mutant", name) for name in killed[call.number])
        for call in chosen
        if call.made_of
    }
    return selection.contributions | of_generated


def _fitting(calls: Sequence[RecordedCall], room: int) -> tuple[list[RecordedCall], list[RejectedCall]]:
    fitting, too_large, left = list[RecordedCall](), list[RejectedCall](), room
    for call in calls:
        if call.stored <= left:
            fitting.append(call)
            left -= call.stored
        else:
            too_large.append(RejectedCall(call, too_much(call, room)))
    return fitting, too_large


def too_much(call: RecordedCall, room: int) -> str:
    return (
        f"takes {size_text(call.stored)} beside the other cases; of the task's {size_text(MOST_BYTES)}, its "
        f"other functions leave {size_text(room)}; slice the batch in the driver"
    )


def _confirmed(cases: Sequence[RecordedCall], run: Replay) -> tuple[list[RecordedCall], list[RejectedCall]]:
    confirmed, failed = list[RecordedCall](), list[RejectedCall]()
    for call in sorted(cases, key=lambda call: call.number):
        if differing := differences(call, run):
            failed.append(RejectedCall(call, f"differs when replayed once more: {differing[0]}"))
        else:
            confirmed.append(call)
    return confirmed, failed
