"""A small task, masked with words, and what tests ask of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from lmr_author.authoring.masking import MaskOptions, MaskResult, mask
from lmr_author.authoring.masking.body import MaskNotes
from lmr_author.core import code, files
from lmr_author.core.task import Task
from tests.cli.program import validate_with

HINGE, INIT, ADD = "pkg/losses.py::hinge", "pkg/losses.py::Meter.__init__", "pkg/losses.py::Meter.add"
NOTES = MaskNotes("Keep a size.\nAs an attribute: keep it.")
DOCUMENTED = replace(NOTES, docstring='Make a meter of "size".\n\nArgs:\n    size: how many')


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
    """The repository of the task."""
    return task.root / "small-repo"


def goal(task: Task) -> Path:
    """The file with most targets."""
    return repository(task) / "pkg" / "losses.py"


def write(task: Task, name: str, text: str) -> Path:
    """A file of the repository."""
    path = repository(task) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def masked(task: Task, *targets: str, **options: object) -> MaskResult:
    """Mask some targets with options of the command."""
    return mask(task, MaskOptions(targets, category="Evaluation Metrics", **options), task.root)  # type: ignore[arg-type]


def function(task: Task, qualname: str) -> code.Definition:
    """A function of ``pkg/losses.py`` as the agent has it."""
    module = code.Module.parse(goal(task).read_bytes(), "losses.py")
    return next(item for item in module.definitions if item.qualname == qualname)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its content."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files.walk(folder)}


def content(task: Task) -> dict[str, bytes]:
    """Every file of the repository, with its content."""
    return tree(repository(task))


def recorded(task: Task) -> list[tuple[str, str, str]]:
    """The look-alikes that were masked: node id, target, and where the original is kept."""
    if task.also_masked_path.is_file():
        validate_with("also-masked", json.loads(task.also_masked_path.read_bytes()))
    return [(item.node_id, item.target, item.original) for item in task.also_masked()]
