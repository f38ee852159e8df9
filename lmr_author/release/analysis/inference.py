"""Tables that need statsmodels: comparisons of two systems, and the logistic regression of the paper's Table 5."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path, PurePosixPath
from statistics import mean
from typing import Any

import numpy

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import UNIT_TEST, Implementation, Task, TaskInfo
from lmr_author.core.texts import counted
from lmr_author.proof.evaluation.candidates.results import Z95
from lmr_author.release.analysis.observations import Observation
from lmr_author.release.analysis.tables import Cell, Problem, Table, groups, name_of, percent, samples_of

FINEST = 10_000
"""Differences are rounded to this fraction, which matters only for very many and unequal samples."""
FEATURES = {
    "average directory depth": "depth",
    "average branch factor": "branches",
    "goal file length": "length",
}
DUMMIES = ("model", "setting", "agent")


def comparisons(observations: Sequence[Observation]) -> Table:
    """Compare every two systems that share judged problems."""
    from statsmodels.stats.multitest import multipletests

    rates: dict[str, dict[Problem, Fraction]] = {}
    for group, answers in groups(observations).items():
        samples = samples_of(answers)
        rates[name_of(group)] = {problem: Fraction(sum(own), len(own)) for problem, own in samples.items()}
    rows: list[tuple[Cell, ...]] = []
    values: list[float] = []
    for first, second in combinations(rates, 2):
        shared = sorted(rates[first].keys() & rates[second].keys())
        if not shared:
            continue
        pairs = [(rates[first][problem], rates[second][problem]) for problem in shared]
        differences = [one - other for one, other in pairs]
        shares = (mean(one for one, _ in pairs), mean(other for _, other in pairs), mean(differences))
        shown = map(percent, (*map(float, shares), *interval(differences)))
        only_first = sum(one > 0 == other for one, other in pairs)
        only_second = sum(other > 0 == one for one, other in pairs)
        rows.append((first, second, len(shared), *shown, only_first, only_second))
        values.append(p_value(differences))
    adjusted = multipletests(values, method="holm")[1] if values else []
    rows = [
        (*row, float(f"{p:.3g}"), float(f"{holm:.3g}"))
        for row, p, holm in zip(rows, values, adjusted, strict=True)
    ]
    columns = ("A", "B", "shared problems", "A %", "B %", "A - B %", "low %", "high %", "only A solves",
               "only B solves", "p", "p (Holm)")  # fmt: skip
    note = (
        "On problems for which both have a judged answer. Interval: 95 %, clustered by problem. "
        "p: exact test of the differences' signs, which is McNemar's for one sample each."
    )
    return Table("pairs", "Two systems on the same problems", columns, tuple(rows), note)


def interval(differences: Sequence[Fraction]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of paired differences, each from -1 to 1.

    Agresti and Min's (2005, https://doi.org/10.1002/sim.1781): with half a problem more that only the one solves,
    half a one that only the other solves, and one without a difference. So equal systems have an interval, too.
    """
    size = len(differences) + 2
    middle = sum(differences) / size
    spread = sum(each * each for each in differences) + 1 - size * middle**2
    half = Z95 * math.sqrt(spread) / size
    return max(-1.0, middle - half), min(1.0, middle + half)


def p_value(differences: Sequence[Fraction]) -> float:
    """Test exactly, and on two sides, whether the signs of the problems' differences could be chance.

    With one sample each it is McNemar's exact test.
    """
    unit = min(math.lcm(*(each.denominator for each in differences)), FINEST)
    steps = [round(each * unit) for each in differences]
    chances = numpy.ones(1)  # of each sum, from the least on, two steps apart
    for step in filter(None, map(abs, steps)):
        shifted = numpy.zeros(len(chances) + step)
        shifted[: len(chances)] += chances / 2
        shifted[step:] += chances / 2
        chances = shifted
    sums: numpy.ndarray = 2 * numpy.arange(len(chances)) - (len(chances) - 1)
    return float(min(1.0, chances[abs(sums) >= abs(sum(steps))].sum()))


@dataclass(frozen=True)
class Properties:
    """Properties of a problem by the paper's definitions; unit tests and their recordings do not count.

    Attributes:
        depth: mean number of folders above a file or folder of the repository.
        branches: mean number of subfolders of the folders that have any; 0 if none has.
        length: lines of the goal file, before masking.
    """

    depth: float
    branches: float
    length: int


def properties(task: Task, info: TaskInfo, implementation: Implementation) -> Properties | None:
    """Measure a problem; None when its repository or golden cannot be read."""
    try:
        lines = len(task.golden(implementation).read_bytes().splitlines())
        depth, branches = _shape(task.repository(info))
    except (LmrError, OSError):
        return None
    return Properties(depth, branches, lines)


