"""One pass over a file's statements: its definitions, and the kinds of statements and the names in each."""

from __future__ import annotations

import ast
from typing import Any

SHAPES: dict[type[ast.AST], str] = {
    ast.Assign: "a", ast.AugAssign: "a", ast.AnnAssign: "a", ast.Expr: "e", ast.Return: "r", ast.If: "I",
    ast.For: "F", ast.AsyncFor: "F", ast.While: "W", ast.With: "w", ast.AsyncWith: "w", ast.Try: "T",
    ast.TryStar: "T", ast.Match: "M", ast.Raise: "x", ast.Assert: "x", ast.Delete: "d", ast.FunctionDef: "D",
    ast.AsyncFunctionDef: "D", ast.ClassDef: "C",
}  # fmt: skip
"""A letter for each kind of statement; those that compute nothing (pass, import, global, …) have none."""

BRANCHES = "IFWTM"
BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.If: ("body", "orelse"), ast.For: ("body", "orelse"), ast.AsyncFor: ("body", "orelse"),
    ast.While: ("body", "orelse"), ast.With: ("body",), ast.AsyncWith: ("body",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.TryStar: ("body", "handlers", "orelse", "finalbody"), ast.Match: ("cases",),
}  # fmt: skip
PARTS = frozenset({"handlers", "cases"})
"""Blocks that are lists of parts, each with a body."""
BINDS = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith})
DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})

_ABOUT: dict[type[ast.AST], tuple[str, bool, tuple[str, ...], bool]] = {
    kind: (letter, kind in BINDS, BLOCKS.get(kind, ()), kind in DEFINITIONS)
    for kind, letter in SHAPES.items()
}
"""(letter, binds names, blocks, defines) of each kind of statement: one look-up instead of four."""


class Found:
    """A definition while its file is read; ``parent`` is the innermost function around it, or -1."""

    __slots__ = ("bound", "leading", "node", "parent", "parts", "qualname", "shape")

    def __init__(self, parts: tuple[str, ...], node: Any, leading: int, parent: int) -> None:
        self.parts = parts
        self.qualname = ".".join(parts)
        self.node = node
        self.leading = leading
        self.parent = parent
        self.shape: list[str] = []
        self.bound: list[str] = []


def definitions(tree: ast.Module) -> list[Found]:
    """Every definition in file order, with the shape of what is in it: one pass over the statements."""
    found: list[Found] = []
    outside = Found((), tree, 0, -1)
    stack: list[tuple[list[Any], tuple[str, ...], int, int]] = [(tree.body, (), 0, -1)]
    while stack:
        body, above, leading, owner = stack.pop()
        inside = found[owner] if owner >= 0 else outside
        shape, bound = inside.shape, inside.bound
        for node in body:
            kind = type(node)
            about = _ABOUT.get(kind)
            if about is None:
                continue
            letter, binds, blocks, defines = about
            shape.append(letter)
            if binds:
                for target in _targets(node, kind):
                    if type(target) is ast.Name:
                        bound.append(target.id)
                    elif type(target) is ast.Tuple or type(target) is ast.List:
                        bound += [item.id for item in target.elts if type(item) is ast.Name]
            for name in blocks:
                value = getattr(node, name)
                if name in PARTS:
                    stack += [(part.body, above, leading, owner) for part in value]
                elif value:
                    stack.append((value, above, leading, owner))
            if defines:
                own, is_class = (*above, node.name), kind is ast.ClassDef
                found.append(Found(own, node, leading, owner))
                inner = len(own) if is_class and leading == len(above) else leading
                stack.append((node.body, own, inner, owner if is_class else len(found) - 1))
    for item in reversed(found):  # what is nested in a function counts for it, too
        if item.parent >= 0 and not isinstance(item.node, ast.ClassDef):
            found[item.parent].shape += item.shape
            found[item.parent].bound += item.bound
    return sorted(found, key=lambda item: (item.node.lineno, item.node.col_offset))


def _targets(node: Any, kind: type[ast.AST]) -> list[Any]:
    """What a statement binds; names in patterns and expressions are left out."""
    if kind is ast.Assign:
        return node.targets  # type: ignore[no-any-return]
    if kind is ast.With or kind is ast.AsyncWith:
        return [item.optional_vars for item in node.items]
    return [node.target]
