"""An index of every function of a repository, read with :mod:`ast`."""

from __future__ import annotations

import ast
import difflib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from lmr_author.core import code, foreign
from lmr_author.core.code.tree import PYTHON_2, last_name
from lmr_author.core.errors import SourceError
from lmr_author.core.texts import listed

MAX_BYTES = 2 * 1024 * 1024
"""Larger Python files are generated tables, not code."""
SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".ipynb_checkpoints", ".tox", ".venv", ".eggs", "node_modules"}
)
"""Folders of tools; nothing in them is the repository's own code."""

SUGGESTED = 4

NOT_READ = f"a link, larger than {MAX_BYTES // 2**20} MB, or not readable"

_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Delete,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.Try, ast.TryStar, ast.Match)
"""Statements that fork. Those of neither tuple compute nothing (pass, import, global, …)."""
_SELF = ("self", "cls")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a test cannot run a function: its kind, a sentence, and where it needs a GPU ("" for other kinds)."""

    kind: Literal["command line", "program", "python 2", "gpu"]
    sentence: str
    lines: str = ""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A function of a repository, and the facts that rank it.

    ``qualname``, ``class_name``, ``function_name``, ``line``, ``end_line``, ``nth`` and ``siblings`` are
    those of :class:`lmr_author.core.code.Definition`.

    Attributes:
        kind: ``"function"`` or ``"async"`` (a coroutine).
        decorators: dotted names, without arguments.
        parameters: ``name``, ``*name``, ``**name``, each with ``: annotation`` when it has one.
        docstring: not cleaned; "" when there is none.
        statements, branches: their number, those of nested functions included, a docstring not.
        names: names that its code uses other than by calling them.
        calls: last names of the functions that it calls.
    """

    path: str
    qualname: str
    kind: str
    class_name: str
    function_name: str
    line: int
    end_line: int
    nth: int
    siblings: int
    generator: bool = False
    decorators: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    docstring: str = ""
    statements: int = 0
    branches: int = 0
    returns: bool = False
    names: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    obstacle: Obstacle | None = None

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    @property
    def node_id(self) -> str:
        """``path::qualname``, with ``#2`` where the name alone means another definition."""
        return f"{self.path}::{self.qualname}" + (f"#{self.nth}" if self.siblings > 1 else "")

    @property
    def identifiers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.names, *self.calls)))

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of its parameters, without stars and annotations."""
        return tuple(text.partition(":")[0].lstrip("*") for text in self.parameters)


@dataclass(frozen=True)
class UnreadFile:
    path: str
    reason: str


@dataclass(frozen=True)
class Index:
    """Every function of a repository.

    Attributes:
        files: paths of the files read, sorted.
        functions: functions and methods, by path, in file order, without overload stubs.
        calls: for each file, how often it calls each name.
    """

    files: tuple[str, ...]
    unread: tuple[UnreadFile, ...]
    functions: tuple[IndexEntry, ...]
    calls: Mapping[str, Mapping[str, int]]

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Names that the code of some function uses without calling them."""
        return frozenset(name for entry in self.functions for name in entry.names)

    @cached_property
    def _callers(self) -> Mapping[str, list[tuple[str, int]]]:
        callers: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for path, calls in self.calls.items():
            for name, count in calls.items():
                callers[name].append((path, count))
        return dict(callers)

    def callers(self, name: str) -> Sequence[tuple[str, int]]:
        """Return (file, number of calls) of a name, wherever it is defined: a method's class is not known."""
        return self._callers.get(name, ())

    def named(self, name: str) -> list[IndexEntry]:
        return [entry for entry in self.functions if entry.name == name]

    def similar(self, name: str) -> list[IndexEntry]:
        """Return functions with a name like that, the likeliest first, for "did you mean"."""
        names = dict.fromkeys(
            entry.name for entry in self.functions if not entry.path.startswith("unit_test/")
        )
        close = difflib.get_close_matches(name, names, SUGGESTED, 0.75)
        return [entry for likely in close for entry in self.named(likely)][:SUGGESTED]


def build(
    repository: Path, *, instead: Mapping[str, bytes] | None = None, without: Collection[str] = ()
) -> Index:
    """Index every function of a folder, but for those in ``without``. Never raises for its content.

    Args:
        instead: path → content to index in place of the file's own (a masked file's golden); lines stay the file's.
    """
    paths: list[str] = []
    unread: list[UnreadFile] = []
    functions: list[IndexEntry] = []
    calls: dict[str, Mapping[str, int]] = {}
    for path in sorted(_python_files(os.fspath(repository.absolute()), without)):
        data = foreign.read_regular(str(repository / path), MAX_BYTES)
        if data is None:
            unread.append(UnreadFile(path, NOT_READ))
            continue
        try:
            entries, calls[path] = read(path, data)
        except SourceError as error:
            reason = error.message.removeprefix(path)
            unread.append(UnreadFile(path, re.sub(r"^:(?=\d)", "line ", reason).removeprefix(": ")))
            continue
        if instead is not None and path in instead:
            try:
                originals, calls[path] = read(path, instead[path])
                entries = _at_lines_of(entries, originals)
            except SourceError:
                pass
        paths.append(path)
        functions += entries
    return Index(tuple(paths), tuple(unread), tuple(functions), calls)


