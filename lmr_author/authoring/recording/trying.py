"""Try wrong versions on calls: mutants of the golden, and misreadings that are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from lmr_author.authoring.recording.explored import agreeing, patience
from lmr_author.authoring.recording.replay import GoldenRunner
from lmr_author.authoring.recording.run import RecordedCall
from lmr_author.core.task import Progress
from lmr_author.core.texts import Step
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.proof.evaluation.wrong_versions import mutants_to_try
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay, ReplayOutcome
from lmr_author.runtime.sandbox.base import Limits

MOST_MUTANTS = 300
"""Mutants by which cases are chosen: more than those of `evaluate`, which takes a sample of its own."""
FEWEST_MUTANTS = 5
"""With fewer, which is what a slow function leaves time for, nothing is shown."""
VERSIONS_AT_ONCE = 50
MUTANT_SECONDS, OVERHEAD = 120.0, 0.3
"""The processor time for trying mutants, by the golden's own times, and what starting one takes."""
MOST_BUSY = 10
"""So many times slower than that a busy machine may be."""


def sample_of_mutants(
    golden: GoldenRunner, fitting: Sequence[RecordedCall], first: Sequence[RecordedCall]
) -> tuple[list[Mutant], int]:
    """Return the mutants to try, as many as there is time for, and how many there would be with more of it."""
    # The first call in a process is slow, as a library loads parts of itself: that is no cost of every mutant.
    affordable = int(MUTANT_SECONDS / (OVERHEAD + len(first) * median(call.cost for call in first)))
    paths = [path for call in fitting for path in call.checkers]

    def sample(most: int) -> list[Mutant]:
        return mutants_to_try(golden.module, [golden.definition], paths, most)

    every = sample(MOST_MUTANTS)
    if affordable >= len(every):
        return every, len(every)
    return sample(affordable) if affordable >= FEWEST_MUTANTS else [], len(every)


def left_of(mutants: Sequence[Mutant], killed: Iterable[frozenset[str]]) -> list[Mutant]:
    dead = frozenset[str]().union(*killed)
    return [mutant for mutant in mutants if mutant.id not in dead]


def with_misreadings(
    golden: GoldenRunner,
    calls: Sequence[RecordedCall],
    killed: Mapping[int, frozenset[str]],
    misreadings: Mapping[str, replaying.Variant],
    progress: Progress,
) -> dict[int, frozenset[str]]:
    """Return number of a call → mutants and names of misreadings that fail its case."""
    found = {call.number: killed.get(call.number, frozenset()) for call in calls}
    for number, (name, version) in enumerate(misreadings.items(), 1):
        line = f"trying misreading {number} of {len(misreadings)} on {len(calls)} calls"
        progress(Step(line, number - 1, len(misreadings)))
        for call, agrees in zip(calls, agreeing(golden, version, calls), strict=True):
            if not agrees:
                found[call.number] |= {name}
    return found


def try_on_all(
    golden: GoldenRunner,
    calls: Sequence[RecordedCall],
    first: Sequence[RecordedCall],
    mutants: Sequence[Mutant],
    progress: Progress,
) -> dict[int, frozenset[str]]:
    """Return number of a call → mutants that fail its case: all on the first calls, survivors on the others."""
    killed: dict[int, frozenset[str]] = {call.number: frozenset() for call in calls}
    killed |= try_mutants(golden, first, mutants, progress)
    left = left_of(mutants, killed.values())
    budget, others = MUTANT_SECONDS - OVERHEAD * len(left), list[RecordedCall]()
    for call in calls:
        budget -= call.cost * len(left)
        if call not in first and (budget >= 0 or not others):
            others.append(call)
    return killed | try_mutants(golden, others, left, progress)


def try_mutants(
    golden: GoldenRunner, calls: Sequence[RecordedCall], mutants: Sequence[Mutant], progress: Progress
) -> dict[int, frozenset[str]]:
    """Return number of a call → mutants that fail its case, with the limits of ``evaluate``; untried ones survive."""
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
    size = sum(call.size for call in calls)
    step = max(1, min(VERSIONS_AT_ONCE, replaying.BATCH_BYTES // max(1, size)))
    for start in range(0, len(mutants) if calls else 0, step):
        batch = [
            replaying.Variant(mutant.id, mutant.data, golden.definition.line)
            for mutant in mutants[start : start + step]
        ]
        line = f"trying mutant {min(start + step, len(mutants))} of {len(mutants)} on {len(calls)} calls"
        progress(Step(line, start, len(mutants)))
        tried = replaying.beside_the_golden(run, control, batch, by_name, patience(calls), passes)
        for version in batch:
            for case in tried.fair:
                outcome = tried.run.outcomes.get((version.id, case))
                if outcome and not passes(case, outcome):
                    killed[case].add(version.id)
    return {int(case): frozenset(ids) for case, ids in killed.items()}
