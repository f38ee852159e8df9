"""Read one Python file for the index: its definitions, the names in each, and the calls of the whole file."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lmr_author.core import code
from lmr_author.core.code.demands import PYTHON_2
from lmr_author.core.errors import SourceError
from lmr_author.core.texts import listed

MAX_BYTES = 2 * 1024 * 1024
"""Larger Python files are generated tables, not code."""

NOT_PARSED = f"not Python {sys.version_info.major}.{sys.version_info.minor}"
NEEDS_GPU = "it insists on a GPU"

_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Delete,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
)  # fmt: skip
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.Try, ast.TryStar, ast.Match)
"""Statements that fork. Those of neither tuple compute nothing (pass, import, global, …)."""

_SELF = ("self", "cls")
_KINDS = {ast.FunctionDef: "function", ast.AsyncFunctionDef: "async", ast.ClassDef: "class"}
_STRING_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"""'
    r"|'''(?:\\.|[^\\])*?'''"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'"
    r"|#[^\n]*",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A function or class of a repository, and the facts that rank it. Of a class's code nothing is kept.

    ``qualname``, ``class_name``, ``function_name``, ``line``, ``end_line``, ``nth`` and ``siblings`` are
    those of :class:`lmr_author.core.code.Definition`.

    Attributes:
        path: its file, relative to the repository, with ``/``.
        kind: ``"function"``, ``"async"`` (a coroutine), ``"class"``, or ``"block"`` of a function that it may become.
        first_line: the line of its first decorator, else ``line``.
        decorators: dotted names, without arguments.
        parameters: ``name``, ``*name``, ``**name``, each with ``: annotation`` when it has one; for a class its bases.
        docstring: not cleaned; "" when there is none.
        comments: the text of its comments.
        statements, branches: their number in its code, nested ones included, a docstring not.
        returns: it has a return statement.
        names: names that its code uses other than by calling them.
        calls: last names of the functions that it calls.
        obstacle: why it cannot run in a test, as a sentence; "" for nothing that can be seen.
    """

    path: str
    qualname: str
    kind: str
    class_name: str
    function_name: str
    line: int
    end_line: int
    first_line: int
    nth: int
    siblings: int
    generator: bool
    decorators: tuple[str, ...]
    parameters: tuple[str, ...]
    docstring: str
    comments: str
    statements: int = 0
    branches: int = 0
    returns: bool = False
    names: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    obstacle: str = ""

    @property
    def name(self) -> str:
        """Last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @property
    def is_class(self) -> bool:
        """Tell a class from a function."""
        return self.kind == "class"

    @property
    def is_overload(self) -> bool:
        """Recognize a ``typing.overload`` stub, which is never what a target means."""
        return any(name.rpartition(".")[2] == "overload" for name in self.decorators)

    @property
    def node_id(self) -> str:
        """``path::qualname``, with ``#2`` where the name alone means another definition."""
        return f"{self.path}::{self.qualname}" + (f"#{self.nth}" if self.siblings > 1 else "")

    @property
    def identifiers(self) -> tuple[str, ...]:
        """All names in its code, each once."""
        return tuple(dict.fromkeys((*self.names, *self.calls)))

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of its parameters, without stars and annotations."""
        return tuple(text.partition(":")[0].lstrip("*") for text in self.parameters)


def read(path: str, data: bytes) -> tuple[list[IndexEntry], Counter[str]]:
    """Return a file's definitions in file order, and how often the file calls each name. Raises SourceError."""
    module = code.Module.parse(data, path)
    comments = list(_comments(module.text)) if "#" in module.text else []
    obstacles = _Obstacles(module)
    entries = []
    for definition in module.definitions:
        node = definition.node
        decorators = [part.func if isinstance(part, ast.Call) else part for part in node.decorator_list]
        own = [text for line, text in comments if definition.line <= line <= definition.end_line]
        facts: dict[str, Any] = {}
        generator = False
        if isinstance(node, ast.ClassDef):
            parameters = tuple(map(ast.unparse, node.bases))
        else:
            parameters = tuple(_parameters(node.args))
            facts = _facts(definition)
            facts["obstacle"] = obstacles.of(node)
            generator = b"yield" in data and code.is_generator(node)
        entry = IndexEntry(
            path=path,
            qualname=definition.qualname,
            kind=_KINDS[type(node)],
            class_name=definition.class_name,
            function_name=definition.function_name,
            line=definition.line,
            end_line=definition.end_line,
            first_line=code.first_line(node),
            nth=definition.nth,
            siblings=definition.siblings,
            generator=generator,
            decorators=tuple(map(ast.unparse, decorators)),
            parameters=parameters,
            docstring=definition.docstring or "",
            comments="\n".join(own),
            **facts,
        )
        entries.append(entry)
    names = [_name(node.func) for node in ast.walk(module.tree) if isinstance(node, ast.Call)]
    return entries, Counter(name for name in names if name and name not in _SELF)


