"""Look-alikes that were masked along with a target: ``authoring/also-masked.json``.

A second copy of the solution in the agent's tree gives it away, so ``mask --also`` empties it too. It is not
part of the task: nobody has to implement it, and the golden runs without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lmr_author.core.task.folder import Task
from lmr_author.core.task.record import Index, Record, Text


@dataclass(frozen=True)
class AlsoMasked(Record):
    """One masked look-alike.

    Attributes:
        path: its file, relative to the repository.
        qualname: qualified name of the definition in that file.
        nth: number of the definition among those of the same name, from 1.
        target: node id of the masked function that it resembles.
        original: its file before anything in it was masked, relative to the task; "" for a goal file, which
            has a golden.
    """

    path: Text
    qualname: Text
    nth: Index = 1
    target: str = ""
    original: str = ""

    @property
    def node_id(self) -> str:
        """The name an annotator uses for it."""
        return f"{self.path}::{self.qualname}" + (f"#{self.nth}" if self.nth > 1 else "")


@dataclass(frozen=True)
class AlsoMaskedList(Record):
    """Look-alikes that were masked.

    Attributes:
        also: the look-alikes, sorted by file and name.
    """

    optional: ClassVar = ("$schema",)

    also: tuple[AlsoMasked, ...]


def load(task: Task) -> tuple[AlsoMasked, ...]:
    """Return the look-alikes of a task; none when the file is absent.

    Raises LmrError when it is damaged: a look-alike that is not read could never be restored.
    """
    path = task.also_masked_path
    return AlsoMaskedList.read(path).also if path.is_file() else ()


def save(task: Task, entries: Sequence[AlsoMasked]) -> None:
    """Write the look-alikes; remove the file when there are none."""
    if not entries:
        task.also_masked_path.unlink(missing_ok=True)
        return
    ordered = sorted(entries, key=lambda entry: (entry.path, entry.qualname, entry.nth))
    AlsoMaskedList(tuple(ordered)).write(task.also_masked_path)


def original_name(task: Task, path: str) -> str:
    """Return the path, relative to the task, at which the original of a file with look-alikes is kept."""
    return (task.originals / path).relative_to(task.root).as_posix()
