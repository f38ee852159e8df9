"""``authoring/evaluation.json``: the evaluation that counts, and beside it those of other sandboxes.

See ``docs/decisions/0011-evaluations-of-several-sandboxes.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmr_author import files
from lmr_author.taskdir import TaskDir

FORMAT = "lmr-evaluation/1"
OTHERS = "others"
Record = dict[str, Any]


def load_evaluation(task: TaskDir) -> Record | None:
    """The stored evaluation that counts; None when there is none that can be read."""
    data = files.read_object_or_empty(task.evaluation_path)
    return data if data.get("format") == FORMAT else None


def evaluation_in(task: TaskDir, kind: str) -> Record | None:
    """The last stored evaluation in a sandbox, whether it counts or not; None when there is none."""
    return next((one for one in _each(load_evaluation(task)) if sandbox_kind(one) == kind), None)


def store(task: TaskDir, new: Record) -> Record:
    """Write a new evaluation in place of the last one in its sandbox, and return the one that counts.

    Of those that are of the same state of the task, one in which every gate holds comes first, one in Docker
    before a local one, and then the new one. Those of another state go: they say nothing about the task.
    """
    digest, kind = new["content_digest"], sandbox_kind(new)
    beside = [
        one
        for one in _each(load_evaluation(task))
        if one.get("content_digest") == digest and sandbox_kind(one) != kind
    ]
    first, *rest = sorted([new, *beside], key=_rank)
    files.write_json(task.evaluation_path, {**first, OTHERS: rest} if rest else first)
    return first


def others(evaluation: Mapping[str, Any]) -> list[Record]:
    """The evaluations of the same state that are kept beside the one that counts."""
    return files.objects_in(evaluation.get(OTHERS))


def doubts(evaluation: Mapping[str, Any]) -> str:
    """What does not hold in another sandbox than the one that counts, in a few words; "" when nothing."""
    return "; ".join(
        f"in the {sandbox_kind(one)} sandbox: {open_gates(one)}"
        for one in others(evaluation)
        if one.get("passed") is not True
    )


def open_gates(evaluation: Mapping[str, Any]) -> str:
    """The gates that do not hold, each once, without those skipped: ``build: failed, isolated: unproven``."""
    each = files.objects_in(evaluation.get("gates"))
    found = [(gate.get("gate"), gate.get("status")) for gate in each]
    open_ones = dict.fromkeys(
        f"{gate}: {status}" for gate, status in found if status not in ("passed", "skipped")
    )
    return ", ".join(open_ones) or "did not pass"


def sandbox_kind(evaluation: Mapping[str, Any]) -> str:
    """``"docker"`` or ``"local"``; "?" where a damaged record does not say."""
    sandbox = evaluation.get("sandbox")
    return str(sandbox.get("kind", "?")) if isinstance(sandbox, dict) else "?"


def _each(stored: Record | None) -> list[Record]:
    if stored is None:
        return []
    return [{key: value for key, value in stored.items() if key != OTHERS}, *others(stored)]


def _rank(evaluation: Record) -> tuple[bool, bool]:
    failed = evaluation.get("passed") is not True
    return failed, not failed and sandbox_kind(evaluation) != "docker"
