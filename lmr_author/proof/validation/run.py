"""Validate tasks in parallel, then compare them with each other."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from types import FrameType

from lmr_author.core import processes
from lmr_author.core.task import Finding, Severity, Task, accepted
from lmr_author.core.texts import listed
from lmr_author.proof.checks import hygiene
from lmr_author.proof.checks.base import INTERNAL, Check, crash
from lmr_author.proof.checks.registry import ALL_CHECKS, by_code, matching
from lmr_author.proof.contents import TaskContents, readable
from lmr_author.proof.validation.report import LEVELS, Report, TaskReport, judge

ALONE_BELOW = 4
"""Fewer tasks are validated in this process: starting others takes longer."""

SECONDS = 300
"""Time limit of one task, two hundred times the time of a large one."""

OnTask = Callable[[str], None]
"""Progress callback with the name of each checked task; comparisons between tasks follow at the end."""


@dataclass(frozen=True)
class _Result:
    """The findings of one task, before acceptances and comparisons.

    Attributes:
        task: printable name of the task folder.
        claims: (code, claim, finding if another task has the same claim).
    """

    task: str
    findings: tuple[Finding, ...]
    claims: tuple[tuple[str, str, Finding], ...] = ()


def select_checks(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Check, ...]:
    """Return the checks to run.

    Args:
        select: codes or prefixes (``LMR4``); empty for all.
        ignore: codes or prefixes to exclude.

    Raises:
        UsageError: an unknown code.
    """
    chosen = (_matching_any(select) or set(ALL_CHECKS)) - _matching_any(ignore)
    return tuple(check for check in ALL_CHECKS if check in chosen)


def _matching_any(texts: Iterable[str]) -> set[Check]:
    codes = filter(str.strip, ",".join(texts).split(","))
    return {check for code in codes for check in matching(code)}


def validate(
    tasks: Sequence[Task],
    checks: Sequence[Check] = ALL_CHECKS,
    on_task: OnTask | None = None,
    *,
    jobs: int = 1,
) -> Report:
    """Run checks over each task, then compare the tasks.

    Does not run a task's code, and writes nothing. A crashing check gives a finding LMR000, as does a task that
    kills its process. Findings that the annotator accepted are listed separately
    (:mod:`lmr_author.core.task.accepted`).

    Args:
        on_task: called in this thread.
        jobs: maximum number of processes.
    """
    results: dict[int, _Result] = {}
    for number, result in _examine_all(tasks, checks, jobs):
        results[number] = result
        if on_task is not None:
            on_task(result.task)
    conflicts = _conflicts([results[number].claims for number in range(len(tasks))])
    return Report(
        tuple(_report(task, results[number], conflicts[number], checks) for number, task in enumerate(tasks))
    )


def checked(tasks: Sequence[Task], on_task: OnTask | None = None) -> Report:
    """Validate tasks for other commands, without the check for stale records.

    Those commands judge each record themselves; as a finding, one reviewer's old sign-off would keep others from
    signing off.
    """
    checks = [check for check in ALL_CHECKS if check is not hygiene.records_current]
    return validate(tasks, checks, on_task, jobs=processors())


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _examine_all(tasks: Sequence[Task], checks: Sequence[Check], jobs: int) -> Iterator[tuple[int, _Result]]:
    ours = all(by_code().get(check.code) is check for check in checks)  # others cannot be sent to a process
    if jobs == 1 or len(tasks) < ALONE_BELOW or not ours:
        for number, task in enumerate(tasks):
            yield number, _examine(task, checks)
        return
    requests = [(task.root.absolute(), tuple(check.code for check in checks)) for task in tasks]
    done = set()
    for number, result in _in_processes(dict(enumerate(requests)), min(jobs, len(tasks))):
        done.add(number)
        yield number, result
    for number in set(range(len(tasks))) - done:  # one of these killed its process, and with it the pool
        again = dict(_in_processes({number: requests[number]}, 1))
        yield number, again.get(number) or _lost(tasks[number], "killed the process")


_Request = tuple[Path, tuple[str, ...]]


def _in_processes(requests: Mapping[int, _Request], jobs: int) -> Iterator[tuple[int, _Result]]:
    # No fork: another thread, such as a progress bar's, could hold a lock that the copy never releases.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), processes.begin_worker)
    with processes.safe_path():
        try:
            numbers = {
                pool.submit(_examine_by_codes, request): number for number, request in requests.items()
            }
            for future in as_completed(numbers):
                with suppress(BrokenProcessPool):
                    yield numbers[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _examine_by_codes(request: _Request) -> _Result:
    root, codes = request
    return _examine(Task(root), [by_code()[code] for code in codes])


def _examine(task: Task, checks: Sequence[Check]) -> _Result:
    claims: list[tuple[str, str, Finding]] = []
    try:
        with _time_limit():
            contents = TaskContents(task)
            findings: list[Finding] = []
            for check in checks:
                findings += check.run(contents)
            try:
                for check in checks:
                    for claim, problem in check.claims(contents) if check.claims else ():
                        claims.append((check.code, claim, check.finding(contents, problem)))
            except Exception as error:  # hostile tasks must not end the run
                findings.append(crash("the comparison with other tasks", contents.name, error))
            return _Result(contents.name, tuple(findings), tuple(claims))
    except _TooLateError:
        return _lost(task, f"took more than {SECONDS} s")
    except MemoryError:
        return _lost(task, "needed too much memory")


def _lost(task: Task, why: str) -> _Result:
    name = readable(task.name)
    message = f"the task could not be validated: it {why}"
    return _Result(name, (Finding(INTERNAL, Severity.ERROR, name, message, "please report this"),))


def _conflicts(claims: Sequence[Sequence[tuple[str, str, Finding]]]) -> dict[int, list[Finding]]:
    claiming: dict[tuple[str, str], list[tuple[int, Finding]]] = defaultdict(list)
    for number, own in enumerate(claims):
        for code, claim, finding in own:
            claiming[code, claim].append((number, finding))
    conflicts: dict[int, list[Finding]] = defaultdict(list)
    for group in claiming.values():
        for position, (number, finding) in enumerate(group):
            others = [other for _, other in (*group[:position], *group[position + 1 :])]
            if others:
                message = f"{finding.message} {listed(list(map(_claimant, others)), 5)}"
                conflicts[number].append(replace(finding, message=message))
    return conflicts


def _claimant(finding: Finding) -> str:
    return f"{finding.task} #{finding.implementation}" if finding.implementation else finding.task


def _report(task: Task, result: _Result, conflicts: Sequence[Finding], checks: Sequence[Check]) -> TaskReport:
    every = dict.fromkeys((*result.findings, *conflicts))
    ordered = accepted.sort(task, sorted(every, key=_order))
    codes = {check.code for check in checks}
    return TaskReport(result.task, task.root, ordered.open, ordered.accepted, judge(ordered.open, codes))


def _order(finding: Finding) -> tuple[int, str, int, str, int]:
    """Sort by severity, file, line and code."""
    line = re.match(r"L(\d+)", finding.pointer)
    return (
        LEVELS.index(finding.severity),
        finding.path,
        int(line[1]) if line else 0,
        finding.code,
        finding.implementation or 0,
    )


class _TooLateError(BaseException):
    """The time limit. Not an Exception, so that no check catches it."""


@contextmanager
def _time_limit() -> Iterator[None]:
    """Limit the time, in the main thread only.

    The alarm repeats in case something swallows the first; it also interrupts a runaway regular expression.
    """

    def too_late(number: int, frame: FrameType | None) -> None:
        raise _TooLateError

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, too_late)
    try:
        signal.setitimer(signal.ITIMER_REAL, SECONDS, 1)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
