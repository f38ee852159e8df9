"""Reading syntax trees: what :mod:`ast` leaves to its users."""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeGuard, TypeVar, overload

A = TypeVar("A", bound=ast.AST)
B = TypeVar("B", bound=ast.AST)
C = TypeVar("C", bound=ast.AST)
D = TypeVar("D", bound=ast.AST)

PYTHON_2 = frozenset(
    {"basestring", "cmp", "execfile", "long", "raw_input", "reduce", "unichr", "unicode", "xrange"}
)
"""Builtins that Python 3 no longer has."""
MODULE_NAMES = frozenset({"__annotations__", "__cached__", "__file__", "__path__"})
"""Names that every module has, beside those of :mod:`builtins`."""
_NEEDS_GPU = re.compile(
    r"\w+Tensor|current_device|get_device_\w+|get_rng_state\w*|set_device|synchronize|memory_\w+|Stream|Event"
)
"""Functions of ``torch.cuda`` that fail without a GPU."""
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_VERSIONS = frozenset({"PY2", "PY3", "version_info", "python_2_unicode_compatible"})


def parse(code: bytes | str, name: str = "<unknown>") -> ast.Module:
    """Parse foreign code without the warnings it gives rise to, such as invalid escapes.

    Raises what :func:`ast.parse` does: SyntaxError, ValueError, RecursionError, MemoryError.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code, name)


@lru_cache(maxsize=1024)
def walk(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return everything in a tree in the order of :func:`ast.walk`, without ``Load``, ``Store`` and ``Del``.

    Kept, as the checks of a task look at the same few functions: a tree that was walked is not to be changed.
    """
    return tuple(node for node in ast.walk(tree) if not isinstance(node, ast.expr_context))


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes that :func:`ast.iter_child_nodes` yields, without contexts."""
    return [item for item in ast.iter_child_nodes(node) if not isinstance(item, ast.expr_context)]


@overload
def each(tree: ast.AST, one: type[A], /) -> list[A]: ...
@overload
def each(tree: ast.AST, one: type[A], two: type[B], /) -> list[A | B]: ...
@overload
def each(tree: ast.AST, one: type[A], two: type[B], three: type[C], /) -> list[A | B | C]: ...
@overload
def each(
    tree: ast.AST, one: type[A], two: type[B], three: type[C], four: type[D], /
) -> list[A | B | C | D]: ...
@overload
def each(tree: ast.AST, /, *kinds: type[ast.AST]) -> list[ast.AST]: ...
def each(tree: ast.AST, /, *kinds: type[ast.AST]) -> Any:
    """Return the nodes of some kinds in a tree, in the order of :func:`walk`."""
    return [node for node in walk(tree) if isinstance(node, kinds)]


def first_line(statement: ast.stmt) -> int:
    """Return the line a statement begins on, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(item.lineno for item in decorators)])


def block_end(tree: ast.AST, line: int) -> int:
    """Return the last line of the block that begins on a line; the line itself where none does."""
    for node in walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and first_line(block[0]) == line:
                return int(block[-1].end_lineno or line)
    return line


def behind_exits(tree: ast.AST, lines: Iterable[int]) -> list[tuple[int, int]]:
    """Return first and last lines of what follows the ``if`` on each of some lines, where its body leaves the block."""
    wanted, behind = set(lines), list[tuple[int, int]]()
    for node in walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            block: list[ast.stmt] = body if isinstance(body, list) else []
            for item, follower in pairwise(block):
                if isinstance(item, ast.If) and item.lineno in wanted and isinstance(item.body[-1], _EXITS):
                    behind.append((first_line(follower), block[-1].end_lineno or follower.lineno))
    return behind


