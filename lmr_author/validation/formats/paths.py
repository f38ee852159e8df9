"""How other programs are told of a file: by a path from the folder they work in."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from lmr_author.checks.lenient import readable
from lmr_author.model import Finding
from lmr_author.taskdir import INFO
from lmr_author.validation.report import TaskReport


def file_of(task: TaskReport, finding: Finding, base: Path) -> str:
    """The file of a finding, from ``base`` where it lies below, else absolute; with ``/``.

    For a finding about the whole task it is its ``info.json``: these programs know only files.
    """
    root = os.path.normpath(base.absolute() / task.path)
    below = os.path.relpath(root, base.absolute())
    shown = root if below.startswith("..") else below
    return Path(readable(shown), finding.path or INFO).as_posix()


def uri(path: str) -> str:
    """A path as a URI: relative as it is, absolute with its scheme."""
    quoted = quote(path.encode("utf-8", "backslashreplace"))
    return f"file://{quoted}" if path.startswith("/") else quoted


def clean(text: str) -> str:
    """Text without characters that move a cursor or that XML and logs cannot hold; as Python writes them."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )
