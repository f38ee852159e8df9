"""Try survivors on hundreds of generated calls, which may distinguish them from the golden.

A generated call need not be a fair case: any call on which the golden is deterministic may show that a survivor is a
different function. A survivor is indistinguishable only if its outcomes are bit-identical to the golden's on all calls
and they reach its line.

Passing answers are tried only on calls that could be cases, as others may be unfair: a note shows a difference.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author.core import code, files
from lmr_author.core.task.mutation import FEWEST_EXPLORED
from lmr_author.core.task.recording import Case
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.proof.evaluation.mutants import Mutant
from lmr_author.proof.exploring.generate import RETURNING, SECONDS, affordable, generate
from lmr_author.runtime.probe.checking import digest
from lmr_author.runtime.probe.compare import DEFAULT
from lmr_author.runtime.probe.instrument import instrument
from lmr_author.runtime.probe.storing import dump
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay, ReplayOutcome
from lmr_author.runtime.replay.replaying import CONTROL, Variant
from lmr_author.runtime.replay.staging import copy_fixtures
from lmr_author.runtime.sandbox.base import Limits

MOST = 500
"""Generated calls, at most."""
HASH_SEEDS = (1, 2, 3)
"""Each gives sets of strings another order; for small sets, two orders coincide too often."""
LONGER = 5
"""Factor for the time of the minimum number of calls: a busy machine must not change a verdict."""
MOST_OF_ANSWER, FEWEST_OF_ANSWER = 100, 20
"""Generated calls on which an answer is tried; below the second number, it is not tried at all."""
BYTES_OF_ANSWER, RUNS_OF_ANSWER = 8 * 2**20, 6
"""Limit of their total inputs; and how often they must fit into
:data:`~lmr_author.proof.exploring.generate.SECONDS`."""
LOOSEST = ("ignore", "set", "allclose", "exact")
"""Kinds of checkers, the loosest first."""


@dataclass(frozen=True)
class ExploredMutant:
    """A survivor's result on generated calls.

    Attributes:
        calls: number of calls with bit-identical outcomes; 0 if one differs, or there are too few.
        told_by: description of the first call that distinguishes it from the golden.
    """

    calls: int = 0
    told_by: str = ""


NOT_EXPLORED = ExploredMutant()


def explore(
    judge: RecordingJudge, mutants: Sequence[Mutant], seconds: float, cost: float
) -> Mapping[str, ExploredMutant]:
    """Return mutant id → its result on generated calls, which run in the gate's sandbox.

    Raises SandboxError: the sandbox failed.
    """
    trees = judge.trees
    if not mutants:
        return {}
    size = _bytes_of_case(judge)
    by_size = replaying.BATCH_BYTES // (size * (1 + len(mutants)))
    in_time = affordable(cost, 1 + len(HASH_SEEDS) + len(mutants))
    if min(by_size, LONGER * in_time) < FEWEST_EXPLORED or not trees.definitions:
        return {}
    most = min(MOST, by_size, max(FEWEST_EXPLORED, in_time))
    with files.temporary_folder("lmr-author-explored-") as folder:
        made_of = _write(judge, folder, most, bold=True)
        runs = _Runs(judge, folder, tuple(made_of), seconds)
        sure = runs.sure(FEWEST_EXPLORED)
        if not sure:
            return {}
        beside = runs.beside_golden(mutants, tuple(sure))
    # If the golden times out beside them, or the run was cut short, a call proves nothing.
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


def calls_for_answers(judge: RecordingJudge, cost: float, work: Path) -> RecordingJudge | None:
    """Return a judge of generated calls that could be cases; None if a call is slow or large, or too few are usable.

    Args:
        work: an empty folder, to be filled like ``unit_test/``.

    Raises SandboxError: the sandbox failed.
    """
    trees = judge.trees
    most = min(MOST_OF_ANSWER, BYTES_OF_ANSWER // _bytes_of_case(judge), affordable(cost, RUNS_OF_ANSWER))
    if most < FEWEST_OF_ANSWER or not trees.definitions:
        return None
    folder = work / "recordings" / str(trees.implementation.index)
    folder.mkdir(parents=True)
    if fixtures := judge.plan(judge.line).fixtures:
        copy_fixtures(fixtures, work)
    made_of = _write(judge, folder, most, bold=False)
    fewest = max(FEWEST_OF_ANSWER, RETURNING * len(made_of))
    sure = _Runs(judge, folder, tuple(made_of), trees.seconds).sure(fewest)
    if not sure:
        return None
    cases, checkers = [], _loosest(judge.recording.cases)
    for number, (name, made) in enumerate(made_of.items(), 1):
        expected = sure[name].document if name in sure else None
        if expected is not None:
            dump(expected, str(folder / name), "expected")
            size = sum(path.stat().st_size for path in (folder / name).iterdir())
            cases.append(Case(name, number, size, {}, {}, "returned", checkers, made_of=made))
    return RecordingJudge(trees, replace(judge.recording, cases=tuple(cases)), folder)


def _loosest(cases: Sequence[Case]) -> dict[str, Mapping[str, Any]]:
    """Return each part's loosest checker in any case: a generated call has no tolerances of its own."""
    loosest = dict[str, Mapping[str, Any]]()
    for path in dict.fromkeys(path for case in cases for path in case.checkers):
        own = [case.checkers.get(path) or case.checkers.get(DEFAULT) for case in cases]
        found = sorted(filter(None, own), key=lambda checker: LOOSEST.index(checker["kind"]))
        limits = {
            name: max(checker.get(name, 0.0) for checker in found)
            for name in ("rtol", "atol")
            if name in found[0]
        }
        loosest[path] = {"kind": found[0]["kind"], **limits}
    return loosest


