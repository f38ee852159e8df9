"""A task with look-alikes of its targets."""

from __future__ import annotations

import json
from pathlib import Path

from lmr_author import files
from lmr_author.masking import MaskOptions, MaskResult, mask
from lmr_author.task import Task, also_masked
from tests.cli.program import validate_with

ADD = "pkg/losses.py::Meter.add"


HINGE = "pkg/losses.py::hinge"


LEGACY = b'''\
"""Older code, \xe4 in latin-1."""
# -*- coding: latin-1 -*-
import math


class OldMeter:
    def add(self, value):
        self.values.append(value)
        self.values = self.values[-self.size :]
        return math.fsum(self.values) / len(self.values)

    def each(self):
        for value in self.values:
            yield value * self.size


def unrelated(names):
    return sorted(names, key=str.lower)
'''.replace(b'"""Older code', b'# -*- coding: latin-1 -*-\n"""Older code').replace(b"\n", b"\r\n")


def repository(task: Task) -> Path:
    return task.root / "small-repo"


def content(task: Task) -> dict[str, bytes]:
    root = repository(task)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files.walk(root)}


def run(task: Task, *targets: str, also: tuple[str, ...] = ()) -> MaskResult:
    return mask(task, MaskOptions(targets, also=also), task.root)


def recorded(task: Task) -> list[tuple[str, str, str]]:
    if task.also_masked_path.is_file():
        validate_with("also-masked", json.loads(task.also_masked_path.read_bytes()))
    return [(item.node_id, item.target, item.original) for item in also_masked.load(task)]