def _shape(repository: Path) -> tuple[float, float]:
    depths: list[int] = []
    folders: set[PurePosixPath] = set()
    for path in files.walk(repository):
        inside = PurePosixPath(path.relative_to(repository).as_posix())
        if inside.parts[0] != UNIT_TEST:
            depths.append(len(inside.parents) - 1)
            folders.update(inside.parents)
    folders.discard(PurePosixPath("."))
    depths += [len(folder.parents) - 1 for folder in folders]
    subfolders = Counter(folder.parent for folder in folders)
    return mean(depths or [0.0]), mean(subfolders.values() or [0.0])


def regression(observations: Sequence[Observation], measures: Mapping[Problem, Properties]) -> Table:
    """Return the paper's Table 5: success against the properties of the task, with dummies for model and setting.

    Answers to one task are not independent: standard errors are clustered by task.
    """
    used = [answer for answer in observations if answer.problem in measures and answer.is_tested]
    if not used:
        return _table([], "No judged answer to a task in --tasks")
    variables, left_out = _variables(used, measures)
    if len(used) < len(variables) + 2:
        return _table([], f"Too few results: {len(used)} for {len(variables)} variables")
    success = numpy.array([answer.outcome == "passed" for answer in used], dtype=float)
    tasks = [answer.task for answer in used]
    fitted = fit(numpy.column_stack(list(variables.values())), success, tasks)
    if fitted is None:
        problem = "a variable is constant or separates the results, or there is only one task"
        return _table([], f"No solution: {problem}")
    estimates = zip(variables, fitted.params, fitted.bse, fitted.tvalues, fitted.pvalues, strict=True)
    rows = [
        (name, round(float(value), 4), round(float(error), 4), round(float(z), 2), round(float(p), 4))
        for name, value, error, z, p in estimates
    ]
    baseline = " ".join(filter(None, (min(getattr(answer, kind) for answer in used) for kind in DUMMIES)))
    note = (
        f"{len(used)} answers to {counted(len(set(tasks)), 'task')}; the baseline is {baseline}; "
        "standard errors are clustered by task."
    )
    if left_out:
        note += f" Determined by the others, so left out: {', '.join(left_out)}."
    return _table(rows, note)


def _variables(
    used: Sequence[Observation], measures: Mapping[Problem, Properties]
) -> tuple[dict[str, numpy.ndarray], list[str]]:
    """Return the regression's variables by name, and the names of dummies that the others determine."""
    variables = {"constant": numpy.ones(len(used))}
    for name, attribute in FEATURES.items():
        values = [getattr(measures[answer.problem], attribute) for answer in used]
        variables[name] = numpy.array(values, dtype=float)
    left_out = []
    for kind in DUMMIES:
        for value in sorted({getattr(answer, kind) for answer in used})[1:]:
            dummy = numpy.array([getattr(answer, kind) == value for answer in used], dtype=float)
            # If each model has its own setting, say, the second dummy would repeat the first.
            if _rank([*variables.values(), dummy]) > _rank([*variables.values()]):
                variables[f"{kind} {value}"] = dummy
            else:
                left_out.append(f"{kind} {value}")
    return variables, left_out


def _rank(columns: Sequence[numpy.ndarray]) -> int:
    return int(numpy.linalg.matrix_rank(numpy.column_stack(columns)))


def _table(rows: Sequence[tuple[Cell, ...]], note: str) -> Table:
    columns = ("variable", "coefficient", "standard error", "z", "p")
    return Table("table5-regression", "Logistic regression of success (Table 5)", columns, tuple(rows), note)


def fit(variables: numpy.ndarray, success: numpy.ndarray, clusters: Sequence[str]) -> Any:
    """Fit a logistic regression to ``variables`` of shape (answers, variables), the first column all ones.

    Standard errors are robust to clusters. Returns statsmodels' results; None without a finite solution.
    """
    from statsmodels.discrete.discrete_model import Logit

    names, members = numpy.unique(numpy.array(clusters), return_inverse=True)
    if len(names) < 2 or numpy.linalg.matrix_rank(variables) < variables.shape[1]:
        return None
    model = Logit(success, variables)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of separable data; it says so by not converging, too
        try:
            fitted = model.fit(disp=False, cov_type="cluster", cov_kwds={"groups": members})
        except numpy.linalg.LinAlgError:
            return None
    return fitted if fitted.mle_retvals["converged"] else None
