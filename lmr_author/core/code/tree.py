"""Read syntax trees: walks, names, what runs on import, and what code needs of the machine it runs on."""

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

PYTHON_2 = frozenset(
    {"basestring", "cmp", "execfile", "long", "raw_input", "reduce", "unichr", "unicode", "xrange"}
)
"""Builtins that Python 3 no longer has."""
MODULE_NAMES = frozenset({"__annotations__", "__builtins__", "__cached__", "__file__", "__path__"})
"""Names that every module has, beside those of :mod:`builtins`."""
_VERSIONS = frozenset({"PY2", "PY3", "version_info", "python_2_unicode_compatible"})
_NEEDS_GPU = re.compile(
    r"\w+Tensor|current_device|get_device_\w+|get_rng_state\w*|set_device|synchronize|memory_\w+|Stream|Event"
)
"""Functions of ``torch.cuda`` that fail without a GPU."""
_GPU = re.compile(r"cuda(:\d*)?")
"""A device."""
_RUNNERS = frozenset({"run", "Fire"})
"""Functions that run the function that they are given: those of absl, asyncio, fire and typer."""
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def parse(code: bytes | str, name: str = "<unknown>") -> ast.Module:
    """Parse foreign code without warnings, such as those about invalid escapes. Raises what :func:`ast.parse` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code, name)


@lru_cache(maxsize=1024)
def walk(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return the nodes of :func:`ast.walk` without contexts. Cached: do not change a tree that was walked."""
    return tuple(node for node in ast.walk(tree) if not isinstance(node, ast.expr_context))


def children(node: ast.AST) -> list[ast.AST]:
    return [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]


@overload
def each(tree: ast.AST, one: type[A], /) -> list[A]: ...
@overload
def each(tree: ast.AST, one: type[A], two: type[B], /) -> list[A | B]: ...
@overload
def each(tree: ast.AST, one: type[A], two: type[B], three: type[C], /) -> list[A | B | C]: ...
@overload
def each(tree: ast.AST, /, *kinds: type[ast.AST]) -> list[ast.AST]: ...
def each(tree: ast.AST, /, *kinds: type[ast.AST]) -> Any:
    """Return the nodes of some kinds in a tree, in the order of :func:`walk`."""
    return [node for node in walk(tree) if isinstance(node, kinds)]


def first_line(statement: ast.stmt) -> int:
    """Return the line a statement begins on, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def block_end(tree: ast.AST, line: int) -> int:
    """Return the last line of the block that begins on a line; the line itself where none does."""
    for block in blocks(tree):
        if first_line(block[0]) == line:
            return block[-1].end_lineno or line
    return line


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements that are indented together."""
    for node in walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def behind_exits(tree: ast.AST, lines: Iterable[int]) -> list[tuple[int, int]]:
    """Return the lines behind each ``if`` on some lines whose body leaves the block, as first and last."""
    wanted, behind = set(lines), list[tuple[int, int]]()
    for block in blocks(tree):
        for statement, follower in pairwise(block):
            leaves = isinstance(statement, ast.If) and isinstance(statement.body[-1], _EXITS)
            if leaves and statement.lineno in wanted:
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


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    """Return all parameters of a function in their order, ``*args`` and ``**kwargs`` included."""
    own = function.args
    every = [*own.posonlyargs, *own.args, own.vararg, *own.kwonlyargs, own.kwarg]
    return [argument for argument in every if argument is not None]


def form(tree: Any) -> str:
    """Return a tree (or a list of them) as text that is equal for equal code: places and contexts do not count."""
    pieces: list[str] = []
    _put(tree, pieces.append)
    return "".join(pieces)


def is_same(tree: Any, other: Any) -> bool:
    """Return True when two trees, or two lists of them, are equal code."""
    return tree.__class__ is other.__class__ and form(tree) == form(other)


def _put(value: Any, put: Callable[[str], None]) -> None:
    if isinstance(value, ast.AST):
        put(value.__class__.__name__ + "(")
        for name in value._fields:
            if name != "ctx":
                _put(getattr(value, name, None), put)
        put(")")
    elif value.__class__ is list:
        put("[")
        for element in value:
            _put(element, put)
        put("]")
    else:
        put(f"{value!r},")


# names


