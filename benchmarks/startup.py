"""Start-up: `lmr-author --help` and `--version` against `python -c "import typer"`, interleaved.

Prints ours, the floor, and the ratio; the budget of the design is 1.3. A verb with options has a floor of its
own, which is no budget: the smallest program that typer can make with one option (newer typers load pydantic
for that). Run it with the interpreter that has lmr-author installed: `python benchmarks/startup.py`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
BUDGET = 1.3
FLOOR = (sys.executable, "-c", "import typer")
SMALLEST = """
import typer
app = typer.Typer(add_completion=False, rich_markup_mode=None)
@app.command()
def verb(option: str = ""):
    pass
app(["--help"])
"""
ONE_OPTION = (sys.executable, "-c", SMALLEST)
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
    times: dict[str, list[float]] = {name: [] for name in ("floor", "one option", *OURS)}
    for _ in range(RUNS):
        times["floor"].append(seconds(FLOOR))
        times["one option"].append(seconds(ONE_OPTION))
        for name, command in OURS.items():
            times[name].append(seconds(command))
    floor, option = (statistics.median(times[name]) for name in ("floor", "one option"))
    print(f"floor  import typer       {floor * 1000:7.1f} ms")
    print(f"floor  one typer option   {option * 1000:7.1f} ms")
    for name in OURS:
        ours = statistics.median(times[name])
        print(
            f"ours   {name:<18} {ours * 1000:7.1f} ms   ratio {ours / floor:.2f} (budget {BUDGET}), "
            f"to the second floor {ours / option:.2f}"
        )


if __name__ == "__main__":
    main()
