"""Reject answers whose meaning depends on more than the function's body: only the body is spliced into the task."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from lmr_author.core.code import (
    Definition,
    FunctionNode,
    Module,
    bindings,
    each,
    is_main_guard,
    parameters,
    root_name,
    walk,
)
from lmr_author.proof.evaluation.candidates.reply import AnswerReply, Block, InvalidAnswer, flat

_INNER = (
    FunctionNode | ast.ClassDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
)


def own_nodes(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of statements, except those inside functions, classes and comprehensions."""
    stack = list(statements)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _INNER):
            stack.extend(ast.iter_child_nodes(node))


def require_last(reply: AnswerReply, block: Block, function: FunctionNode, name: str) -> None:
    """Reject a function of a block if the reply continues with unreadable code or with lines that change it.

    Args:
        name: the function's name; "" for a body alone.
    """
    number = reply.blocks.index(block)
    for unread in reply.unread:
        if unread.name == name and unread.number > number:
            raise InvalidAnswer(unread.message)
    for later in reply.blocks[number + 1 :]:
        if line := _changed_line(later, block, function, name):
            raise InvalidAnswer(f"the answer changes its code later, but not clearly where: {line!r}")


def _changed_line(later: Block, block: Block, function: FunctionNode, name: str) -> str:
    nodes = list(own_nodes(later.statements))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    if name in used or any(isinstance(node, FunctionNode | ast.ClassDef) for node in nodes):
        return ""
    bound = {node.id for node in each(function, ast.Name) if isinstance(node.ctx, ast.Store)}
    known = {node.id for node in each(function, ast.Name)} | {node.arg for node in each(function, ast.arg)}
    is_return = any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in nodes)
    is_step = bool(bound & set(bindings(nodes))) and used <= known | set(vars(builtins))
    if not (is_return or is_step):
        return ""
    there = {line.strip() for line in block.module.text.split("\n")}
    lines = [line.strip() for line in later.module.text.split("\n") if line.strip() not in ("if True:", "")]
    new = [line for line in lines if line not in there and "NotImplementedError" not in line]
    return next(iter(new), "")


def require_same_header(target: Definition, own: Definition) -> None:
    """Reject a function whose parameters, defaults or kind (async) differ from the task's."""
    if isinstance(target.node, ast.AsyncFunctionDef) != isinstance(own.node, ast.AsyncFunctionDef):
        raise InvalidAnswer(f"{own.name} is async in only one of answer and task")
    ours, theirs = target.function.args, own.function.args
    given, defaults = _defaults(ours), _defaults(theirs)
    for name, default in defaults.items():
        if name in given and ast.unparse(given[name]) != ast.unparse(default):
            raise InvalidAnswer(f"the answer changes the default of {name}: {ast.unparse(default)[:60]}")
    by_place = [each.arg for each in (*theirs.posonlyargs, *theirs.args)]
    moved = {each.arg for each in theirs.kwonlyargs}
    wanted = [each.arg for each in (*ours.posonlyargs, *ours.args) if each.arg not in moved]
    is_called_alike = set(_names(ours)) <= set(_names(theirs)) and by_place[: len(wanted)] == wanted
    if not is_called_alike or any(value is None for value in added_parameters(target, own).values()):
        signature = f"({ast.unparse(theirs)}) instead of ({ast.unparse(ours)})"
        raise InvalidAnswer(f"the answer changes the signature of {own.name}: {signature}")


def added_parameters(target: Definition, own: Definition) -> dict[str, ast.expr | None]:
    theirs = own.function.args
    values: dict[str, ast.expr | None] = dict.fromkeys(_names(theirs))
    values |= _defaults(theirs)
    if theirs.vararg:
        values[theirs.vararg.arg] = ast.Tuple([], ast.Load())
    if theirs.kwarg:
        values[theirs.kwarg.arg] = ast.Dict([], [])
    return {name: value for name, value in values.items() if name not in _names(target.function.args)}


def new_decorators(target: Definition, own: Definition) -> list[str]:
    """Return the decorators that an answer adds above the task's; raise InvalidAnswer for one below them."""
    wanted, written = (list(map(ast.unparse, part.node.decorator_list)) for part in (target, own))
    added = [decorator for decorator in written if decorator not in wanted]
    if added != written[: len(added)]:
        raise InvalidAnswer(f"the answer adds a decorator below those of {own.name}: @{added[-1][:60]}")
    return added


def _names(arguments: ast.arguments) -> list[str]:
    return [node.arg for node in ast.iter_child_nodes(arguments) if isinstance(node, ast.arg)]


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    return {parameter.arg: value for parameter, value in parameters(arguments) if value}


def require_not_bound_again(
    reply: AnswerReply, block: Block, own: Definition, target: Definition, goal: Module
) -> None:
    """Reject a function that is defined conditionally, or whose name is bound again after it.

    Bindings that the goal file has as well are allowed.
    """
    if target.node in _plain(goal.tree.body) and own.node not in _plain(block.statements):
        raise InvalidAnswer(f"the answer defines {target.name} conditionally")
    owner, scope = target.class_name.rpartition(".")[2], own.class_name.rpartition(".")[2]
    same = set(map(ast.dump, _plain(goal.tree.body)))
    number = reply.blocks.index(block)
    for position, later in enumerate(reply.blocks[number:]):
        for around, statement in _scoped(later):
            if position == 0 and statement.lineno <= (own.node.end_lineno or 0):
                continue
            if ast.dump(statement) in same or is_main_guard(statement):
                continue
            if _binds(statement, target, owner, is_scope=around in {owner, scope}):
                raise InvalidAnswer(f"the answer binds {target.name} again: {ast.unparse(statement)[:60]!r}")


def _plain(statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    result = []
    for statement in flat(statements):
        result.append(statement)
        if isinstance(statement, FunctionNode | ast.ClassDef):
            result += _plain(statement.body)
    return result


def _scoped(block: Block) -> Iterator[tuple[str, ast.stmt]]:
    for statement in block.statements:
        yield "", statement
        if isinstance(statement, ast.ClassDef):
            for inner in walk(statement):
                if isinstance(inner, ast.ClassDef):
                    yield from ((inner.name, member) for member in inner.body)


def _binds(statement: ast.stmt, target: Definition, owner: str, *, is_scope: bool) -> bool:
    if isinstance(statement, FunctionNode):
        return False
    nodes = list(own_nodes([statement]))
    if is_scope and target.name in bindings(nodes):
        return True
    for node in nodes:
        match node:
            case ast.Attribute(attr=target.name, ctx=ast.Store() | ast.Del()) if root_name(node) == owner:
                return True
            case ast.Call(
                func=ast.Name(id="setattr" | "delattr"), args=[_, ast.Constant(value=target.name), *_]
            ):
                return True
            case ast.Subscript(
                value=ast.Call(), slice=ast.Constant(value=target.name), ctx=ast.Store() | ast.Del()
            ):
                return True
    return False
