"""Choose cases among replayed calls, recorded and generated ones, and confirm them in one more run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lmr_author.authoring.recording.explored import Known, explore
from lmr_author.authoring.recording.job import MOST_BYTES
from lmr_author.authoring.recording.options import RecordOptions
from lmr_author.authoring.recording.replay import REPEATS, Golden, Rejected, Replayed, irreproducible
from lmr_author.authoring.recording.run import RecordedCall
from lmr_author.authoring.recording.selection import (
    GENEROUS_CASES,
    MOST_GENERATED,
    Catch,
    Gain,
    additions,
    fewest_that_tell,
    further,
)
from lmr_author.authoring.recording.trying import (
    left_of,
    sample_of_mutants,
    try_mutants,
    try_on_all,
    with_misreadings,
)
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.core.texts import size_text
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.runtime.replay import replaying


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
    calls: int,
    known: Known,
    progress: Progress,
) -> Proof:
    """Choose among the calls that reproduce those that catch all that any call does, and further small ones.

    What survives them all is tried on generated calls. Those that make it fail become cases, and a few others.

    Args:
        options: say how many, where the annotator does.
        room: bytes that the chosen calls may have together.
        calls: that the driver made.
        known: rewrites, with which generated calls have to agree, and misreadings, which some call should tell apart.

    Raises:
        LmrError: not one call reproduces, or none has room in the task, with the reasons.
        SandboxError: the sandbox failed.
    """
    proven = replayed.proven
    if not proven:
        raise irreproducible(golden.plan.qualname, replayed.rejected)
    wanted = options.fewest_cases
    first = Catch(proven, {}).choose(proven, wanted)
    sample, made = sample_of_mutants(golden, proven, first)
    killed = try_on_all(golden, proven, first, sample, progress)
    killed = with_misreadings(golden, proven, killed, known.wrong, progress)
    catch = Catch(proven, killed)
    catching = catch.choose([*first, *(call for call in proven if call not in first)], wanted)

    left = left_of(sample, killed.values())
    failing = frozenset[str]().union(*killed.values())
    wrong = {name: version for name, version in known.wrong.items() if name not in failing}
    explored = explore(golden, proven, calls + 1, len(left) + len(wrong), known, progress)
    killed |= with_misreadings(
        golden, explored, try_mutants(golden, explored, left, progress), wrong, progress
    )
    telling = fewest_that_tell(explored, killed)
    more = [] if options.cases else further([*catching, *telling], proven, GENEROUS_CASES)
    if not options.cases:
        more += further([*catching, *telling, *more], explored, GENEROUS_CASES + MOST_GENERATED)[
            :MOST_GENERATED
        ]
    cases, too_large = _fitting([*catching, *telling, *more], room)
    if not cases:
        raise LmrError(f"no call of {golden.plan.qualname} has room in the task", too_large[0].reason)

    progress(f"confirming the {len(cases)} chosen cases")
    chosen, failed = _confirmed(golden, cases)
    if not chosen:
        raise irreproducible(golden.plan.qualname, failed)
    return Proof(
        chosen=tuple(chosen),
        rejected=(*failed, *replayed.rejected, *too_large),
        versions=replayed.versions,
        adds=additions(chosen, _gains(catch, chosen, killed)),
        hits=frozenset[int]().union(*(call.hits for call in (*proven, *chosen))),
        fragile=tuple(dict.fromkeys(call.fragile for call in chosen if call.fragile)),
        tried=len(sample),
        made=made,
        survivors=tuple(left_of(sample, (killed[call.number] for call in chosen))),
    )


def _gains(
    catch: Catch, chosen: Sequence[RecordedCall], killed: Mapping[int, frozenset[str]]
) -> dict[int, frozenset[Gain]]:
    """Return number of a case → all that it brings; of a generated one, what it makes fail."""
    of_generated = {
        call.number: frozenset[Gain](("mutant", name) for name in killed[call.number])
        for call in chosen
        if call.made_of
    }
    return catch.gains | of_generated


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
