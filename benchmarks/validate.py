"""Time the validation of 29 tasks with 10,000 files, or of a folder of tasks: the budget is 0.5 s a task.

python benchmarks/validate.py [FOLDER]
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from lmr_author.task import Task
from lmr_author.validation.run import processors, validate
from tests import example

TASKS, FILES = 29, 10_000


def filled_tasks(folder: Path) -> list[Task]:
    """Write good tasks, with Python files of the installed packages dealt out to their repositories."""
    tasks = [example.write(folder, number) for number in range(1, TASKS + 1)]
    source = Path(sysconfig.get_paths()["purelib"])
    for number, path in zip(range(FILES), sorted(source.rglob("*.py")), strict=False):
        task = tasks[number * TASKS // FILES]
        target = task.root / example.REPOSITORY / "filler" / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return tasks


def main() -> None:
    """Print seconds in all and for each task."""
    with tempfile.TemporaryDirectory() as name:
        tasks = Task.find_all(Path(sys.argv[1])) if len(sys.argv) > 1 else filled_tasks(Path(name))
        started = time.perf_counter()
        report = validate(tasks, jobs=processors())
        took = time.perf_counter() - started
    print(
        f"{len(tasks)} tasks in {took:.1f} s, {took / len(tasks):.2f} s each; {len(report.findings)} findings"
    )


if __name__ == "__main__":
    main()