def _bytes_of_case(judge: RecordingJudge) -> int:
    cases = judge.recording.cases
    return sum(case.bytes for case in cases) // len(cases) + 1


def _write(judge: RecordingJudge, folder: Path, most: int, *, bold: bool) -> dict[str, str]:
    named = [
        (case.name.replace("_", " "), replaying.load_document(judge.folder / case.name, "inputs"))
        for case in judge.recording.cases
    ]
    assert judge.trees.definitions
    generated = generate(named, judge.trees.definitions[0].function, bold=bold)
    made_of = dict[str, str]()
    for number, call in enumerate(itertools.islice(generated, most), 1):
        made_of[name := f"case_{number}"] = call.made_of
        (folder / name).mkdir()
        dump(call.document, str(folder / name), "inputs")
    return made_of


class _Runs:
    def __init__(self, judge: RecordingJudge, folder: Path, cases: tuple[str, ...], seconds: float) -> None:
        self._judge = judge
        self._plan = replace(judge.plan(judge.line, seconds), recording=folder, cases=cases)

    def sure(self, fewest: float) -> dict[str, ReplayOutcome]:
        """Return the outcomes of the calls on which the golden is deterministic, whatever the order of its sets.

        Empty if there are too few.
        """
        outcomes = dict[str, ReplayOutcome]()
        for seed in HASH_SEEDS:
            run = self._run([self._golden()], self._plan, seed)
            found = {case: run.of(CONTROL, case) for case in outcomes or self._plan.cases}
            outcomes = {
                case: outcomes.get(case, outcome)
                for case, outcome in found.items()
                if outcome.status == "returned" and _same(outcome, outcomes.get(case, outcome))
            }
            if len(outcomes) < max(fewest, 1):
                return {}
        return outcomes

    def beside_golden(self, mutants: Sequence[Mutant], cases: tuple[str, ...]) -> Replay:
        versions = [Variant(mutant.id, mutant.data, self._judge.line) for mutant in mutants]
        return self._run(
            [self._golden(), *versions],
            replace(self._plan, cases=cases, until_lost=True),
            seed=HASH_SEEDS[0],
        )

    def _golden(self) -> Variant:
        trees = self._judge.trees
        return Variant(CONTROL, trees.golden_overlay[trees.implementation.goal_file], self._judge.line)

    def _run(self, versions: Sequence[Variant], plan: replaying.ReplayPlan, seed: int) -> Replay:
        trees = self._judge.trees
        tree, limits = trees.tree("masked", trees.masked_overlay), Limits(seconds=60 + 10 * SECONDS)
        return replaying.replay(
            trees.sandbox, tree, trees.inside, plan, versions, hash_seed=seed, limits=limits
        )


def _same(first: ReplayOutcome, second: ReplayOutcome) -> bool:
    if first.document is None or second.document is None:
        return False
    return digest(first.document) == digest(second.document)


def _unreached(judge: RecordingJudge, outcomes: Iterable[ReplayOutcome]) -> set[int]:
    """Return lines of the golden that generated calls do not test.

    Lines that no call reaches, and conditions that are always or never true.
    """
    trees = judge.trees
    assert trees.definitions
    golden, name = trees.definitions[0], trees.implementation.goal_file
    watched = instrument(trees.golden_module.data, name, golden.qualname, golden.line)
    hits = frozenset[int]().union(*(outcome.hits for outcome in outcomes))
    first_lines = {line for block, line in watched.lines.items() if block not in hits}
    lines = set[int]()
    for block, line in watched.lines.items():
        if block not in hits:
            is_absent = block in watched.absent
            lines.update(
                range(line, 1 + (line if is_absent else code.block_end(trees.golden_module.tree, line)))
            )
    for node in code.each(golden.function, ast.If, ast.While, ast.IfExp):
        branches = (
            [node.body, node.orelse] if isinstance(node, ast.IfExp) else [*node.body[:1], *node.orelse[:1]]
        )
        if first_lines.intersection(branch.lineno for branch in branches):
            lines.update(range(node.test.lineno, 1 + (node.test.end_lineno or node.test.lineno)))
    return lines
