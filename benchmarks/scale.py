"""Time the commands that look at a whole set, on copies of the starter tasks with other numbers.

    python benchmarks/scale.py [--tasks 500]

Prints, for each command, seconds on the clock, seconds of processors, and the most memory of a process. Budgets:
`status` 5 s, `validate` 40 s of one processor with memory that does not grow with the set.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

STARTER = Path(__file__).resolve().parent.parent / "tasks"
COMMANDS = (
    ("status", "tasks"),
    ("validate", "tasks"),
    ("report", "tasks", "--html", "set.html"),
    ("export", "tasks", "--to", "huggingface", "--out", "exported", "--unreviewed", "--force"),
    ("analyze", "results.jsonl", "--tasks", "tasks", "--out", "analysis"),
)
MODELS = 10
"""Models that answered each implementation: ten for 500 tasks are 5,000 answers and more."""


def copies(folder: Path, number: int) -> None:
    """Write so many tasks, each a copy of a starter task with a number of its own."""
    starters = sorted(path.parent for path in STARTER.glob("*/info.json"))
    for index in range(1, number + 1):
        source = starters[index % len(starters)]
        task = folder / f"{index}-{source.name.partition('-')[2]}"
        shutil.copytree(source, task, symlinks=True)
        info = json.loads((task / "info.json").read_text("utf-8"))
        info |= {"instance_id": index, "folder_name": task.name}
        (task / "info.json").write_text(json.dumps(info, indent=2) + "\n", "utf-8")


def answers(tasks: Path, path: Path) -> None:
    """Write results of models, as `judge` does, of which some pass."""
    lines = []
    for folder in sorted(tasks.iterdir()):
        info = json.loads((folder / "info.json").read_text("utf-8"))
        for item in info["implementations"]:
            for model in range(MODELS):
                lines.append(_result(folder.name, item["index"], item["category"], model))
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def _result(task: str, index: int, category: str, model: int) -> dict[str, object]:
    passed = zlib.crc32(f"{task} {index} {model}".encode()) % (model + 2) > 0
    return {
        "format": "lmr-candidate/1",
        "task": task,
        "index": index,
        "model": f"model-{model}",
        "sample": 1,
        "category": category,
        "outcome": "passed" if passed else "failed",
        "reason": "" if passed else "case_1: return differs",
        "setting": "agent" if model % 2 else "prompt",
    }


def measure(work: Path, words: tuple[str, ...]) -> str:
    """Run a command of lmr-author; return its figures."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ended = subprocess.run([sys.executable, "-m", "lmr_author", *words], cwd=work, capture_output=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{wall:7.1f} s  {spent:7.1f} s  {after.ru_maxrss / 1024:6.0f} MB  exit code {ended.returncode}"


def main() -> None:
    """Measure every command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        copies(work / "tasks", options.tasks)
        answers(work / "tasks", work / "results.jsonl")
        print(f"{options.tasks} tasks: clock, processors, most memory so far")
        for words in COMMANDS:
            print(f"{words[0]:<9} {measure(work, words)}", flush=True)


if __name__ == "__main__":
    main()
