"""One pass over the task's files: Git LFS pointers, and places where a solution can be read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from lmr_author import leaks
from lmr_author.checks.listing import Entry
from lmr_author.checks.pairing import pairs
from lmr_author.checks.view import MAX_PYTHON, MAX_TEXT, TaskView
from lmr_author.code import is_same
from lmr_author.files import LFS_HEADER
from lmr_author.leaks import Leak, Solution, archives

BINARY_SUFFIXES = frozenset(
    """
    .pdf .png .jpg .jpeg .gif .bmp .ico .tif .tiff .webp .mp3 .mp4 .wav .flac .ogg .avi .mov .ttf .otf
    .woff .woff2 .eot .npy .npz .pt .pth .ckpt .bin .safetensors .h5 .hdf5 .pkl .pickle .joblib .onnx
    .pb .tflite .msgpack .model .so .dll .dylib .o .a .exe .class .parquet .arrow .feather .db .sqlite
    .lmdb .mdb .csv .tsv .7z .rar .zst .lz4 .dat
    """.split()  # noqa: SIM905
)
"""Files that hold no source as text; tables are skipped too."""
VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
MAX_PYC = 8 * 1024 * 1024


@dataclass(frozen=True)
class Scan:
    """The result of the pass: Git LFS pointers, and copies of solutions."""

    pointers: tuple[Entry, ...]
    leaks: tuple[Leak, ...]


def search(task: TaskView) -> tuple[Leak, ...]:
    """Return every place in the agent's tree where a golden body can be read; paths are relative to the repository."""
    return (*histories(task), *scan(task).leaks)


def solutions(task: TaskView) -> list[Solution]:
    """Return every golden function of the task, in comparable forms."""
    return task.memo("solutions", lambda: list(_solutions(task)))


def _solutions(task: TaskView) -> Iterator[Solution]:
    for one in pairs(task):
        for target in one.targets:
            if one.golden is None or target.golden is None or isinstance(target.golden.node, ast.ClassDef):
                continue
            masked = target.goal.node if target.goal else None
            if isinstance(masked, ast.ClassDef) or (masked and is_same(masked, target.golden.node)):
                masked = None  # not masked at all (LMR303); copies elsewhere still count
            node, goal = target.golden.node, one.goal if masked else None
            found = leaks.solution(one.implementation, target.qualname, one.golden, node, masked, goal)
            if found is not None:
                yield found


def histories(task: TaskView) -> tuple[Leak, ...]:
    """Return version histories: of Git, Mercurial and Subversion, links to one, bare repositories, bundles."""
    return task.memo("histories", lambda: tuple(_histories(task)))


def _histories(task: TaskView) -> Iterator[Leak]:
    heads = (entry.folder for entry in task.named("HEAD") if entry.kind == "file")
    bare = {
        folder
        for folder in heads
        if task.kind(f"{folder}/objects") == task.kind(f"{folder}/refs") == "folder"
    }
    for entry in task.repository_entries:
        path = task.in_repository(entry) if entry.kind in ("file", "folder", "link") else ""
        if not path or is_history(path.rpartition("/")[0]):
            continue
        if entry.name in VERSION_CONTROL:
            yield Leak("history", path, None, 1.0, entry.kind == "folder", True, where=entry.kind)
        elif entry.kind == "folder" and entry.relative in bare:
            yield Leak("history", path, None, 1.0, True, True, where="bare repository")
        elif entry.kind == "file" and entry.suffix == ".bundle":
            head = task.head(task.path(entry), 32)
            if head.startswith(b"# v") and b"git bundle" in head:
                yield Leak("history", path, None, 1.0, True, True, where="bundle")


def is_history(path: str) -> bool:
    """Return whether a path is that of a version history, or of something in one."""
    return not VERSION_CONTROL.isdisjoint(path.split("/"))


def scan(task: TaskView) -> Scan:
    """Look into every file of the repository, and of the goldens for LFS pointers, once."""
    return task.memo("scan", lambda: _scan(task))


def _scan(task: TaskView) -> Scan:
    wanted = solutions(task)
    masked: dict[str, frozenset[str]] = {}
    for one in pairs(task):
        path = task.in_repository_path(one.goal_path)
        masked[path] = masked.get(path, frozenset()) | {target.qualname for target in one.targets}
    pointers: list[Entry] = []
    found: list[Leak] = []
    repository = task.relative_raw(task.repository) if task.repository else "\0"
    for entry in task.entries:
        if entry.kind != "file" or is_history(entry.relative) or entry.relative.startswith("authoring/"):
            continue
        limit = _limit(entry, repository) if wanted else 0
        if not 0 < entry.size <= limit and not 60 <= entry.size <= 1024:
            continue
        data = task.read_entry(entry, max(limit, 1024)) or b""
        if data.startswith(LFS_HEADER):
            pointers.append(entry)
        elif len(data) <= limit:
            path = task.in_repository(entry)
            found += leaks.in_file(path, data, wanted, masked.get(path, frozenset()))
    return Scan(tuple(pointers), tuple(found))


def _limit(entry: Entry, repository: str) -> int:
    """Return the bytes up to which a file is searched for solutions; 0 when it is not."""
    folder, _, path = entry.relative.partition(f"{repository}/")
    parts = path.split("/")
    # Recorded values, goldens (LMR405), and the paper, which the agent is meant to read.
    skipped = path.startswith(("authoring/", "unit_test/recordings/")) or "golden_files" in parts
    if (
        folder
        or not path
        or skipped
        or path in ("paper.json", "paper.pdf")
        or entry.suffix in BINARY_SUFFIXES
    ):
        return 0
    if entry.suffix in archives.SUFFIXES:
        return archives.MAX_ARCHIVE
    if entry.suffix in (".pyc", ".pyo"):
        return MAX_PYC
    return MAX_TEXT if entry.suffix == ".ipynb" else MAX_PYTHON
