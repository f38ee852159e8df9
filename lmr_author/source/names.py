"""Names in code: what an import binds, what an imported name stands for, where an expression begins."""

from __future__ import annotations

import ast

from lmr_author.source.tree import each


def bound_by(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The names that an import binds: ``a`` for ``import a.b``, ``c`` for ``import a.b as c``, ``*`` for all."""
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def imported_as(tree: ast.Module) -> dict[str, str]:
    """What imported names stand for: ``api`` → ``gensim.downloader`` for ``import gensim.downloader as api``.

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
    """The name at the beginning of ``name.attribute[item]…``; "" where something else stands there."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
