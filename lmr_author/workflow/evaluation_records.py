"""``authoring/evaluation.json``: the evaluation that counts, and beside it those of other sandboxes.

See ``docs/decisions/0011-evaluations-of-several-sandboxes.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lmr_author import files
from lmr_author.evaluated import of_one_state
from lmr_author.taskdir import TaskDir

FORMAT = "lmr-evaluation/1"
OTHERS = "others"
OTHER_BASE, OTHER_PYTHON = "other_base_image", "other_python"
"""What a record's sandbox has where another was asked for than the Dockerfile's, or than the task's own."""
Record = dict[str, Any]


def load_evaluation(task: TaskDir) -> Record | None:
    """The stored evaluation that counts; None when there is none that can be read."""
    data = files.read_object_or_empty(task.evaluation_path)
    return data if data.get("format") == FORMAT else None


def evaluation_like(task: TaskDir, record: Mapping[str, Any]) -> Record | None:
    """The last stored evaluation in the same sandbox as another, whether it counts or not; None for none."""
    return next((one for one in _each(load_evaluation(task)) if _key(one) == _key(record)), None)


@dataclass(frozen=True)
class Stored:
    """What came of storing an evaluation.

    Attributes:
        counts: the one that counts now.
        replaced: the one in the same sandbox, of the same state of the task, that it took the place of, if any.
    """

    counts: Record
    replaced: Record | None


def store(task: TaskDir, new: Record) -> Stored:
    """Write a new evaluation in place of the last one in its sandbox.

    Of those that are of the same state of the task, one in which every gate holds comes first, one in Docker
    before a local one, on the Dockerfile's own base image before another, and then the new one. Those of another
    state go: they say nothing about the task.
    """
    same = [one for one in _each(load_evaluation(task)) if of_one_state(one, new)]
    replaced = next((one for one in same if _key(one) == _key(new)), None)
    beside = [one for one in same if _key(one) != _key(new)]
    first, *rest = sorted([new, *beside], key=_rank)
    files.write_json(task.evaluation_path, {**first, OTHERS: rest} if rest else first)
    return Stored(first, replaced)


def others(evaluation: Mapping[str, Any]) -> list[Record]:
    """The evaluations of the same state that are kept beside the one that counts."""
    return files.objects_in(evaluation.get(OTHERS))


def doubts(evaluation: Mapping[str, Any]) -> str:
    """What does not hold in another sandbox than the one that counts, in a few words; "" when nothing."""
    return "; ".join(
        f"in {place(one)}: {open_gates(one)}" for one in others(evaluation) if one.get("passed") is not True
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


def other_base(evaluation: Mapping[str, Any]) -> str:
    """The base image that it was asked to take in place of the Dockerfile's; "" where it was not."""
    return _asked(evaluation, OTHER_BASE)


def as_before(evaluation: Mapping[str, Any]) -> list[str]:
    """The options that ask for the same sandbox again."""
    given = {
        "--sandbox": "docker" if sandbox_kind(evaluation) == "docker" else "",
        "--base-image": other_base(evaluation),
        "--python": _asked(evaluation, OTHER_PYTHON),
    }
    return [word for option, value in given.items() if value for word in (option, value)]


def place(evaluation: Mapping[str, Any]) -> str:
    """``the docker sandbox``, with the base image or the interpreter where another was asked for."""
    base, python = other_base(evaluation), _asked(evaluation, OTHER_PYTHON)
    on = f" on {base}" if base else f" with {python}" if python else ""
    return f"the {sandbox_kind(evaluation)} sandbox{on}"


def _asked(evaluation: Mapping[str, Any], key: str) -> str:
    sandbox = evaluation.get("sandbox")
    return str(sandbox.get(key, "")) if isinstance(sandbox, dict) else ""


def _key(evaluation: Mapping[str, Any]) -> tuple[str, str, str]:
    return sandbox_kind(evaluation), other_base(evaluation), _asked(evaluation, OTHER_PYTHON)


def _each(stored: Record | None) -> list[Record]:
    if stored is None:
        return []
    return [{key: value for key, value in stored.items() if key != OTHERS}, *others(stored)]


def _rank(evaluation: Record) -> tuple[bool, bool, bool]:
    failed = evaluation.get("passed") is not True
    other = bool(other_base(evaluation))
    return failed, not failed and sandbox_kind(evaluation) != "docker", not failed and other
