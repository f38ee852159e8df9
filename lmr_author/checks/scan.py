"""One pass over the repository's files, for every check that has to look into all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lmr_author.checks import pyc, similarity
from lmr_author.checks.lookup import Pair, pairs
from lmr_author.checks.similarity import Solution
from lmr_author.checks.view import MAX_PYTHON, Entry, TaskView
from lmr_author.errors import SourceError
from lmr_author.files import LFS_HEADER
from lmr_author.source import Module

TEXT_SUFFIXES = frozenset(
    [
        ".py",
        ".pyi",
        ".pyx",
        ".ipynb",
        ".md",
        ".rst",
        ".txt",
        ".patch",
        ".diff",
        ".orig",
        ".rej",
        ".bak",
        ".old",
        ".save",
        ".backup",
        ".tex",
        ".html",
        ".org",
        ".sh",
        ".swp",
        ".tmp",
    ]
)
VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
MAX_PYC = 8 * 1024 * 1024


@dataclass(frozen=True)
class Copy:
    """A place in the repository where a solution stands again.

    Attributes:
        share: how much of it, 0 to 1.
        kind: ``"code"``, ``"comments"``, ``"notebook"``, ``"text"`` or ``"pyc"``.
        line: of the function, 0 when unknown.
        where: the function it is in; "" for the top level or a text.
    """

    solution: Solution
    entry: Entry
    share: float
    kind: str
    line: int = 0
    where: str = ""


@dataclass(frozen=True)
class Scan:
    """What one pass found."""

    pointers: tuple[Entry, ...]
    copies: tuple[Copy, ...]


def solutions(view: TaskView) -> list[Solution]:
    """Every golden function of the task, in comparable forms."""
    return view.memo("solutions", lambda: list(_solutions(view)))


def _solutions(view: TaskView) -> Iterator[Solution]:
    for one in pairs(view):
        for target in one.targets:
            if one.golden is None or target.golden is None or isinstance(target.golden.node, ast.ClassDef):
                continue
            masked = target.goal.node if target.goal else None
            if masked is not None and ast.dump(masked) == ast.dump(target.golden.node):
                masked = None  # not masked at all (LMR303); copies elsewhere still count
            found = similarity.solution(
                one.implementation,
                target.qualname,
                one.golden,
                target.golden.node,
                None if isinstance(masked, ast.ClassDef) else masked,
            )
            if found is not None:
                yield found


def scan(view: TaskView) -> Scan:
    """Look into every file of the repository, and of the goldens for LFS pointers, once."""
    return view.memo("scan", lambda: _scan(view))


def _scan(view: TaskView) -> Scan:
    wanted = solutions(view)
    goals = {one.goal_path: one for one in pairs(view) if one.goal_path}
    pointers: list[Entry] = []
    copies: list[Copy] = []
    prefix = view.relative_raw(view.repository) + "/" if view.repository else "\0"
    for entry in view.entries:
        if entry.kind != "file" or entry.relative.startswith("authoring/"):
            continue
        parts = entry.relative.split("/")
        if not VERSION_CONTROL.isdisjoint(parts):
            continue
        in_repository = entry.relative.startswith(prefix)
        text = (
            in_repository
            and wanted
            and _is_text(entry)
            and "golden_files" not in parts
            and "authoring" not in parts
        )
        small = 60 <= entry.size <= 1024
        compiled = in_repository and wanted and entry.suffix in (".pyc", ".pyo") and entry.size <= MAX_PYC
        if not (text or small or compiled):
            continue
        data = view.read_once(view.path(entry), MAX_PYC)
        if data is None:
            continue
        if data.startswith(LFS_HEADER):
            pointers.append(entry)
        elif compiled:
            copies += _in_compiled(view, entry, data)
        elif text:
            possible = [one for one in wanted if one.may_be_in(data)]
            path = view.path(entry)
            if possible:
                copies += _in_text(entry, data, possible, goals.get(path), pairs(view), path)
    return Scan(tuple(pointers), tuple(copies))


def _is_text(entry: Entry) -> bool:
    if entry.size > MAX_PYTHON or not entry.size:
        return False
    return (
        entry.suffix in TEXT_SUFFIXES
        or entry.name.endswith("~")
        or "." not in entry.name
        or ".py." in entry.name
    )


def _in_text(
    entry: Entry, data: bytes, possible: list[Solution], goal: Pair | None, everything: list[Pair], path: Path
) -> Iterator[Copy]:
    """Copies in one file: the best match for each solution."""
    if entry.suffix == ".ipynb":
        text = similarity.notebook_source(data)
        lines = {similarity.squeezed(line) for line in text.splitlines()}
        yield from _by_lines(entry, lines, possible, "notebook")
        return
    module = _parse(data, entry.name) if ".py" in entry.name or b"def " in data else None
    if module is None:
        text = data.decode("utf-8", "replace")
        lines = {similarity.squeezed(line) for line in text.splitlines()}
        yield from _by_lines(entry, lines, possible, "text")
        return
    skipped = {target.qualname for one in everything if one.goal_path == path for target in one.targets}
    code = list(_in_code(entry, data, module, possible, skipped if goal is not None else set()))
    yield from code
    if goal is None:  # in the goal file itself comments are LMR404's business
        rest = [one for one in possible if one not in [copy.solution for copy in code]]
        yield from _by_lines(entry, similarity.comment_lines(module), rest, "comments")


def _in_code(
    entry: Entry, data: bytes, module: Module, possible: list[Solution], skipped: set[str]
) -> Iterator[Copy]:
    """The function, or the top level, of a module that is most like each solution, if it is a copy."""
    source = data.splitlines()
    nodes: list[tuple[str, ast.AST]] = [("", module.tree)]
    nodes += [(item.qualname, item.node) for item in module.definitions if item.qualname not in skipped]
    for one in possible:
        best = Copy(one, entry, 0.0, "code")
        for qualname, node in nodes:
            if isinstance(node, ast.ClassDef) or not one.may_be_in(_segment(source, node)):
                continue
            assert isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef)
            share = one.is_copied_in(node)
            if share > best.share:
                best = Copy(one, entry, share, "code", getattr(node, "lineno", 0), qualname)
        if best.share:
            yield best


def _segment(lines: list[bytes], node: ast.AST) -> bytes:
    """The source lines of a function; all lines for a module."""
    end = getattr(node, "end_lineno", None)
    return b"\n".join(lines[getattr(node, "lineno", 1) - 1 : end])


def _by_lines(entry: Entry, lines: set[str], possible: list[Solution], kind: str) -> Iterator[Copy]:
    for one in possible:
        share = one.share_of_lines(lines)
        if share >= similarity.LINES and (len(one.lines) >= 3 or share == 1.0):
            yield Copy(one, entry, share, kind)


def _parse(data: bytes, name: str) -> Module | None:
    try:
        return Module.parse(data, name)
    except (SourceError, RecursionError, MemoryError, ValueError):
        return None


def _in_compiled(view: TaskView, entry: Entry, data: bytes) -> Iterator[Copy]:
    """Solutions whose golden's code object, not the masked one's, is in a compiled file."""
    try:
        module = pyc.read(data)
    except pyc.NotCompiledPython:
        return
    for one in pairs(view):
        for found in _features(view, one):
            target, golden, masked = found
            telling = golden - masked
            for code in pyc.named(module, target.qualname.split(".")):
                share = len(telling & code.features) / len(telling) if telling else 0.0
                if len(telling) < 2:
                    share = (
                        1.0
                        if golden <= code.features and "n:NotImplementedError" not in code.features
                        else 0.0
                    )
                if share >= similarity.LINES:
                    yield Copy(target, entry, share, "pyc", 0, code.name)
                    break


def _features(view: TaskView, one: Pair) -> list[tuple[Solution, frozenset[str], frozenset[str]]]:
    """(solution, features of its golden code object, features of its masked one) of an implementation."""
    return view.memo(("features", id(one)), lambda: _compile(view, one))


def _compile(view: TaskView, one: Pair) -> list[tuple[Solution, frozenset[str], frozenset[str]]]:
    golden, goal = _code(one.golden), _code(one.goal)
    if golden is None:
        return []
    result = []
    for item in solutions(view):
        if item.implementation is not one.implementation:
            continue
        path = item.qualname.split(".")
        original = next(pyc.named(golden, path), None)
        masked = next(pyc.named(goal, path), None) if goal else None
        if original is not None:
            same = masked is None or masked.features == original.features
            result.append(
                (item, original.features, frozenset() if same or masked is None else masked.features)
            )
    return result


def _code(module: Module | None) -> pyc.Code | None:
    if module is None:
        return None
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pyc.from_code(compile(module.tree, module.name, "exec", dont_inherit=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
