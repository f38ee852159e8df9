"""What a function's original body uses: names of its own file, and imports. Hidden once it is masked."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from lmr_author import source
from lmr_author.checks import bodies, scopes


def used_inside(module: source.Module, definition: source.Definition) -> tuple[str, ...]:
    """Names of the same file that a body reads, in the order met: functions, classes, constants,
    ``self.x`` of its object, and what the functions around it bind.
    """
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    own = scopes.bound_names(node)
    known = scopes.module_names(module) | scopes.enclosing_names(module, definition.qualname)
    known -= own | imports_in(module.tree).keys()
    receiver = _receiver(definition)
    found: dict[str, None] = {}
    for item in _loads(node):
        if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name):
            if item.value.id == receiver and not item.attr.startswith("__"):
                found[f"{receiver}.{item.attr}"] = None
        elif isinstance(item, ast.Name) and item.id in known - {definition.name}:
            found[item.id] = None
    return tuple(found)


def used_outside(module: source.Module, definition: source.Definition) -> tuple[str, ...]:
    """Imports that a body uses, as in ``torch.nn.functional as F`` and ``utils.get_local_dir``."""
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    imported = {**imports_in(module.tree), **imports_in(node)}
    names = [item.id for item in _loads(node) if isinstance(item, ast.Name)]
    return tuple(dict.fromkeys(imported[name] for name in names if name in imported))


def imports_in(tree: ast.AST) -> dict[str, str]:
    """By the name that they bind, the imports of a module (of its functions: pass one), as one says them."""
    found: dict[str, str] = {}
    stack = [tree]
    while stack:
        for node in ast.iter_child_nodes(stack.pop()):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    plain = alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
                    found[alias.asname or alias.name.partition(".")[0]] = plain
            elif isinstance(node, ast.ImportFrom):
                start = "." * node.level + (node.module + "." if node.module else "")
                for alias in node.names:
                    renamed = f" as {alias.asname}" if alias.asname not in (None, alias.name) else ""
                    found[alias.asname or alias.name] = f"{start}{alias.name}{renamed}"
            elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
                stack.append(node)
    return found


def _receiver(definition: source.Definition) -> str:
    """What a method calls its object or class; "" for a plain function."""
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    arguments = [*node.args.posonlyargs, *node.args.args]
    static = any(ast.unparse(item) == "staticmethod" for item in node.decorator_list)
    plain = not definition.class_name or "." in definition.function_name
    return "" if static or plain or not arguments else arguments[0].arg


def _loads(node: source.FunctionNode) -> Iterator[ast.expr]:
    """Expressions of a body in the order written; builtins' names are left out."""
    for statement in bodies.statements(node):
        items = [item for item in ast.walk(statement) if isinstance(item, ast.expr)]
        items.sort(key=lambda item: (item.lineno, item.col_offset))
        for item in items:
            if isinstance(item, ast.Name) and hasattr(builtins, item.id):
                continue
            if isinstance(getattr(item, "ctx", ast.Load()), ast.Load):
                yield item
