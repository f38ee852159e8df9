"""Findings of ``validate``, and those that an annotator accepted, each with a reason: ``authoring/accepted.json``.

An acceptance holds for one finding at one place in one state of a file. When the file changes, the finding is
back. Nothing is hidden by it: an accepted finding is listed with its reason.
Format: ``schemas/accepted.schema.json``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal

import msgspec

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError, UnsafePathError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.task.folder import Task
from lmr_author.core.task.record import Code, Record, Text, Time

MAX_BYTES = 256 * 1024 * 1024
"""Larger files have no digest: an acceptance of a finding about them holds whatever they hold."""


class Severity(StrEnum):
    """Severity of a finding: an ERROR must not ship, a WARNING should not, a NOTE is for information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding(Record):
    """One thing that is wrong with a task.

    Attributes:
        code: the check's code, ``LMR301``.
        severity: how bad it is.
        task: name of the task folder.
        message: the defect, one line.
        hint: how to mend it.
        implementation: index of the implementation, from 1; null when it concerns the whole task.
        path: the file, relative to the task folder, with ``/``; "" for the folder itself.
        pointer: JSON pointer into a JSON file, or ``L12`` / ``L12-L20`` for lines; "" otherwise.
        files: all files, relative to the task folder, of a finding about several; else empty.
    """

    code: Code
    severity: Severity
    task: str
    message: Text
    hint: str = ""
    implementation: int | None = None
    path: str = ""
    pointer: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class AcceptedFinding(Record):
    """One accepted finding.

    Attributes:
        code: code of the check.
        implementation: index of the implementation; null when the finding concerns the whole task.
        path: the file, relative to the task; "" for the task folder.
        where: the finding's pointer: ``L12``, a JSON pointer, or "".
        sha256: digest of the file when the finding was accepted; "" for a folder.
        reason: justification.
        by: name of the person who accepted it; "" for nobody named.
        date: time of acceptance (RFC 3339).
    """

    code: Code
    implementation: int | None
    path: str
    where: str
    sha256: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")]
    reason: Text
    by: str = ""
    date: Time = ""

    def __post_init__(self) -> None:
        if not self.code or not self.reason.strip():
            raise UsageError("no reason given", "explain why the finding is no problem: --reason TEXT")

    def is_near(self, finding: Finding) -> bool:
        here = (self.code, self.implementation, self.path)
        return here == (finding.code, finding.implementation, finding.path)

    def is_about(self, finding: Finding) -> bool:
        """Return True if it was given for a finding at this very place, whatever the file holds now."""
        return self.is_near(finding) and self.where == finding.pointer


@dataclass(frozen=True, kw_only=True)
class AcceptedFindings(Record):
    """Accepted findings: ``authoring/accepted.json``.

    Attributes:
        format: version of this document.
        accepted: the acceptances.
    """

    format: Literal["lmr-accepted/1"] = "lmr-accepted/1"
    accepted: tuple[AcceptedFinding, ...] = ()


@dataclass(frozen=True)
class SortedFindings:
    """Findings that count, with a remark if an acceptance no longer holds, and accepted ones."""

    open: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, AcceptedFinding], ...]


def load(task: Task) -> tuple[AcceptedFinding, ...]:
    """Return the acceptances of a task; none when the file is missing or damaged."""
    try:
        stored = AcceptedFindings.read_if_valid(task.accepted_path)
    except UnsafePathError:  # `validate` names the link
        return ()
    return stored.accepted if stored else ()


@changes_task
def add(task: Task, finding: Finding, reason: str, by: str = "") -> AcceptedFinding:
    """Store that a finding is accepted, in place of an earlier acceptance. Raises LmrError when the file is damaged."""
    new = AcceptedFinding(
        finding.code,
        finding.implementation,
        finding.path,
        finding.pointer,
        _digest(task, finding.path),
        " ".join(reason.split()),
        by,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    path = task.accepted_path
    stored = AcceptedFindings.read(path) if path.exists() else AcceptedFindings()
    others = [entry for entry in stored.accepted if not entry.is_about(finding)]
    ordered = sorted([*others, new], key=_order)
    replace(stored, accepted=tuple(ordered)).write(path)
    return new


def _order(entry: AcceptedFinding) -> tuple[str, str, str, int]:
    return entry.code, entry.path, entry.where, entry.implementation or 0


def sort(task: Task, findings: Iterable[Finding]) -> SortedFindings:
    """Separate findings by the task's acceptances; an acceptance holds while the file is as it was then."""
    entries = load(task)
    if not entries:
        return SortedFindings(tuple(findings), ())
    still_open: list[Finding] = []
    accepted: list[tuple[Finding, AcceptedFinding]] = []
    digests: dict[str, str] = {}
    for finding in findings:
        near = [entry for entry in entries if entry.is_near(finding)]
        if near and finding.path not in digests:
            digests[finding.path] = _digest(task, finding.path)
        # In a file that has changed, the line of a finding has probably moved.
        about = [entry for entry in near if entry.is_about(finding) or entry.sha256 != digests[finding.path]]
        holds = [entry for entry in about if entry.sha256 == digests[finding.path]]
        if holds:
            accepted.append((finding, holds[0]))
        elif about:
            still_open.append(_back(finding, about[0]))
        else:
            still_open.append(finding)
    return SortedFindings(tuple(still_open), tuple(accepted))


def _back(finding: Finding, entry: AcceptedFinding) -> Finding:
    return replace(
        finding,
        message=f"{finding.message} (it was accepted, but the file has changed since)",
        hint=f"{finding.hint}; if it is still no problem ({entry.reason}), accept it again",
    )


def _digest(task: Task, path: str) -> str:
    try:
        file = files.inside(task.root, path) if path else task.root
    except (LmrError, OSError, ValueError):
        return ""
    data = foreign.read_inside(os.path.realpath(task.root), file, MAX_BYTES)
    return "" if data is None else files.sha256_bytes(data)
