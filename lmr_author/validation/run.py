"""Run checks over tasks: one broken task, or one broken check, never stops the others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from lmr_author import accepted
from lmr_author.checks.base import Check, TreeCheck
from lmr_author.checks.records import AcceptedUsed
from lmr_author.checks.registry import ALL_CHECKS
from lmr_author.checks.view import TaskView
from lmr_author.errors import UsageError
from lmr_author.model import Finding, Severity
from lmr_author.taskdir import TaskDir
from lmr_author.validation.report import Report, TaskReport

INTERNAL = "LMR000"
"""Code of a finding that says that a check itself failed."""

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
    tasks: Sequence[TaskDir], checks: Sequence[Check] = ALL_CHECKS, on_task: OnTask | None = None
) -> Report:
    """Run checks over tasks, each by itself and then beside each other.

    Nothing is written, nothing of a task is run. A check that fails by itself gives a finding LMR000.
    Findings that the annotator accepted with a reason are kept apart (:mod:`lmr_author.accepted`).
    """
    found: list[list[Finding]] = []
    names: list[str] = []
    claims: dict[tuple[Check, str], list[tuple[int, Finding]]] = defaultdict(list)
    for number, task in enumerate(tasks):
        view = TaskView(task)
        findings = validate_view(view, checks)
        found.append(findings)
        names.append(view.name)
        for check, claim, finding in _claims(view, checks, findings):
            claims[check, claim].append((number, finding))
        if on_task is not None:
            on_task(_report(view.name, task, findings, checks))
    for (check, _), made in claims.items():
        assert isinstance(check, TreeCheck)
        for number, finding in made if len(made) > 1 else ():
            others = [other for _, other in made if other is not finding]
            found[number].append(check.conflict(finding, others))
    reports = [_report(*each, checks) for each in zip(names, tasks, found, strict=True)]
    return Report(tuple(reports))


def _claims(
    view: TaskView, checks: Sequence[Check], findings: list[Finding]
) -> Iterator[tuple[Check, str, Finding]]:
    """What a task claims for itself; a check that fails by itself is added to its findings."""
    for check in checks:
        if isinstance(check, TreeCheck):
            try:
                yield from [(check, claim, finding) for claim, finding in check.claims(view)]
            except Exception as error:  # as in _guarded
                findings.append(_internal(check, view.name, error))


def validate_task(task: TaskDir, checks: Sequence[Check] = ALL_CHECKS) -> TaskReport:
    """Run checks over one task."""
    view = TaskView(task)
    return _report(view.name, task, validate_view(view, checks), checks)


def validate_view(view: TaskView, checks: Sequence[Check] = ALL_CHECKS) -> list[Finding]:
    """The findings of some checks about one task, in the order of the checks."""
    return [finding for check in checks for finding in _guarded(check, view.name, partial(check.run, view))]


def _guarded(check: Check, task: str, run: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """What a check yields; its own failure as a finding."""
    try:
        return list(run())
    except Exception as error:  # any failure of one check is reported, and the others go on
        return [_internal(check, task, error)]


def _internal(check: Check, task: str, error: Exception) -> Finding:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f"{place.tb_frame.f_code.co_filename.rpartition('/')[2]}:{place.tb_lineno}" if place else "?"
    return Finding(
        code=INTERNAL,
        severity=Severity.ERROR,
        task=task,
        message=(
            f"the check {check.code} failed by itself: {type(error).__name__} at {where}: {str(error)[:160]}"
        ),
        hint=f"please report this; `--ignore {check.code}` goes on without it",
    )


def _report(name: str, task: TaskDir, findings: list[Finding], checks: Sequence[Check]) -> TaskReport:
    ordered = accepted.sort(task, sorted(dict.fromkeys(findings), key=_key))
    codes = {check.code for check in checks}
    unused = [entry for entry in ordered.unused if entry.code in codes]
    notes = [
        check.about(name, entry) for check in checks if isinstance(check, AcceptedUsed) for entry in unused
    ]
    return TaskReport(name, task.root, (*ordered.open, *notes), ordered.accepted)


def _key(finding: Finding) -> tuple[str, int, str, int, int]:
    line = re.match(r"L(\d+)", finding.pointer)
    return (
        finding.path,
        int(line[1]) if line else 0,
        finding.code,
        finding.implementation or 0,
        _ORDER[finding.severity],
    )
