"""Hand-made tasks in the published format: no recordings, no authoring/, tests in the styles that are found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lmr_author.core.task import Task

PLAIN_PYTHON = Path(sys._base_executable)  # type: ignore[attr-defined]
"""The interpreter below the virtual environment: without PyTorch, whose import takes seconds."""

GOLDEN = '''\
"""Scores."""

import math


def softplus(x, beta=1.0):
    """Smooth positive part."""
    scaled = beta * x
    return math.log1p(math.exp(-abs(scaled))) / beta + max(x, 0.0)


class Mean:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def add(self, value):
        self.total += value
        self.count += 1
        return self.total / self.count
'''

SOFTPLUS_BODY = """\
    scaled = beta * x
    return math.log1p(math.exp(-abs(scaled))) / beta + max(x, 0.0)
"""
MASKS = {
    "raises": "    raise NotImplementedError\n",
    "undefined names": "    return positive + correction\n",
    "does nothing": "    result = None\n    return result\n",
}

UNITTEST = """\
import json
import os
import sys
import unittest

from scores.smooth import softplus

os.makedirs("unit_test/logs", exist_ok=True)


class SoftplusTest(unittest.TestCase):
    def test_values(self):
        for case in json.load(open("unit_test/cases.json")):
            self.assertAlmostEqual(softplus(case["x"], case["beta"]), case["expected"], places=6)


if __name__ == "__main__":
    ok = unittest.main(exit=False).result.wasSuccessful()
    with open("unit_test/logs/unit_test_1.log", "w") as log:
        log.write("Passed" if ok else "Failed")
    sys.exit(0 if ok else 1)
"""
LOG_ONLY = """\
import json
import logging

from scores.smooth import softplus

logging.basicConfig(filename="./unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")
try:
    for case in json.load(open("unit_test/cases.json")):
        assert abs(softplus(case["x"], case["beta"]) - case["expected"]) < 1e-6
    logging.info("Unit test 1 Passed")
except Exception as error:
    logging.info("Unit test 1 Failed: %r", error)
"""
PRINTS = """\
import json

from scores.smooth import softplus

cases = json.load(open("unit_test/cases.json"))
if all(abs((softplus(c["x"], c["beta"]) or 0) - c["expected"]) < 1e-6 for c in cases):
    print("all tests passed")
else:
    print("test failed")
"""
ASSERTS = """\
import json

from scores.smooth import softplus

for case in json.load(open("unit_test/cases.json")):
    assert abs(softplus(case["x"], case["beta"]) - case["expected"]) < 1e-6
"""
MEAN = """\
from scores.smooth import Mean

mean = Mean()
assert [mean.add(1.0), mean.add(2.0), mean.add(6.0)] == [1.0, 1.5, 3.0]
print("Passed")
"""
STYLES = {"unittest": UNITTEST, "log only": LOG_ONLY, "prints": PRINTS, "asserts": ASSERTS}


def foreign_task(
    folder: Path,
    test: str = UNITTEST,
    mask: str = MASKS["raises"],
    name: str = "7-Softplus",
    masked: str | None = None,
    **changes: Any,
) -> Task:
    """A task as someone made it by hand.

    Args:
        masked: the whole goal file, when not just the body of softplus is masked.
        changes: keys of the implementation in info.json to be changed.
    """
    root = folder / name
    repository = root / "scores-repo"
    (repository / "scores").mkdir(parents=True)
    (repository / "unit_test").mkdir()
    (root / "golden_files").mkdir()
    (root / "golden_files" / "smooth_golden.py").write_text(GOLDEN)
    (repository / "scores" / "__init__.py").write_text("")
    (repository / "scores" / "smooth.py").write_text(masked or GOLDEN.replace(SOFTPLUS_BODY, mask))
    (repository / "unit_test" / "unit_test_1.py").write_text(test)
    cases = [
        {"x": 0.5, "beta": 1.0, "expected": 0.9740769841801067},
        {"x": -2.0, "beta": 0.5, "expected": 0.6265233750364456},
        {"x": 3.0, "beta": 2.0, "expected": 3.0012378434763655},
    ]
    (repository / "unit_test" / "cases.json").write_text(json.dumps(cases))
    (root / "Dockerfile").write_text("ARG BASE_IMAGE=pytorch/pytorch:latest\nFROM ${BASE_IMAGE}\n")
    implementation: dict[str, Any] = {
        "instruction": "Implement softplus.",
        "index": 1,
        "category": "Evaluation Metrics",
        "goal_file": "scores/smooth.py",
        "goal_function": "softplus",
        "class_name": "",
        "golden_file": "golden_files/smooth_golden.py",
        "retrieval_content": ["scores/smooth.py"],
        "unit_test_file": "unit_test/unit_test_1.py",
    }
    info = {
        "instance_id": 7,
        "folder_name": name,
        "paper_name": "Softplus",
        "paper_url": "https://example.org/softplus",
        "year": 2020,
        "repo_url": "https://example.org/scores",
        "repo_folder_name": "scores-repo",
        "implementations": [implementation | changes],
    }
    (root / "info.json").write_text(json.dumps(info))
    return Task(root)
