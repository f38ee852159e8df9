"""The dotted names that a function uses, and how: called, read, or as a type in its signature."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from lmr_author import source


class Role(StrEnum):
    """How a name is used."""

    CALLED = "called"
    READ = "read"
    TYPE = "type"


@dataclass(frozen=True)
class Use:
    """A dotted name in a function.

    Attributes:
        parts: ``("utils", "pad")``; what is no name, as in ``f(x).pad``, is one part in its source's form.
        node: the whole expression; its last name is what jedi is asked about.
        role: how it is used.
    """

    parts: tuple[str, ...]
    node: ast.expr
    role: Role

    @property
    def root(self) -> str:
        """The first name."""
        return self.parts[0]

    @property
    def text(self) -> str:
        """The name as written."""
        return ".".join(self.parts)


def uses(definition: source.Definition) -> Iterator[Use]:
    """Dotted names of a function's signature and body, each once for each role, in the order written.

    Decorators are left out: they are not part of what has to be implemented.
    """
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    arguments += [item for item in (node.args.vararg, node.args.kwarg) if item]
    types = [*(item.annotation for item in arguments), node.returns]
    values = [*node.args.defaults, *node.args.kw_defaults, *node.body]
    seen: set[tuple[tuple[str, ...], Role]] = set()
    for piece, is_type in [*((item, True) for item in types), *((item, False) for item in values)]:
        for use in _uses_in(piece, is_type) if piece is not None else ():
            if (use.parts, use.role) not in seen:
                seen.add((use.parts, use.role))
                yield use


def parts(node: ast.expr) -> tuple[str, ...]:
    """``a.b.c`` as its parts; () for anything but names and attributes of names."""
    found: list[str] = []
    while isinstance(node, ast.Attribute):
        found.insert(0, node.attr)
        node = node.value
    return (node.id, *found) if isinstance(node, ast.Name) else ()


def _uses_in(piece: ast.AST, is_type: bool) -> Iterator[Use]:
    everything = list(ast.walk(piece))
    called = {id(item.func) for item in everything if isinstance(item, ast.Call)}
    inner = {id(item.value) for item in everything if isinstance(item, ast.Attribute)}
    items = [item for item in everything if isinstance(item, ast.Name | ast.Attribute)]
    for item in sorted(items, key=lambda item: (item.lineno, item.col_offset)):
        if id(item) not in inner and isinstance(item.ctx, ast.Load):
            role = Role.TYPE if is_type else Role.CALLED if id(item) in called else Role.READ
            yield Use(parts(item) or (ast.unparse(item),), item, role)
