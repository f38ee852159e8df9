"""Success by properties of the task: the logistic regression of the paper's Table 5."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from lmr_author.core import code, files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.release.analysis.observations import Observation
from lmr_author.release.analysis.tables import Cell, Table

FEATURES = ("average directory depth", "average branch factor", "goal function length")
STEPS = 50
"""Newton steps; a regression that needs more has separable data and no finite solution."""


@dataclass(frozen=True)
class Properties:
    """Properties of a problem: depth and branch factor of its repository's folders, lines of its target."""

    depth: float
    branches: float
    length: int


def properties(task: Task, info: TaskInfo, one: Implementation) -> Properties | None:
    """Measure a problem; None when its repository or golden cannot be read."""
    try:
        golden = task.golden(one)
        target = code.find(code.Module.parse(golden.read_bytes(), one.golden_file), one.target)
        depth, branches = _shape(task.repository(info))
    except (LmrError, OSError):
        return None
    return Properties(depth, branches, target.length)


def _shape(repository: Path) -> tuple[float, float]:
    """Return mean depth of a repository's folders and mean number of entries in them."""
    entries: dict[Path, set[str]] = {repository: set()}
    for path in files.walk(repository):
        while path != repository:
            entries.setdefault(path.parent, set()).add(path.name)
            path = path.parent
    depths = [len(folder.relative_to(repository).parts) for folder in entries]
    return sum(depths) / len(depths), sum(map(len, entries.values())) / len(entries)


def regression(observations: Sequence[Observation], known: Mapping[tuple[str, int], Properties]) -> Table:
    """Return the paper's Table 5: success against the properties of the task, with a dummy for each model."""
    used = [one for one in observations if one.problem in known and one.outcome not in ("", "infrastructure")]
    models = sorted({one.model for one in used})
    names = ("constant", *FEATURES, *(f"model {model}" for model in models[1:]))
    if len(used) < len(names) + 2:
        return _table([], f"Too few results: {len(used)} for {len(names)} variables")
    rows = []
    for one in used:
        found = known[one.problem]
        rows.append(
            [1.0, found.depth, found.branches, found.length, *(float(one.model == m) for m in models[1:])]
        )
    success = numpy.array([one.outcome == "passed" for one in used], dtype=float)
    fitted = fit(numpy.array(rows), success)
    if fitted is None:
        return _table([], "No solution: a variable is constant or decides alone")
    lines: list[tuple[Cell, ...]] = []
    for name, value, error in zip(names, *fitted, strict=True):
        z = value / error
        p = math.erfc(abs(z) / math.sqrt(2))
        lines.append((name, round(value, 4), round(error, 4), round(z, 2), round(p, 4)))
    return _table(lines, f"{len(used)} answers; the baseline is {models[0]}.")


def _table(rows: Sequence[tuple[Cell, ...]], note: str) -> Table:
    columns = ("variable", "coefficient", "standard error", "z", "p")
    return Table("table5-regression", "Logistic regression of success (Table 5)", columns, tuple(rows), note)


def fit(variables: numpy.ndarray, success: numpy.ndarray) -> tuple[list[float], list[float]] | None:
    """Fit a logistic regression by Newton's method.

    Args:
        variables: shape (answers, variables), the first column all ones.
        success: shape (answers,), 0 or 1.

    Returns coefficients and standard errors; None without a finite solution.
    """
    spread = variables.std(axis=0)
    spread[0] = 1.0
    if (spread == 0).any():
        return None
    scaled = variables / spread
    values = numpy.zeros(scaled.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + numpy.exp(-numpy.clip(scaled @ values, -30, 30)))
        information = scaled.T @ (scaled * (chance * (1 - chance))[:, None])
        if numpy.linalg.cond(information) > 1e12:
            return None
        step = numpy.linalg.solve(information, scaled.T @ (success - chance))
        values = values + step
        if numpy.abs(step).max() < 1e-9:
            errors = numpy.sqrt(numpy.diag(numpy.linalg.inv(information)))
            return (values / spread).tolist(), (errors / spread).tolist()
    return None