def parameters(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    """Return every named parameter in its order, with its default; None where it has none."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    return [
        *zip(positional, [*required, *arguments.defaults], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]


def form(tree: Any) -> str:
    """Return a tree (or a list of them) as text that is equal for equal code: places and contexts do not count."""
    pieces: list[str] = []
    _put(tree, pieces.append)
    return "".join(pieces)


def is_same(one: Any, other: Any) -> bool:
    """Return True when two trees, or two lists of them, are equal code."""
    return one.__class__ is other.__class__ and form(one) == form(other)


def _put(value: Any, put: Callable[[str], None]) -> None:
    if isinstance(value, ast.AST):
        put(value.__class__.__name__ + "(")
        for name in value._fields:
            if name != "ctx":
                _put(getattr(value, name, None), put)
        put(")")
    elif value.__class__ is list:
        put("[")
        for item in value:
            _put(item, put)
        put("]")
    else:
        put(f"{value!r},")


# names


def bound_by(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the names that an import binds: ``a`` for ``import a.b``, ``c`` for ``import a.b as c``, ``*`` for all."""
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def bindings(nodes: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """Return the nodes that bind each name; all that is imported by a star is bound to ``*``."""
    found: dict[str, list[ast.AST]] = defaultdict(list)
    for node in nodes:
        names: list[str] = []
        match node:
            case ast.Import() | ast.ImportFrom():
                names = bound_by(node)
            case ast.Name(ctx=ast.Store() | ast.Del()):
                names = [node.id]
            case ast.arg():
                names = [node.arg]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names = [node.name]
            case ast.ExceptHandler(name=str() as name):
                names = [name]
        for name in names:
            found[name].append(node)
    return found


def imported_as(tree: ast.Module) -> dict[str, str]:
    """Return the meaning of imported names: ``api`` → ``gensim.downloader`` for ``import gensim.downloader as api``.

    Names of modules that mean themselves are left out, and so are relative imports.
    """
    found: dict[str, str] = {}
    for node in each(tree, ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def root_name(node: ast.expr | None) -> str:
    """Return the name at the beginning of ``name.attribute[item]…``; "" where something else stands there."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


# what runs on import


def is_main_guard(node: ast.AST) -> TypeGuard[ast.If]:
    """Return True for ``if __name__ == "__main__":``, also with a further condition, or misspelt as ``"main"``.

    Its body runs in a script only, or never; its ``else`` runs on import.
    """
    if not isinstance(node, ast.If):
        return False
    test = node.test
    every = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(map(_compares_name, every))


def _compares_name(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq | ast.Is | ast.In):
        return False
    sides = [test.left, *test.comparators]
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def running(tree: ast.Module) -> Iterator[ast.AST]:
    """Return the nodes that run on import, in the order of the file; of functions only decorators and defaults.

    What an ``if`` keeps from running is taken to run.
    """
    stack: list[ast.AST] = list(reversed(tree.body))
    while stack:
        node = stack.pop()
        if is_main_guard(node):
            stack += reversed(node.orelse)
            continue
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            stack += [*getattr(node, "decorator_list", []), *node.args.defaults]
            stack += [default for default in node.args.kw_defaults if default is not None]
        else:
            stack += reversed(list(ast.iter_child_nodes(node)))


def demanded(tree: ast.Module) -> str:
    """Return the end of a sentence about a file that demands a command line on import, with the line; "" for others."""
    calls = [node for node in running(tree) if isinstance(node, ast.Call)]
    methods = [(node, node.func.attr) for node in calls if isinstance(node.func, ast.Attribute)]
    parsed = [
        node.lineno
        for node, name in methods
        if name in ("parse_args", "parse_known_args") and not (node.args or node.keywords)
    ]
    required = [_required(node) for node, name in methods if name == "add_argument"]
    argument = next(filter(None, required), "")
    if not parsed or not argument:
        return ""
    return f"reads the command line when it is imported (line {parsed[0]}) and demands {argument}"


def _required(call: ast.Call) -> str:
    """Return the name of an argument that has to be given; "" for one that need not."""
    names = [
        item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    words = {word.arg: word.value for word in call.keywords}
    if not names:
        return ""
    if names[0].startswith("-"):
        required = words.get("required")
        return names[-1] if isinstance(required, ast.Constant) and required.value is True else ""
    optional = words.get("nargs")
    return "" if isinstance(optional, ast.Constant) and optional.value in ("?", "*") else names[0]


def set_at_run_time(tree: ast.Module, function: ast.AST) -> tuple[str, ...]:
    """Return the globals that a function, or its callees in the file, read and that importing the file does not set.

    Such as ``args`` of a script that parses its command line below ``if __name__ == "__main__"``, and what a
    function of the file rebinds by ``global``.
    """
    imported = {*dir(builtins), *MODULE_NAMES, *bindings(running(tree))}
    if "*" in imported:
        return ()
    rebound = {name for node in each(tree, ast.Global) for name in node.names}
    return tuple(sorted(_global_names(tree, function) - (imported - rebound)))


def _global_names(tree: ast.Module, function: ast.AST) -> set[str]:
    """Return the names that a function and its callees in the file use and do not bind themselves."""
    used: set[str] = set()

    def called(node: ast.AST) -> set[str]:
        stated = {name for item in each(node, ast.Global) for name in item.names}
        names = each(node, ast.Name)
        bound = set(bindings(walk(node))) - stated
        read = {item.id for item in names if isinstance(item.ctx, ast.Load)}
        read |= {root_name(item.target) for item in each(node, ast.AugAssign)}
        used.update(read - bound)
        return (read - bound) | {item.attr for item in each(node, ast.Attribute)}

    _with_callees(function, tree, called)
    return used


def _with_callees(function: ast.AST, tree: ast.Module | None, called: Callable[[ast.AST], set[str]]) -> None:
    """Visit a function, and the functions of its file that it calls, directly or not.

    Args:
        tree: the file; None to visit the function alone.
        called: the visitor, which returns the names that are called.
    """
    own = {item.name: item for item in each(tree, ast.FunctionDef, ast.AsyncFunctionDef)} if tree else {}
    waiting, seen = [function], {function}
    while waiting:
        callees = {own[name] for name in called(waiting.pop()) if name in own} - seen
        waiting += callees
        seen |= callees


def gpu_lines(function: ast.AST, tree: ast.Module | None = None) -> list[int]:
    """Return the lines of a function that insist on a GPU: ``x.cuda()``, the device ``"cuda"``, ``torch.cuda.Stream``.

    None where it asks for one, and no text that is compared or chosen between; a default is the caller's choice.

    Args:
        tree: its file, to add the lines of the functions of the file that it calls.
    """
    found: set[int] = set()

    def called(function: ast.AST) -> set[str]:
        nodes = [node for part in getattr(function, "body", ()) for node in ast.walk(part)]
        calls = [node.func for node in nodes if isinstance(node, ast.Call)]
        demands = {id(part) for node in nodes if isinstance(node, ast.Assert) for part in ast.walk(node)}
        if not any(_last_name(node) == "is_available" and id(node) not in demands for node in calls):
            found.update(_gpu_lines(nodes))
        by_name = [node for node in calls if isinstance(node, ast.Name) or root_name(node) in ("self", "cls")]
        return {_last_name(node) for node in by_name}

    _with_callees(function, tree, called)
    return sorted(found)


def _gpu_lines(nodes: list[ast.AST]) -> Iterator[int]:
    chosen: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Compare):
            chosen.update(map(id, (node.left, *node.comparators)))
        elif isinstance(node, ast.IfExp):
            chosen.update(id(part) for side in (node.body, node.orelse) for part in ast.walk(side))
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            in_cuda = _last_name(node.func.value) == "cuda"
            if node.func.attr == "cuda" or (in_cuda and _NEEDS_GPU.fullmatch(node.func.attr)):
                yield node.lineno
        value = node.value if isinstance(node, ast.Constant) and id(node) not in chosen else None
        if isinstance(value, str) and re.fullmatch(r"cuda(:\d*)?", value):
            yield node.lineno  # type: ignore[attr-defined]


def gpu_only(function: ast.AST) -> list[tuple[int, int]]:
    """Return first and last lines of what no CPU runs: below ``if x.is_cuda``, and after ``assert x.is_cuda``."""
    found = []
    for node in walk(function):
        for name in ("body", "orelse", "finalbody"):
            block: Any = getattr(node, name, None)
            for place, statement in enumerate(block if isinstance(block, list) else ()):
                if guarded := _below_gpu_question(statement, block[place + 1 :]):
                    found.append((first_line(guarded[0]), guarded[-1].end_lineno or 0))
    return found


def _below_gpu_question(statement: ast.stmt, rest: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that run only where a statement found a GPU. ``rest``: those after it in its block."""
    if isinstance(statement, ast.Assert):
        return rest if _asks_for_gpu(statement.test) else []
    if not isinstance(statement, ast.If):
        return []
    if _asks_for_gpu(statement.test):
        return statement.body
    refused = isinstance(statement.test, ast.UnaryOp) and isinstance(statement.test.op, ast.Not)
    if not refused or not _asks_for_gpu(statement.test.operand):  # type: ignore[attr-defined]
        return []
    ends = isinstance(statement.body[-1], ast.Raise | ast.Return)
    return statement.orelse or (rest if ends else [])


def _asks_for_gpu(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp):
        return isinstance(test.op, ast.And) and any(map(_asks_for_gpu, test.values))
    if isinstance(test, ast.Call):
        return ast.unparse(test.func).endswith("cuda.is_available")
    return isinstance(test, ast.Attribute) and test.attr == "is_cuda"


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def python_2_names(tree: ast.Module, function: ast.AST) -> tuple[str, ...]:
    """Return the builtins of Python 2 that a function, or its callees in the file, use and the file does not bind.

    () where the file asks for Python's version.
    """
    used = _global_names(tree, function)
    used &= PYTHON_2
    if not used:
        return ()
    bound = set(bindings(walk(tree))) | {node.attr for node in each(tree, ast.Attribute)} & _VERSIONS
    return () if bound & {"*", *_VERSIONS} else tuple(sorted(used - bound))
