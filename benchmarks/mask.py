"""Masking one function against libcst parsing the same file; the budget of the design is 3 plus start-up.

Run as `python benchmarks/mask.py [FILE::FUNCTION]`; by default a large file of the standard library.
"""

from __future__ import annotations

import argparse as large_module
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lmr_author import code
from lmr_author.masking.body import mask_source
from lmr_author.task import Target

RUNS = 7
BUDGET = 3.0


def seconds(run: Callable[[], object]) -> float:
    """Median wall-clock time over some runs."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    """Time both on one file."""
    import libcst

    default = f"{large_module.__file__}::ArgumentParser.parse_known_args"
    target = Target.parse(sys.argv[1] if len(sys.argv) > 1 else default)
    data = Path(target.path).read_bytes()

    def ours() -> None:
        module = code.Module.parse(data, target.path)
        mask_source(module, [code.find(module, target)])

    floor, mask = seconds(lambda: libcst.parse_module(data)), seconds(ours)
    print(f"floor  libcst.parse_module {floor * 1000:7.1f} ms   ({len(data)} bytes)")
    print(f"ours   mask {target.name:<14} {mask * 1000:7.1f} ms   ratio {mask / floor:.2f} (budget {BUDGET})")


if __name__ == "__main__":
    main()
