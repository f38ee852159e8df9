"""Validate tasks, each by itself and then beside each other; unchanged ones are taken from the cache."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from lmr_author import accepted
from lmr_author.checks.base import Check, TreeCheck
from lmr_author.checks.records import AcceptedUsed
from lmr_author.checks.registry import ALL_CHECKS, by_code
from lmr_author.errors import UsageError
from lmr_author.model import Finding, Severity
from lmr_author.taskdir import TaskDir
from lmr_author.validation import digests, limits
from lmr_author.validation.examine import INTERNAL, lost, validate_view
from lmr_author.validation.properties import held
from lmr_author.validation.report import Report, TaskReport
from lmr_author.validation.result import Claim, TaskResult
from lmr_author.validation.store import Store
from lmr_author.validation.worker import Answer, look
from lmr_author.validation.workers import validate_all

__all__ = ["ALONE_BELOW", "INTERNAL", "select_checks", "validate", "validate_task", "validate_view"]

ALONE_BELOW = 6
"""So few tasks are validated in this process: starting others would take longer."""

_FLUSH = 200
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
_CODE = re.compile(r"^LMR\d{0,3}$")

OnTask = Callable[[TaskReport], None]
"""Called with each task's report as it is ready, for progress. Comparisons between tasks come at the end."""


def select_checks(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Check, ...]:
    """The checks to run.

    Args:
        select: codes, or beginnings of codes (``LMR4``); all when empty.
        ignore: codes, or beginnings of codes, taken out of these.

    Raises:
        UsageError: something that is no code, or that no check has.
    """
    wanted, unwanted = _prefixes(select), _prefixes(ignore)
    chosen = [check for check in ALL_CHECKS if not wanted or check.code.startswith(wanted)]
    return tuple(check for check in chosen if not (unwanted and check.code.startswith(unwanted)))


def _prefixes(texts: Iterable[str]) -> tuple[str, ...]:
    found = []
    for text in (piece.strip().upper() for item in texts for piece in item.split(",")):
        if not text:
            continue
        if not _CODE.match(text) or not any(check.code.startswith(text) for check in ALL_CHECKS):
            raise UsageError(
                f"no check has the code {text!r}", "use a code as LMR401, or its beginning as LMR4"
            )
        found.append(text)
    return tuple(found)


def validate(
    tasks: Sequence[TaskDir],
    checks: Sequence[Check] = ALL_CHECKS,
    on_task: OnTask | None = None,
    *,
    store: Store | None = None,
    jobs: int = 1,
) -> Report:
    """Run checks over tasks, each by itself and then beside each other.

    Nothing of a task is run, and nothing is written but the cache. A check that fails by itself gives a finding
    LMR000, and so does a task that ends its process. Findings that the annotator accepted with a reason are kept
    apart (:mod:`lmr_author.accepted`).

    Args:
        on_task: called in this thread.
        store: results of earlier runs; None to neither use nor keep any.
        jobs: processes at most. With more than one, the store has to be the user's.
    """
    results: dict[int, TaskResult] = {}
    reports: dict[int, TaskReport] = {}
    for number, result in _results(tasks, checks, store, jobs):
        results[number] = result
        reports[number] = _report(tasks[number], result, result.findings, checks)
        if on_task is not None:
            on_task(reports[number])
    conflicts: dict[int, list[Finding]] = defaultdict(list)
    for number, finding in _conflicts([results[number].claims for number in range(len(tasks))], checks):
        conflicts[number].append(finding)
    for number, more in conflicts.items():
        result = results[number]
        reports[number] = _report(tasks[number], result, [*result.findings, *more], checks)
    return Report(tuple(reports[number] for number in range(len(tasks))))


def validate_task(task: TaskDir, checks: Sequence[Check] = ALL_CHECKS) -> TaskReport:
    """Run checks over one task."""
    return validate([task], checks).tasks[0]


