"""One observation for each answer of a model: unit test, judge, people, actions. Read from JSONL files and logs.

A line names an answer by the fields of :class:`~lmr_author.proof.evaluation.candidates.predictions.Key` and adds any of
the other fields of :class:`Observation`. Lines about the same answer are merged, so the results of
``judge --predictions``, the outputs of a judge and people's grades may come in separate files. Logs of Inspect AI and
Harbor give such lines, too.

A line with an outcome or an answer, and without a ``run``, belongs to its file: the same problem in two files is two
samples. A line with neither says something about the one answer with its other fields.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from lmr_author.core import foreign
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.proof.evaluation.candidates import logs
from lmr_author.proof.evaluation.candidates.predictions import Key
from lmr_author.proof.evaluation.candidates.results import JsonLines
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.release.analysis import published
from lmr_author.release.analysis.grades import UNPARSABLE, grade_of
from lmr_author.release.analysis.model_input import ModelInput

UNJUDGED = Outcome.UNJUDGED.value


@dataclass(frozen=True)
class Usage:
    """Tokens, US dollars and seconds that an answer took; None if unknown."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Observation:
    """One answer of a model: the fields of a line, which docs/analysis.md describes.

    ``judges`` and ``grades`` have the grades by model and by person, ``source`` is the path of the answer's file.
    """

    task: str
    index: int
    model: str
    sample: int = 1
    agent: str = ""
    run: str = ""
    category: str = ""
    setting: str = ""
    input: str = ""
    outcome: str = ""
    error: str = ""
    judges: Mapping[str, str] = field(default_factory=dict)
    grades: Mapping[str, str] = field(default_factory=dict)
    error_class: str = ""
    actions: Mapping[str, int] = field(default_factory=dict)
    golden_share: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    usage: Usage = Usage()
    source: str = ""

    @property
    def key(self) -> Key:
        return Key.of(self)

    @property
    def is_tested(self) -> bool:
        return self.outcome not in ("", UNJUDGED)

    @property
    def problem(self) -> tuple[str, int]:
        return self.task, self.index

    @property
    def group(self) -> tuple[str, str, str, str]:
        return self.model, self.agent, self.setting, self.input


@dataclass(frozen=True)
class Observations:
    """All observations; ``repeated`` counts repeated lines, ``cut`` names truncated last lines, which are skipped."""

    items: tuple[Observation, ...]
    repeated: int
    cut: tuple[str, ...] = ()


def read(paths: Iterable[Path], scales: Mapping[str, int] | None = None) -> Observations:
    """Read and merge JSONL files and logs, in folders too; a folder may hold LMR-Bench's published results.

    Raises UsageError: no such file; LmrError: an invalid line, an unknown grade, or contradicting values.
    """
    answers, remarks, cut = _AnswerTable(), list[tuple[str, Observation]](), list[str]()
    for path in {each.resolve(): each for each in _files(paths)}.values():
        for where, data in _lines(path, cut, scales or {}):
            new = replace(_observation(data, where), source=str(path))
            if new.outcome or new.run or {"code", "model_patch"} & data.keys():
                if not new.run:
                    new = answers.numbered(replace(new, run=logs.run_of(path)), "sample" in data)
                answers.add(where, new)
            else:
                remarks.append((where, new))
    for where, remark in remarks:
        answers.add(where, answers.meant(where, remark))
    return Observations(tuple(answers.merged.values()), answers.repeated, tuple(cut))


