"""Write the files of ``env lock``, with a checksum that shows whether somebody has edited them since."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.task import Task

_STAMP = re.compile(
    r"^# Checksum of what lmr-author wrote: ([0-9a-f]{16})\. A changed file is not overwritten\.\n", re.M
)


@dataclass(frozen=True)
class Written:
    """A file that was made.

    Attributes:
        changed: whether it was written: it may have been like this before.
        copy: of the former file, relative to the task's ``authoring/removed/``; "" when nobody had edited it.
    """

    path: Path
    changed: bool
    copy: str = ""


def stamped(text: str) -> str:
    """Return a text with a checksum line at its end."""
    return f"{text}# Checksum of what lmr-author wrote: {_digest(text)}. A changed file is not overwritten.\n"


def is_edited(path: Path) -> bool:
    """Return whether a file exists and is not as we wrote it: the checksum is absent, or is another text's."""
    text = files.read_text_or_empty(path)
    return path.is_file() and _STAMP.findall(text) != [_digest(_STAMP.sub("", text))]


def _digest(text: str) -> str:
    return files.sha256_bytes(text.encode("utf-8"))[:16]


def write(task: Task, path: Path, text: str) -> Written:
    """Write a file of a task. Of one that somebody has edited a copy is kept in ``authoring/removed/``."""
    if path.is_file() and files.read_text_or_empty(path) == text:
        return Written(path, changed=False)
    copy = task.move_to_removed(path, copy=True) if is_edited(path) else ""
    files.write_text(path, text)
    return Written(path, changed=True, copy=copy)
