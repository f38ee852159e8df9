"""Indexing a tree of 2,000 files against a bare ``ast.parse`` of all of them, in as many processes.

`python benchmarks/index.py [FOLDER]`; by default the files of the packages that are installed. Prints cold and
warm (nothing changed) and their ratios; the budgets of the design are 1.3 and 0.1. Runs are in turn, so that
a slow moment of the machine meets all alike. A second floor has the cyclic garbage collector off, as our
workers have. `outline` is every function and where it stands, which is what `mask` looks names up in; `whole` is
that and the words of each, which is what `suggest` ranks.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lmr_author.indexing import Cache, build
from lmr_author.indexing.states import SETTLED

FILES = 2000
RUNS = 3
BUDGETS = {"cold": 1.3, "warm": 0.1}
KINDS = ("outline", "whole")
BARE = """\
import ast, sys, warnings
warnings.simplefilter("ignore")
if sys.argv[1] == "off":
    import gc
    gc.disable()
for path in sys.stdin.read().split("\\0"):
    with open(path, "rb") as file:
        data = file.read()
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        pass
"""


def tree_of(source: Path, folder: Path) -> list[Path]:
    """Copies of the first files below ``source``, in the order of their names."""
    chosen = []
    for path in sorted(source.rglob("*.py")):
        if path.stat().st_size > 0 and len(chosen) < FILES:
            target = folder / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            chosen.append(target)
    return chosen


def bare(paths: list[Path], jobs: int, collector: str) -> None:
    """``ast.parse`` of all, the files dealt out by size: each process gets as many bytes as the others."""
    shares: list[list[str]] = [[] for _ in range(jobs)]
    for place, path in enumerate(sorted(paths, key=lambda path: path.stat().st_size)):
        shares[place % jobs].append(str(path))
    command = [sys.executable, "-I", "-S", "-c", BARE, collector]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in shares]
    for process, share in zip(running, shares, strict=True):
        assert process.stdin
        process.stdin.write("\0".join(share).encode())
        process.stdin.close()
    for process in running:
        if process.wait():
            raise SystemExit("the floor failed")


def seconds(run: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock time and processor time, children included, of one run."""
    started, before = time.perf_counter(), os.times()
    run()
    return time.perf_counter() - started, sum(os.times()[:4]) - sum(before[:4])


def main() -> None:
    """Time all in turn."""
    source = Path(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_paths()["purelib"])
    jobs = len(os.sched_getaffinity(0))
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        tree, store = Path(name, "tree"), Path(name, "cache", "index.sqlite3")
        paths = tree_of(source, tree)
        time.sleep(SETTLED)  # files that were written a moment ago are read twice
        for _ in range(RUNS):
            times["floor"].append(seconds(lambda: bare(paths, jobs, "on")))
            times["off"].append(seconds(lambda: bare(paths, jobs, "off")))
            for kind in KINDS:
                store.unlink(missing_ok=True)
                for state in BUDGETS:
                    run = partial(build, tree, jobs=jobs, cache=Cache(store), words=kind == "whole")
                    times[f"{state}, {kind}"].append(seconds(run))
        index = build(tree, jobs=jobs, cache=Cache(store))
        size = sum(path.stat().st_size for path in paths)
        cached = store.stat().st_size
    found = f"{len(index.functions)} functions, {len(index.unread)} files not read"
    print(f"{len(paths)} files, {size / 1e6:.1f} MB, {found}; {jobs} processes; cache {cached / 1e6:.1f} MB")
    wall, processor = (
        {key: statistics.median(run[i] for run in runs) for key, runs in times.items()} for i in (0, 1)
    )
    for key, label in (("floor", "floor  ast.parse of all"), ("off", "floor  the same, collector off")):
        print(f"{label:<32} {wall[key] * 1000:8.1f} ms   processor {processor[key] * 1000:8.1f} ms")
    for key, budget in ((f"{state}, {kind}", BUDGETS[state]) for kind in KINDS for state in BUDGETS):
        in_process = processor[key] / processor["floor"]
        ratio = f"ratio {wall[key] / wall['floor']:.3f} (budget {budget}), processor {in_process:.3f}"
        print(
            f"ours   {key:<25} {wall[key] * 1000:8.1f} ms   {ratio}; to the second floor {wall[key] / wall['off']:.3f}"
        )


if __name__ == "__main__":
    main()
