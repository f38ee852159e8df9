"""LMR4xx: the solution is readable in the agent's tree. One pass over the files finds it, and Git LFS pointers."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core.code import FunctionNode, is_same
from lmr_author.core.files import LFS_HEADER
from lmr_author.core.task import Implementation, Severity
from lmr_author.core.texts import counted
from lmr_author.proof import leaks
from lmr_author.proof.checks import dockerfile
from lmr_author.proof.checks.base import ERROR, NOTE, WARNING, Problem, check, target_check
from lmr_author.proof.checks.lookup import pair, pairs
from lmr_author.proof.checks.view import MAX_PYTHON, MAX_TEXT, FileEntry, TaskView, once
from lmr_author.proof.leaks import Leak, Solution
from lmr_author.proof.leaks.fragments import is_comment, squeezed

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
"""Files that hold no source as text; tables are skipped too."""
VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
MAX_PYC = 8 * 1024 * 1024


# the pass over the files


@dataclass(frozen=True)
class Scan:
    """The result of the pass: Git LFS pointers, and copies of solutions."""

    pointers: tuple[FileEntry, ...]
    leaks: tuple[Leak, ...]


def search(task: TaskView) -> tuple[Leak, ...]:
    """Return every place in the agent's tree where a golden body can be read; paths are relative to the repository."""
    return (*histories(task), *scan(task).leaks)


@once
def solutions(task: TaskView) -> list[Solution]:
    """Return every golden function of the task, in comparable forms."""
    result = []
    for one in pairs(task):
        for target in one.targets:
            node = target.golden.node if target.golden else None
            if one.golden is None or not isinstance(node, FunctionNode):
                continue
            masked = target.goal.node if target.goal else None
            if not isinstance(masked, FunctionNode) or is_same(masked, node):
                masked = None  # not masked at all (LMR303); copies elsewhere still count
            goal = one.goal if masked else None
            found = leaks.solution(one.implementation, target.qualname, one.golden, node, masked, goal)
            result += [found] if found else []
    return result


@once
def histories(task: TaskView) -> tuple[Leak, ...]:
    """Return version histories: of Git, Mercurial and Subversion, links to one, bare repositories, bundles."""
    found = []
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
            found.append(Leak("history", path, None, 1.0, entry.kind == "folder", True, where=entry.kind))
        elif entry.kind == "folder" and entry.relative in bare:
            found.append(Leak("history", path, None, 1.0, True, True, where="bare repository"))
        elif entry.kind == "file" and entry.suffix == ".bundle":
            head = task.head(task.path(entry), 32)
            if head.startswith(b"# v") and b"git bundle" in head:
                found.append(Leak("history", path, None, 1.0, True, True, where="bundle"))
    return tuple(found)


def is_history(path: str) -> bool:
    """Return True for the path of a version history, or of something in one."""
    return not VERSION_CONTROL.isdisjoint(path.split("/"))


@once
def scan(task: TaskView) -> Scan:
    """Look into every file of the repository, and of the goldens for LFS pointers, once."""
    wanted = solutions(task)
    masked: dict[str, frozenset[str]] = {}
    for one in pairs(task):
        path = task.in_repository_path(one.goal_path)
        masked[path] = masked.get(path, frozenset()) | {target.qualname for target in one.targets}
    pointers: list[FileEntry] = []
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


def _limit(entry: FileEntry, repository: str) -> int:
    """Return the size (bytes) up to which a file is searched for solutions; 0 for one that is not searched."""
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
    if entry.suffix in (".pyc", ".pyo"):
        return MAX_PYC
    return MAX_TEXT if entry.suffix == ".ipynb" else MAX_PYTHON


# the checks


def place(task: TaskView, leak: Leak) -> Path:
    """Return where a leak is."""
    assert task.repository is not None
    return task.repository / leak.path


@check(
    "LMR401",
    "a compiled file contains the solution",
    rationale="`__pycache__` is written whenever the golden is run in the repository, and a `.pyc` decompiles in"
    " seconds. 13 of 29 published tasks ship one. A `.pyc` of the masked file is not a leak; the target's code"
    " object is compared.",
    fixable=True,
)
def compiled_solution(task: TaskView) -> Iterator[Problem]:
    for leak in scan(task).leaks:
        if leak.kind == "compiled" and leak.solution is not None:
            message = f"compiled solution of {leak.solution.qualname}"
            hint, target = (
                "delete it, and every other __pycache__ of the repository",
                leak.solution.implementation,
            )
            yield Problem(message, hint, place(task, leak), target=target)


@check(
    "LMR402",
    "the repository contains its version history",
    rationale="`git show HEAD:trainers.py` is the solution. Agents restore originals from the history when there is"
    " one.",
    fixable=True,
)
def version_history(task: TaskView) -> Iterator[Problem]:
    for leak in histories(task):
        name = leak.path.rpartition("/")[2]
        message = {
            "folder": f"{name}/ contains the version history",
            "bare repository": f"{name}/ is a repository with its version history",
            "bundle": f"{name} is a git bundle: it contains the version history",
        }.get(leak.where, f"{name} links to a version history")
        hint = "delete it; info.json's repo_commit says where the code is from"
        yield Problem(message, hint, place(task, leak), severity=None if leak.sure else WARNING)


