"""How a defect is planted in a good task."""

from __future__ import annotations

import json
import py_compile
import shutil
from collections.abc import Callable
from typing import Any

from lmr_author.core import files
from lmr_author.core.task import Task
from tests.checks.planted.good import BODY, COPY, GOAL, MASKED, TEST

Plant = Callable[[Task], object]


def first(**changes: Any) -> Plant:
    """Keys of the first implementation."""

    def plant(task: Task) -> None:
        data = json.loads(task.info_path.read_text("utf-8"))
        data["implementations"][0] |= changes
        task.info_path.write_text(json.dumps(data), "utf-8")

    return plant


def replace(path: str, old: str, new: str) -> Plant:
    """A text of a file, which must occur, replaced."""

    def plant(task: Task) -> None:
        data = (task.root / path).read_bytes().decode("utf-8")
        assert old in data, (path, old)
        (task.root / path).write_bytes(data.replace(old, new, 1).encode("utf-8"))

    return plant


def body(lines: str) -> Plant:
    """The masked body replaced by these lines, in the file's own indentation and line endings."""
    return replace(GOAL, MASKED, "".join(f"\t{line}\r\n" for line in lines.splitlines()))


def write(path: str, text: str) -> Plant:
    """A further file of the task."""
    return lambda task: files.write_text(task.root / path, text)


def append(path: str, text: str) -> Plant:
    """A text at the end of a file of the task."""
    return lambda task: (task.root / path).write_bytes((task.root / path).read_bytes() + text.encode())


def compiled(source: str, place: str) -> Plant:
    """A file of the task compiled."""
    return lambda task: py_compile.compile(
        str(task.root / source), str(task.root / "beamtools" / place), doraise=True
    )


CELL: dict[str, Any] = {
    "cell_type": "code",
    "execution_count": None,
    "metadata": {},
    "outputs": [],
    "source": COPY,
}
NOTEBOOK = json.dumps({"cells": [CELL], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
COMMENTS = "".join(f"\t# {line.strip()}\r\n" for line in BODY.splitlines())
"""The body commented out."""
FIRST_STEP = next(line for line in BODY.splitlines(keepends=True) if " = " in line)


def other_line_endings(task: Task) -> None:
    """LF for CRLF."""
    (task.root / GOAL).write_bytes((task.root / GOAL).read_bytes().replace(b"\r\n", b"\n"))


def empty_repository(task: Task) -> None:
    """As a clone without its submodules."""
    shutil.rmtree(task.root / "beamtools")
    (task.root / "beamtools").mkdir()


def test_at_the_top(task: Task) -> None:
    """The unit test beside the code instead of in unit_test/."""
    text = (task.root / TEST).read_text("utf-8")
    (task.root / TEST).unlink()
    text = text.replace('(os.path.abspath(__file__)), "..")', '(os.path.abspath(__file__)), ".")')
    files.write_text(task.root / "beamtools" / "run_test.py", text)
    first(unit_test_file="run_test.py")(task)
