"""One observation for each answer of a model: unit test, judge, people, actions. Read from JSONL files and logs.

A line names an answer by ``task``, ``index``, ``model``, ``sample`` and adds any of the other fields of
:class:`Observation`. Lines about the same answer are merged, so the results of ``judge --predictions``, the
outputs of a judge and people's grades may come in separate files. Logs of Inspect AI and Harbor give such lines, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from lmr_author.core.errors import LmrError, UsageError
from lmr_author.proof.evaluation.candidates import logs
from lmr_author.proof.evaluation.candidates.predictions import Key
from lmr_author.proof.evaluation.candidates.results import JsonLines
from lmr_author.release.analysis import published
from lmr_author.release.analysis.model_input import ModelInput

GRADES = {
    "completely-correct": "CC",
    "logically-correct": "LC",
    "logically-incorrect": "LI",
    "cc": "CC",
    "lc": "LC",
    "li": "LI",
}
"""Spellings of the paper's grades (appendix C): completely correct, logically correct, logically incorrect."""


@dataclass(frozen=True)
class Observation:
    """One answer of a model.

    Attributes:
        task, index: the implementation.
        model, sample: the model, and the number of its answer, from 1.
        category: the implementation's category.
        setting: ``prompting`` or ``agent``; "" when not given.
        input: what the model was given, as :class:`~.model_input.ModelInput` names it; "" when unknown.
        outcome: outcome of the unit test as in ``results.jsonl``; "" without one.
        judge: grade of the model that judges: CC, LC, LI; "" without one, "unparsable" for an unreadable answer.
        grades: people's grades, by person.
        error_class: class of the error that a person assigned.
        actions: number of an agent's actions by kind (edit, finish, message, read, run).
        golden_share: share of the golden that the answer repeats word for word, 0 to 1; None when not measured.
    """

    task: str
    index: int
    model: str
    sample: int = 1
    category: str = ""
    setting: str = ""
    input: str = ""
    outcome: str = ""
    judge: str = ""
    grades: Mapping[str, str] = field(default_factory=dict)
    error_class: str = ""
    actions: Mapping[str, int] = field(default_factory=dict)
    golden_share: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None

    @property
    def key(self) -> Key:
        """The answer that this is about."""
        return self.task, self.index, self.model, self.setting, self.input, self.sample

    @property
    def is_tested(self) -> bool:
        """True where a unit test has judged it."""
        return self.outcome not in ("", "infrastructure")

    @property
    def problem(self) -> tuple[str, int]:
        """The implementation that this is about."""
        return self.task, self.index

    @property
    def group(self) -> tuple[str, str, str]:
        """The row of a table: model, setting, input."""
        return self.model, self.setting, self.input


@dataclass(frozen=True)
class Observations:
    """All observations.

    Attributes:
        repeated: number of lines that only repeated another one.
        cut: places of last lines that were cut off, and are left out.
    """

    items: tuple[Observation, ...]
    repeated: int
    cut: tuple[str, ...] = ()


def read(paths: Iterable[Path], scales: Mapping[str, int] | None = None) -> Observations:
    """Read and merge JSONL files and logs; a folder stands for those below it, or is LMR-Bench's published results.

    Args:
        scales: number of the lowest grade of annotators in published results, where it is not 1.

    Raises UsageError: no such file; LmrError: a line that is not as described, an unknown grade, or two
    values for one field of the same answer.
    """
    merged: dict[Key, Observation] = {}
    repeated, cut = 0, list[str]()
    for path in _files(paths):
        for where, data in _lines(path, cut, scales or {}):
            new = _observation(data, where)
            old = merged.get(new.key)
            try:
                merged[new.key] = _merge(old, new) if old else new
            except ValueError as error:
                raise LmrError(f"{where}: {error}", "keep one of the two") from error
            repeated += old is not None and merged[new.key] == old
    return Observations(tuple(merged.values()), repeated, tuple(cut))


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_dir() and (results := published.find(path)):
            yield results
            continue
        paths_below = sorted([*path.rglob("*.jsonl"), *logs.find(path)]) if path.is_dir() else [path]
        if not paths_below or not paths_below[0].is_file():
            raise UsageError(
                f"{path}: no results", "name a JSONL file, a log, or a folder that contains some"
            )
        yield from paths_below


def _lines(path: Path, cut: list[str], scales: Mapping[str, int]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the lines of a file or a log with their places; add that of a line that was cut off to ``cut``."""
    if path.is_dir():
        yield from published.read(path, scales)
        return
    if logs.is_log(path):
        yield from logs.read(path)
        return
    lines = JsonLines(path)
    for number, data in lines:
        where = f"{path}:{number}"
        if not isinstance(data, dict):
            raise LmrError(f"{where}: not a JSON object", "each line names an answer: task, index, model")
        yield where, data
    if lines.cut:
        cut.append(f"{path}:{lines.cut}")


def _observation(data: Mapping[str, Any], where: str) -> Observation:
    """Convert a line; people's grades are ``grades: {person: grade}`` or ``grader`` and ``grade``."""
    grades = data.get("grades") or {}
    if not isinstance(grades, dict):
        raise LmrError(f"{where}: grades is not an object", 'as in {"grades": {"ada": "LC"}}')
    if "grader" in data:
        grades = {**grades, str(data["grader"]): data.get("grade")}
    judge = data.get("judge") or ""
    if judge and judge != "unparsable":
        judge = _grade(judge, where)
    model_input = str(data.get("input") or "")
    try:
        model_input = ModelInput.parse(model_input).name if model_input else ""
    except UsageError as error:
        raise LmrError(f"{where}: {error.message}", error.hint) from error
    fields: dict[str, Any] = {"index": 1}
    for name, value in data.items():
        if value is not None:
            fields[name] = value
    fields |= {
        "input": model_input,
        "judge": judge,
        "grades": {person: _grade(grade, where) for person, grade in grades.items()},
    }
    try:
        return msgspec.convert(fields, Observation, strict=False)
    except ValueError as error:  # msgspec's errors are ValueErrors
        raise LmrError(f"{where}: {error}", "see docs/analysis.md for the fields") from error


def _grade(value: object, where: str) -> str:
    if grade := GRADES.get(str(value).strip().lower()):
        return grade
    raise LmrError(f"{where}: unknown grade {value!r}", "grades are CC, LC, LI")


def _merge(old: Observation, new: Observation) -> Observation:
    """Combine two observations of one answer. Raises ValueError where both have another value for a field."""
    changes: dict[str, Any] = {}
    for name in ("category", "outcome", "judge", "error_class"):
        first, second = getattr(old, name), getattr(new, name)
        if first and second and first != second:
            raise ValueError(f"{name} of {old.task} #{old.index} by {old.model} is {first!r} and {second!r}")
        changes[name] = first or second
    for person, grade in new.grades.items():
        if old.grades.get(person, grade) != grade:
            raise ValueError(f"{person} grades {old.task} #{old.index} by {old.model} twice, differently")
    changes["grades"] = {**old.grades, **new.grades}
    changes["actions"] = old.actions or new.actions
    changes["golden_share"] = new.golden_share if old.golden_share is None else old.golden_share
    return replace(old, **changes)
