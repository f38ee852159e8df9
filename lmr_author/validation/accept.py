"""Accept findings of a task by code and path, as typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lmr_author.errors import UsageError
from lmr_author.task import Finding, Task, accepted
from lmr_author.validation.report import Report


def accept_findings(
    tasks: Sequence[Task], report: Report, wanted: Iterable[str], reason: str
) -> tuple[accepted.Accepted, ...]:
    """Store an acceptance of each finding that is named.

    Args:
        tasks: the one task meant.
        report: its findings.
        wanted: ``CODE``, when it was found in one file only, or ``CODE:PATH``, the path relative to the task
            or to its repository.
        reason: why they are no problem.

    Raises:
        UsageError: several tasks, no reason, nothing named, or something not found, or in several files.
    """
    names = list(wanted)
    if len(tasks) != 1:
        raise UsageError(f"--accept is for one task, not for {len(tasks)}", "name the task's folder")
    if not names or not reason.strip():
        raise UsageError(
            "--accept and --reason belong together",
            "lmr-author validate --accept LMR403:PATH --reason 'another loss, which only shares the masking'",
        )
    findings = report.tasks[0].findings
    chosen = [
        finding for name in names for finding in _named(findings, name)
    ]  # all are known before one is stored
    return tuple(accepted.add(tasks[0], finding, reason) for finding in dict.fromkeys(chosen))


def _named(findings: Sequence[Finding], name: str) -> list[Finding]:
    code, _, path = name.partition(":")
    code, path = code.strip().upper(), path.strip().removeprefix("./")
    same = [finding for finding in findings if finding.code == code]
    if not same:
        codes = ", ".join(dict.fromkeys(finding.code for finding in findings))
        raise UsageError(
            f"there is no finding {code!r} to accept", f"found: {codes}" if codes else "nothing was found"
        )
    paths = list(dict.fromkeys(finding.path for finding in same))
    chosen = [
        finding for finding in same if not path or path in (finding.path, finding.path.partition("/")[2])
    ]
    if not chosen or (not path and len(paths) > 1):
        problem = f"{code} was not found in {path!r}" if path else f"{code} was found in {len(paths)} files"
        shown = " or ".join(f"{code}:{item}" for item in paths[:3])
        raise UsageError(problem, f"name the file: --accept {shown}" + (", …" if len(paths) > 3 else ""))
    return chosen
