"""Code that a block may not contain, because it would mean something else in a function of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from lmr_author.errors import TargetError
from lmr_author.extracting import events
from lmr_author.extracting.events import SEES_ALL, SEES_LOCALS
from lmr_author.extracting.selection import SelectedBlock, is_docstring

FRAME_READERS = frozenset(
    f"{module}.{name}"
    for module in ("sys", "inspect")
    for name in ("_getframe", "currentframe", "stack", "getouterframes")
)
"""Functions that look at the calling function."""

LEAVE_OUT = "leave it out of the range"
Loop = ast.For | ast.AsyncFor | ast.While


@dataclass(frozen=True)
class Control:
    """The ways in which a block is left, and what its function has to be.

    Attributes:
        returns: it holds a ``return``, and leaving it always leaves the function around it.
        yields: it holds a ``yield``: the function becomes a generator.
        awaits: it holds an ``await``: the function becomes a coroutine.
        needs_class: an expression in it that means something only inside the class, as ``super()``; or "".
    """

    returns: bool
    yields: bool
    awaits: bool
    needs_class: str


def check(block: SelectedBlock, bound_in_module: frozenset[str]) -> Control:
    """Refuse what cannot be moved. Raises TargetError with the line, the reason and a remedy."""
    lines = f"lines {block.start}-{block.end}: this"
    if isinstance(block.scope, ast.ClassDef):
        raise TargetError(
            f"{lines} is the body of a class, where every name becomes an attribute", "choose a method of it"
        )
    if any(is_docstring(block.suite, item) for item in block.statements):
        raise TargetError(
            f"{lines} begins with a docstring, which stays where it is", "leave the docstring out"
        )
    inside = list(_own_nodes(block.statements))
    at_top = isinstance(block.scope, ast.Module)
    for node in inside:
        _refuse_statement(node, at_top=at_top)
    for node in (node for item in block.statements for node in ast.walk(item)):
        _refuse_call(node, bound_in_module)
    _refuse_jumps(block.statements)
    is_async = isinstance(block.scope, ast.AsyncFunctionDef)
    yields = [node for node in inside if isinstance(node, ast.Yield | ast.YieldFrom)]
    if yields and is_async:
        _refuse(
            yields[0],
            "an asynchronous generator cannot delegate its `yield`",
            "leave the yield out of the range",
        )
    returns = any(isinstance(node, ast.Return) for node in inside)
    awaits = is_async and any(_awaits(node) for node in inside)
    return Control(returns, bool(yields), awaits, _needs_class(block))


def check_returns(block: SelectedBlock, *, reaches_end: bool) -> None:
    """Accept a block with a return only when leaving it always leaves the function around it as well.

    Args:
        reaches_end: some way through the block comes to its end.

    Raises TargetError.
    """
    scope = block.scope
    returns = [node for node in _own_nodes(block.statements) if isinstance(node, ast.Return)]
    if not returns:
        return
    yields = isinstance(scope, ast.AsyncFunctionDef) and any(
        isinstance(node, ast.Yield) for node in _own_nodes(scope.body)
    )
    if yields:
        _refuse(
            returns[0], "an asynchronous generator cannot return a value", "leave the return out of the range"
        )
    if reaches_end and not _at_the_end(block):
        _refuse(
            returns[0],
            "`return` leaves the function around the block on some ways only",
            "extend the range to the end of the function, or leave the return out",
        )


def _own_nodes(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes that run as part of some statements: not the bodies of functions and lambdas in them."""
    stack: list[ast.AST] = list(reversed(statements))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, events.Function | ast.Lambda):
            now = [*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults]
            stack += [item for item in now if item is not None]
        else:
            stack += reversed(list(ast.iter_child_nodes(node)))


def _refuse_statement(node: ast.AST, *, at_top: bool) -> None:
    match node:
        case ast.ImportFrom(module="__future__"):
            _refuse(node, "`from __future__` belongs at the top of a file", LEAVE_OUT)
        case ast.ImportFrom() if any(alias.name == "*" for alias in node.names):
            _refuse(node, "`import *` is not allowed in a function", LEAVE_OUT)
        case ast.Nonlocal():
            _refuse(
                node, "`nonlocal` binds names of the function around it", "leave its names out of the range"
            )
        case ast.Global() if at_top:
            _refuse(node, "`global` changes its meaning in a function", LEAVE_OUT)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if at_top:
            _refuse(
                node,
                f"the block defines {node.name}, which could not be imported or pickled any more",
                "leave definitions out of the range",
            )


def _refuse_call(node: ast.AST, bound_in_module: frozenset[str]) -> None:
    """Refuse calls that look at the calling function's variables."""
    if not isinstance(node, ast.Call):
        return
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    bare = name == "locals" or not (node.args or node.keywords)
    if name not in bound_in_module and (name in SEES_ALL or (name in SEES_LOCALS and bare)):
        _refuse(node, f"`{name}()` would see the variables of another function", LEAVE_OUT)
    if isinstance(node.func, ast.Attribute) and ast.unparse(node.func) in FRAME_READERS:
        _refuse(node, f"`{ast.unparse(node.func)}` looks at the calling function", LEAVE_OUT)


def _refuse_jumps(statements: Sequence[ast.stmt]) -> None:
    """Refuse a break or continue whose loop is not in the block."""
    for statement in statements:
        if isinstance(statement, ast.Break | ast.Continue):
            word = type(statement).__name__.lower()
            _refuse(
                statement,
                f"`{word}` leaves the block",
                "extend the range over the whole loop, or end it earlier",
            )
        if isinstance(statement, events.Function | ast.ClassDef):
            continue
        for name in ("body", "orelse", "finalbody"):
            if name != "body" or not isinstance(statement, Loop):
                _refuse_jumps(getattr(statement, name, ()))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            _refuse_jumps(part.body)


def _at_the_end(block: SelectedBlock) -> bool:
    """Return whether the function around a block has nothing left to do behind it."""
    inner: ast.AST = block.statements[-1]
    for owner in reversed(block.suite.owners):
        suites = {name: getattr(owner, name, None) for name in ("body", "orelse", "finalbody")}
        field, suite = next(
            ((name, suite) for name, suite in suites.items() if isinstance(suite, list) and inner in suite),
            ("", [inner]),  # an `except` or `case` in its statement
        )
        if suite[-1] is not inner:
            return False
        if isinstance(owner, events.Function):
            return True
        if isinstance(owner, Loop) and field == "body":
            return False
        if isinstance(owner, ast.Try | ast.TryStar) and (
            field == "finalbody" or (field == "body" and owner.orelse)
        ):
            return False
        inner = owner
    return False


def _awaits(node: ast.AST) -> bool:
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
        return any(item.is_async for item in node.generators)
    return isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)


def _needs_class(block: SelectedBlock) -> str:
    """Return an expression of the block that has its meaning only inside of the class, or ""."""
    if not any(isinstance(item, ast.ClassDef) for item in block.scopes):
        return ""
    for node in (node for item in block.statements for node in ast.walk(item)):
        if isinstance(node, ast.Call) and not node.args and ast.unparse(node.func) == "super":
            return "super()"
        if isinstance(node, ast.Name) and node.id == "__class__":
            return "__class__"
        for name in (getattr(node, "attr", ""), getattr(node, "id", ""), getattr(node, "arg", "")):
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                return name
    return ""


def _refuse(node: ast.AST, reason: str, remedy: str) -> NoReturn:
    raise TargetError(f"line {getattr(node, 'lineno', '?')}: {reason}", remedy)
