"""Choose cases among replayed calls, recorded and generated ones, and confirm them in one more run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lmr_author.authoring.recording.explored import KnownVersions, explore
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
from lmr_author.authoring.recording.selection import (
    GENEROUS_CASES,
    MOST_GENERATED,
    CaseSelection,
    Contribution,
    additions,
    fewest_that_tell,
    further,
    order_of_choice,
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
from lmr_author.runtime.replay.outcomes import Replay

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


def choose(
    golden: GoldenRunner, job: RecordJob, recorded: RecordedRun, known: KnownVersions, progress: Progress
) -> SelectedCases:
    """Choose among the calls that reproduce those that catch all that any call does, and further small ones.

    What survives them all is tried on generated calls. Those that make it fail become cases, and a few others.

    Args:
        known: rewrites, with which generated calls have to agree, and misreadings, which some call should tell apart.

    Raises:
        LmrError: not one call reproduces, or none has room in the task, with the reasons.
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
    if left or wrong or job.options.cases is None:
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
        raise LmrError(f"no call of {job.qualname} has room in the task", too_large[0].reason)

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
        f"{size_text(call.stored)} beside the others, and the task has {size_text(MOST_BYTES)} in all, of which its "
        f"other functions leave {size_text(room)}; slice the batch in the driver"
    )


def _confirmed(cases: Sequence[RecordedCall], run: Replay) -> tuple[list[RecordedCall], list[RejectedCall]]:
    confirmed, failed = list[RecordedCall](), list[RejectedCall]()
    for call in sorted(cases, key=lambda call: call.number):
        if differing := differences(call, run):
            failed.append(RejectedCall(call, f"differs in one more run: {differing[0]}"))
        else:
            confirmed.append(call)
    return confirmed, failed
