"""The goal files of a task, imported in an environment of this machine, as `env build` imports them in the image."""

from __future__ import annotations

from pathlib import Path

from lmr_author import files, staging
from lmr_author.environment.smoke import Imported, import_files
from lmr_author.model import Progress, TaskInfo
from lmr_author.sandbox.base import Mount
from lmr_author.taskdir import TaskDir
from lmr_author.workflow.preparing import sandbox_of


def goal_files(info: TaskInfo) -> tuple[str, ...]:
    """The Python files of a task with something masked in them, each once."""
    return tuple(
        dict.fromkeys(item.goal_file for item in info.implementations if item.goal_file.endswith(".py"))
    )


def import_goals(task: TaskDir, info: TaskInfo, python: Path, say: Progress) -> list[Imported]:
    """Import each goal file with an interpreter of this machine, in the local sandbox; [] where nothing is masked.

    Raises SandboxError: the interpreter does not run in it.
    """
    wanted = tuple(name for name in goal_files(info) if files.inside(task.repository(info), name).is_file())
    if not wanted:
        return []
    say(f"importing {', '.join(wanted)}")
    inside = staging.tree_path(info)
    with (
        files.temporary_folder("lmr-author-import-") as work,
        sandbox_of(task, info, "local", python=python) as sandbox,
    ):
        work.chmod(0o755)
        staging.copy_tree(task.repository(info), work / "tree", {}, with_tests=False)
        sandbox.prepare()
        return import_files(sandbox, inside, wanted, mounts=[Mount(work / "tree", inside)])
