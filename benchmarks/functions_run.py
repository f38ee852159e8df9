"""Count the files of lmr_author of which functions run, verb by verb: how many rooms a reader of one command enters.

    python benchmarks/functions_run.py [VERB …] [--files]

Each verb runs in a process of its own on a copy of a finished task, in the order of authoring. Counted are functions
that run, not modules that are imported: what runs while a module is being loaded (decorators, tables) does not count,
and neither do worker processes.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "lmr_author"
TASK = ROOT / "tasks" / "4-demo-packing"
IMPLEMENTATION = json.loads((TASK / "info.json").read_text("utf-8"))["implementations"][0]
TARGET = f"{IMPLEMENTATION['goal_file']}::{IMPLEMENTATION['goal_function']}"
SAID = ("--instruction", IMPLEMENTATION["instruction"], "--category", IMPLEMENTATION["category"])
DRIVER = ("python", "run_reader.py")
VERBS = {
    "unmask": ("unmask", TARGET, "--no-input"),
    "mask": ("mask", TARGET, *SAID, "--retrieval", *IMPLEMENTATION["retrieval_context"], "--no-input"),
    "record": ("record", TARGET, "--sandbox", "local", "--", *DRIVER),
    "validate": ("validate", "."),
    "evaluate": ("evaluate", "--sandbox", "local", "--mutants", "5", "--repeats", "2"),
    "status": ("status", "."),
    "export": ("export", ".", "--to", "agent", "--out", "../../bundle", "--unreviewed"),
}


class Tracer:
    """Remembers the files whose functions were entered outside of any import."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.loading = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            self.loading += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not self.loading and code.co_flags & inspect.CO_OPTIMIZED:  # no class body
            self.files.add(code.co_filename)


def trace(words: list[str], to: Path) -> int:
    """Run one command in this process, and write the names of the files that it entered."""
    sys.path.insert(0, str(ROOT))
    from lmr_author.cli.app import main

    tracer = Tracer()
    sys.argv = ["lmr-author", *words]
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        return main()
    finally:
        sys.setprofile(None)
        own = {Path(name) for name in tracer.files if name.startswith(f"{PACKAGE}{os.sep}")}
        names = sorted(path.relative_to(PACKAGE).as_posix() for path in own)
        to.write_text("\n".join(names), "utf-8")


def main() -> None:
    """Print a line for each verb."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verbs", nargs="*", metavar="VERB", help=f"{', '.join(VERBS)}; all by default")
    parser.add_argument("--files", action="store_true", help="list the files, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        task, entered = Path(work) / "tasks" / TASK.name, Path(work) / "entered"
        shutil.copytree(TASK, task)
        for verb, words in VERBS.items():
            command = [sys.executable, "-P", str(Path(__file__).resolve()), "--trace", str(entered), *words]
            done = subprocess.run(command, cwd=task, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            names = entered.read_text("utf-8").split()
            if options.verbs and verb not in options.verbs:
                continue
            print(f"{verb:<10} {len(names):>3} files, exit code {done.returncode}", flush=True)
            if done.returncode not in (0, 1):
                print(done.stderr[-500:])
            if options.files:
                print("".join(f"    {name}\n" for name in names), end="")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--trace"]:
        raise SystemExit(trace(sys.argv[3:], Path(sys.argv[2])))
    main()
