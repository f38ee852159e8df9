"""Find the dotted names that a function uses, and what each of them means in its file."""

from __future__ import annotations

import ast
import builtins
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from lmr_author.core import code

Bindings = dict[str, list[ast.AST]]
"""Name → the nodes that bind it."""


@dataclass(frozen=True)
class Use:
    """A dotted name that a function uses.

    Attributes:
        text: as written.
        role: ``called``, ``read``, or ``signature``.
        line: in the file.
        imported: what it stands for, as in ``torch.nn.functional.relu``; "" for what is not imported.
        outer: the file, or a function around this one, binds it.
        unknown: nothing in the file binds it, and it is no builtin.
    """

    text: str
    role: str
    line: int
    imported: str
    outer: bool
    unknown: bool


def uses(module: code.Module, definition: code.Definition) -> list[Use]:
    """Return the names of a function's signature and body; decorators are no part of what has to be implemented."""
    own, around = _bindings(module, definition)
    result = []
    for node, role in _names(definition.function):
        text = ast.unparse(node)
        root, _, rest = text.partition(".")
        bound = own.get(root) or around.get(root) or []
        origin = ""
        for binding in bound:
            if isinstance(binding, ast.Import | ast.ImportFrom):
                origin = imported_name(binding, root)
                break
        imported = f"{origin}.{rest}" if origin and rest else origin
        outer = bool(bound) and root not in own and not imported
        unknown = not bound and not hasattr(builtins, root)
        result.append(Use(text, role, node.lineno, imported, outer, unknown))
    return result


def _bindings(module: code.Module, definition: code.Definition) -> tuple[Bindings, Bindings]:
    """Return what binds the names of a function in itself, and in the functions and the file around it."""
    function = definition.function
    inside = list(ast.walk(function.args))
    for statement in function.body:
        inside += ast.walk(statement)
    own = code.bindings(inside)
    around = code.bindings(own_nodes(module.tree))
    for outer in module.definitions:  # the names of a class are not seen from its methods
        if outer.kind == "function" and definition.qualname.startswith(f"{outer.qualname}."):
            around |= code.bindings([*ast.walk(outer.function.args), *own_nodes(outer.function)])
    for node in inside:
        if isinstance(node, ast.Global):
            for name in node.names:
                own.pop(name, None)
                around.setdefault(name, [function])
    is_method = definition.class_name and "." not in definition.function_name
    if not is_method:
        own.setdefault(definition.name, [function])
    return own, around


def _names(function: code.FunctionNode) -> list[tuple[ast.expr, str]]:
    """Return the dotted names in a function in the order written, with their roles; not what is only assigned to."""
    names: list[tuple[ast.expr, str]] = []
    called: set[ast.AST] = set()
    waiting: list[tuple[ast.AST, str]] = [(function.args, "signature")]
    if function.returns is not None:
        waiting.append((function.returns, "signature"))
    waiting += [(statement, "read") for statement in function.body]
    while waiting:
        node, role = waiting.pop()
        if isinstance(node, ast.Name | ast.Attribute) and _is_dotted(node):
            names.append((node, "called" if node in called and role == "read" else role))
            continue
        if isinstance(node, ast.Call):
            called.add(node.func)
        assigned = node.targets if isinstance(node, ast.Assign) else []
        for child in ast.iter_child_nodes(node):
            if not (child in assigned and isinstance(child, ast.Name | ast.Attribute)):
                waiting.append((child, role))
    return sorted(names, key=lambda name: (name[0].lineno, name[0].col_offset))


def _is_dotted(node: ast.AST) -> bool:
    """Tell ``a.b.c`` from ``a().b``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def own_nodes(scope: ast.Module | code.FunctionNode) -> Iterator[ast.AST]:
    """Yield the nodes of a scope; of functions, classes and comprehensions in it only the nodes themselves."""
    waiting: deque[ast.AST] = deque(scope.body)
    while waiting:
        node = waiting.popleft()
        yield node
        if not isinstance(node, code.DefinitionNode | ast.Lambda | ast.comprehension):
            waiting.extend(ast.iter_child_nodes(node))


def imported_name(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """Return the dotted name that an import binds to a name."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom) and name == (alias.asname or alias.name):
            module = source_module(node)
            return module + alias.name if module.endswith(".") else f"{module}.{alias.name}"
        if isinstance(node, ast.Import) and name == alias.asname:
            return alias.name
    return name


def source_module(node: ast.ImportFrom) -> str:
    """Return the module that a ``from`` names, with its leading dots."""
    return "." * node.level + (node.module or "")