def bound_by(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the names that an import binds: ``a`` for ``import a.b``, ``c`` for ``import a.b as c``, ``*`` for all."""
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def bindings(nodes: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """Return the nodes that bind each name; a star import binds ``*``."""
    result: dict[str, list[ast.AST]] = defaultdict(list)
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
            result[name].append(node)
    return result


def root_name(node: ast.expr | None) -> str:
    """Return the first name of ``name.attribute[item]…``; "" for another expression."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def last_name(node: ast.AST | None) -> str:
    """Return the last name of ``a.b.name``; "" for another expression."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _with_callees(function: ast.AST, tree: ast.AST, visit: Callable[[ast.AST], set[str]]) -> None:
    """Visit a function and the functions of its file that it calls; ``visit`` returns the names that are called."""
    own: dict[str, ast.AST] = {node.name: node for node in each(tree, ast.FunctionDef, ast.AsyncFunctionDef)}
    waiting, seen = [function], {function}
    while waiting:
        for name in visit(waiting.pop()):
            callee = own.get(name)
            if callee is not None and callee not in seen:
                seen.add(callee)
                waiting.append(callee)


# what runs on import, and what code demands to run


def is_main_guard(node: ast.AST) -> TypeGuard[ast.If]:
    """Return True for ``if __name__ == "__main__":``, perhaps with a further condition; its ``else`` runs on import."""
    match node:
        case ast.If(test=ast.BoolOp(op=ast.And(), values=tests)):
            return any(map(_compares_name, tests))
        case ast.If(test=test):
            return _compares_name(test)
    return False


def _compares_name(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq | ast.Is | ast.In):
        return False
    sides = [test.left, *test.comparators]
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def running(statements: Iterable[ast.stmt], *, as_script: bool = True) -> Iterator[ast.AST]:
    """Yield the nodes that run where some statements do, in their order; of functions only decorators and defaults.

    Code below an ``if`` counts, but for ``if __name__ == "__main__":`` unless ``as_script``.
    """
    stack: list[ast.AST] = list(reversed(list(statements)))
    while stack:
        node = stack.pop()
        if not as_script and is_main_guard(node):
            stack += reversed(node.orelse)
            continue
        yield node
        below: Iterable[ast.AST | None] = ast.iter_child_nodes(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            below = [*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults]
        stack += reversed(list(filter(None, below)))


def is_generator(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return True for a function with a ``yield`` of its own, which makes it a generator."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in running(function.body))


def demanded(tree: ast.Module) -> str:
    """Return how a file requires command-line arguments when imported: line and first argument; "" for others."""
    line, argument = 0, ""
    for call in running(tree.body, as_script=False):
        match call:
            case ast.Call(func=ast.Attribute(attr="add_argument")):
                argument = argument or _required(call)
            case ast.Call(func=ast.Attribute(attr="parse_args" | "parse_known_args"), args=[], keywords=[]):
                line = line or call.lineno
    if not line or not argument:
        return ""
    return f"reads the command line when it is imported (line {line}) and requires {argument}"


def _required(call: ast.Call) -> str:
    values = [getattr(argument, "value", None) for argument in call.args]
    names = [value for value in values if isinstance(value, str)]
    options = {keyword.arg: getattr(keyword.value, "value", None) for keyword in call.keywords}
    if not names:
        return ""
    if names[0].startswith("-"):
        return names[-1] if options.get("required") is True else ""
    return "" if options.get("nargs") in ("?", "*") else names[0]


def program_on_import(tree: ast.Module) -> ast.stmt | None:
    """Return the statement that runs a file's program when the file is imported, as ``evaluate(parse_args())``.

    That is a call whose result is dropped of ``main`` or of what reads the command line, directly or through functions
    of the file; a call of a function of the file in a loop over a range; a loop with a progress bar; the loading of
    weights. Statements under an ``if`` do not count.
    """
    own = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    starting = {"main", "parse_args", "parse_known_args"}
    while found := {name for name, node in own.items() if name not in starting and starting & _called(node)}:
        starting |= found
    for statement, in_loop in _unconditional(tree.body, in_loop=False):
        match statement:
            case ast.For(iter=ast.Call(func=function)) if last_name(function) in ("tqdm", "trange"):
                return statement
            case ast.Assign(value=ast.Call(func=function)) if last_name(function) == "from_pretrained":
                return statement
            case ast.Expr(value=ast.Call(func=function, args=arguments)):
                handed_over = {last_name(argument) for argument in arguments} & starting
                if starting & _called(statement) or (handed_over and last_name(function) in _RUNNERS):
                    return statement
                if in_loop and isinstance(function, ast.Name) and function.id in own:
                    return statement
    return None


def _called(node: ast.AST) -> set[str]:
    return {last_name(call.func) for call in each(node, ast.Call)}


def _unconditional(statements: Iterable[ast.stmt], *, in_loop: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements that always run, inner ones too, and whether they are in a loop."""
    for statement in statements:
        yield statement, in_loop
        match statement:
            case ast.For(iter=iterable, body=body):
                # A loop over names or functions registers something: 8 of 8,234 library files, each a false alarm.
                counts = isinstance(iterable, ast.Call) and last_name(iterable.func) in ("range", "trange")
                yield from _unconditional(body, in_loop=in_loop or counts)
            case ast.While(body=body):
                yield from _unconditional(body, in_loop=True)
            case ast.With(body=body):
                yield from _unconditional(body, in_loop=in_loop)
            case ast.Try():
                inner = [*statement.body, *statement.orelse, *statement.finalbody]
                yield from _unconditional(inner, in_loop=in_loop)


def set_at_run_time(tree: ast.Module, function: ast.AST) -> tuple[str, ...]:
    """Return the globals that a function or its callees in the file read and importing the file does not set.

    Examples are ``args``, parsed below ``if __name__ == "__main__"``, and what a function rebinds by ``global``.
    """
    imported = set(bindings(running(tree.body, as_script=False)))
    if "*" in imported:
        return ()
    rebound = {name for node in each(tree, ast.Global) for name in node.names}
    return tuple(sorted(set(globals_read(tree, function)) - (imported - rebound)))


def globals_read(tree: ast.Module, function: ast.AST) -> tuple[str, ...]:
    """Return the globals that a function or its callees in the file read, but for those that every module has."""
    return tuple(sorted(_global_names(tree, function) - {*dir(builtins), *MODULE_NAMES}))


def python_2_names(tree: ast.Module, function: ast.AST) -> tuple[str, ...]:
    """Return the builtins of Python 2 that a function, or its callees in the file, use and the file does not bind.

    () where the file asks for Python's version.
    """
    used = _global_names(tree, function) & PYTHON_2
    if not used:
        return ()
    bound = set(bindings(walk(tree)))
    attributes = {node.attr for node in each(tree, ast.Attribute)}
    if "*" in bound or _VERSIONS & (bound | attributes):
        return ()
    return tuple(sorted(used - bound))


def _global_names(tree: ast.Module, function: ast.AST) -> set[str]:
    """Return the names that a function and its callees in the file use and do not bind themselves."""
    used: set[str] = set()

    def called(node: ast.AST) -> set[str]:
        stated = {name for statement in each(node, ast.Global) for name in statement.names}
        bound = set(bindings(walk(node))) - stated
        read = {name.id for name in each(node, ast.Name) if isinstance(name.ctx, ast.Load)}
        read |= {root_name(statement.target) for statement in each(node, ast.AugAssign)}
        used.update(read - bound)
        return (read - bound) | {attribute.attr for attribute in each(node, ast.Attribute)}

    _with_callees(function, tree, called)
    return used


def gpu_lines(function: ast.AST, tree: ast.AST) -> list[int]:
    """Return the lines of a function that insist on a GPU: ``x.cuda()``, the device ``"cuda"``, ``torch.cuda.Stream``.

    Lines of the functions of its file that it calls are added. There are none where it asks whether there is a GPU;
    a text that is compared or chosen between does not count, nor does a default.
    """
    lines: set[int] = set()

    def called(function: ast.AST) -> set[str]:
        nodes = [node for statement in getattr(function, "body", ()) for node in ast.walk(statement)]
        functions = [node.func for node in nodes if isinstance(node, ast.Call)]
        if not _asks(nodes):
            lines.update(_gpu_lines(nodes))
        by_name = [
            node for node in functions if isinstance(node, ast.Name) or root_name(node) in ("self", "cls")
        ]
        return {last_name(node) for node in by_name}

    _with_callees(function, tree, called)
    return sorted(lines)


def lines_on_gpu(function: ast.AST) -> set[int]:
    """Return the lines that run only for a tensor on a GPU: those below ``if x.is_cuda``."""
    lines = set[int]()
    for node in each(function, ast.If):
        if isinstance(node.test, ast.Attribute) and node.test.attr == "is_cuda":
            lines.update(range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1))
    return lines


def _asks(nodes: list[ast.AST]) -> bool:
    """Return True where a function asks for a GPU or a tensor's device; an ``assert`` does not ask."""
    asking = {node for node in nodes if isinstance(node, ast.Attribute | ast.Name)}
    for demand in nodes:
        if isinstance(demand, ast.Assert):
            asking.difference_update(ast.walk(demand))
    return not {"is_available", "is_cuda"}.isdisjoint(map(last_name, asking))


def _gpu_lines(nodes: list[ast.AST]) -> Iterator[int]:
    chosen: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Compare):
            chosen.update((node.left, *node.comparators))
        elif isinstance(node, ast.IfExp):
            chosen.update((*ast.walk(node.body), *ast.walk(node.orelse)))
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr="cuda")):
                yield node.lineno
            case ast.Call(func=ast.Attribute(value=of, attr=name)) if last_name(of) == "cuda":
                if _NEEDS_GPU.fullmatch(name):
                    yield node.lineno
            case ast.Constant(value=str(text)) if node not in chosen and _GPU.fullmatch(text):
                yield node.lineno
