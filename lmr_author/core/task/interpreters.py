"""Interpreters that somebody named on this machine, by the label that an evaluation's record has.

The record travels with the task, so it has no path; the path stays in the cache folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from lmr_author.core import files

_FILE = "interpreters.json"


def remember(label: str, python: Path) -> None:
    """Keep the path of an interpreter."""
    path = files.user_cache() / _FILE
    paths = files.read_object_or_empty(path)
    where = os.path.normpath(python.absolute()) if len(python.parts) > 1 else str(python)
    if paths.get(label) != where:
        files.write_json(path, {**paths, label: where})


def find(label: str) -> str:
    """Return the path of an interpreter that is still there; "" for none."""
    paths = files.read_object_or_empty(files.user_cache() / _FILE)
    python = str(paths.get(label, ""))
    is_a_path = os.sep in python  # else it is a command, such as python3.11
    return "" if is_a_path and not Path(python).exists() else python
