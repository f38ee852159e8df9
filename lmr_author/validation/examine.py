"""All chosen checks over one task: one broken check never stops the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from lmr_author.checks.base import Check, TreeCheck
from lmr_author.checks.lenient import readable
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity
from lmr_author.taskdir import TaskDir
from lmr_author.validation.edits import changes
from lmr_author.validation.fixes import FIXES, edits_for
from lmr_author.validation.properties import Evidence, evidence
from lmr_author.validation.result import NOTHING_SEEN, Claim, TaskResult

INTERNAL = "LMR000"
"""Code of a finding that says that a check itself failed."""


def examine(view: TaskView, checks: Sequence[Check]) -> TaskResult:
    """Run checks over one task. Nothing is written, and nothing of the task is run."""
    findings = [_marked(view, finding) for finding in validate_view(view, checks)]
    claims = list(_claims(view, checks, findings))
    return TaskResult(view.name, tuple(findings), tuple(claims), _evidence(view, findings))


def validate_view(view: TaskView, checks: Sequence[Check]) -> list[Finding]:
    """The findings of some checks about one task, in the order of the checks."""
    return [finding for check in checks for finding in _guarded(check, view.name, partial(check.run, view))]


def internal(task: str, message: str, hint: str) -> Finding:
    """A finding that says that a task could not be validated as it should have been."""
    return Finding(INTERNAL, Severity.ERROR, task, message, hint)


def lost(task: TaskDir, why: str) -> TaskResult:
    """The result of a task that could not be validated.

    Args:
        why: what it did, as in "ended the process".
    """
    name = readable(task.name)
    message = f"the task could not be validated: it {why}"
    return TaskResult(name, (internal(name, message, "please report this with the task"),))


def _claims(view: TaskView, checks: Sequence[Check], findings: list[Finding]) -> Iterator[Claim]:
    """What a task claims for itself; a check that fails by itself is added to its findings."""
    for check in checks:
        if isinstance(check, TreeCheck):
            try:
                yield from [Claim(check.code, what, finding) for what, finding in check.claims(view)]
            except Exception as error:  # as in _guarded
                findings.append(_failed(check.code, view.name, error))


def _marked(view: TaskView, finding: Finding) -> Finding:
    """A finding that says whether it can be repaired: whether there are edits that do it."""
    if not finding.fixable and finding.code not in FIXES:
        return finding
    try:
        return replace(finding, fixable=bool(changes(view, edits_for(view, finding))))
    except Exception:  # as in _guarded; a fix that fails is none
        return replace(finding, fixable=False)


def _evidence(view: TaskView, findings: list[Finding]) -> tuple[Evidence, ...]:
    try:
        return evidence(view)
    except Exception as error:  # as in _guarded
        findings.append(_failed("for the four properties", view.name, error))
        return NOTHING_SEEN


def _guarded(check: Check, task: str, run: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """What a check yields; its own failure as a finding."""
    try:
        return list(run())
    except Exception as error:  # any failure of one check is reported, and the others go on
        return [_failed(check.code, task, error)]


def _failed(check: str, task: str, error: Exception) -> Finding:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f"{place.tb_frame.f_code.co_filename.rpartition('/')[2]}:{place.tb_lineno}" if place else "?"
    return internal(
        task,
        f"the check {check} failed by itself: {type(error).__name__} at {where}: {str(error)[:160]}",
        f"please report this; `--ignore {check}` goes on without it"
        if check.startswith("LMR")
        else "please report this",
    )
