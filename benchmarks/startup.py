"""Start-up: `lmr-author --help` and `--version` against `python -c "import typer"`, interleaved.

Prints ours, the floor, and the ratio; the budget of the design is 1.3. Run it with the interpreter that
has lmr-author installed: `python benchmarks/startup.py`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
BUDGET = 1.3
FLOOR = (sys.executable, "-c", "import typer")
OURS = {
    "--version": (sys.executable, "-m", "lmr_author", "--version"),
    "--help": (sys.executable, "-m", "lmr_author", "--help"),
    "mask --help": (sys.executable, "-m", "lmr_author", "mask", "--help"),
}


def seconds(command: tuple[str, ...]) -> float:
    """Wall-clock time of one run."""
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def main() -> None:
    """Time everything in turn, so that a slow moment of the machine meets all alike."""
    times: dict[str, list[float]] = {name: [] for name in ("floor", *OURS)}
    for _ in range(RUNS):
        times["floor"].append(seconds(FLOOR))
        for name, command in OURS.items():
            times[name].append(seconds(command))
    floor = statistics.median(times["floor"])
    print(f"floor  import typer       {floor * 1000:7.1f} ms")
    for name in OURS:
        ours = statistics.median(times[name])
        print(f"ours   {name:<18} {ours * 1000:7.1f} ms   ratio {ours / floor:.2f} (budget {BUDGET})")


if __name__ == "__main__":
    main()
