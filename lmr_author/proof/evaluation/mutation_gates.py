"""The gates that try wrong versions of the target: trivial ones, and mutants of the golden."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median

from lmr_author.core import code
from lmr_author.core.task import GateResult, GateStatus, equivalents
from lmr_author.core.task.evaluation import GateDetail, judged_mutants
from lmr_author.core.task.mutation import FEWEST, MutantTally, Survivor
from lmr_author.core.task.recording import Recording
from lmr_author.core.texts import Step, counted, listed
from lmr_author.proof.evaluation.exploring import NOT_EXPLORED, ExploredMutant, explore
from lmr_author.proof.evaluation.gates import TargetUnderGates, failed, passed, unproven
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.proof.evaluation.mutants import Mutant, mutants
from lmr_author.proof.evaluation.trees import MUTANTS, TargetTrees

MOST_BY_SCRIPT = FEWEST
"""Fewer for a hand-written script: each mutant is a run of its own, imports included."""
MAX_ARGUMENTS = 4
"""Limit of "return this argument" versions."""

ZEROS = "zeros in the golden's shape"
_ZEROS = """\
from copy import deepcopy as _copy

def _zeros(value, first=True):
    if isinstance(value, (tuple, list)):
        items = [_zeros(item, False) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: _zeros(item, False) for key, item in value.items()}
    if isinstance(value, (bool, int, float, complex, str)):
        return type(value)()
    if hasattr(value, "detach"):
        return value.detach().clone().zero_()
    if type(value).__module__ == "numpy":  # times zero, infinity is NaN
        return __import__("numpy").zeros_like(value)[()]
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return (value * 0).astype(value.dtype)
    if first:  # no return value: the golden's side effects would pass
        raise NotImplementedError
    return None
