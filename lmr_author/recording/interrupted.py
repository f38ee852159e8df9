"""The command of a recording that is under way, so that an interrupted one can be resumed as it was typed.

It lies beside the calls that the recorder keeps (:mod:`lmr_author.recording.run`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from lmr_author import files
from lmr_author.task import Task


def remember(task: Task, words: Sequence[str]) -> None:
    """Keep the words that follow ``lmr-author record``."""
    files.write_json(_path(task), {"words": list(words)})


def forget(task: Task) -> None:
    """Remove the command of a recording that has ended, and the folder if it is empty then."""
    path = _path(task)
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # calls that can be resumed, or something else, lie there
        path.parent.rmdir()
        path.parent.parent.rmdir()


def has_calls(task: Task, index: int | None = None) -> bool:
    """Return true if an interrupted recording, of one implementation or of any, has left a complete call."""
    return any(_path(task).parent.glob(f"{index or '*'}/out/**/meta.json"))


def resume_words(task: Task, index: int) -> list[str]:
    """Return the words that resume an interrupted recording; none where no complete call is left."""
    if not has_calls(task, index):
        return []
    words = files.read_object_or_empty(_path(task)).get("words")
    return list(map(str, words)) if isinstance(words, list) else []


def _path(task: Task) -> Path:
    return task.run_folder(0).parent / "command.json"
