"""Explored calls: generated ones whose outcome the golden gives, as cases that no driver thought of.

The golden can be called, so it says what the outcome is. A generated call counts only if the golden returns, gives the
same again in fresh processes and in float64, and all known rewrites agree with it. Without a rewrite, nothing of a call
may lie outside what the recorded ones have.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from lmr_author.authoring.recording.replay import REPEATS, GoldenRunner, differences, replay
from lmr_author.authoring.recording.run import RecordedCall
from lmr_author.core.task import Progress
from lmr_author.core.texts import Step
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.proof.evaluation.mutation_gates import mutants_to_try
from lmr_author.proof.exploring.generate import (
    RETURNING,
    SECONDS,
    GeneratedCall,
    affordable,
    generate,
)
from lmr_author.runtime.probe.calling import GLOBAL
from lmr_author.runtime.probe.storing import dump
from lmr_author.runtime.probe.traits import describe_call
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay, ReplayOutcome
from lmr_author.runtime.sandbox.base import Limits

MOST, FEWEST = 250, 20
"""Generated calls; with fewer than the second, which is what a slow function leaves time for, there are none."""


@dataclass(frozen=True)
class KnownVersions:
    """Rewrites (``right``) and misreadings (``wrong``) of a recipe or challenge: name → goal file with it."""

    right: Mapping[str, replaying.Variant] = field(default_factory=dict)
    wrong: Mapping[str, replaying.Variant] = field(default_factory=dict)


NO_VERSIONS = KnownVersions()


def explore(
    golden: GoldenRunner,
    calls: Sequence[RecordedCall],
    first: int,
    versions: int,
    known: KnownVersions,
    progress: Progress,
) -> list[RecordedCall]:
    """Return generated calls that count, with their tolerances.

    Args:
        calls: recorded ones that reproduce, the best first.
        first: number of the first generated call.
        versions: how many versions will be tried on them.
    """
    rewrites = [each for each in known.right.values() if all(agreeing(golden, each, calls))]
    runs = REPEATS + 3 + versions + len(rewrites)
    most = min(MOST, affordable(median(call.cost for call in calls), runs))
    if most < FEWEST:
        return []
    named = [(f"call {call.number}", replaying.load_document(call.folder, "inputs")) for call in calls]
    generated = (
        call for call in generate(named, golden.definition.function, bold=bool(rewrites)) if call.keeps_signs
    )
    folder = golden.plan.recording.with_name("explored")
    written = [
        _written(golden, made, number, folder / str(number))
        for number, made in enumerate(itertools.islice(generated, most), first)
    ]
    progress(f"trying {len(written)} generated calls on the golden")
    returned = _with_outcomes(golden, written, folder, patience(calls))
    if not rewrites and len(returned) < RETURNING * len(written):
        return []
    proven, _ = replay(golden, returned, 0, progress)
    sure = [call for call in proven if not call.fragile]
    for rewrite in rewrites:
        sure = [call for call, agrees in zip(sure, agreeing(golden, rewrite, sure), strict=True) if agrees]
    return sure


def agreeing(golden: GoldenRunner, version: replaying.Variant, calls: Sequence[RecordedCall]) -> list[bool]:
    """Return for each call whether a version gives the golden's outcome. It may be hostile: it runs alone."""
    if not calls:
        return []
    limits = Limits(seconds=60 + 10 * sum(call.cost for call in calls))
    run = golden.replay(calls, [version], limits=limits, case_seconds=patience(calls))
    return [not differences(call, run, version.id) for call in calls]


def patience(calls: Sequence[RecordedCall]) -> float:
    """Return the time limit of a call: much more than the slowest takes."""
    return max(5.0, 20 * max((call.seconds for call in calls), default=0.0))


def _written(golden: GoldenRunner, made: GeneratedCall, number: int, folder: Path) -> RecordedCall:
    folder.mkdir(parents=True)
    dump(made.document, str(folder), "inputs")
    named = {name.replace(GLOBAL, ""): node for name, node in made.document.tree.items()}
    arguments = {name: node for name, node in named.items() if not name.startswith("@")}
    texts = describe_call(arguments, set(golden.named), made.document.buffers).texts
    size = sum(path.stat().st_size for path in folder.iterdir())
    omitted = tuple(omission._asdict() for omission in made.document.omitted)
    return RecordedCall(number, folder, frozenset(), size, texts, omitted=omitted, made_of=made.made_of)


def _with_outcomes(
    golden: GoldenRunner, calls: Sequence[RecordedCall], folder: Path, seconds: float
) -> list[RecordedCall]:
    there = replace(golden, plan=replace(golden.plan, recording=folder))
    limits = Limits(seconds=60 + 2 * SECONDS)
    run = there.replay(calls, limits=limits, case_seconds=seconds)
    returned = []
    for call in calls:
        outcome = run.of("golden", str(call.number))
        if outcome.status == "returned" and outcome.document is not None:
            dump(outcome.document, str(call.folder), "expected")
            returned.append(replace(call, seconds=outcome.seconds, hits=outcome.hits))
    return returned


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
