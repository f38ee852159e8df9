"""The good task ``tests/checks/good-task``, which tests copy and change."""

from __future__ import annotations

import importlib.util
import json
import marshal
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmr_author.core import files
from lmr_author.core.task import Task

GOOD = Path(__file__).parent / "checks" / "good-task"
FOLDER, REPOSITORY = "1-MarginRanking", "margin-ranking"
GOAL = f"{REPOSITORY}/ranking/losses.py"

FILES: dict[str, str] = {
    path.relative_to(GOOD).as_posix(): path.read_text("utf-8") for path in GOOD.rglob("*") if path.is_file()
}
INFO: dict[str, Any] = json.loads(FILES.pop("info.json"))
PROVENANCE: dict[str, Any] = json.loads(FILES.pop("authoring/provenance.json"))
FILES.pop(f"{REPOSITORY}/paper.json")
DOCKERFILE = FILES["Dockerfile"]
MASKED, GOLDEN = FILES[GOAL], FILES["golden_files/losses_golden.py"]
INSTRUCTION: str = INFO["implementations"][0]["instruction"]
HEAD, _, _REST = GOLDEN.partition("    penalties = []\n")
BODY = "    penalties = []\n" + _REST.partition("\n\nclass")[0]

Content = str | bytes | None | Callable[[], bytes]


@dataclass(frozen=True)
class Example:
    """A change to the good task.

    Attributes:
        files: path in the task → new content; None removes the file; a function makes the content.
        info: keys of ``info.json`` to replace (top level); None removes a key.
        implementation: keys of ``implementations[0]`` to replace; None removes a key.
    """

    title: str
    files: Mapping[str, Content] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)
    implementation: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()


def write(parent: Path, number: int = 1) -> Task:
    """Write the good task into a folder.

    Args:
        number: its ``instance_id``; from 2 on it has a paper, a repository and a golden of its own, so that several
            lie beside each other without contradiction.
    """
    name = FOLDER if number == 1 else f"{number}-MarginRanking{number}"
    info = INFO | {"instance_id": number, "folder_name": name}
    if number != 1:
        info |= {
            "paper_name": f"{INFO['paper_name']}, part {number}",
            "repo_url": f"{INFO['repo_url']}-{number}",
        }
    root = parent / name
    shutil.copytree(GOOD, root)
    for path, text in FILES.items():
        if number != 1 and "margin - difference" in text:
            files.write_text(
                root / path, text.replace("margin - difference", f"{number} * margin - difference")
            )
    files.write_json(root / "info.json", info)
    return Task(root)


def apply(task: Task, example: Example) -> None:
    """Make the changes of an example to a task."""
    info = replaced(task.load_raw(), example.info)
    if example.implementation:
        first, *others = info["implementations"]
        info["implementations"] = [replaced(first, example.implementation), *others]
    files.write_json(task.info_path, info)
    for path, content in example.files.items():
        target = task.root / path
        if content is None:
            target.unlink()
        else:
            data = content() if callable(content) else content
            files.write_bytes(target, data.encode("utf-8") if isinstance(data, str) else data)


def replaced(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with keys replaced; None removes a key."""
    return {
        key: value for key, value in {**data, **changes}.items() if value is not None or key not in changes
    }


def compiled(source: str) -> Callable[[], bytes]:
    """Return a function that makes what Python writes into ``__pycache__`` for a source file."""
    code = compile(source, "losses.py", "exec")
    # The header of PEP 552: magic number, flags, and a time and size that nobody compares here.
    return lambda: importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


def second_implementation(**changes: Any) -> list[dict[str, Any]]:
    """Return the implementations of a variant whose second target is ``ListLoss.forward`` of the same file."""
    instruction = (
        "Implement `ListLoss.forward` in `ranking/losses.py` as the paper describes it; return the loss."
    )
    second = {
        **INFO["implementations"][0],
        "index": 2,
        "instruction": instruction,
        "goal_function": "forward",
        "class_name": "ListLoss",
        "unit_test_file": "unit_test/unit_test_2.py",
        **changes,
    }
    return [dict(INFO["implementations"][0]), second]
