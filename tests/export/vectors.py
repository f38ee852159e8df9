"""A task with two implementations in one goal file, a fixture for an object that cannot be stored, and a checker.

``leading`` calls ``direction``, so without the other golden in the file it cannot pass; and it is defined twice.
"""

from __future__ import annotations

from pathlib import Path

from lmr_author.core.task import Task
from tests.cli.program import succeed
from tests.support import make_task, write_files

GOAL = "pkg/vectors.py"
VECTORS = '''\
"""Vectors of texts."""

import threading


class Tokenizer:
    """Holds what cannot be stored."""

    def __init__(self, words):
        self.words = words
        self.lock = threading.Lock()

    def __reduce__(self):
        raise TypeError("cannot pickle a tokenizer")

    def ids(self, text):
        with self.lock:
            return [1.0 + self.words.index(word) for word in text.split()]


def direction(values):
    """A unit vector along some values; which way is not said."""
    norm = sum(value * value for value in values) ** 0.5
    return {"axis": [-value / norm for value in values], "norm": norm}


def leading(text):
    """Replaced below: the definition that counts is the second one."""
    return text


def leading(text, tokenizer):
    """The largest part of a text's axis, and where it is."""
    axis = [abs(part) for part in direction(tokenizer.ids(text))["axis"]]
    best = max(axis)
    return axis.index(best), round(best, 6)
'''
DRIVER = """\
from pkg.vectors import Tokenizer, direction, leading

tokenizer = Tokenizer("the cat sat on a mat".split())
for text in ("cat sat", "mat the", "on a cat"):
    leading(text, tokenizer)
for values in ([3.0, 4.0], [1.0, 2.0, 2.0], [5.0, 1.0]):
    direction(values)
"""
FIXTURES = '''\
from pkg.vectors import Tokenizer


def tokenizer():
    """As the driver makes it."""
    return Tokenizer("the cat sat on a mat".split())
'''


def vectors_task(tasks: Path, base: str) -> Task:
    """Author it with the commands."""
    task = make_task(tasks, "2-Vectors")
    root = task.root / "small-repo"
    write_files(root, {GOAL: VECTORS, "drive.py": DRIVER, "unit_test/fixtures.py": FIXTURES})
    task.dockerfile.write_text(
        f"ARG BASE_IMAGE={base}\nFROM ${{BASE_IMAGE}}\nCOPY small-repo /workspace/small-repo\nWORKDIR /workspace\n"
    )
    category = ("--category", "Evaluation Metrics", "--no-input")
    for name in ("direction", "leading#2"):
        target = f"{GOAL}::{name}"
        succeed("mask", target, *category, cwd=task.root)
        succeed("record", target, "--no-input", "--", "python", "drive.py", cwd=task.root)
    return task
