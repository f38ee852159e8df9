"""What recording costs functions that are not the target: the same driver with and without the recorder.

Prints both and the ratio, runs in turn; the budget of the design is 1.02. `python benchmarks/recording.py`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from lmr_author import resources

RUNS = 7
BUDGET = 1.02
GOAL = "def target(x):\n    return x + 1\n\n\ndef other(x):\n    return x + 2\n"
DRIVER = """\
import time
from goal import other, target
target(1)
start = time.perf_counter()
for number in range(2_000_000):
    other(number)
print(time.perf_counter() - start)
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
        times: dict[str, list[float]] = {"floor": [], "ours": []}
        for _ in range(RUNS):
            for label, command in (("floor", bare), ("ours", recorded)):
                done = subprocess.run(command, cwd=tree, capture_output=True, check=True, text=True)
                times[label].append(float(done.stdout.split()[0]))
        floor, ours = statistics.median(times["floor"]), statistics.median(times["ours"])
        print(f"floor  2 million calls, bare      {floor * 1000:7.1f} ms")
        ratio = f"ratio {ours / floor:.3f} (budget {BUDGET})"
        print(f"ours   the same, recording        {ours * 1000:7.1f} ms   {ratio}")


if __name__ == "__main__":
    main()
