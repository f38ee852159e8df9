"""Look-alikes that were masked along with a target: ``authoring/also-masked.json``.

A second copy of the answer in the agent's tree gives it away, so ``mask --also`` empties it too. It is not
part of the task: nobody has to implement it, and the golden is run without it.
Format: ``schemas/also-masked.schema.json``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.taskdir import TaskDir


@dataclass(frozen=True)
class AlsoMasked:
    """One look-alike.

    Attributes:
        path: its file, relative to the repository.
        qualname, nth: the definition in that file.
        target: node id of the masked function that it is like.
        original: its file before anything in it was masked, relative to the task; "" for a goal file, of
            which there is a golden.
    """

    path: str
    qualname: str
    nth: int
    target: str
    original: str = ""

    @property
    def node_id(self) -> str:
        """As an annotator names it."""
        return f"{self.path}::{self.qualname}" + (f"#{self.nth}" if self.nth > 1 else "")


def load(task: TaskDir) -> tuple[AlsoMasked, ...]:
    """The look-alikes of a task; none when the file is absent.

    Raises LmrError when it is damaged: a look-alike that is not read could never be restored.
    """
    path = task.also_masked_path
    entries = files.read_entries_to_change(path, "also")
    found = read({"also": entries})
    if len(found) != len(entries):
        raise LmrError(f"{path}: not as its schema says", "restore it from version control")
    return found


def read(data: Any) -> tuple[AlsoMasked, ...]:
    """The entries of a parsed file; what is not as the schema says is left out."""
    entries = data.get("also", []) if isinstance(data, dict) else []
    return tuple(filter(None, map(_read, entries if isinstance(entries, list) else [])))


def save(task: TaskDir, entries: Sequence[AlsoMasked]) -> None:
    """Write them, sorted; no entries, no file."""
    path = task.also_masked_path
    if not entries:
        path.unlink(missing_ok=True)
        return
    ordered = sorted(entries, key=lambda item: (item.path, item.qualname, item.nth))
    files.write_json(path, {"also": [asdict(item) for item in ordered]})


def _read(entry: Any) -> AlsoMasked | None:
    if not isinstance(entry, dict):
        return None
    texts = [entry.get(key, "") for key in ("path", "qualname", "target", "original")]
    nth = entry.get("nth", 1)
    if not all(isinstance(text, str) for text in texts) or not isinstance(nth, int) or not all(texts[:2]):
        return None
    return AlsoMasked(texts[0], texts[1], nth, texts[2], texts[3])
