"""Search the agent's tree of a task for solutions and version histories.

``mask`` prints the leaks; the checks LMR401 to LMR405 report the same.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core.code import Module, is_same
from lmr_author.core.files import LFS_HEADER
from lmr_author.core.task import Implementation, Severity
from lmr_author.core.texts import counted
from lmr_author.proof.contents import MAX_PYTHON, MAX_TEXT, FileEntry, TaskContents, once
from lmr_author.proof.leaks.fragments import is_comment, squeezed
from lmr_author.proof.leaks.search import Leak, in_file, is_generated
from lmr_author.proof.leaks.solution import Solution, solution_of
from lmr_author.proof.targets import Pair, TargetPair, function_of, pair, pairs

WORRYING = 0.85
"""Similarity from which a look-alike is a warning; below it is a note."""
BINARY_SUFFIXES = frozenset(
    """
    .pdf .png .jpg .jpeg .gif .bmp .ico .tif .tiff .webp .mp3 .mp4 .wav .flac .ogg .avi .mov .ttf .otf
    .woff .woff2 .eot .npy .npz .pt .pth .ckpt .bin .safetensors .h5 .hdf5 .pkl .pickle .joblib .onnx
    .pb .tflite .msgpack .model .so .dll .dylib .o .a .exe .class .parquet .arrow .feather .db .sqlite
    .lmdb .mdb .csv .tsv .7z .rar .zst .lz4 .dat .zip .whl .egg .jar .tar .gz .tgz .bz2 .xz
    """.split()  # noqa: SIM905
)
"""Binary files and tables, which are not searched."""
VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
MAX_PYC = 8 * 1024 * 1024
POINTER_SIZES = range(60, 1025)
"""Size range (bytes) of a Git LFS pointer."""


# the pass over the files


@dataclass(frozen=True)
class Scan:
    pointers: tuple[FileEntry, ...]
    leaks: tuple[Leak, ...]


@once
def solutions(task: TaskContents) -> list[Solution]:
    comparable = (_solution(files, target) for files in pairs(task) for target in files.targets)
    return list(filter(None, comparable))


def _solution(files: Pair, target: TargetPair) -> Solution | None:
    golden, masked, goal = function_of(target.golden), function_of(target.goal), files.goal
    if files.golden is None or golden is None:
        return None
    if masked is None or is_same(masked, golden):
        masked = goal = None  # not masked (LMR303); copies elsewhere still count
    return solution_of(files.implementation, target.qualname, files.golden, golden, masked, goal)


@once
def histories(task: TaskContents) -> tuple[Leak, ...]:
    """Return version histories: of Git, Mercurial and Subversion, links to them, bare repositories, bundles."""
    leaks = []
    for entry in task.repository_entries:
        path = task.in_repository(entry)
        form = "" if is_history(path.rpartition("/")[0]) else _form_of_history(task, entry)
        if form:
            is_sure = form not in ("file", "link")  # the history that these name may not exist
            leaks.append(Leak("history", path, None, 1.0, is_sure, True, where=form))
    return tuple(leaks)


def _form_of_history(task: TaskContents, entry: FileEntry) -> str:
    if entry.name in VERSION_CONTROL and entry.kind in ("file", "folder", "link"):
        return entry.kind
    if entry.kind == "file" and entry.suffix == ".bundle":
        return "bundle" if re.match(rb"# v\d git bundle", task.head(task.path(entry), 32)) else ""
    parts = {name: task.kind(f"{entry.relative}/{name}") for name in ("HEAD", "objects", "refs")}
    return "bare repository" if parts == {"HEAD": "file", "objects": "folder", "refs": "folder"} else ""


def is_history(path: str) -> bool:
    """Return whether a path is a version history, or inside one."""
    return not VERSION_CONTROL.isdisjoint(path.split("/"))


@once
def scan(task: TaskContents) -> Scan:
    """Read every file of the repository once, and search the goldens for LFS pointers."""
    wanted = solutions(task)
    masked: dict[str, set[str]] = defaultdict(set)
    for files in pairs(task):
        masked[task.in_repository_path(files.goal_path)].update(target.qualname for target in files.targets)
    pointers: list[FileEntry] = []
    leaks: list[Leak] = []
    for entry in task.entries:
        if entry.kind != "file" or is_history(entry.relative) or entry.relative.startswith("authoring/"):
            continue
        limit = _limit(task, entry) if wanted else 0
        if not 0 < entry.size <= limit and entry.size not in POINTER_SIZES:
            continue
        data = task.read_entry(entry, max(limit, POINTER_SIZES[-1])) or b""
        if data.startswith(LFS_HEADER):
            pointers.append(entry)
        elif len(data) <= limit:
            path = task.in_repository(entry)
            leaks += in_file(path, data, wanted, frozenset(masked.get(path, ())))
    return Scan(tuple(pointers), tuple(leaks))


def _limit(task: TaskContents, entry: FileEntry) -> int:
    path = task.in_repository(entry)
    # The agent may read the paper; LMR405 reports goldens; recorded values are not code.
    if not path or path in ("paper.json", "paper.pdf") or "golden_files" in path.split("/"):
        return 0
    if path.startswith(("authoring/", "unit_test/recordings/")) or entry.suffix in BINARY_SUFFIXES:
        return 0
    if task.is_support(task.path(entry)):
        return 0
    if entry.suffix in (".pyc", ".pyo"):
        return MAX_PYC
    return MAX_TEXT if entry.suffix == ".ipynb" else MAX_PYTHON


# what each file gives away


@dataclass(frozen=True)
class FileLeak:
    """A file of the agent's tree with a solution, or a version history.

    Attributes:
        code: code of the check that reports it.
        line: from 1; 0 if unknown.
        places: the places in the file, the most certain and similar first.
        form: kind of a history or folder, or the compiled function; "" for text.
    """

    code: str
    path: str
    message: str
    hint: str
    severity: Severity
    line: int = 0
    implementation: Implementation | None = None
    places: tuple[Leak, ...] = ()
    form: str = ""

    def file(self, task: TaskContents) -> Path:
        assert task.repository is not None
        return task.repository / self.path


def search(task: TaskContents) -> Iterator[FileLeak]:
    yield from compiled_solutions(task)
    yield from version_histories(task)
    yield from copies(task)
    yield from comments(task)
    yield from golden_folders(task)


def compiled_solutions(task: TaskContents) -> Iterator[FileLeak]:
    for leak in scan(task).leaks:
        if leak.kind == "compiled" and leak.solution is not None:
            name, implementation = leak.solution.qualname, leak.solution.implementation
            message = f"compiled solution of {name}"
            hint = "delete it, and every other __pycache__ of the repository"
            yield FileLeak(
                "LMR401", leak.path, message, hint, Severity.ERROR, 0, implementation, (leak,), name
            )


_HISTORY = {
    "folder": "{name}/ contains the version history",
    "bare repository": "{name}/ is a repository with its version history",
    "bundle": "{name} is a git bundle: it contains the version history",
}


def version_histories(task: TaskContents) -> Iterator[FileLeak]:
    for leak in histories(task):
        name = leak.path.rpartition("/")[2]
        message = _HISTORY.get(leak.where, "{name} links to a version history").format(name=name)
        hint = "delete it; info.json's repo_commit records the version"
        severity = Severity.ERROR if leak.sure else Severity.WARNING
        yield FileLeak("LMR402", leak.path, message, hint, severity, places=(leak,), form=leak.where)


def copies(task: TaskContents) -> Iterator[FileLeak]:
    goal_files = {
        files.implementation.index: task.in_repository_path(files.goal_path) for files in pairs(task)
    }
    places: dict[tuple[str, int, str], list[Leak]] = defaultdict(list)
    for leak in scan(task).leaks:
        if leak.solution is None or leak.kind == "compiled":
            continue
        index = leak.solution.implementation.index
        if leak.kind != "comments" or leak.path != goal_files.get(index):
            places[leak.path, index, leak.solution.qualname].append(leak)
    for (path, _, _), leaks in places.items():
        leaks.sort(key=lambda leak: (not leak.sure, -leak.similarity))
        yield _copy(leaks, is_goal=path in goal_files.values())


def _copy(places: Sequence[Leak], *, is_goal: bool) -> FileLeak:
    likest = places[0]
    assert likest.solution is not None
    name, percent = likest.solution.qualname, round(likest.similarity * 100)
    if likest.sure:
        message = f"{percent} % of the solution of {name} is {likest.location}"
    else:
        alike = f"{percent} % the same" if percent < 100 else "with the same statements"
        message = f"{likest.location}: a look-alike of {name}, {alike}"
    if len(places) > 1:
        message += f"; {counted(len(places) - 1, 'more place')} in this file"
    hint, owner = _advice(places, is_goal=is_goal), likest.solution.implementation
    return FileLeak(
        "LMR403", likest.path, message, hint, _severity(likest), likest.line, owner, tuple(places)
    )


def _severity(leak: Leak) -> Severity:
    if leak.sure:
        return Severity.ERROR
    return Severity.WARNING if leak.similarity >= WORRYING else Severity.NOTE


def _advice(places: Sequence[Leak], *, is_goal: bool) -> str:
    likest = places[0]
    if likest.path.startswith("unit_test/"):
        return "compare with stored values instead of a copy"
    nodes = dict.fromkeys(leak.node for leak in sorted(places, key=lambda leak: leak.line) if leak.node)
    command = "".join(f" --also {shlex.quote(node)}" for node in nodes)
    mask_it = f"mask it too (lmr-author mask{command})" if command else "remove it by hand"
    if not likest.sure:
        return (
            f"read it: if it gives the solution away, {mask_it}; otherwise accept the finding with a reason"
        )
    if is_generated(likest.path):
        return "delete the file"
    return mask_it if is_goal else f"{mask_it}, or delete the file if nothing needs it"


def comments(task: TaskContents) -> Iterator[FileLeak]:
    for solution in solutions(task):
        owner, name = solution.implementation, solution.qualname
        files = pair(task, owner)
        path = task.in_repository_path(files.goal_path)
        own = (leak for leak in scan(task).leaks if leak.solution is solution and leak.path == path)
        leak = next((leak for leak in own if leak.kind == "comments"), None)
        if leak is not None:
            what = "the solution" if leak.sure else "a look-alike of the solution"
            message = f"comments or strings contain {what} of {name} ({round(leak.similarity * 100)} % of it)"
            severity = _severity(leak)
            yield FileLeak("LMR404", path, message, "delete them", severity, leak.line, owner, (leak,))
            continue
        # Too little to compare as statements: search for lines of the solution that are not in the golden's comments.
        lines = solution.lines & (_comment_lines(files.goal) - _comment_lines(files.golden))
        if lines and len(lines) >= min(2, len(solution.lines)):
            message = f"comments contain {counted(len(lines), 'line')} of the solution of {name}"
            yield FileLeak("LMR404", path, message, "delete them", Severity.ERROR, 0, owner)


def _comment_lines(module: Module | None) -> set[str]:
    text = module.text if module else ""
    return {squeezed(line) for line in text.splitlines() if is_comment(line)}


def golden_folders(task: TaskContents) -> Iterator[FileLeak]:
    """Yield folders of goldens and authoring records inside the repository (LMR405); their files are not searched."""
    for entry in task.repository_entries:
        path = task.in_repository(entry)
        # A package of the repository may be named authoring.
        is_named = entry.name in ("golden_files", "golden_file", "goldens") or path == "authoring"
        if entry.kind == "folder" and is_named:
            message = f"{entry.name}/ is inside the repository"
            hint = "move it into the task's folder, beside the repository"
            yield FileLeak("LMR405", path, message, hint, Severity.ERROR, form=entry.name)