def _python_files(root: str, without: Collection[str]) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        below = f"{folder[len(root) + 1 :]}/" if folder != root else ""
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and below + name not in without]
        yield from (below + name for name in names if name.endswith(".py"))


def _at_lines_of(masked: list[IndexEntry], originals: list[IndexEntry]) -> list[IndexEntry]:
    masked_by_name = {(entry.qualname, entry.nth): entry for entry in masked}
    moved = []
    for entry in originals:
        now = masked_by_name.get((entry.qualname, entry.nth), entry)
        moved.append(replace(entry, line=now.line, end_line=now.end_line))
    return moved


def read(path: str, data: bytes) -> tuple[list[IndexEntry], Counter[str]]:
    """Return a file's functions in file order, and how often the file calls each name. Raises SourceError."""
    module = code.Module.parse(data, path)
    of_file = _obstacle_of_file(module)
    has_old_names = any(node.id in PYTHON_2 for node in code.each(module.tree, ast.Name))
    entries = []
    for definition in module.definitions:
        node = definition.node
        if isinstance(node, ast.ClassDef):
            continue
        if not definition.is_overload:
            obstacle = _obstacle(module, of_file, node)
            if has_old_names and (gone := code.python_2_names(module.tree, node)):
                sentence = f"it, or a function of its file that it calls, uses {', '.join(gone)}, which Python 3 lacks"
                obstacle = Obstacle("python 2", sentence)
            entries.append(_entry(path, definition, node, obstacle))
    calls: Counter[str] = Counter()
    for call in code.each(module.tree, ast.Call):
        name = _name(call.func)
        if name and name not in _SELF:
            calls[name] += 1
    return entries, calls


def _entry(
    path: str,
    definition: code.Definition,
    function: code.FunctionNode,
    obstacle: Obstacle | None,
) -> IndexEntry:
    parts = [part for part in code.children(function) if part not in function.decorator_list]
    nodes = [node for part in parts for node in ast.walk(part)]
    branches = sum(isinstance(node, _BRANCHES) for node in nodes)
    statements = branches + sum(isinstance(node, _STATEMENTS) for node in nodes)
    names, calls = _names_and_calls(nodes)
    return IndexEntry(
        path=path,
        qualname=definition.qualname,
        kind="async" if isinstance(function, ast.AsyncFunctionDef) else "function",
        class_name=definition.class_name,
        function_name=definition.function_name,
        line=definition.line,
        end_line=definition.end_line,
        nth=definition.nth,
        siblings=definition.siblings,
        generator=code.is_generator(function),
        decorators=tuple(
            ast.unparse(part.func if isinstance(part, ast.Call) else part) for part in function.decorator_list
        ),
        parameters=tuple(_parameters(function)),
        docstring=definition.docstring or "",
        statements=statements - (definition.docstring is not None),
        branches=branches,
        returns=any(isinstance(node, ast.Return) for node in nodes),
        names=names,
        calls=calls,
        obstacle=obstacle,
    )


def _names_and_calls(nodes: Sequence[ast.AST]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    names: dict[str, None] = {}
    calls: dict[str, None] = {}
    for node in nodes:
        name = _name(node)
        if name and name not in _SELF:
            (calls if node in called else names)[name] = None
    return tuple(names), tuple(calls)


def _obstacle_of_file(module: code.Module) -> Obstacle | None:
    # The word is searched first: the analysis is slow, and most files need none.
    if b"parse_args" in module.data and (demand := code.demanded(module.tree)):
        return Obstacle("command line", f"no test can import it: the file {demand}")
    if (program := code.program_on_import(module.tree)) is not None:
        sentence = f"its file runs a program when it is imported (line {program.lineno})"
        return Obstacle("program", f"{sentence}: a patch that adds a guard makes it importable")
    return None


def _obstacle(module: code.Module, of_file: Obstacle | None, function: code.FunctionNode) -> Obstacle | None:
    if of_file is None and b"cuda" in module.data and (lines := code.gpu_lines(function, module.tree)):
        shown = f"{'line' if len(lines) == 1 else 'lines'} {listed([str(line) for line in lines], 3)}"
        sentence = f"it requires a GPU ({shown}): `record --cuda-as-cpu` runs it on the CPU"
        return Obstacle("gpu", sentence, shown)
    return of_file


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.arg | ast.keyword):
        return node.arg or ""
    return node.name if isinstance(node, code.DefinitionNode) else last_name(node)


def _parameters(function: code.FunctionNode) -> Iterator[str]:
    stars = {function.args.vararg: "*", function.args.kwarg: "**"}
    for argument in code.arguments(function):
        text = stars.get(argument, "") + argument.arg
        if argument.annotation is not None:
            quoted = getattr(argument.annotation, "value", None)
            text += f": {quoted if isinstance(quoted, str) else ast.unparse(argument.annotation)}"
        yield text
