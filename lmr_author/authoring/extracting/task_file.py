"""Extract a block of a task's file, with a record of it and a copy of the original."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from lmr_author.authoring.extracting.extract import As, Extraction, extract
from lmr_author.authoring.masking import locate
from lmr_author.core import code, files
from lmr_author.core.errors import LmrError, TargetError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.task import Target, Task
from lmr_author.core.task.provenance import ExtractedBlock, Provenance

_LINES = re.compile(r"^(?P<path>.+):(?P<start>\d+)(?:-(?P<end>\d+))?$")


@dataclass(frozen=True)
class ExtractOptions:
    """The annotator's choices.

    Attributes:
        place: ``FILE:START-END``, or ``FILE:LINE``.
        name: of the new function.
        kind: function or method; None to decide by whether the block uses ``self``.
    """

    place: str
    name: str
    kind: As | None = None


@dataclass(frozen=True)
class Planned:
    """An extraction that is not written yet.

    Attributes:
        path: the file, relative to the repository.
        before: its bytes.
        extraction: what it becomes.
    """

    path: str
    before: bytes
    extraction: Extraction

    @property
    def target(self) -> Target:
        """The new function, as ``mask`` takes it."""
        return Target(self.path, self.extraction.qualname)

    def to_json(self, *, written: bool) -> dict[str, Any]:
        """The report of ``--format json``."""
        done = self.extraction
        return {
            "file": self.path,
            "start": done.start,
            "end": done.end,
            "target": str(self.target),
            "name": done.qualname,
            "inputs": list(done.inputs),
            "outputs": list(done.outputs),
            "no_longer_global": list(done.local),
            "remarks": list(done.remarks),
            "written": written,
            "diff": done.diff,
        }


def plan(task: Task, options: ExtractOptions, here: Path) -> Planned:
    """Work out an extraction; writes nothing.

    Args:
        task: the task folder.
        options: place and name.
        here: the current folder, which the file's path may be relative to.

    Raises:
        UsageError: no range of lines, or no name for a function.
        TargetError: no such file, a masked one, or a block that cannot be moved, with the reason.
        SourceError: not a file that Python 3 can parse.
    """
    path, start, end = _read_place(options.place)
    info = task.load()
    repository = task.repository(info)
    path = locate.locate(repository, f"{path}::{options.name}", here).path
    module = locate.parse(repository, path)
    if masked := [name for name, _ in task.masked_in(path, info)]:
        raise TargetError(
            f"{path} has masked functions ({', '.join(masked)}): its golden would not have the new function",
            f"restore it first: lmr-author unmask {shlex.quote(f'{path}::{masked[0]}')}",
        )
    variables = {node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name)}
    exported = variables & _used_elsewhere(repository, path)
    done = extract(module, start, end, options.name, kind=options.kind, exported=exported)
    if "." in done.qualname:
        _refuse_overridden(repository, path, options.name)
    return Planned(path, module.data, done)


@changes_task
def write(task: Task, planned: Planned) -> tuple[str, ...]:
    """Keep the original in ``authoring/removed/``, record the extraction, write the file: in this order.

    A command that is killed leaves the file as it was or as it is after; running it again completes the rest.

    Returns remarks. Raises LmrError when the file has changed since it was read.
    """
    goal = files.inside(task.repository(task.load()), planned.path)
    if goal.read_bytes() != planned.before:
        raise LmrError(f"{planned.path} has changed in the meantime", "run the command again")
    task.put_aside(goal, copy=True)
    remarks = _record(task, planned)
    files.write_bytes(goal, planned.extraction.data)
    return remarks


def _read_place(text: str) -> tuple[str, int, int]:
    match = _LINES.match(text.strip())
    if match is None:
        raise UsageError(
            f"not a file with lines: {text!r}", "name them as FILE:START-END, as in train.py:40-62"
        )
    start = int(match["start"])
    end = int(match["end"] or start)
    if start < 1 or end < start:
        raise UsageError(
            f"{text}: lines {start}-{end} are not a range", "START is the smaller number, from 1"
        )
    return match["path"], start, end


def _record(task: Task, planned: Planned) -> tuple[str, ...]:
    """Add the extraction to ``authoring/provenance.json``; one of the same original, never finished, goes."""
    if not task.provenance_path.is_file():
        return ("the task has no authoring/provenance.json: nothing records this extraction",)
    origin = Provenance.read(task.provenance_path)
    done = planned.extraction
    block = ExtractedBlock(
        file=planned.path,
        start=done.start,
        end=done.end,
        name=done.qualname,
        inputs=tuple(done.inputs),
        outputs=tuple(done.outputs),
        sha256_before=files.sha256_bytes(planned.before),
        sha256_after=files.sha256_bytes(done.data),
    )
    same = (block.file, block.sha256_before)
    earlier = [other for other in origin.extractions if (other.file, other.sha256_before) != same]
    replace(origin, extractions=(*earlier, block)).write(task.provenance_path)
    return ()


def _used_elsewhere(repository: Path, path: str) -> set[str]:
    """Return names that other files may take from a file: those that they import, and attributes of any object."""
    pure = PurePosixPath(path)
    stem = pure.parent.name if pure.name == "__init__.py" else pure.stem
    used: set[str] = set()
    for other, data in _other_files_with(repository, path, stem):
        try:
            module = code.Module.parse(data, other)
        except LmrError:
            continue  # no program imports it
        used.update(node.attr for node in code.each(module.tree, ast.Attribute))
        for node in code.each(module.tree, ast.ImportFrom):
            if (node.module or "").rpartition(".")[2] == stem:
                used.update(alias.name for alias in node.names)
        if "*" in used:
            used.update(node.id for node in code.each(module.tree, ast.Name))
    return used


def _other_files_with(repository: Path, path: str, word: str) -> Iterator[tuple[str, bytes]]:
    """Yield the other Python files of the repository that contain a word, with their content."""
    for file in locate.python_files(repository):
        relative, data = file.relative_to(repository).as_posix(), file.read_bytes()
        if relative != path and re.search(rf"\b{word}\b".encode(), data):
            yield relative, data


def _refuse_overridden(repository: Path, path: str, name: str) -> None:
    """Refuse a method's name that a subclass or an instance in another file may use."""
    for other, _ in _other_files_with(repository, path, name):
        raise TargetError(
            f"{name} is used in {other} as well, which could override the method",
            "choose another --name, or --as function",
        )
