"""The agent bundle: what a model is given, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

from lmr_author import files
from lmr_author.model import TaskInfo
from lmr_author.staging import copy_tree
from lmr_author.taskdir import TaskDir

SHIPPED_FILES = ("Dockerfile", ".dockerignore", "requirements.lock")


def agent_bundle(task: TaskDir, info: TaskInfo, destination: Path) -> tuple[str, ...]:
    """Write the masked repository without ``unit_test/``, the environment files and the instructions.

    Goldens, expected outputs and ``authoring/`` are never copied: only what is listed here is.

    Args:
        destination: a folder that does not exist yet; it appears whole or not at all.

    Returns:
        The bundle's files, relative, sorted.
    """
    with files.staged_folder(destination) as staging:
        repository = task.repository(info)
        copy_tree(repository, staging / repository.name, {}, with_tests=False)
        for name in SHIPPED_FILES:
            if (task.root / name).is_file():
                shutil.copy2(task.root / name, staging / name)
        files.write_json(staging / "task.json", agent_document(info))
    return tuple(path.relative_to(destination).as_posix() for path in sorted(files.walk(destination)))


def agent_document(info: TaskInfo) -> dict[str, object]:
    """What an agent is told: the paper and, for each implementation, what to write where."""
    hidden = {"golden_file", "unit_test_file"}
    return {
        "instance_id": info.instance_id,
        "paper_name": info.paper_name,
        "folder_name": info.folder_name,
        "repo_folder_name": info.repo_folder_name,
        "implementations": [
            {key: value for key, value in item.to_json().items() if key not in hidden}
            for item in info.implementations
        ],
    }
