"""What cannot be masked, or not together, and why."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from lmr_author import source
from lmr_author.errors import TargetError
from lmr_author.masking.mask import raises_not_implemented
from lmr_author.model import Target


def empty_body(definition: source.Definition) -> str:
    """What stands in a body that does nothing, as in "`...`"; "" when there is something to mask."""
    body = list(definition.node.body)
    if definition.docstring is not None:
        body = body[1:]
    if not body:
        return "a docstring"
    for node in body:
        constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (constant or isinstance(node, ast.Pass) or raises_not_implemented(node)):
            return ""
    return f"`{ast.unparse(body[-1]).partition(chr(10))[0]}`"


def assert_separate(path: str, definitions: Sequence[source.Definition]) -> None:
    """Refuse targets of one file that cannot be masked together: one given twice, one inside another.

    Raises TargetError, naming both.
    """
    for position, one in enumerate(definitions):
        for other in definitions[position + 1 :]:
            if one == other:
                raise TargetError(f"{path}::{one.qualname} is given twice", "name each function once")
            outer, inner = sorted((one, other), key=lambda item: (item.line, -item.end_line))
            if outer.line <= inner.line and inner.end_line <= outer.end_line:
                raise TargetError(
                    f"{path}::{inner.qualname} lies inside {outer.qualname}, which is masked too",
                    "mask the outer function alone, or the inner one",
                )


def other_binding(module: source.Module, target: Target) -> str:
    """Why a name of a module is no function: "is a lambda (line 3)…"; "" when nothing binds the name."""
    for node in _scope(module, target):
        if isinstance(node, ast.Assign | ast.AnnAssign) and _binds(node, target.name):
            if isinstance(node.value, ast.Lambda):
                return f"is a lambda (line {node.lineno}), not a function with a body"
            return f"is a variable (line {node.lineno}), not a function"
        if isinstance(node, ast.Import | ast.ImportFrom) and any(
            (alias.asname or alias.name) == target.name for alias in node.names
        ):
            origin = f"from {node.module} " if isinstance(node, ast.ImportFrom) and node.module else ""
            return f"is only imported {origin}there (line {node.lineno})"
    return ""


def _scope(module: source.Module, target: Target) -> list[ast.AST]:
    """The statements, however deep under ``if``, of the class or function in which a target would lie."""
    above = target.qualname.rpartition(".")[0]
    roots: list[ast.AST] = [item.node for item in module.definitions if item.qualname == above]
    stack: list[ast.AST] = roots if above else [module.tree]
    found: list[ast.AST] = []
    while stack:
        for child in ast.iter_child_nodes(stack.pop()):
            found.append(child)
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
                stack.append(child)
    return found


def _binds(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(item, ast.Name) and item.id == name for target in targets for item in _flat(target))


def _flat(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        return [leaf for item in target.elts for leaf in _flat(item)]
    return [target]