class _Obstacles:
    """Why the functions of a file cannot run in a test."""

    def __init__(self, module: code.Module) -> None:
        # The words are looked for first: the analyses are slow, and most files need none of them.
        self.tree, self.asks_for_gpu = module.tree, b"cuda" in module.data
        self.demand = code.demanded(module.tree) if b"parse_args" in module.data else ""
        names = (node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name))
        self.has_old_names = not PYTHON_2.isdisjoint(names)

    def of(self, node: code.FunctionNode) -> str:
        if self.demand:
            return f"no test can import it: the file {self.demand}"
        if self.has_old_names and (gone := code.python_2_names(self.tree, node)):
            return f"it, or what it calls of its file, uses {', '.join(gone)}, which Python 3 does not have"
        if self.asks_for_gpu and (lines := code.gpu_lines(node, self.tree)):
            shown = listed([str(line) for line in lines], 3)
            return f"{NEEDS_GPU} (line {shown}): `record --cuda-as-cpu` runs it on the CPU"
        return ""


def _facts(definition: code.Definition) -> dict[str, Any]:
    """Return the facts about a function's code, nested functions included, decorators not."""
    own = definition.node
    parts = [part for part in code.children(own) if part not in own.decorator_list]
    nodes = [node for part in parts for node in ast.walk(part)]
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    branches = sum(isinstance(node, _BRANCHES) for node in nodes)
    statements = branches + sum(isinstance(node, _STATEMENTS) for node in nodes)
    names: dict[str, None] = {}
    calls: dict[str, None] = {}
    for node in nodes:
        name = _name(node)
        if name and name not in _SELF:
            (calls if id(node) in called else names)[name] = None
    return {
        "statements": statements - (definition.docstring is not None),
        "branches": branches,
        "returns": any(isinstance(node, ast.Return) for node in nodes),
        "names": tuple(names),
        "calls": tuple(calls),
    }


def _name(node: ast.AST) -> str:
    """Return the name that a node uses or binds; "" for none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.arg | ast.keyword):
        return node.arg or ""
    return node.name if isinstance(node, code.DefinitionNode) else ""


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    """Yield a function's parameters as written, without defaults."""
    stars = {arguments.vararg: "*", arguments.kwarg: "**"}
    positional = [*arguments.posonlyargs, *arguments.args]
    for argument in filter(None, [*positional, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]):
        text = stars.get(argument, "") + argument.arg
        if argument.annotation is not None:
            quoted = getattr(argument.annotation, "value", None)
            text += f": {quoted if isinstance(quoted, str) else ast.unparse(argument.annotation)}"
        yield text


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of each comment. :mod:`tokenize` takes eight times as long."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    line, at = 1, 0
    for match in _STRING_OR_COMMENT.finditer(text):
        if match[0][0] == "#":
            line, at = line + text.count("\n", at, match.start()), match.start()
            if comment := match[0].lstrip("#!: ").rstrip():
                yield line, comment


def reason(error: SourceError) -> str:
    """Say why a file was not parsed, naming the Python that tried: a later one may read it."""
    cause = error.__cause__
    if isinstance(cause, SyntaxError) and cause.lineno:
        return f"{NOT_PARSED}: line {cause.lineno}: {cause.msg}"
    return f"{NOT_PARSED}: {error.message.partition(': ')[2]}"
