"""Success by properties of the task: the logistic regression of the paper's Table 5."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from statistics import mean
from typing import Any

import numpy

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import UNIT_TEST, Implementation, Task, TaskInfo
from lmr_author.core.texts import counted
from lmr_author.release.analysis.observations import Observation
from lmr_author.release.analysis.tables import Cell, Table

FEATURES = ("average directory depth", "average branch factor", "goal file length")
DUMMIES = ("model", "setting", "agent")


@dataclass(frozen=True)
class Properties:
    """Properties of a problem by the paper's definitions; unit tests and their recordings do not count.

    Attributes:
        depth: mean number of folders above a file or folder of the repository.
        branches: mean number of subfolders of the folders that have any; 0 where none has.
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
    branches = mean(subfolders.values()) if subfolders else 0.0
    return mean(depths) if depths else 0.0, branches


def regression(observations: Sequence[Observation], measures: Mapping[tuple[str, int], Properties]) -> Table:
    """Return the paper's Table 5: success against the properties of the task, with dummies for model and setting.

    Needs statsmodels. Answers to one task are not independent: standard errors are clustered by task.
    """
    used = [answer for answer in observations if answer.problem in measures and answer.is_tested]
    if not used:
        return _table([], "No judged answer to a task that --tasks names")
    names, columns, left_out = _variables(used, measures)
    if len(used) < len(names) + 2:
        return _table([], f"Too few results: {len(used)} for {len(names)} variables")
    success = numpy.array([answer.outcome == "passed" for answer in used], dtype=float)
    fitted = fit(numpy.column_stack(columns), success, [answer.task for answer in used])
    if fitted is None:
        return _table([], "No solution: a variable is constant or decides alone, or there is one task only")
    estimates = zip(names, fitted.params, fitted.bse, fitted.tvalues, fitted.pvalues, strict=True)
    rows = [
        (name, round(float(value), 4), round(float(error), 4), round(float(z), 2), round(float(p), 4))
        for name, value, error, z, p in estimates
    ]
    baseline = " ".join(filter(None, (min(getattr(answer, kind) for answer in used) for kind in DUMMIES)))
    note = (
        f"{len(used)} answers to {counted(len({answer.task for answer in used}), 'task')}; the baseline is {baseline}; "
        "standard errors are clustered by task."
    )
    if left_out:
        note += f" Told by the others, so left out: {', '.join(left_out)}."
    return _table(rows, note)


def _variables(
    used: Sequence[Observation], measures: Mapping[tuple[str, int], Properties]
) -> tuple[list[str], list[numpy.ndarray], list[str]]:
    """Return names and columns of the regression's variables, and the names of dummies that the others determine."""
    names, columns = ["constant", *FEATURES], [numpy.ones(len(used))]
    for attribute in ("depth", "branches", "length"):
        columns.append(
            numpy.array([getattr(measures[answer.problem], attribute) for answer in used], dtype=float)
        )
    left_out = []
    for kind in DUMMIES:
        for value in sorted({getattr(answer, kind) for answer in used})[1:]:
            dummy = numpy.array([getattr(answer, kind) == value for answer in used], dtype=float)
            # Where each model has its own setting, say, the second dummy would repeat the first.
            if _rank([*columns, dummy]) > _rank(columns):
                names.append(f"{kind} {value}")
                columns.append(dummy)
            else:
                left_out.append(f"{kind} {value}")
    return names, columns, left_out


def _rank(columns: Sequence[numpy.ndarray]) -> int:
    return int(numpy.linalg.matrix_rank(numpy.column_stack(columns)))


def _table(rows: Sequence[tuple[Cell, ...]], note: str) -> Table:
    columns = ("variable", "coefficient", "standard error", "z", "p")
    return Table("table5-regression", "Logistic regression of success (Table 5)", columns, tuple(rows), note)


def fit(variables: numpy.ndarray, success: numpy.ndarray, clusters: Sequence[str]) -> Any:
    """Fit a logistic regression with standard errors that are robust to clusters (needs statsmodels).

    Args:
        variables: shape (answers, variables), the first column all ones.
        success: shape (answers,), 0 or 1.
        clusters: names of the groups within which answers depend on one another.

    Returns statsmodels' results; None without a finite solution.
    """
    from statsmodels.discrete.discrete_model import Logit

    names, members = numpy.unique(numpy.array(clusters), return_inverse=True)
    if len(names) < 2 or numpy.linalg.matrix_rank(variables) < variables.shape[1]:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of separable data; it says so by not converging, too
        try:
            fitted = Logit(success, variables).fit(
                disp=False, cov_type="cluster", cov_kwds={"groups": members}
            )
        except numpy.linalg.LinAlgError:
            return None
    return fitted if fitted.mle_retvals["converged"] else None
