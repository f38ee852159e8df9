"""A small task, masked with words, and what tests ask of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lmr_author import code, files
from lmr_author.masking import MaskOptions, MaskResult, mask
from lmr_author.masking.notes import MaskNotes
from lmr_author.task import Task

HINGE, INIT, ADD = "pkg/losses.py::hinge", "pkg/losses.py::Meter.__init__", "pkg/losses.py::Meter.add"
NOTES = MaskNotes("Keep a size.", ("size (int): how many",), (), ("Meter",), ("math",), ("keep it",))
DOCUMENTED = replace(NOTES, docstring='Make a meter of "size".\n\nArgs:\n    size: how many')


def write(task: Task, name: str, text: str) -> Path:
    """A file of the repository."""
    path = task.root / "small-repo" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def masked(task: Task, *targets: str, **options: object) -> MaskResult:
    """Mask some targets with options of the command."""
    return mask(task, MaskOptions(targets, category="Evaluation Metrics", **options), task.root)  # type: ignore[arg-type]


def function(task: Task, qualname: str) -> code.Definition:
    """A function of ``pkg/losses.py`` as the agent has it."""
    data = (task.root / "small-repo" / "pkg" / "losses.py").read_bytes()
    return next(
        item for item in code.Module.parse(data, "losses.py").definitions if item.qualname == qualname
    )


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its content."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files.walk(folder)}