class _AnswerTable:
    """Answers by their identity, and the runs of each answer."""

    def __init__(self) -> None:
        self.merged: dict[Key, Observation] = {}
        self.repeated = 0
        self._runs: dict[Key, dict[str, None]] = defaultdict(dict)

    def add(self, where: str, new: Observation) -> None:
        """Merge an observation with an earlier one of the same answer. Raises LmrError if they contradict."""
        old = self.merged.get(new.key)
        try:
            self.merged[new.key] = _merge(old, new) if old else new
        except ValueError as error:
            raise LmrError(f"{where}: {error}", "keep one of the two") from error
        self.repeated += old is not None and self.merged[new.key] == old
        self._runs[replace(new.key, run="")][new.run] = None

    def numbered(self, new: Observation, is_numbered: bool) -> Observation:
        """Give a line the next free number of its file, unless it has one."""
        while not is_numbered and new.key in self.merged:
            new = replace(new, sample=new.sample + 1)
        return new

    def meant(self, where: str, remark: Observation) -> Observation:
        """Give a remark the run of the one answer that it is about."""
        runs = list(self._runs.get(remark.key, {"": None}))
        if len(runs) > 1:
            what = f"{remark.task} #{remark.index} by {remark.model}"
            raise LmrError(
                f"{where}: there are {len(runs)} answers to {what}, sample {remark.sample}",
                f'name its run, as in {{"run": {json.dumps(runs[0])}}}',
            )
        return replace(remark, run=runs[0])


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_dir() and (results := published.find(path)):
            yield results
            continue
        paths_below = sorted([*path.rglob("*.jsonl"), *logs.find(path)]) if path.is_dir() else [path]
        if not paths_below or not os.path.lexists(paths_below[0]):
            raise UsageError(
                f"{path}: no results", "name a JSONL file, a log, or a folder that contains some"
            )
        for below in paths_below:
            foreign.require_regular(below, logs.MOST_BYTES, follow=below == path)
        yield from paths_below


def _lines(path: Path, cut: list[str], scales: Mapping[str, int]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the lines of a file or a log with their places; append the place of a truncated line to ``cut``."""
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
    judges, people = _named(data, "judges", where), _named(data, "grades", where)
    if data.get("judge"):
        judges[""] = data["judge"]
    if "grader" in data:
        people[str(data["grader"])] = data.get("grade")
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
        "judges": {name: _grade(grade, where, UNPARSABLE) for name, grade in judges.items()},
        "grades": {person: _grade(grade, where) for person, grade in people.items()},
    }
    try:
        return msgspec.convert(fields, Observation, strict=False)
    except ValueError as error:  # msgspec's errors are ValueErrors
        raise LmrError(f"{where}: {error}", "see docs/analysis.md for the fields") from error


def _named(data: Mapping[str, Any], field: str, where: str) -> dict[str, object]:
    given = data.get(field) or {}
    if not isinstance(given, dict):
        raise LmrError(f"{where}: {field} is not an object", f'as in {{"{field}": {{"ada": "LC"}}}}')
    return dict(given)


def _grade(value: object, where: str, *others: str) -> str:
    if grade := value if value in others else grade_of(value, alone=True):
        return str(grade)
    raise LmrError(f"{where}: unknown grade {value!r}", "grades are CC, LC, LI")


def _merge(old: Observation, new: Observation) -> Observation:
    """Combine two observations of one answer. Raises ValueError if they contradict."""
    # A later verdict, as by `judge` on a log, replaces a failure to judge.
    known = [each for each in (old, new) if each.is_tested] or [each for each in (old, new) if each.outcome]
    changes: dict[str, Any] = {"error": known[0].error if known else ""}
    what = f"{old.task} #{old.index} by {old.model}"
    for name in ("category", "outcome", "error_class"):
        values = dict.fromkeys(getattr(each, name) for each in (known if name == "outcome" else (old, new)))
        values.pop("", None)
        if len(values) > 1:
            first, second = values
            raise ValueError(f"{name} of {what} is {first!r} and {second!r}")
        changes[name] = next(iter(values), "")
    for name, someone in (("judges", "the judge"), ("grades", "somebody")):
        before, after = getattr(old, name), getattr(new, name)
        for who, grade in after.items():
            if before.get(who, grade) != grade:
                raise ValueError(f"{who or someone} grades {what} twice, differently")
        changes[name] = {**before, **after}
    changes["actions"] = old.actions or new.actions
    changes["golden_share"] = new.golden_share if old.golden_share is None else old.golden_share
    changes["usage"] = new.usage if old.usage == Usage() else old.usage
    # The log has the answer itself.
    changes["source"] = new.source if logs.is_log(Path(new.source)) else old.source
    return replace(old, **changes)
