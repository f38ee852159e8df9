"""A small, good task: what every example of a check starts from.

It is as complete as a real one (metadata, paper, Dockerfile, pinned requirements, a masked function,
its golden, a test written by hand that asserts and logs), yet needs nothing beyond Python itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.checks.base import Example
from lmr_author.checks.example_texts import (
    BODY,
    FILES,
    FOLDER,
    GOLDEN,
    HEAD,
    INFO,
    PAPER_JSON,
    PROVENANCE,
    REPOSITORY,
    UNIT_TEST,
)
from lmr_author.taskdir import TaskDir


def write(parent: Path, number: int = 1) -> TaskDir:
    """Write the good task into ``parent`` and return it.

    Args:
        number: its ``instance_id``; the second and further ones have a paper, a class and a folder name of
            their own, so that several lie beside each other without contradiction.
    """
    name = FOLDER if number == 1 else f"{number}-MarginRanking{number}"
    info = INFO | {"instance_id": number, "folder_name": name}
    if number != 1:
        info |= {
            "paper_name": f"{INFO['paper_name']}, part {number}",
            "repo_url": f"{INFO['repo_url']}-{number}",
        }
    root = parent / name
    for path, text in FILES.items():
        # No two tasks have one golden.
        own = text if number == 1 else text.replace("margin - difference", f"{number} * margin - difference")
        files.write_text(root / path, own)
    files.write_json(root / REPOSITORY / "paper.json", PAPER_JSON)
    files.write_json(root / "info.json", info)
    files.write_json(root / "authoring" / "provenance.json", PROVENANCE)
    return TaskDir(root)


def apply(task: TaskDir, example: Example) -> None:
    """Make the changes of an example to a task."""
    info = _replaced(task.load_raw(), example.info)
    if example.implementation:
        first, *others = info["implementations"]
        info["implementations"] = [_replaced(first, example.implementation), *others]
    files.write_json(task.info_path, info)
    for path, content in example.files.items():
        target = task.root / path
        if content is None:
            target.unlink()
        else:
            data = content() if callable(content) else content
            files.write_bytes(target, data.encode("utf-8") if isinstance(data, str) else data)


def _replaced(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with keys replaced; None removes a key."""
    merged = {**data, **changes}
    return {key: value for key, value in merged.items() if not (key in changes and changes[key] is None)}


def second_implementation(**changes: Any) -> list[dict[str, Any]]:
    """Both implementations of a variant whose second target is ``ListLoss.forward`` of the same file."""
    second = {
        **INFO["implementations"][0],
        "index": 2,
        "instruction": (
            "Implement `ListLoss.forward` in `ranking/losses.py` as the paper describes it; return the loss of one"
            " list."
        ),
        "goal_function": "forward",
        "class_name": "ListLoss",
        "unit_test_file": "unit_test/unit_test_2.py",
        **changes,
    }
    return [dict(INFO["implementations"][0]), second]


def second_files() -> dict[str, str]:
    """The files of a task with both implementations: path in the task → text."""
    return {
        f"{REPOSITORY}/ranking/losses.py": (
            HEAD
            + "    raise NotImplementedError\n"
            + GOLDEN.partition(BODY)[2].partition("        wanted")[0]
            + "        raise NotImplementedError\n"
        ),
        f"{REPOSITORY}/unit_test/unit_test_2.py": (
            UNIT_TEST.replace("import pairwise_loss", "import ListLoss")
            .replace("pairwise_loss(", "ListLoss().forward(")
            .replace("unit_test_1.log", "unit_test_2.log")
        ),
    }
