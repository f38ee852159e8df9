"""Explored calls: generated ones whose outcome the golden gives, as cases that no driver thought of.

The golden can be called, so it says what the outcome is. A generated call counts only if the golden returns, gives the
same again in fresh processes and in float64, and all known rewrites agree with it. Without a rewrite, nothing of a call
may lie outside what the recorded ones have.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from lmr_author.authoring.recording.replay import REPEATS, GoldenRunner, differences, replay
from lmr_author.authoring.recording.run import RecordedCall
from lmr_author.core.task import Progress
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
