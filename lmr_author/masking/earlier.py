"""Keep the words of an implementation that is unmasked, so that masking it again asks for nothing twice.

``authoring/removed/implementation-N.json`` holds, for one target, its entry of ``info.json`` and the notes of its body.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from lmr_author import code, files
from lmr_author.checks.instruction import GAP
from lmr_author.masking.body import notes_in
from lmr_author.masking.instruction import is_drafted
from lmr_author.masking.notes import MaskNotes, masked_body
from lmr_author.task import Implementation, Target, Task

NOTES, DRAFTED = "notes", "instruction_is_draft"


@dataclass(frozen=True)
class Earlier:
    """What is known of a target from an earlier mask; parts that are not known are empty or None."""

    instruction: str = ""
    category: str = ""
    retrieval: tuple[str, ...] | None = None
    notes: MaskNotes | None = None


def keep_record(
    task: Task, implementation: Implementation, golden: code.Module, goal: code.Module | None
) -> bool:
    """Write the record of an implementation that is about to be unmasked.

    Args:
        golden, goal: the original and the masked file; None when it cannot be read.

    Returns:
        Whether the record holds all that stands in the masked body: False when its comment was edited by
        hand into something that is no structured comment.
    """
    notes, complete = MaskNotes(), True
    pair = (
        code.matching(golden, goal, implementation.qualname, implementation.nth) if goal is not None else None
    )
    if goal is not None and pair is not None:
        notes, complete = _read(goal, *pair)
    # A draft is made anew from the notes of that day; an annotator's own words stay.
    record = {**implementation.to_json(), NOTES: asdict(notes), DRAFTED: is_drafted(task, implementation)}
    files.write_json(_place(task, implementation), record)
    return complete


def _place(task: Task, implementation: Implementation) -> Path:
    """The file of a target's record: that of its earlier one, else a free one. Numbers are given anew, targets stay.

    A damaged record is nobody's here: it stays as it is, and does not keep anybody from unmasking.
    """
    found = _record_of(task, implementation.target, files.read_object_or_empty)
    if found is not None:
        return found[0]
    number = implementation.index
    while (path := task.removed_folder / f"implementation-{number}.json").exists():
        number += 1
    return path


def earlier(task: Task, target: Target) -> Earlier:
    """What an implementation that was unmasked before had, if there is one with the same target.

    Raises LmrError for a damaged record: it may be the one that is looked for.
    """
    found = _record_of(task, target, files.read_object_to_change)
    if found is None:
        return Earlier()
    record = found[1]
    entry = Implementation.from_json(record)
    instruction = "" if record.get(DRAFTED) or GAP in entry.instruction else entry.instruction
    return Earlier(instruction, entry.category, entry.retrieval_context, _notes(record.get(NOTES)))


def _record_of(
    task: Task, target: Target, read: Callable[[Path], dict[str, Any]]
) -> tuple[Path, dict[str, Any]] | None:
    """The record of a target, and its file. What becomes of damaged ones is for ``read`` to say."""
    for path in sorted(task.removed_folder.glob("implementation-*.json")):
        record = read(path)
        if Implementation.from_json(record).target == target:
            return path, record
    return None


def _read(goal: code.Module, original: code.Definition, masked: code.Definition) -> tuple[MaskNotes, bool]:
    """The notes that a masked body holds, and whether they are all that it holds."""
    notes = notes_in(goal, masked)
    if original.docstring is None and masked.docstring is not None:
        notes = replace(notes, docstring=inspect.cleandoc(masked.docstring))
    body = masked_body(masked.name, notes, generator=code.is_generator(masked.function))
    return notes, code.splice(goal, {masked: body}) == goal.data


def _notes(data: Any) -> MaskNotes | None:
    """Notes as :func:`keep_record` wrote them; None when there are none, parts of other types left out."""
    if not isinstance(data, dict):
        return None
    known: dict[str, Any] = {}
    for field in fields(MaskNotes):
        value = data.get(field.name)
        if isinstance(value, str):
            known[field.name] = value
        elif isinstance(value, list):
            known[field.name] = tuple(item for item in value if isinstance(item, str))
    return MaskNotes(**known)
