"""How a defect is planted in a good task."""

from __future__ import annotations

import json
import py_compile
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lmr_author.task import Task
from tests.checks.planted.good import Good

Plant = Callable[[Task, Good], None]


def info(**changes: Any) -> Plant:
    """Keys of info.json; None removes one."""
    return lambda task, good: _rewrite(task, lambda data: _merge(data, changes))


def first(**changes: Any) -> Plant:
    """Keys of the first implementation; None removes one."""
    return lambda task, good: _rewrite(task, lambda data: _merge(data["implementations"][0], changes))


def _rewrite(task: Task, change: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads(task.info_path.read_text("utf-8"))
    change(data)
    task.info_path.write_text(json.dumps(data), "utf-8")


def _merge(data: dict[str, Any], changes: dict[str, Any]) -> None:
    data.update(changes)
    for key in [key for key, value in changes.items() if value is None]:
        del data[key]


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def body(lines: str) -> Plant:
    """The masked body replaced by these lines, in the file's own indentation and line endings."""

    def plant(task: Task, good: Good) -> None:
        newline = "\r\n" if "\r\n" in good.masked else "\n"
        indent = good.masked[: len(good.masked) - len(good.masked.lstrip())]
        text = newline.join(indent + line for line in lines.splitlines()) + newline
        replace(good.goal, good.masked, text)(task, good)

    return plant


def replace(path: str, old: str, new: str) -> Plant:
    """A text of a file, which must occur, replaced."""

    def plant(task: Task, good: Good) -> None:
        data = (task.root / path).read_bytes().decode("utf-8")
        assert old in data, (path, old)
        _write(task.root / path, data.replace(old, new, 1))

    return plant


def in_goal(old: str, new: str) -> Plant:
    """As replace, in the goal file."""
    return lambda task, good: replace(good.goal, old, new)(task, good)


def in_docker(old: str, new: str) -> Plant:
    """As replace, in the Dockerfile."""
    return replace("Dockerfile", old, new)


def append(path: str, text: str) -> Plant:
    """A text at the end of a file of the task."""

    def plant(task: Task, good: Good) -> None:
        data = (task.root / path).read_bytes() if (task.root / path).exists() else b""
        _write(task.root / path, data + text.encode("utf-8"))

    return plant


def compiled(place: str) -> Plant:
    """The golden compiled, in a cache of the repository."""

    def plant(task: Task, good: Good) -> None:
        target = task.root / good.repository / place
        py_compile.compile(str(task.root / good.golden), str(target), doraise=True)

    return plant


def masked_compiled(task: Task, good: Good) -> None:
    """The masked file compiled: a cache, no leak."""
    target = task.root / good.repository / "__pycache__" / "masked.cpython-39.pyc"
    py_compile.compile(str(task.root / good.goal), str(target), doraise=True)


def copied(place: str) -> Plant:
    """The target in another file of the repository."""
    return lambda task, good: _write(task.root / good.repository / place, good.copy)


def in_notebook(task: Task, good: Good) -> None:
    """The target in a cell."""
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": good.copy}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    _write(task.root / good.repository / "analysis" / "figures.ipynb", json.dumps(notebook))


def in_comments(task: Task, good: Good) -> None:
    """The body commented out in front of the mask."""
    newline = "\r\n" if "\r\n" in good.body else "\n"
    indent = good.masked[: len(good.masked) - len(good.masked.lstrip())]
    lines = [f"{indent}# {line.strip()}" for line in good.body.splitlines()]
    replace(good.goal, good.masked, newline.join(lines) + newline + good.masked)(task, good)


def unmasked(task: Task, good: Good) -> None:
    """The golden's body in the goal file."""
    replace(good.goal, good.masked, good.body)(task, good)


def half_masked(task: Task, good: Good) -> None:
    """The first computation of the body, and then the mask."""
    kept = next(line for line in good.body.splitlines(keepends=True) if " = " in line)
    replace(good.goal, good.masked, kept + good.masked)(task, good)


def other_line_endings(task: Task, good: Good) -> None:
    """LF for CRLF, or the other way round."""
    data = (task.root / good.goal).read_bytes()
    changed = data.replace(b"\r\n", b"\n") if b"\r\n" in data else data.replace(b"\n", b"\r\n")
    (task.root / good.goal).write_bytes(changed)


def empty_repository(task: Task, good: Good) -> None:
    """As a clone without its submodules."""
    shutil.rmtree(task.root / good.repository)
    (task.root / good.repository).mkdir()


def test_at_the_top(task: Task, good: Good) -> None:
    """The unit test beside the code instead of in unit_test/."""
    text = (task.root / good.test).read_text("utf-8")
    (task.root / good.test).unlink()
    text = text.replace("HERE.parent /", "HERE /").replace('HERE / "batches', 'HERE / "unit_test" / "batches')
    text = text.replace('(os.path.abspath(__file__)), "..")', '(os.path.abspath(__file__)), ".")')
    text = text.replace('logs = HERE / "logs"', 'logs = HERE / "unit_test" / "logs"')
    _write(task.root / good.repository / "run_test.py", text)
    first(unit_test_file="run_test.py")(task, good)
