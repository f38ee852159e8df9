"""Validating 30 tasks with 10,000 files against reading every file once.

`python benchmarks/validate.py [FOLDER]`; by default the repositories are filled with files of the packages that are
installed; FOLDER is a folder of tasks to be measured instead. Prints cold (nothing known) and warm (nothing changed)
and their ratios; the budgets of the design are 3 and 0.2 (``docs/decisions/0008-where-the-time-of-validate-goes.md``
says what they leave room for). Runs are in turn, and a ratio is the median of those within one turn, so that a slow
moment of the machine meets all alike; the files are in the page cache for all of them. Cold and warm take as many
processes as there are processors; processor time is given too.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lmr_author.checks import example_task, example_texts
from lmr_author.checks.registry import ALL_CHECKS
from lmr_author.indexing import Cache
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import processors, validate
from lmr_author.validation.store import Store

TASKS, FILES = 30, 10_000
RUNS = 9
BUDGET_COLD, BUDGET_WARM = 3.0, 0.2
LEFT_OUT = {".so", ".pyc", ".a", ".dll", ".dylib"}
CODES = [check.code for check in ALL_CHECKS]


def tasks_of(source: Path, folder: Path) -> list[TaskDir]:
    """Good tasks, with the first files below ``source`` dealt out to their repositories."""
    tasks = [example_task.write(folder, number) for number in range(1, TASKS + 1)]
    room = FILES - sum(len(list(task.content_files())) for task in tasks)
    chosen = (path for path in sorted(source.rglob("*")) if path.suffix not in LEFT_OUT and path.is_file())
    for number, path in zip(range(room), chosen, strict=False):
        task = tasks[number * TASKS // room]
        target = task.root / example_texts.REPOSITORY / "filler" / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return tasks


def read_all(tasks: Sequence[TaskDir]) -> tuple[int, int]:
    """The floor: every file read once. Returns how many, and how many bytes."""
    count = size = 0
    for task in tasks:
        for folder, _, names in os.walk(task.root):
            for name in names:
                with open(f"{folder}/{name}", "rb") as file:
                    size += len(file.read())
                count += 1
    return count, size


def ask_all(tasks: Sequence[TaskDir]) -> int:
    """What no check for changes can do without: every folder listed, and every file asked for its state."""
    count, stack = 0, [str(task.root) for task in tasks]
    while stack:
        with os.scandir(stack.pop()) as found:
            for item in found:
                if item.is_dir(follow_symlinks=False):
                    stack.append(item.path)
                else:
                    item.stat(follow_symlinks=False)
                    count += 1
    return count


def seconds(run: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock time and processor time, children included, of one run."""
    started, before = time.perf_counter(), os.times()
    run()
    return time.perf_counter() - started, sum(os.times()[:4]) - sum(before[:4])


def ratio(times: Mapping[str, Sequence[tuple[float, float]]], key: str, of: int) -> float:
    """Median over the turns of what something took there in floors: by the clock (0), or of the processors (1)."""
    return statistics.median(
        ours[of] / floor[of] for ours, floor in zip(times[key], times["floor"], strict=True)
    )


def main() -> None:
    """Time all in turn."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["LMR_AUTHOR_CACHE"] = name
        path = Path(name, "validation.sqlite3")
        tasks = (
            TaskDir.find_all(Path(sys.argv[1]))
            if len(sys.argv) > 1
            else tasks_of(Path(sysconfig.get_paths()["purelib"]), Path(name, "tasks"))
        )
        jobs = processors()

        def ours() -> None:
            validate(tasks, store=Store(Cache(path), CODES), jobs=jobs)

        time.sleep(2.1)  # a file changed a moment ago is read again, as it may change once more
        count, size = read_all(tasks)
        times: dict[str, list[tuple[float, float]]] = {"floor": [], "cold": [], "warm": [], "asked": []}
        for _ in range(RUNS):
            path.unlink(missing_ok=True)
            times["floor"].append(seconds(lambda: read_all(tasks)))
            times["cold"].append(seconds(ours))
            times["warm"].append(seconds(ours))
            times["asked"].append(seconds(lambda: ask_all(tasks)))
    print(f"{len(tasks)} tasks, {count} files, {size / 1e6:.1f} MB, {jobs} processes")
    wall = {key: statistics.median(run[0] for run in runs) * 1000 for key, runs in times.items()}
    print(f"floor  read every file once     {wall['floor']:8.1f} ms")
    asked = f"ratio {ratio(times, 'asked', 0):.2f}: warm does this and more"
    print(f"bare   list and stat every file {wall['asked']:8.1f} ms   {asked}")
    for key, budget in (("cold", BUDGET_COLD), ("warm", BUDGET_WARM)):
        found = f"ratio {ratio(times, key, 0):.2f} (budget {budget}), processor {ratio(times, key, 1):.2f}"
        print(f"ours   {key:<24} {wall[key]:8.1f} ms   {found}; {wall[key] / len(tasks):.1f} ms a task")


if __name__ == "__main__":
    main()
