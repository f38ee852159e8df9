"""Try survivors on generated calls: either one tells a survivor from the golden, or none of hundreds does.

Nothing here has to be a fair case: any call from which the golden returns the same twice may show that a survivor is
another function. Only a survivor that gives the golden's outcome to the bit on all of them, and whose line they reach,
is indistinguishable.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.core import code, files
from lmr_author.core.task.mutation import FEWEST_EXPLORED
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.proof.exploring.generate import SECONDS, affordable, generate
from lmr_author.runtime.probe.checking import digest
from lmr_author.runtime.probe.instrument import instrument
from lmr_author.runtime.probe.storing import dump
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay, ReplayOutcome
from lmr_author.runtime.replay.replaying import CONTROL, Variant
from lmr_author.runtime.sandbox.base import Limits

MOST = 500
"""Generated calls, at most."""
HASH_SEEDS = (1, 2, 3)
"""Each makes another order of sets of texts; of a few elements, two orders are the same too often."""
LONGER = 5
"""So many times longer the fewest calls that say something may take: a busy machine must not change a verdict."""


@dataclass(frozen=True)
class ExploredMutant:
    """What generated calls show of a survivor.

    Attributes:
        calls: those on which it gives the golden's outcome to the bit; 0 where one differs, or too few were made.
        told_by: the first call that tells it apart, in words.
    """

    calls: int = 0
    told_by: str = ""


NOT_EXPLORED = ExploredMutant()


def explore(
    judge: RecordingJudge, mutants: Sequence[Mutant], seconds: float, cost: float
) -> Mapping[str, ExploredMutant]:
    """Return id of each mutant → what generated calls show of it. The gate's own sandbox runs them.

    Args:
        seconds: time limit of one call.
        cost: what a call of the golden takes.

    Raises SandboxError: the sandbox failed.
    """
    bench = judge.bench
    if not mutants:
        return {}
    size = sum(case.bytes for case in judge.recording.cases) // len(judge.recording.cases) + 1
    by_size = replaying.BATCH_BYTES // (size * (1 + len(mutants)))
    in_time = affordable(cost, 1 + len(HASH_SEEDS) + len(mutants))
    if min(by_size, LONGER * in_time) < FEWEST_EXPLORED or not bench.definitions:
        return {}
    most = min(MOST, by_size, max(FEWEST_EXPLORED, in_time))
    named = [
        (case.name.replace("_", " "), replaying.load_document(judge.folder / case.name, "inputs"))
        for case in judge.recording.cases
    ]
    function = bench.definitions[0].function
    generated = itertools.islice(generate(named, function, bold=True), most)
    with files.temporary_folder("lmr-author-explored-") as folder:
        made_of = dict[str, str]()
        for number, call in enumerate(generated, 1):
            made_of[str(number)] = call.made_of
            (folder / str(number)).mkdir()
            dump(call.document, str(folder / str(number)), "inputs")
        runs = _Runs(judge, folder, tuple(made_of), seconds)
        sure = runs.sure()
        if len(sure) < FEWEST_EXPLORED:
            return {}
        beside = runs.beside_golden(mutants, tuple(sure))
    # Where the golden is late beside them, or the run was cut short, a call shows nothing.
    fair = {case: outcome for case, outcome in sure.items() if _same(outcome, beside.of(CONTROL, case))}
    if len(fair) < FEWEST_EXPLORED:
        return {}
    unreached = _unreached(judge, fair.values())
    found = dict[str, ExploredMutant]()
    for mutant in mutants:
        differs = (case for case, outcome in fair.items() if not _same(outcome, beside.of(mutant.id, case)))
        first = next(differs, None)
        if first is not None:
            found[mutant.id] = ExploredMutant(told_by=made_of[first])
        elif mutant.line not in unreached:
            found[mutant.id] = ExploredMutant(len(fair))
    return found


class _Runs:
    """Runs of generated calls, whose inputs lie in a folder."""

    def __init__(self, judge: RecordingJudge, folder: Path, cases: tuple[str, ...], seconds: float) -> None:
        self._judge = judge
        self._plan = replace(judge.plan(judge.line, seconds), recording=folder, cases=cases)

    def sure(self) -> dict[str, ReplayOutcome]:
        """Return the outcomes of the calls from which the golden returns the same, whatever the order of its sets."""
        first, *others = (self._run([self._golden()], self._plan, seed) for seed in HASH_SEEDS)
        outcomes = {case: first.of(CONTROL, case) for case in self._plan.cases}
        return {
            case: outcome
            for case, outcome in outcomes.items()
            if outcome.status == "returned"
            and all(_same(outcome, other.of(CONTROL, case)) for other in others)
        }

    def beside_golden(self, mutants: Sequence[Mutant], cases: tuple[str, ...]) -> Replay:
        """Run mutants behind the golden, each up to the first call in which it is lost."""
        versions = [Variant(mutant.id, mutant.data, self._judge.line) for mutant in mutants]
        return self._run(
            [self._golden(), *versions],
            replace(self._plan, cases=cases, until_lost=True),
            seed=HASH_SEEDS[0],
        )

    def _golden(self) -> Variant:
        bench = self._judge.bench
        return Variant(CONTROL, bench.golden_overlay[bench.implementation.goal_file], self._judge.line)

    def _run(self, versions: Sequence[Variant], plan: replaying.ReplayPlan, seed: int) -> Replay:
        bench = self._judge.bench
        tree, limits = bench.tree("masked", bench.masked_overlay), Limits(seconds=60 + 10 * SECONDS)
        return replaying.replay(
            bench.sandbox, tree, bench.inside, plan, versions, hash_seed=seed, limits=limits
        )


def _same(first: ReplayOutcome, second: ReplayOutcome) -> bool:
    if first.document is None or second.document is None:
        return False
    return digest(first.document) == digest(second.document)


def _unreached(judge: RecordingJudge, outcomes: Iterable[ReplayOutcome]) -> set[int]:
    """Return lines of the golden about which generated calls show nothing.

    Those that none reaches, and those of conditions that hold in every call, or in none.
    """
    bench = judge.bench
    assert bench.definitions
    golden, name = bench.definitions[0], bench.implementation.goal_file
    watched = instrument(bench.golden_module.data, name, golden.qualname, golden.line)
    hits = frozenset[int]().union(*(outcome.hits for outcome in outcomes))
    first_lines = {line for block, line in watched.lines.items() if block not in hits}
    lines = set[int]()
    for block, line in watched.lines.items():
        if block not in hits:
            is_absent = block in watched.absent
            lines.update(
                range(line, 1 + (line if is_absent else code.block_end(bench.golden_module.tree, line)))
            )
    for node in code.each(golden.function, ast.If, ast.While, ast.IfExp):
        branches = (
            [node.body, node.orelse] if isinstance(node, ast.IfExp) else [*node.body[:1], *node.orelse[:1]]
        )
        if first_lines.intersection(branch.lineno for branch in branches):
            lines.update(range(node.test.lineno, 1 + (node.test.end_lineno or node.test.lineno)))
    return lines
