"""Small tasks for tests, written file by file."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lmr_author.core.task import Task, TaskInfo
from lmr_author.runtime.sandbox import image_tag

LOSSES = b'''\
"""Losses."""

import math


def hinge(x, margin=1.0):
    """Hinge loss of a margin.

    Args:
        x: a number.
    """
    gap = margin - x  # how far
    if gap > 0:
        return gap
    return 0.0


class Meter:
    def __init__(self, size):
        self.size = size
        self.values = []

    def add(self, value):
        """Add a value and return the running mean."""
        self.values.append(value)
        self.values = self.values[-self.size :]
        return math.fsum(self.values) / len(self.values)

    async def later(self): return self.size

    def each(self):
        yield from self.values
'''

DRIVER = b"""\
from pkg.losses import Meter, hinge

for x in (0.5, 2.0, -1.0):
    hinge(x, margin=1.5)
meter = Meter(2)
for x in (1.0, 2.0, 3.0):
    meter.add(x)
"""


STARTERS = Path(__file__).parents[1] / "tasks"


def starter(name: str, folder: Path) -> Task:
    """A copy of a starter task, which is finished and evaluated."""
    return Task(shutil.copytree(STARTERS / name, folder / name, symlinks=True))


def write_files(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files by their paths below a folder, and return the folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def base_image(tag: str, *arguments: str) -> str:
    """The stand-in base image, made by scripts/make-base-image when it is missing; its tag."""
    if subprocess.run(["docker", "image", "inspect", tag], capture_output=True).returncode != 0:
        script = Path(__file__).parents[1] / "scripts" / "make-base-image"
        subprocess.run([str(script), "--with", "numpy", "--tag", tag, *arguments], check=True)
    return tag


def remove_image(task: Task) -> None:
    """Remove what a task's builds have left in the Docker engine."""
    tag = image_tag(task.name, task.root)
    for name in (tag, tag.replace(":latest", ":partial")):
        subprocess.run(["docker", "rmi", "-f", name], capture_output=True, check=False)


def make_task(tasks: Path, name: str = "1-Small", repository: str = "small-repo") -> Task:
    """A task as `new-task` leaves it: nothing masked yet."""
    task = Task(tasks / name)
    root = task.root / repository
    (root / "pkg").mkdir(parents=True)
    (root / "unit_test").mkdir()
    (root / "pkg" / "__init__.py").write_bytes(b"")
    (root / "pkg" / "losses.py").write_bytes(LOSSES)
    (root / "run.py").write_bytes(DRIVER)
    (root / "README.md").write_text("# Small\n")
    (root / "paper.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
    (root / "paper.json").write_text(json.dumps({"1": "The hinge loss of a margin."}))
    task.golden_folder.mkdir()
    task.lock.write_text("# nothing\n")
    task.save(
        TaskInfo(
            instance_id=int(name.partition("-")[0]),
            paper_name="Small",
            folder_name=name,
            paper_url="https://example.org/small",
            year=2024,
            repo_url="https://example.org/small-repo",
            repo_folder_name=repository,
        )
    )
    return task