"""
_UNCLEAR = "the target cannot be identified in golden and goal file", "run `lmr-author validate`"


def trivial_fails(on: TargetUnderGates) -> GateResult:
    """Returning None, an argument, or zeros of the right shape fails."""
    sources = trivial_sources(on.trees)
    if not sources:
        return failed(*_UNCLEAR)
    verdicts = on.judges[0].versions(sources)
    own = on.own_test(verdicts.values())
    survivors = [name for name, verdict in verdicts.items() if verdict.passed]
    if survivors:
        return failed(
            f"trivial implementations pass: {'; '.join(survivors)}",
            "compare with stored values of the golden"
            if on.handwritten
            else "record cases with a different outcome (other inputs, other options)",
            GateDetail(passing=tuple(survivors), own_test=own),
        )
    verb = "fails" if len(verdicts) == 1 else "fail"
    message = f"{counted(len(verdicts), 'trivial implementation')} {verb}"
    return passed(message, GateDetail(tried=tuple(sorted(verdicts)), own_test=own))


def mutants_to_try(
    golden: code.Module, functions: Iterable[code.Definition], paths: Iterable[str], most: int = MUTANTS
) -> list[Mutant]:
    """Return the mutants that judge a test, accepted ones included; `record` and `evaluate` use the same.

    Args:
        paths: parts of the outcome that the cases compare; some are gradients.
    """
    differentiated = frozenset(re.findall(r"@gradients\['(\w+)'\]", "\n".join(paths)))
    made: list[Mutant] = []
    for function in functions:
        made += mutants(golden, function, most, differentiated)
    return made[:most]


def mutants_die(on: TargetUnderGates) -> GateResult:
    """At least 90 % of the mutants that are not accepted as equivalent are killed, and at most 10 % are accepted."""
    trees, judge = on.trees, on.judges[0]
    pair = trees.definitions
    if pair is None or isinstance(pair[0].node, ast.ClassDef):
        return failed(*_UNCLEAR)
    most = min(trees.mutants, MOST_BY_SCRIPT) if on.handwritten else trees.mutants
    if not most:
        return GateResult("", GateStatus.SKIPPED, "skipped: --mutants 0")
    every = _mutants_of(trees, MUTANTS)
    sample = every if most >= len(every) else _mutants_of(trees, most)
    if not sample:
        return unproven("the target has no mutants", "choose a larger target")
    # Far above the golden's slowest case; ends endless loops.
    slowest = max((verdict.seconds for verdict in on.golden), default=0.0)
    verdicts = judge.versions(
        {mutant.id: mutant.data for mutant in sample},
        min(trees.seconds, max(5.0, 20 * slowest)),
        lambda done: trees.progress(
            Step(f"mutant {done} of {len(sample)}: {trees.implementation.target}", done, len(sample))
        ),
    )
    golden_outputs = {verdict.identity for verdict in on.golden}
    survivors = []
    passing = [mutant for mutant in sample if verdicts[mutant.id].passed]
    same = {mutant.id for mutant in passing if verdicts[mutant.id].identity in golden_outputs}
    explored = _explored(on, [mutant for mutant in passing if mutant.id in same])
    for mutant in passing:
        survivors.append(_survivor(trees, mutant, mutant.id in same, explored.get(mutant.id, NOT_EXPLORED)))
    figures = GateDetail(
        made=len(sample),
        untried=len(every) - len(sample),
        method=judge.method,
        own_test=on.own_test(verdicts.values()),
        survivors=tuple(survivors),
        tallies=_tallies(sample, {mutant.id for mutant in passing}),
    )
    return judged_mutants(figures, equivalents.valid_changes(trees.task))


def _tallies(sample: Sequence[Mutant], passing: Collection[str]) -> tuple[MutantTally, ...]:
    made = Counter((mutant.line, mutant.operator) for mutant in sample)
    alive = Counter((mutant.line, mutant.operator) for mutant in sample if mutant.id in passing)
    return tuple(MutantTally(*key, made[key], made[key] - alive[key]) for key in sorted(made))


def _explored(on: TargetUnderGates, survivors: Sequence[Mutant]) -> Mapping[str, ExploredMutant]:
    judge, recording = on.judges[0], on.trees.recording
    if not isinstance(judge, RecordingJudge) or recording is None:
        return {}
    reached = [
        mutant for mutant in survivors if not _unreached(recording, on.trees.golden_module.tree, mutant.line)
    ]
    on.trees.progress(
        f"generated calls on {counted(len(reached), 'mutant')}: {on.trees.implementation.target}"
    )
    seconds = [case.seconds for verdict in on.golden for case in verdict.cases]
    # On many generated calls a loop may never end: each costs this limit.
    return explore(judge, reached, max(1.0, 20 * max(seconds, default=0.0)), median(seconds or [0.0]))


def _mutants_of(trees: TargetTrees, most: int) -> list[Mutant]:
    paths: list[str] = []
    for case in trees.recording.cases if trees.recording else ():
        paths += case.checkers
    return mutants_to_try(trees.golden_module, [function for function, _ in trees.pairs], paths, most)


def _survivor(trees: TargetTrees, mutant: Mutant, same: bool, explored: ExploredMutant) -> Survivor:
    recording = trees.recording
    unreached = _unreached(recording, trees.golden_module.tree, mutant.line) if recording else ()
    why = explain_survivor(recording, mutant, same, unreached, explored) if recording else ""
    return Survivor(
        mutant.id,
        mutant.line,
        mutant.operator,
        mutant.diff,
        why,
        unreached,
        explored=explored.calls,
        told_by=explored.told_by,
    )


def explain_survivor(
    recording: Recording,
    mutant: Mutant,
    same: bool,
    unreached: tuple[int, ...],
    explored: ExploredMutant = NOT_EXPLORED,
) -> str:
    """Return why a mutant survives: it is equivalent, or no case detects it.

    Args:
        same: its outputs are the golden's to the bit.
        unreached: first and last line of the block that no case reaches; () if that is not the reason.
    """
    no_case = "no case detects it: "
    if unreached:
        first, last = unreached
        lines = f"lines {first}-{last}" if last > first else f"line {first}"
        return f"{no_case}none reaches {lines}"
    if not same:
        ignored = _ignored(recording)
        elsewhere = f" or only in parts that are not compared: {listed(ignored, 4)}" if ignored else ""
        return f"{no_case}the outputs differ only within the tolerance{elsewhere}"
    if explored.told_by:
        return f"no case detects it, but a generated call does: {explored.told_by}"
    if explored.calls:
        return f"indistinguishable: bit-identical on {explored.calls} generated calls"
    if mutant.parameter:
        return f"{no_case}none depends on a non-default `{mutant.parameter}`"
    if mutant.line in recording.coverage.never_false:
        return f"{no_case}the condition on line {mutant.line} is true in every case"
    every = f"bit-identical outputs in all {len(recording.cases)} cases"
    return f"{every}: record a call that exposes the mistake"


def _ignored(recording: Recording) -> list[str]:
    paths: dict[str, None] = {}
    for case in recording.cases:
        for path, checker in case.checkers.items():
            if checker.get("kind") == "ignore":
                paths[path.removeprefix("*")] = None
    return list(paths)


def _unreached(recording: Recording, tree: ast.Module, line: int) -> tuple[int, ...]:
    coverage = recording.coverage
    if line in coverage.lines:
        return ()
    blocks = [(first, code.block_end(tree, first)) for first in coverage.missed]
    blocks += code.behind_exits(tree, coverage.never_false)
    return next(((first, last) for first, last in blocks if first <= line <= last), ())


def trivial_sources(trees: TargetTrees) -> dict[str, bytes]:
    masked = [target for _, target in trees.pairs if not isinstance(target.node, ast.ClassDef)]
    if not masked:
        return {}
    bodies = {"return None": ["return None"]}
    if len(masked) == 1:  # methods of a class have different parameters
        bodies |= _trivial_bodies(trees, masked[0].function)
    sources = {}
    for name, body in bodies.items():
        replaced = {}
        for target in masked:
            replaced[target] = [*body, "yield"] if code.is_generator(target.function) else body
        sources[name] = code.splice(trees.masked_module, replaced)
    return sources


def _trivial_bodies(trees: TargetTrees, node: code.FunctionNode) -> dict[str, list[str]]:
    if code.is_generator(node):
        return {}
    names = [parameter.arg for parameter, _ in code.parameters(node.args)]
    values = [name for name in names if name not in {"self", "cls", "mcs"}]
    bodies = {f"return {name}": [f"return {name}"] for name in values[:MAX_ARGUMENTS]}
    if isinstance(node, ast.FunctionDef):
        bodies[ZEROS] = zeroed(trees.pairs[0][0].function)
    return bodies


def zeroed(golden: code.FunctionNode) -> list[str]:
    """Return the lines of a body that returns zeros in the golden's shape, without side effects.

    Calling the golden gives the right shape in every case, and for hand-written tests, which have no recorded outcome.
    """
    copied = ast.parse(ast.unparse(golden)).body[0]
    assert isinstance(copied, ast.FunctionDef)
    copied.name, copied.decorator_list, copied.returns = "_golden", [], None
    arguments = copied.args
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    for parameter in ast.walk(arguments):
        if isinstance(parameter, ast.arg):
            parameter.annotation = None
    copies = [f"_copy({parameter.arg})" for parameter in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg:
        copies.append(f"*_copy({arguments.vararg.arg})")
    copies += [f"{parameter.arg}=_copy({parameter.arg})" for parameter in arguments.kwonlyargs]
    if arguments.kwarg:
        copies.append(f"**_copy({arguments.kwarg.arg})")
    call = f"return _zeros(_golden({', '.join(copies)}))"
    return [*_ZEROS.splitlines(), *ast.unparse(copied).splitlines(), call]
