"""What names stand for: the values that a scope gives them."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeGuard

from lmr_author.checks.syntax import dotted
from lmr_author.source import children, form, walk

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)

Scope = dict[str, tuple[ast.expr, int] | None]


def assigned(node: ast.AST, outer: Scope) -> Scope:
    """Names with exactly one assignment in a scope (functions inside left out), with those of the outer one."""
    values: dict[str, list[tuple[ast.expr, int] | None]] = {}
    own = own_nodes(node)
    simple: set[int] = set()
    for item in own:
        if not isinstance(item, ast.Assign) or len(item.targets) != 1:
            continue
        target = item.targets[0]
        parts = list(enumerate(target.elts)) if isinstance(target, ast.Tuple | ast.List) else [(-1, target)]
        for place, name in parts:
            if isinstance(name, ast.Name):
                simple.add(id(name))
                values.setdefault(name.id, []).append(_part(item.value, place))
    opened = {
        id(item.optional_vars): item.context_expr
        for statement in own
        if isinstance(statement, ast.With)
        for item in statement.items
        if item.optional_vars is not None
    }
    paired = {key: value for item in own if isinstance(item, _LOOPS) for key, value in _looped(item)}
    for item in own:
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store) and id(item) not in simple:
            context = opened.get(id(item), paired.get(id(item)))
            values.setdefault(item.id, []).append((context, -1) if context is not None else None)
        elif isinstance(item, ast.arg):
            values.setdefault(item.arg, []).append(None)
    # The value of ``self.expected`` is from elsewhere: there its names were other ones than those of this scope.
    hidden = {
        key: None for key, entry in outer.items() if "." in key and entry and values.keys() & _names(entry[0])
    }
    return outer | hidden | {name: _same(seen) for name, seen in values.items()}


def _names(node: ast.expr) -> set[str]:
    return {item.id for item in walk(node) if isinstance(item, ast.Name)} - {"self"}


def _looped(loop: ast.For | ast.AsyncFor | ast.comprehension) -> Iterator[tuple[int, ast.expr]]:
    """For each name of ``for a, b in zip(x, y)`` what stands for its value: ``x[0]``, ``y[0]``.

    For the name of ``for a in x`` it is ``x`` at this place: another loop over ``x`` may be at another of its values.
    """
    call, target = loop.iter, loop.target
    if isinstance(target, ast.Name):
        place = ast.Constant(f"{call.lineno}:{call.col_offset}")
        yield id(target), ast.Subscript(call, place, ast.Load())
    if isinstance(call, ast.Call) and dotted(call.func) == "zip" and isinstance(target, ast.Tuple):
        for name, values in zip(target.elts, call.args, strict=False):
            yield id(name), ast.Subscript(values, ast.Constant(0), ast.Load())


def _same(seen: list[tuple[ast.expr, int] | None]) -> tuple[ast.expr, int] | None:
    """The one value that a name is given, however often."""
    forms = {(form(one[0]), one[1]) if one else None for one in seen}
    return seen[0] if len(forms) == 1 else None


def _part(value: ast.expr, place: int) -> tuple[ast.expr, int]:
    if place >= 0 and isinstance(value, ast.Tuple | ast.List) and place < len(value.elts):
        return value.elts[place], -1
    return value, place


@lru_cache(maxsize=256)
def own_nodes(node: ast.AST) -> tuple[ast.AST, ...]:
    """Everything of a scope but what is in functions and classes inside of it, kept: it is asked for again."""
    found: list[ast.AST] = []
    stack = children(node)
    while stack:
        item = stack.pop()
        found.append(item)
        if not isinstance(item, _SCOPES):
            stack += children(item)
    return tuple(found)


class Latest:
    """What names stand for at a place that a scope assigns more than once: what the last line before it set them to.

    Lines that follow one another tell that. Where a branch or a loop sets a name, nothing can be told from there on,
    until the next such line.

    Attributes:
        now: these names, and ``None`` for those of which nothing can be told.
    """

    def __init__(self, node: ast.AST, scope: Scope) -> None:
        self._scope = scope
        lines = list(getattr(node, "body", ()))
        lines += [inner for line in lines if isinstance(line, ast.With) for inner in line.body]
        self._lines = {
            id(target) for line in lines if isinstance(line, ast.Assign) for target in line.targets
        }
        stored = [item for item in own_nodes(node) if _is_stored(item)]
        elsewhere = {name.id for name in stored if id(name) not in self._lines}
        self._straight = {name.id for name in stored} - elsewhere
        self.now: Scope = {}

    def passes(self, node: ast.AST) -> None:
        """Go on to the next statement or expression of the scope, in their order."""
        if isinstance(node, ast.Name):
            if _is_stored(node) and id(node) not in self._lines:
                self._forget([node])
        elif isinstance(node, ast.Assign):
            self._assigned(node)
        elif isinstance(node, _REPEATED):
            self._forget(item for item in walk(node) if _is_stored(item))

    def _forget(self, names: Iterable[ast.Name]) -> None:
        self.now |= {item.id: None for item in names if self._scope.get(item.id) is None}

    def _assigned(self, node: ast.Assign) -> None:
        """What is assigned has a value where everything in it is assigned once; else nothing can be told of it."""
        targets = [item for item in node.targets if isinstance(item, ast.Name) and id(item) in self._lines]
        used = {item.id for item in walk(node.value) if isinstance(item, ast.Name)}
        unclear = {name for name in used if self._scope.get(name, name) is None}
        for target in targets:
            if unclear & self._straight:
                self.now[target.id] = None
            elif self._scope.get(target.id) is None:
                self.now[target.id] = None if unclear else (node.value, -1)


_REPEATED = (ast.For, ast.AsyncFor, ast.While)


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


_BEFORE = frozenset({"setUp", "setUpClass", "setup_method", "setup_class", "asyncSetUp"})
"""Methods that run before each test, or before all."""


def attributes(node: ast.ClassDef) -> Scope:
    """What attributes of a test's object stand for, as ``self.expected``, that are set once, before each test.

    What is made of variables of its method stands for itself: it is the same throughout a test, whatever it is.
    """
    counts: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    for method in node.body:
        for item in walk(method):
            if isinstance(item, ast.Attribute) and not isinstance(item.ctx, ast.Load) and _is_own(item):
                counts[item.attr] = counts.get(item.attr, 0) + 1
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and method.name in _BEFORE:
            own = {item.arg for item in own_nodes(method) if isinstance(item, ast.arg)}
            own |= {item.id for item in own_nodes(method) if _is_stored(item)}
            for line in method.body:
                target = line.targets[0] if isinstance(line, ast.Assign) and len(line.targets) == 1 else None
                if isinstance(line, ast.Assign) and isinstance(target, ast.Attribute) and _is_own(target):
                    value = _OfObject().visit(copy.deepcopy(line.value))
                    values[target.attr] = value if not own & _names(value) else _of_object(target.attr)
    return {f"self.{name}": (value, -1) for name, value in values.items() if counts[name] == 1}


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _of_object(name: str) -> ast.expr:
    return ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load())


class _OfObject(ast.NodeTransformer):
    """Puts ``self`` in the place of ``cls``."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name("self", node.ctx) if node.id == "cls" else node
