"""What recording costs functions that are not the target: the same driver with and without the recorder.

Processor time, so that other work on the machine counts little. The runs alternate; the ratio is the median of those of
each pair, and the budget of the design is 1.02. Beside it, what a tracer with ``sys.setprofile`` costs, which is how
MonkeyType sees calls (`pip install monkeytype` to have it run too).
`python benchmarks/recording.py`.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from lmr_author import resources

RUNS = 21
BUDGET = 1.02
GOAL = "def target(x):\n    return x + 1\n\n\ndef other(x):\n    return x + 2\n"
TRACER = """\
import runpy, sys
seen = []
def trace(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "target":
        seen.append(dict(frame.f_locals))
sys.setprofile(trace)
sys.argv[:] = ["driver.py"]
runpy.run_path("driver.py", run_name="__main__")
"""
DRIVER = """\
import time
from goal import other, target
target(1)
start = time.process_time()
for number in range(2_000_000):
    other(number)
print(time.process_time() - start)
"""


def main() -> None:
    """Time the loop over the other function, inside the driver, so that start-up does not count."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        (tree / "goal.py").write_text(GOAL)
        (tree / "driver.py").write_text(DRIVER)
        (tree / "out").mkdir()
        config = tree / "config.json"
        config.write_text(
            json.dumps({"tree": ".", "goal_file": "goal.py", "qualname": "target", "line": 1, "out": "out"})
        )
        bare = [sys.executable, "driver.py"]
        probe = str(resources.probe_folder())
        recorded = [sys.executable, probe, "record", str(config), "--", "driver.py"]
        (tree / "tracer.py").write_text(TRACER)
        commands = {"bare": bare, "lmr-author": recorded, "sys.setprofile": [sys.executable, "tracer.py"]}
        if importlib.util.find_spec("monkeytype"):
            commands["MonkeyType"] = [sys.executable, "-m", "monkeytype", "run", "driver.py"]
        times: dict[str, list[float]] = {label: [] for label in commands}
        for _ in range(RUNS):
            for label, command in commands.items():
                # A tracer of every call is slow enough to be timed once.
                if times[label] and label not in ("bare", "lmr-author"):
                    continue
                done = subprocess.run(command, cwd=tree, capture_output=True, check=True, text=True)
                times[label].append(float(done.stdout.split()[0]))
        print(f"2 million calls of a function that is not the target; budget {BUDGET}")
        for label, measured in times.items():
            ratio = statistics.median(
                seconds / floor for seconds, floor in zip(measured, times["bare"], strict=False)
            )
            print(f"{label:<16}{statistics.median(measured) * 1000:10.1f} ms   ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