def _results(
    tasks: Sequence[TaskDir], checks: Sequence[Check], store: Store | None, jobs: int
) -> Iterator[tuple[int, TaskResult]]:
    """The number and result of each task, in any order."""
    look_up = store is not None and not store.is_empty()
    if store is not None:
        digests.tool()  # before processes are made that would each have to find it out
    known = store.unchanged([task.root for task in tasks], jobs) if store and look_up else {}
    left = []
    for number, task in enumerate(tasks):
        if task.root in known:
            yield number, known[task.root]
        else:
            left.append(number)
    try:
        examined = _examined(tasks, left, checks, store, jobs, asked=look_up)
        for done, (number, answer) in enumerate(examined, 1):
            if store and _is_whole(answer.result):
                store.keep(tasks[number].root, answer.state, answer.content, answer.result)
                store.flush(more_than=_FLUSH if done < len(left) else 0)  # at last while the processes end
            yield number, answer.result
    finally:
        if store:
            store.flush()  # also after Ctrl-C: the next run goes on from there


def _examined(
    tasks: Sequence[TaskDir],
    left: Sequence[int],
    checks: Sequence[Check],
    store: Store | None,
    jobs: int,
    *,
    asked: bool,
) -> Iterator[tuple[int, Answer]]:
    """The tasks that are left, in several processes where that is worth it."""
    ours = all(by_code().get(check.code) is check for check in checks)
    if jobs > 1 and len(left) >= ALONE_BELOW and ours:
        codes = [check.code for check in checks]
        chosen = [tasks[number] for number in left]
        for place, answer in validate_all(chosen, codes, jobs, cached=store is not None, asked=asked):
            yield left[place], answer
        return
    for number in left:
        yield number, _here(tasks[number], checks, store, asked=asked)


def _here(task: TaskDir, checks: Sequence[Check], store: Store | None, *, asked: bool) -> Answer:
    """What is found in a task, looked at in this process, with the limits that others have."""
    try:
        with limits.memory(limits.MAX_MEMORY), limits.time(limits.SECONDS):
            return look(task, checks, store, asked=asked)
    except limits.TooLateError:
        return Answer(lost(task, f"took more than {limits.SECONDS:.0f} s"))
    except MemoryError:
        return Answer(lost(task, "needed too much memory"))


def _is_whole(result: TaskResult) -> bool:
    """Whether every check did its work, so that the result is worth keeping."""
    return all(finding.code != INTERNAL for finding in result.findings)


def _conflicts(claims: Sequence[Sequence[Claim]], checks: Sequence[Check]) -> Iterator[tuple[int, Finding]]:
    """The number of a task, and a finding for what it and another claim."""
    made: dict[tuple[str, str], list[tuple[int, Finding]]] = defaultdict(list)
    for number, each in enumerate(claims):
        for claim in each:
            made[claim.code, claim.what].append((number, claim.finding))
    comparing = {check.code: check for check in checks if isinstance(check, TreeCheck)}
    for (code, _), together in made.items():
        for place, (number, finding) in enumerate(together if len(together) > 1 else ()):
            others = [other for at, (_, other) in enumerate(together) if at != place]
            conflict = comparing[code].conflict(finding, others)
            if conflict is not None:
                yield number, conflict


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _report(
    task: TaskDir, result: TaskResult, findings: Iterable[Finding], checks: Sequence[Check]
) -> TaskReport:
    ordered = accepted.sort(task, sorted(dict.fromkeys(findings), key=_key))
    codes = {check.code for check in checks}
    unused = [entry for entry in ordered.unused if entry.code in codes]
    notes = [
        check.about(result.task, entry)
        for check in checks
        if isinstance(check, AcceptedUsed)
        for entry in unused
    ]
    properties = held(result.evidence, ordered.open, codes)
    return TaskReport(result.task, task.root, (*ordered.open, *notes), ordered.accepted, properties)


def _key(finding: Finding) -> tuple[str, int, str, int, int]:
    line = re.match(r"L(\d+)", finding.pointer)
    return (
        finding.path,
        int(line[1]) if line else 0,
        finding.code,
        finding.implementation or 0,
        _ORDER[finding.severity],
    )
