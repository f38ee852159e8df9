"""Statements that nobody can notice: whose result nobody reads, that only log, or that nothing reaches."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from lmr_author.proof.evaluation.mutants.function import WORDS, called
from lmr_author.proof.evaluation.mutants.operators import OPPOSITES

_PURE = (
    WORDS["pure"] | WORDS["passed_through"] | WORDS["reductions"] | WORDS["commutative"] | OPPOSITES.keys()
)
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_BLOCKS = ("body", "orelse", "finalbody")


def prune(tree: ast.AST) -> None:
    """Remove them from every block, and what is left without a reader then."""
    while _prune(tree) or _drop_idle(tree):
        pass


def _prune(tree: ast.AST) -> bool:
    """Remove statements that do nothing from every block, once; return whether there were any."""
    unread = _unread(tree)
    changed = False
    for node, field, block in list(_blocks(tree)):
        kept = list(_kept(block, unread))
        changed |= kept != block
        setattr(node, field, kept)
        _mark_filled(kept)
    return changed


def _blocks(tree: ast.AST) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    """Yield (node, field, statements) of every block."""
    for node in ast.walk(tree):
        for field in _BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield node, field, block


def _drop_idle(tree: ast.AST) -> bool:
    """Take the calls of inner functions away that at most log; return whether there were any."""
    inner = {node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_idle(node.body)}
    names = {function.name for function in inner if _only_called(tree, function.name)}
    dropped = False
    for node, field, block in list(_blocks(tree)):
        kept = [statement for statement in block if not _defines_or_calls(statement, names)]
        dropped |= kept != block
        setattr(node, field, kept)
    return dropped


def _is_idle(block: Sequence[ast.stmt]) -> bool:
    """Return whether statements at most return None, on conditions that only compute."""
    for statement in block:
        match statement:
            case ast.Pass() | ast.Return(value=None):
                continue
            case ast.If() if is_pure(statement.test) and _is_idle([*statement.body, *statement.orelse]):
                continue
        return False
    return True


def _only_called(tree: ast.AST, name: str) -> bool:
    """Return whether a function is only called, by statements of their own with arguments that only compute."""
    nodes = list(ast.walk(tree))
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    calls = [node for node in nodes if isinstance(node, ast.Expr) and _defines_or_calls(node, {name})]
    return len(uses) == len(calls)


def _defines_or_calls(statement: ast.AST, names: Collection[str]) -> bool:
    match statement:
        case ast.FunctionDef():
            return statement.name in names
        case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call) if name in names:
            return all(map(is_pure, [*call.args, *(word.value for word in call.keywords)]))
    return False


def _kept(block: Sequence[ast.stmt], unread: Callable[[str], bool]) -> Iterator[ast.stmt]:
    for number, statement in enumerate(block, 1):
        if isinstance(statement, ast.If) and isinstance(statement.test, ast.Constant):
            yield from statement.body if statement.test.value else statement.orelse
        elif not _is_empty(statement) and not _is_dead(statement, block[number:], unread):
            yield statement
        if isinstance(statement, _ENDS):
            return


def _is_empty(statement: ast.stmt) -> bool:
    """Return whether a statement has nothing left in it: all that it did was to log."""
    match statement:
        case ast.If():
            return not statement.body and not statement.orelse and is_pure(statement.test)
        case ast.For():
            return not statement.body and not statement.orelse and is_pure(statement.iter)
    return isinstance(statement, ast.Pass)


def _is_dead(statement: ast.stmt, rest: Sequence[ast.stmt], unread: Callable[[str], bool]) -> bool:
    """Return whether nobody reads what a statement binds or appends, or it is bound anew before."""
    if name := _appended_to(statement):
        return unread(name)
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return False
    names = _names_bound(statement)
    if statement.value is None or names is None or not is_pure(statement.value):
        return False
    if all(map(unread, names)):
        return True
    after = _next_mention(rest, names)
    if isinstance(statement, ast.AugAssign) or not isinstance(after, ast.Assign):
        return False
    return list(map(ast.unparse, after.targets)) == names and not _mentions(after.value, names)


def _names_bound(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[str] | None:
    """Return the names that an assignment binds; None when it binds anything else."""
    targets = list(statement.targets) if isinstance(statement, ast.Assign) else [statement.target]
    names = []
    for target in targets:
        for part in target.elts if isinstance(target, ast.Tuple) else [target]:
            if not isinstance(part, ast.Name):
                return None
            names.append(part.id)
    return names


def _appended_to(statement: ast.AST) -> str:
    """Return the name of the list that a statement does nothing but append to; "" for any other statement."""
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(attr="append" | "extend", value=ast.Name(id=name))) as call
        ):
            return name if all(map(is_pure, call.args)) else ""
    return ""


def _mark_filled(block: Sequence[ast.stmt]) -> None:
    """Give buffers one name whatever they hold at first, where all of it is written before it is read."""
    for number, statement in enumerate(block, 1):
        if isinstance(statement, ast.Assign) and called(statement.value) in WORDS["buffers"]:
            name = ast.unparse(statement.targets[0])
            after = _next_mention(block[number:], [name])
            if after is not None and _fills(after, name, ast.unparse(statement.value)):
                assert isinstance(statement.value, ast.Call)
                statement.value.func = marked("buffer")


def _next_mention(statements: Iterable[ast.stmt], names: Sequence[str]) -> ast.stmt | None:
    return next((statement for statement in statements if _mentions(statement, names)), None)


def _fills(statement: ast.stmt, name: str, made: str) -> bool:
    """Return whether a statement writes every element of a buffer, as ``for i in range(n): name[i] = …`` does."""
    match statement:
        case ast.Assign():
            return ast.unparse(statement.targets[0]) in (f"{name}[:]", f"{name}[...]")
        case ast.Expr(value=ast.Call(func=function) as call):
            if called(call) not in WORDS["overwriting"] or ast.unparse(function).rpartition(".")[0] != name:
                return False
            return not any(_mentions(given, [name]) for given in (*call.args, *call.keywords))
        case ast.For(iter=ast.Call(args=[size])) if called(statement.iter) in ("range", "enumerate"):
            length = ast.unparse(size).removeprefix("len(").removesuffix(")")
            return length in made and _stores_each(statement, name)
    return False


def _stores_each(loop: ast.For, name: str) -> bool:
    """Return whether a loop stores the element of each step before anything else is done with the buffer."""
    counter = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
    first = _next_mention(loop.body, [name])
    if not isinstance(first, ast.Assign) or _mentions(first.value, [name]):
        return False
    return ast.unparse(first.targets[0]) == f"{name}[{ast.unparse(counter)}]"


def _unread(tree: ast.AST) -> Callable[[str], bool]:
    """Return a test for local names that nobody reads; counters that are only counted are not read."""
    read, kept, changed = set[str](), set[str](), set[str]()
    lists = _own_lists(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if not isinstance(node.ctx, ast.Store):
                read |= {name} - lists
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                read.update(names)
            case ast.Assign(targets=targets) if not isinstance(node.value, ast.Constant):
                kept.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.arg(arg=name):
                kept.add(name)
            case ast.AugAssign(target=ast.Name(id=name)):
                changed.add(name)
    # `x += y` of what may be another object's alias changes that object.
    read |= changed & kept
    if read & {"eval", "exec", "locals", "vars", "dir"}:
        return lambda name: False
    return lambda name: name not in read


def _own_lists(tree: ast.AST) -> set[str]:
    """Return the local names of lists that begin empty, and to which is only ever appended."""
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    appended = Counter(filter(None, map(_appended_to, ast.walk(tree))))
    made: Counter[str] = Counter()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=ast.List(elts=[])):
                made.update(target.id for target in targets if isinstance(target, ast.Name))
    return {name for name in made if uses[name] == appended[name] + made[name]}


def _mentions(node: ast.AST, names: Sequence[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def is_pure(node: ast.AST) -> bool:
    """Return whether an expression only computes, as far as the names of what it calls tell."""
    for part in ast.walk(node):
        if isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if isinstance(part, ast.Call) and called(part) not in _PURE:
            return False
    return True


def marked(kind: str) -> ast.expr:
    """Return a name that stands for all values of a kind."""
    return ast.Name(f"<{kind}>", ast.Load())
