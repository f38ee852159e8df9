"""Statements that nobody can notice: whose result nobody reads, that only log, or that nothing reaches."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from lmr_author.proof.evaluation.mutants.names import WORDS, called
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
    for node in list(ast.walk(tree)):
        for field in _BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list):
                kept = list(_kept(block, unread))
                changed |= kept != block
                setattr(node, field, kept)
                _mark_filled(kept)
    return changed


def _drop_idle(tree: ast.AST) -> bool:
    """Take the calls of inner functions away that at most log; return whether there were any."""
    inner = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and _is_idle(node.body) and _only_called(tree, node.name)
    }
    dropped = False
    for node in ast.walk(tree):
        for field in _BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list):
                kept = [item for item in block if not _defines_or_calls(item, inner)]
                dropped |= kept != block
                setattr(node, field, kept)
    return dropped


def _is_idle(block: Sequence[ast.stmt]) -> bool:
    """Return whether statements at most return None, on conditions that only compute."""
    return all(
        isinstance(item, ast.Pass)
        or (isinstance(item, ast.Return) and item.value is None)
        or (isinstance(item, ast.If) and is_pure(item.test) and _is_idle([*item.body, *item.orelse]))
        for item in block
    )


def _only_called(tree: ast.AST, name: str) -> bool:
    """Return whether a function is only called, by statements of their own with arguments that only compute."""
    uses = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
    return uses == sum(
        _defines_or_calls(node, {name}) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    )


def _defines_or_calls(item: ast.AST, names: Collection[str]) -> bool:
    if isinstance(item, ast.FunctionDef):
        return item.name in names
    call = item.value if isinstance(item, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in names
        and all(map(is_pure, [*call.args, *(word.value for word in call.keywords)]))
    )


def _kept(block: Sequence[ast.stmt], unread: Callable[[str], bool]) -> Iterator[ast.stmt]:
    for place, item in enumerate(block):
        if isinstance(item, ast.If) and isinstance(item.test, ast.Constant):
            yield from item.body if item.test.value else item.orelse
        elif not (_is_empty(item) or _is_dead(item, block[place + 1 :], unread)):
            yield item
        if isinstance(item, _ENDS):
            return


def _is_empty(item: ast.stmt) -> bool:
    """Return whether a statement has nothing left in it: all that it did was to log."""
    blocks = [getattr(item, field) for field in _BLOCKS if hasattr(item, field)]
    if isinstance(item, ast.If | ast.For):
        return not any(blocks) and is_pure(item.test if isinstance(item, ast.If) else item.iter)
    return isinstance(item, ast.Pass)


def _is_dead(item: ast.stmt, rest: Sequence[ast.stmt], unread: Callable[[str], bool]) -> bool:
    """Return whether nobody reads what a statement binds or appends, or it is bound anew before."""
    if name := _appended_to(item):
        return unread(name)
    if not isinstance(item, ast.Assign | ast.AnnAssign | ast.AugAssign) or item.value is None:
        return False
    targets = item.targets if isinstance(item, ast.Assign) else [item.target]
    flat = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if not is_pure(item.value) or not all(isinstance(one, ast.Name) for one in flat):
        return False
    names = [one.id for one in flat if isinstance(one, ast.Name)]
    if all(map(unread, names)):
        return True
    after = next((other for other in rest if _mentions(other, names)), None)
    return (
        isinstance(after, ast.Assign)
        and not isinstance(item, ast.AugAssign)
        and [ast.unparse(one) for one in after.targets] == names
        and not _mentions(after.value, names)
    )


def _appended_to(item: ast.AST) -> str:
    """Return the name of the list that a statement does nothing but append to; "" for any other statement."""
    call = item.value if isinstance(item, ast.Expr) else None
    if not isinstance(call, ast.Call) or called(call) not in ("append", "extend"):
        return ""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner.id if isinstance(owner, ast.Name) and all(map(is_pure, call.args)) else ""


def _mark_filled(block: Sequence[ast.stmt]) -> None:
    """Give buffers one name whatever they hold at first, where all of it is written before it is read."""
    for place, item in enumerate(block):
        if isinstance(item, ast.Assign) and called(item.value) in WORDS["buffers"]:
            name = ast.unparse(item.targets[0])
            after = next((other for other in block[place + 1 :] if _mentions(other, [name])), None)
            if after is not None and _fills(after, name, ast.unparse(item.value)):
                assert isinstance(item.value, ast.Call)
                item.value.func = marked("buffer")


def _fills(statement: ast.stmt, name: str, made: str) -> bool:
    """Return whether a statement writes every element of a buffer, as ``for i in range(n): name[i] = …`` does."""
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) in (f"{name}[:]", f"{name}[...]")
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if called(call) not in WORDS["overwriting"] or ast.unparse(call.func).rpartition(".")[0] != name:
            return False
        return not any(_mentions(given, [name]) for given in (*call.args, *call.keywords))
    if not (isinstance(statement, ast.For) and called(statement.iter) in ("range", "enumerate")):
        return False
    assert isinstance(statement.iter, ast.Call)
    size = ast.unparse(statement.iter.args[0]) if len(statement.iter.args) == 1 else ""
    counter = statement.target.elts[0] if isinstance(statement.target, ast.Tuple) else statement.target
    stored = f"{name}[{ast.unparse(counter)}]"
    first = next((item for item in statement.body if _mentions(item, [name])), None)
    return (
        bool(size)
        and f"{size.removeprefix('len(').removesuffix(')')}" in made
        and isinstance(first, ast.Assign)
        and ast.unparse(first.targets[0]) == stored
        and not _mentions(first.value, [name])
    )


def _unread(tree: ast.AST) -> Callable[[str], bool]:
    """Return a test for local names that nobody reads; counters that are only counted are not read."""
    read, kept = set[str](), set[str]()
    lists = _own_lists(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            read.update({node.id} - lists)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            read.update(node.names)
        elif isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            kept.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.arg):
            kept.add(node.arg)
    # `x += y` of what may be another object's alias changes that object.
    changed = {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    read |= changed & kept
    if read & {"eval", "exec", "locals", "vars", "dir"}:
        return lambda name: False
    return lambda name: name not in read


def _own_lists(tree: ast.AST) -> set[str]:
    """Return the local names of lists that begin empty, and to which is only ever appended."""
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    appended = Counter(filter(None, map(_appended_to, ast.walk(tree))))
    made = Counter(
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and not node.value.elts
        for target in node.targets
        if isinstance(target, ast.Name)
    )
    return {name for name in made if uses[name] == appended[name] + made[name]}


def _mentions(node: ast.AST, names: Sequence[str]) -> bool:
    return any(isinstance(item, ast.Name) and item.id in names for item in ast.walk(node))


def is_pure(node: ast.AST) -> bool:
    """Return whether an expression only computes, as far as the names of what it calls tell."""
    return not any(
        isinstance(item, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr)
        or (isinstance(item, ast.Call) and called(item) not in _PURE)
        for item in ast.walk(node)
    )


def marked(kind: str) -> ast.expr:
    """Return a name that stands for all values of a kind."""
    return ast.Name(f"<{kind}>", ast.Load())
