"""Try survivors on generated calls: either one tells a survivor from the golden, or none of hundreds does.

Nothing here has to be a fair case: any call from which the golden returns the same twice may show that a survivor is
another function. Only a survivor that gives the golden's outcome to the bit on all of them, and whose line they reach,
is indistinguishable.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.core import code, files
from lmr_author.core.task.mutation import FEWEST_EXPLORED
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.proof.exploring.generate import generate
from lmr_author.runtime.probe.calling import RAISED
from lmr_author.runtime.probe.checking import digest
from lmr_author.runtime.probe.instrument import instrument
from lmr_author.runtime.probe.storing import dump
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay, ReplayOutcome
from lmr_author.runtime.replay.replaying import CONTROL, Variant
from lmr_author.runtime.sandbox.base import Limits

SECONDS = 60.0
"""Processor time for generated calls, by the golden's own times."""
OVERHEAD = 0.002
"""Seconds that a call takes beside the golden: its inputs are read, its outcome is sent."""
MOST = 500
"""Generated calls, at most."""


@dataclass(frozen=True)
class Explored:
    """What generated calls show of a survivor.

    Attributes:
        calls: those on which it gives the golden's outcome to the bit; 0 where one differs, or too few were made.
        told_by: the first call that tells it apart, in words.
    """

    calls: int = 0
    told_by: str = ""


NOT_EXPLORED = Explored()


def explore(
    judge: RecordingJudge, mutants: Sequence[Mutant], seconds: float, cost: float
) -> Mapping[str, Explored]:
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
    by_time = SECONDS / ((3 + len(mutants)) * (cost + OVERHEAD))
    affordable = int(min(by_time, replaying.BATCH_BYTES / (size * (1 + len(mutants)))))
    if affordable < FEWEST_EXPLORED or not bench.definitions:
        return {}
    named = [
        (case.name.replace("_", " "), replaying.load_document(judge.folder / case.name, "inputs"))
        for case in judge.recording.cases
    ]
    function = bench.definitions[0].function
    generated = itertools.islice(generate(named, function, bold=True), min(MOST, affordable))
    with files.temporary_folder("lmr-author-explored-") as folder:
        made_of = dict[str, str]()
        for number, call in enumerate(generated, 1):
            made_of[str(number)] = call.made_of
            (folder / str(number)).mkdir()
            dump(call.document, str(folder / str(number)), "inputs")
        run = _Runs(judge, folder, tuple(made_of), seconds)
        sure = run.sure()
        if len(sure) < FEWEST_EXPLORED:
            return {}
        found = run.versions(mutants, sure)
    unreached = _unreached(judge, sure)
    return {
        mutant.id: _shown(found[mutant.id], made_of, len(sure), mutant.line in unreached)
        for mutant in mutants
    }


def _shown(differs: Sequence[str], made_of: Mapping[str, str], calls: int, unreached: bool) -> Explored:
    if differs:
        return Explored(told_by=made_of[differs[0]])
    return Explored() if unreached else Explored(calls)


class _Runs:
    """Runs of generated calls, whose inputs lie in a folder."""

    def __init__(self, judge: RecordingJudge, folder: Path, cases: tuple[str, ...], seconds: float) -> None:
        self._judge, self._seconds = judge, seconds
        self._plan = replace(judge.plan(judge.line, seconds), recording=folder, cases=cases)

    def _run(self, versions: Sequence[Variant], cases: Sequence[str], *, seed: int, once: bool) -> Replay:
        bench = self._judge.bench
        return replaying.replay(
            bench.sandbox,
            bench.tree("masked", bench.masked_overlay),
            bench.inside,
            replace(self._plan, cases=tuple(cases), until_lost=once),
            versions,
            hash_seed=seed,
            limits=Limits(seconds=60 + 10 * SECONDS),
        )

    def _golden(self) -> Variant:
        bench = self._judge.bench
        return Variant(CONTROL, bench.golden_overlay[bench.implementation.goal_file], self._judge.line)

    def sure(self) -> dict[str, ReplayOutcome]:
        """Return the outcomes of the calls from which the golden returns the same in two processes."""
        plan = self._plan.cases
        runs = [self._run([self._golden()], plan, seed=seed, once=False) for seed in (1, 2)]
        first, second = ({case: run.of(CONTROL, case) for case in plan} for run in runs)
        return {
            case: outcome
            for case, outcome in first.items()
            if _returned(outcome) and _same(outcome, second[case])
        }

    def versions(self, mutants: Sequence[Mutant], sure: Mapping[str, ReplayOutcome]) -> dict[str, list[str]]:
        """Return id of each mutant → the calls on which it differs from the golden beside it."""
        run = self._run([self._golden(), *self._variants(mutants)], list(sure), seed=1, once=True)
        fair = [case for case, outcome in sure.items() if _same(outcome, run.of(CONTROL, case))]
        return {
            mutant.id: [case for case in fair if not _same(sure[case], run.of(mutant.id, case))]
            for mutant in mutants
        }

    def _variants(self, mutants: Sequence[Mutant]) -> list[Variant]:
        return [Variant(mutant.id, mutant.data, self._judge.line) for mutant in mutants]


def _returned(outcome: ReplayOutcome) -> bool:
    return outcome.document is not None and RAISED not in outcome.document.tree


def _same(first: ReplayOutcome, second: ReplayOutcome) -> bool:
    if first.document is None or second.document is None:
        return False
    return digest(first.document) == digest(second.document)


def _unreached(judge: RecordingJudge, sure: Mapping[str, ReplayOutcome]) -> set[int]:
    """Return lines of the golden about which generated calls show nothing.

    Those that none reaches, and those of conditions that hold in every call, or in none.
    """
    bench = judge.bench
    assert bench.definitions
    golden, name = bench.definitions[0], bench.implementation.goal_file
    watched = instrument(bench.golden_module.data, name, golden.qualname, golden.line)
    hits = frozenset[int]().union(*(outcome.hits for outcome in sure.values()))
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
