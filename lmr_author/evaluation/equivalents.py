"""Mutants that an annotator found to be no mistake: ``authoring/equivalent-mutants.json``.

Format: ``schemas/equivalent-mutants.schema.json``. A mutant's name is made of the target's source, so an
entry stops to hold when the golden changes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from datetime import UTC, datetime

from lmr_author import files
from lmr_author.code import Module, find, parameters
from lmr_author.errors import LmrError, UsageError
from lmr_author.evaluation.mutants import mutants
from lmr_author.replay.staging import golden_overlay
from lmr_author.task import Task, TaskInfo


def load(task: Task) -> dict[str, dict[str, str]]:
    """Reasons, by target (``path::qualname``) and mutant. Raises LmrError when the file is damaged."""
    path = task.equivalent_mutants_path
    data = files.read_json(path) if path.is_file() else {"accepted": []}
    try:
        found: dict[str, dict[str, str]] = {}
        for entry in data["accepted"]:
            found.setdefault(str(entry["target"]), {})[str(entry["id"])] = str(entry["reason"])
        return found
    except (KeyError, TypeError) as error:
        raise LmrError(
            f"{path.relative_to(task.root)} is not as its schema says ({error!r})",
            "restore it, or remove it and accept the mutants again",
        ) from error


def accept(task: Task, info: TaskInfo, identifiers: Sequence[str], reason: str) -> dict[str, str]:
    """Record that mutants are equivalent to the golden; returns id → change, as a diff. All of them, or none.

    Raises UsageError: no such mutant, or no reason.
    """
    if not reason.strip():
        raise UsageError("--accept-mutant needs a reason", "say it with --reason TEXT")
    overlay = golden_overlay(task, info)
    found = dict[str, tuple[str, str]]()
    for implementation in info.implementations:
        golden = Module.parse(overlay[implementation.goal_file], implementation.goal_file)
        function = find(golden, implementation.target)
        names = () if isinstance(function.node, ast.ClassDef) else parameters(function.node.args)
        for mutant in mutants(golden, function, differentiated={item.arg for item, _ in names}):
            found.setdefault(mutant.id, (str(implementation.target), mutant.diff))
    for identifier in identifiers:
        if identifier not in found:
            raise UsageError(
                f"no mutant {identifier!r} of {task.name}",
                "the ids are in the report of `lmr-author evaluate`",
            )
    for identifier in identifiers:
        target, diff = found[identifier]
        _add(task, target, identifier, diff, reason.strip())
    return {identifier: found[identifier][1] for identifier in identifiers}


def _add(task: Task, target: str, identifier: str, diff: str, reason: str) -> None:
    path = task.equivalent_mutants_path
    entries = [
        item
        for item in files.read_entries_to_change(path, "accepted")
        if (item.get("target"), item.get("id")) != (target, identifier)
    ]
    entries.append(
        {
            "target": target,
            "id": identifier,
            "diff": diff,
            "reason": reason,
            "date": datetime.now(UTC).date().isoformat(),
        }
    )
    ordered = sorted(entries, key=lambda item: (str(item.get("target")), str(item.get("id"))))
    files.write_json(path, {"accepted": ordered})
