"""The engine: a check is a function that yields problems, with a code, a title and a rationale.

    @target_check("LMR502", "the unit test cannot fail", rationale="…")
    def cannot_fail(task: TaskContents, target: Implementation) -> Iterator[Problem]:

``registry.py`` finds every check; the cases under ``tests/checks/cases`` are its tests and its examples. A check
prints nothing, writes nothing, runs nothing of the task, and reads only through the :class:`TaskContents`. An
exception in a check becomes a finding LMR000, and the other checks continue.
"""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lmr_author.core.task import Finding, Implementation, Severity
from lmr_author.core.texts import did_you_mean
from lmr_author.proof.contents import TaskContents, readable

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
INTERNAL = "LMR000"
"""Code of a finding that reports a crash in a check."""
MANY = 3
"""If more files than this in one folder have the same problem, they become one finding."""


@dataclass(frozen=True)
class Problem:
    """A defect that a check reports.

    Attributes:
        path: a file of the task, or a path as the task spells it.
        line: from 1; 0 if the problem has no line.
        pointer: instead of a line: a JSON pointer, or ``L3-L5``.
        severity: None for the check's own.
        files: all files of a folded problem.
        kind: many problems of one kind in one folder are folded into one finding; "" is never folded.
    """

    message: str
    hint: str
    path: Path | str = ""
    line: int = 0
    pointer: str = ""
    target: Implementation | None = None
    severity: Severity | None = None
    files: tuple[str, ...] = ()
    kind: str = ""


ClaimRule = Callable[[TaskContents], Iterable[tuple[str, Problem]]]


@dataclass(frozen=True)
class Check:
    """A possible defect of a task, named by ``title``.

    Attributes:
        claims: for checks that compare tasks: the task's claims, each with the problem to report if other tasks claim
            the same; its message ends where their names follow.
    """

    code: str
    title: str
    rationale: str
    severity: Severity
    problems: Callable[[TaskContents], Iterable[Problem]]
    claims: ClaimRule | None = None

    def run(self, task: TaskContents) -> list[Finding]:
        try:
            return [self.finding(task, problem) for problem in fold(task, self.problems(task))]
        except Exception as error:  # hostile tasks must not end the run
            return [crash(self.code, task.name, error)]

    def finding(self, task: TaskContents, problem: Problem) -> Finding:
        path = problem.path
        return Finding(
            code=self.code,
            severity=problem.severity or self.severity,
            task=task.name,
            message=problem.message,
            hint=problem.hint,
            implementation=problem.target.index if problem.target else None,
            path=task.relative(path) if isinstance(path, Path) else readable(path),
            pointer=problem.pointer or (f"L{problem.line}" if problem.line else ""),
            files=problem.files,
        )


TaskRule = Callable[[TaskContents], Iterable[Problem]]
TargetRule = Callable[[TaskContents, Implementation], Iterable[Problem]]


def check(
    code: str, title: str, *, rationale: str, severity: Severity = ERROR
) -> Callable[[TaskRule], Check]:
    return lambda rule: Check(code, title, rationale, severity, rule)


def target_check(
    code: str, title: str, *, rationale: str, severity: Severity = ERROR
) -> Callable[[TargetRule], Check]:
    def decorate(rule: TargetRule) -> Check:
        def every(task: TaskContents) -> Iterator[Problem]:
            for target in task.implementations:
                for problem in rule(task, target):
                    yield problem if problem.target else replace(problem, target=target)

        return Check(code, title, rationale, severity, every)

    return decorate


def dataset_check(
    code: str, title: str, *, rationale: str, severity: Severity = ERROR
) -> Callable[[ClaimRule], Check]:
    return lambda rule: Check(code, title, rationale, severity, lambda task: (), rule)


def crash(what: str, task: str, error: Exception) -> Finding:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
    message = f"{what} crashed: {type(error).__name__} at {where}: {str(error)[:160]}"
    hint = "please report this" + (f"; --ignore {what} skips the check" if what.startswith("LMR") else "")
    return Finding(INTERNAL, ERROR, task, message, hint)


def fold(task: TaskContents, problems: Iterable[Problem]) -> Iterator[Problem]:
    groups: dict[object, list[Problem]] = defaultdict(list)
    for number, problem in enumerate(problems):
        key: object = number
        if problem.kind and isinstance(problem.path, Path):
            folders = task.relative_raw(problem.path).split("/")[:-1]
            key = (problem.kind, problem.severity, id(problem.target), *folders[:2])
        groups[key].append(problem)
    for group in groups.values():
        yield from [_folded(task, group)] if len(group) > MANY else group


def _folded(task: TaskContents, group: Sequence[Problem]) -> Problem:
    paths = [task.relative_raw(Path(problem.path)) for problem in group]
    common = os.path.commonpath([path.rpartition("/")[0] for path in paths])
    examples = ", ".join(readable(path)[len(readable(common)) :].lstrip("/") for path in paths[:2])
    within = f" in {readable(common)}/" if common else ""
    return replace(
        group[0],
        message=f"{len(group)} × {group[0].message}{within}, e.g. {examples}",
        path=task.task.root / common if common else "",
        files=tuple(map(readable, paths)),
    )


# hints


def closest_names_hint(wanted: str, names: Sequence[str], cutoff: float = 0.6) -> str:
    """Return a hint with the closest names, or "". For paths, the file names must be similar."""
    name = wanted.rpartition("/")[2]
    if "/" in wanted:
        names = [path for path in names if _is_alike(name, path.rpartition("/")[2])]
    return did_you_mean(difflib.get_close_matches(wanted, list(dict.fromkeys(names)), 2, cutoff))


@cache
def _is_alike(wanted: str, name: str) -> bool:
    return difflib.SequenceMatcher(None, wanted, name).ratio() >= 0.6


def similar_path(task: TaskContents, text: str, suffix: str = ".py") -> str:
    names = [name for name in task.repository_files if name.endswith(suffix)]
    name = text.rpartition("/")[2]
    same = [path for path in names if name and path.rpartition("/")[2] == name]
    same.sort(key=lambda path: path.count("/"))  # copies, as in `build/lib/`, are deeper
    if same:
        return did_you_mean(same[:3])
    return closest_names_hint(text, names) or "name a file of the repository, relative to it"
