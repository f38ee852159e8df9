"""Write the files that the ``env`` commands make, with a checksum that shows whether somebody has edited them since."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.core import files, locks
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.core.task.provenance import EnvironmentOrigin, Provenance
from lmr_author.runtime.environment.lock_file import Lock

if TYPE_CHECKING:
    from lmr_author.runtime.environment.detect import Detected

_STAMP = re.compile(
    r"^# Checksum of what lmr-author wrote: ([0-9a-f]{16})\. A changed file is not overwritten\.\n", re.M
)


@dataclass(frozen=True)
class Written:
    """The result of a command that makes a file.

    Attributes:
        text: of the file.
        path: of the file; None for a dry run.
        changed: whether the file was written: it may have been like this before.
        copy: of the former file, relative to the task's ``authoring/removed/``; "" when nobody had edited it.
    """

    detected: Detected
    text: str
    path: Path | None = None
    changed: bool = False
    copy: str = ""
    lock: Lock | None = None


def stamped(text: str, before: str = "") -> str:
    """Return text with a checksum line: before the first line that starts with ``before``, by default at the end."""
    plain = _STAMP.sub("", text)
    line = f"# Checksum of what lmr-author wrote: {_digest(plain)}. A changed file is not overwritten.\n"
    match = re.search(rf"^{before}", plain, re.M) if before else None
    at = match.start() if match else len(plain)
    return plain[:at] + line + plain[at:]


def _is_untouched(text: str) -> bool:
    """Return whether a file is as we wrote it: it has the checksum line, and the line is right."""
    return _STAMP.findall(text) == [_digest(_STAMP.sub("", text))]


def _digest(text: str) -> str:
    return files.sha256_bytes(text.encode("utf-8"))[:16]


def generate(
    task: Task,
    path: Path,
    make: Callable[[], tuple[Written, EnvironmentOrigin]],
    *,
    force: bool,
    dry_run: bool,
) -> Written:
    """Write a file of a task, and its origin; a dry run only makes the text.

    A copy is made, in ``authoring/removed/``, of a file that somebody has edited.

    Args:
        make: gives the file's text, and the origin for ``authoring/provenance.json``.
        force: overwrite a file that somebody edited; without it that raises LmrError.
    """
    if dry_run:
        return make()[0]
    with locks.held(task.root):
        former = files.read_text_or_empty(path)
        edited = path.is_file() and not _is_untouched(former)
        if edited and not force:
            raise LmrError(
                f"{path.name} was edited or repaired, or not made by this version of lmr-author",
                "--dry-run shows what would be written; --force overwrites it and keeps a copy in authoring/removed/",
            )
        made, origin = make()
        changed = former != made.text or not path.is_file()
        copy = task.put_aside(path, copy=True) if changed and edited else ""
        if changed:
            files.write_text(path, made.text)
        record = Provenance.read_if_valid(task.provenance_path)
        if record is not None:
            replace(record, environment=origin).write(task.provenance_path)
    return replace(made, path=path, changed=changed, copy=copy)
