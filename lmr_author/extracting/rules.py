"""What a block may not hold because it would mean something else in a function of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from lmr_author.errors import TargetError
from lmr_author.extracting import events
from lmr_author.extracting.events import SEES_ALL, SEES_LOCALS
from lmr_author.extracting.selection import Block, is_docstring

FRAME_READERS = frozenset({"_getframe", "currentframe", "stack", "getouterframes"})
"""Functions of ``sys`` and ``inspect`` that look at the calling function."""

FRAME_MODULES = frozenset({"sys", "inspect"})


@dataclass(frozen=True)
class Control:
    """How a block is left, and what its function has to be.

    Attributes:
        returns: it holds a ``return``, and leaving it always leaves the function around it.
        yields: it holds a ``yield``: the function becomes a generator.
        awaits: it holds an ``await``: the function becomes a coroutine.
        needs_class: what in it means something only inside the class: ``super()``, ``__private``; or "".
    """

    returns: bool
    yields: bool
    awaits: bool
    needs_class: str


def check(block: Block, bound_in_module: frozenset[str]) -> Control:
    """Refuse what cannot be moved. Raises TargetError with the line, the reason and what to do."""
    if isinstance(block.scope, ast.ClassDef):
        _refuse(
            block, "is the body of a class, where every name becomes an attribute", "choose a method of it"
        )
    if any(is_docstring(block.suite, item) for item in block.statements):
        _refuse(block, "begins with a docstring, which stays where it is", "leave the docstring out")
    inside = list(_own_nodes(block.statements))
    _refuse_statements(block, inside)
    _refuse_calls(block, bound_in_module)
    _refuse_jumps(block.statements, block)
    yields = [node for node in inside if isinstance(node, ast.Yield | ast.YieldFrom)]
    is_async = isinstance(block.scope, ast.AsyncFunctionDef)
    awaits = is_async and any(_awaits(node) for node in inside)
    returns = any(isinstance(node, ast.Return) for node in inside)
    if yields and is_async:
        raise _at(
            yields[0],
            "an asynchronous generator cannot delegate its `yield`",
            "leave the yield out of the range",
        )
    return Control(returns, bool(yields), awaits, _needs_class(block))


def check_returns(block: Block, *, reaches_end: bool) -> None:
    """A block with a return is fine when leaving it always leaves the function around it as well.

    Args:
        block: with or without a return.
        reaches_end: whether some way through the block comes to its end.

    Raises TargetError.
    """
    scope = block.scope
    returns = [node for node in _own_nodes(block.statements) if isinstance(node, ast.Return)]
    if not returns:
        return
    assert isinstance(scope, events.Function)
    if isinstance(scope, ast.AsyncFunctionDef) and any(
        isinstance(n, ast.Yield) for n in _own_nodes(scope.body)
    ):
        raise _at(
            returns[0], "an asynchronous generator cannot return a value", "leave the return out of the range"
        )
    if reaches_end and not _at_the_end(block):
        raise _at(
            returns[0],
            "`return` leaves the function around the block on some ways only",
            "extend the range to the end of the function, or leave the return out",
        )


def _own_nodes(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Every node that runs as part of some statements: not the bodies of functions and lambdas in them."""
    stack: list[ast.AST] = list(reversed(statements))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, events.Function | ast.Lambda):
            now = [*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults]
            stack += [item for item in now if item is not None]
        else:
            stack += reversed(list(ast.iter_child_nodes(node)))


def _refuse_statements(block: Block, inside: list[ast.AST]) -> None:
    at_top = isinstance(block.scope, ast.Module)
    for node in inside:
        match node:
            case ast.ImportFrom(module="__future__"):
                raise _at(node, "`from __future__` belongs at the top of a file", "leave it out of the range")
            case ast.ImportFrom() if any(alias.name == "*" for alias in node.names):
                raise _at(node, "`import *` is not allowed in a function", "leave it out of the range")
            case ast.Nonlocal():
                raise _at(
                    node,
                    "`nonlocal` binds names of the function around it",
                    "leave its names out of the range",
                )
            case ast.Global() if at_top:
                raise _at(node, "`global` changes its meaning in a function", "leave it out of the range")
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if at_top:
                raise _at(
                    node,
                    f"the block defines {node.name}, which could not be imported or pickled any more",
                    "leave definitions out of the range",
                )


def _refuse_calls(block: Block, bound_in_module: frozenset[str]) -> None:
    """Refuse what looks at the calling function's variables, in functions of the block too."""
    special = (SEES_ALL | SEES_LOCALS) - bound_in_module
    for node in (node for item in block.statements for node in ast.walk(item)):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in special:
            name = node.func.id
            if name in SEES_ALL or name == "locals" or not (node.args or node.keywords):
                raise _at(
                    node,
                    f"`{name}()` would see the variables of another function",
                    "leave it out of the range",
                )
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in FRAME_READERS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id in FRAME_MODULES
        ):
            raise _at(
                node, f"`{ast.unparse(node.func)}` looks at the calling function", "leave it out of the range"
            )


def _refuse_jumps(statements: Sequence[ast.stmt], block: Block) -> None:
    """Refuse a break or continue whose loop is not in the block."""
    for statement in statements:
        if isinstance(statement, ast.Break | ast.Continue):
            word = type(statement).__name__.lower()
            raise _at(
                statement,
                f"`{word}` leaves the block",
                "extend the range over the whole loop, or end it earlier",
            )
        if isinstance(statement, events.Function | ast.ClassDef):
            continue
        loop = isinstance(statement, ast.For | ast.AsyncFor | ast.While)
        for name in ("body", "orelse", "finalbody"):
            if not (loop and name == "body"):
                _refuse_jumps(getattr(statement, name, ()), block)
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            _refuse_jumps(part.body, block)


def _at_the_end(block: Block) -> bool:
    """Whether the function around a block has nothing left to do behind it."""
    last, suite = block.statements[-1], block.suite
    owners = list(suite.owners)
    siblings, field = suite.statements, suite.field
    while last is siblings[-1]:
        owner = owners.pop()
        if isinstance(owner, events.Function):
            return True
        if isinstance(owner, ast.ExceptHandler | ast.match_case):
            field, owner = "handlers", owners.pop()
        if isinstance(owner, ast.For | ast.AsyncFor | ast.While) and field == "body":
            return False
        if isinstance(owner, ast.Try | ast.TryStar) and (
            field == "finalbody" or (field == "body" and owner.orelse)
        ):
            return False
        assert isinstance(owner, ast.stmt)
        last = owner
        siblings, field = _siblings(owner, owners[-1])
    return False


def _siblings(statement: ast.stmt, owner: ast.AST) -> tuple[list[ast.stmt], str]:
    """The suite of a direct owner that holds a statement, and its name."""
    for field in ("body", "orelse", "finalbody"):
        found = getattr(owner, field, None)
        if isinstance(found, list) and any(item is statement for item in found):
            return found, field
    raise AssertionError("a statement stands in a suite of its owner")


def _awaits(node: ast.AST) -> bool:
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp):
        return any(item.is_async for item in node.generators)
    return isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith)


def _needs_class(block: Block) -> str:
    """What in the block has its meaning only inside of the class, or ""."""
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


def _at(node: ast.AST, reason: str, todo: str) -> TargetError:
    return TargetError(f"line {getattr(node, 'lineno', '?')}: {reason}", todo)


def _refuse(block: Block, reason: str, todo: str) -> NoReturn:
    raise TargetError(f"lines {block.start}-{block.end}: this {reason}", todo)