@check(
    "LMR403",
    "the repository contains the solution elsewhere",
    rationale="An upstream module, a notebook, a fork of a library, a nested copy, a backup, a patch: an agent that"
    " searches for the function's name finds the answer. Compared are statements (also with renamed variables)"
    " in Python files, comments, notebooks, documents and patches. What only looks like the solution"
    " is a warning, or a note when less than 85 % is the same.",
)
def copy_elsewhere(task: TaskView) -> Iterator[Problem]:
    goals = {one.implementation.index: one.goal_path for one in pairs(task)}
    places: dict[tuple[str, int, str], list[Leak]] = defaultdict(list)
    for leak in scan(task).leaks:
        solution = leak.solution
        if solution is None or leak.kind == "compiled":
            continue
        own = goals.get(solution.implementation.index) == place(task, leak)
        if not (own and leak.kind == "comments"):  # LMR404
            places[leak.path, solution.implementation.index, solution.qualname].append(leak)
    for found in places.values():
        leak = max(found, key=lambda item: (item.sure, item.similarity))
        assert leak.solution is not None
        percent = round(leak.similarity * 100)
        alike = f"{percent} % the same" if percent < 100 else "made of the same parts"
        message = f"{leak.place}: a look-alike of {leak.solution.qualname}, {alike}"
        if leak.sure:
            message = f"{percent} % of the solution of {leak.solution.qualname} is {leak.place}"
        message += f"; {counted(len(found) - 1, 'more place')} in this file" if len(found) > 1 else ""
        hint = _advice(leak, found, own=place(task, leak) in goals.values())
        yield Problem(
            message, hint, place(task, leak), leak.line, "", leak.solution.implementation, severity_of(leak)
        )


def severity_of(leak: Leak) -> Severity:
    """Return how bad a copy, or what only looks like one, is."""
    if leak.sure:
        return ERROR
    return WARNING if leak.similarity >= WORRYING else NOTE


def _advice(leak: Leak, found: Sequence[Leak], *, own: bool) -> str:
    """Return what to do about a copy; ``own`` when it is in a goal file, which stays."""
    if leak.path.startswith("unit_test/"):
        return "compare with stored values instead of a copy"
    nodes = dict.fromkeys(item.node for item in found if item.node)
    command = "".join(f" --also {shlex.quote(node)}" for node in nodes)
    mask_it = f"mask it too (lmr-author mask{command})" if command else "take it out by hand"
    if not leak.sure:
        return f"read it: if it gives the solution away, {mask_it}; if not, accept the finding with a reason"
    if leaks.is_generated(leak.path):
        return "delete the file"
    return mask_it if own else f"{mask_it}, or delete the file if nothing needs it"


@target_check(
    "LMR404",
    "the goal file's comments contain the solution",
    rationale="Commenting the body out instead of removing it masks nothing: the agent only has to remove the #.",
)
def solution_in_comments(task: TaskView, target: Implementation) -> Iterator[Problem]:
    one = pair(task, target)
    if one.goal is None or one.golden is None or one.goal_path is None:
        return
    before, after = (
        set(map(squeezed, filter(is_comment, each.text.splitlines()))) for each in (one.golden, one.goal)
    )
    for item in (item for item in solutions(task) if item.implementation is target):
        found = (leak for leak in scan(task).leaks if leak.kind == "comments" and leak.solution is item)
        leak = next((leak for leak in found if place(task, leak) == one.goal_path), None)
        lines = item.lines & (after - before)
        if leak is not None:
            what = "the solution" if leak.sure else "a look-alike of the solution"
            message = f"comments or strings contain {what} of {item.qualname} ({round(leak.similarity * 100)} % of it)"
            yield Problem(message, "delete them", one.goal_path, leak.line, severity=severity_of(leak))
        elif len(lines) >= min(2, len(item.lines)):
            message = f"comments contain {counted(len(lines), 'line')} of the solution of {item.qualname}"
            yield Problem(message, "delete them", one.goal_path)


@check(
    "LMR405",
    "the golden or authoring records lie inside the repository",
    rationale="The agent gets the repository. Agents opened the golden in 10 of 74 published runs in which it was"
    " within reach.",
)
def golden_inside(task: TaskView) -> Iterator[Problem]:
    for entry in task.repository_entries:
        named = entry.name in ("golden_files", "golden_file", "goldens")
        # A package of the repository may well be called authoring.
        named |= entry.name == "authoring" and "/" not in task.in_repository(entry)
        if entry.kind == "folder" and named:
            hint = "move it into the task's folder, beside the repository"
            yield Problem(f"{entry.name}/ lies inside the repository", hint, task.path(entry))


@check(
    "LMR406",
    "the image installs the package that contains the solution",
    rationale="With the published package in site-packages the solution is one `inspect.getsource` away, and a test may"
    " import it instead of the goal file. A package that has the repository's, or its package's, name and that"
    " no build file of the repository names may be somebody else's: a warning.",
)
def package_installed(task: TaskView) -> Iterator[Problem]:
    parsed, names = dockerfile.read(task), dockerfile.published(task)
    installed: set[int] = set()
    for item, requirement in dockerfile.requirements(task, parsed) if parsed else ():
        sure = names.contains(requirement)
        if sure is None:
            continue
        installed.add(item.line)
        source = "" if requirement in item.text else " (from a requirements file)"
        which = "the package" if sure else "by its name the package"
        message = f"installs {requirement!r:.100}, {which} that contains the solution{source}"
        hint = "remove it; the tests import the repository's own files"
        hint = hint if sure else f"if it is the authors' own, {hint}"
        yield Problem(message, hint, dockerfile.place(task), item.line, severity=None if sure else WARNING)
    for item in parsed.named("RUN", "ADD") if parsed else ():
        if item.line not in installed and names.is_fetched_by(item.text):
            hint = "remove it; the image gets the masked repository by COPY"
            yield Problem(
                f"fetches the original repository, {names.address}", hint, dockerfile.place(task), item.line
            )
