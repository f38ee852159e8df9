"""Findings that an annotator accepted, each with a reason: ``authoring/accepted.json``.

An acceptance holds for one finding at one place in one state of a file. When the file changes, the finding is
back. Nothing is hidden by it: an accepted finding is listed with its reason.
Format: ``schemas/accepted.schema.json``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.errors import LmrError, UsageError
from lmr_author.model import Finding
from lmr_author.taskdir import TaskDir

FORMAT = "lmr-accepted/1"
MAX_BYTES = 256 * 1024 * 1024
"""Larger files have no digest: an acceptance of a finding about them holds whatever they hold."""


@dataclass(frozen=True)
class Accepted:
    """One accepted finding.

    Attributes:
        code: of the check.
        implementation: its index; None when the whole task is meant.
        path: the file, relative to the task; "" for the task folder.
        where: the finding's pointer: ``L12``, a JSON pointer, or "".
        sha256: of the file when it was accepted; "" for what is no file.
        reason: why it is no problem.
        by: who accepted it; "" when nobody is named.
        date: when (RFC 3339).
    """

    code: str
    implementation: int | None
    path: str
    where: str
    sha256: str
    reason: str
    by: str = ""
    date: str = ""

    def is_near(self, finding: Finding) -> bool:
        """Whether it was given for such a finding in this file."""
        here = (self.code, self.implementation, self.path)
        return here == (finding.code, finding.implementation, finding.path)

    def is_about(self, finding: Finding) -> bool:
        """Whether it was given for a finding at this very place, whatever the file holds now."""
        return self.is_near(finding) and self.where == finding.pointer


@dataclass(frozen=True)
class Sorted:
    """Findings of a task, sorted by its acceptances.

    Attributes:
        open: those that count, with a remark where an acceptance no longer holds.
        accepted: those that do not, each with its acceptance.
        unused: acceptances that no finding matches any more.
    """

    open: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, Accepted], ...]
    unused: tuple[Accepted, ...]


def load(task: TaskDir) -> tuple[Accepted, ...]:
    """The acceptances of a task; what is not as the schema says is left out, and counts for nothing."""
    if not os.path.lexists(task.accepted_path):
        return ()
    try:
        data = json.loads(_read_file(task, task.accepted_path) or b"null")
    except (ValueError, RecursionError):
        return ()
    entries = data.get("accepted") if isinstance(data, dict) else None
    return tuple(filter(None, map(_read, entries if isinstance(entries, list) else [])))


def add(task: TaskDir, finding: Finding, reason: str, by: str = "") -> Accepted:
    """Store that a finding is accepted, in place of an earlier acceptance of it.

    Raises UsageError without a reason, and LmrError when the file that is there cannot be read.
    """
    if not reason.strip():
        raise UsageError("no reason given", "say why the finding is no problem: --reason TEXT")
    entries = files.read_entries_to_change(task.accepted_path, "accepted")
    unreadable = [item for item in entries if _read(item) is None]  # count for nothing, but are somebody's
    new = Accepted(
        finding.code,
        finding.implementation,
        finding.path,
        finding.pointer,
        _digest(task, finding.path),
        " ".join(reason.split()),
        by,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    kept = [one for item in entries if (one := _read(item)) and not one.is_about(finding)]
    ordered = sorted(
        [*kept, new], key=lambda item: (item.code, item.path, item.where, item.implementation or 0)
    )
    written = [*map(asdict, ordered), *unreadable]
    files.write_json(task.accepted_path, {"format": FORMAT, "accepted": written})
    return new


def sort(task: TaskDir, findings: Iterable[Finding]) -> Sorted:
    """Findings that count, and those that are accepted and whose file is as it was then."""
    entries = load(task)
    if not entries:
        return Sorted(tuple(findings), (), ())
    still_open: list[Finding] = []
    accepted: list[tuple[Finding, Accepted]] = []
    used: set[Accepted] = set()
    digests: dict[str, str] = {}
    for finding in findings:
        near = [entry for entry in entries if entry.is_near(finding)]
        if near and finding.path not in digests:
            digests[finding.path] = _digest(task, finding.path)
        # In a file that has changed, the line of a finding has probably moved.
        about = [entry for entry in near if entry.is_about(finding) or entry.sha256 != digests[finding.path]]
        used.update(about)
        holds = [entry for entry in about if entry.sha256 == digests[finding.path]]
        if holds:
            accepted.append((finding, holds[0]))
        elif about:
            still_open.append(_back(finding, about[0]))
        else:
            still_open.append(finding)
    return Sorted(tuple(still_open), tuple(accepted), tuple(entry for entry in entries if entry not in used))


def _back(finding: Finding, entry: Accepted) -> Finding:
    return replace(
        finding,
        message=f"{finding.message} (it was accepted, but the file has changed since)",
        hint=f"{finding.hint}; if it is still no problem ({entry.reason}), accept it again",
    )


def _digest(task: TaskDir, path: str) -> str:
    """SHA-256 of a file of the task; "" for a folder, or what is not there."""
    if not path:
        return ""
    try:
        place = files.inside(task.root, path)
    except (LmrError, OSError, ValueError):
        return ""
    data = _read_file(task, place)
    return "" if data is None else files.sha256_bytes(data)


def _read_file(task: TaskDir, path: Path) -> bytes | None:
    return files.read_inside(os.path.realpath(task.root), path, MAX_BYTES)


def _read(entry: Any) -> Accepted | None:
    if not isinstance(entry, dict):
        return None
    texts = [entry.get(key, "") for key in ("code", "path", "where", "sha256", "reason", "by", "date")]
    index = entry.get("implementation")
    if not all(isinstance(text, str) for text in texts) or not texts[0] or not texts[4].strip():
        return None
    if index is not None and (not isinstance(index, int) or isinstance(index, bool)):
        return None
    code, path, where, sha256, reason, by, date = texts
    return Accepted(code, index, path, where, sha256, reason, by, date)
