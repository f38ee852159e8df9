"""Which names a function, a module and what is around it define, and which a masked body uses without."""

from __future__ import annotations

import ast
import builtins

from lmr_author.checks.bodies import statements
from lmr_author.source import FunctionNode, Module, bound_by, children, each, is_main_guard, walk


def undefined_names(
    module: Module, goal: FunctionNode, golden: FunctionNode | None, scopes: set[str]
) -> list[str]:
    """Names that the masked body reads and nothing defines any more, in the order they occur.

    Args:
        scopes: names that enclosing functions bind.
    """
    bound = bound_names(goal)
    reads = (node for statement in statements(goal) for node in walk(statement) if isinstance(node, ast.Name))
    read = dict.fromkeys(node.id for node in reads if isinstance(node.ctx, ast.Load) and node.id not in bound)
    if read.keys() <= {"NotImplementedError"}:
        return []
    star = any(
        isinstance(node, ast.ImportFrom) and any(name.name == "*" for name in node.names)
        for node in module.tree.body
    )
    # After `import *` a name is known to be undefined when the golden's own body assigns it, or when only the
    # mask uses it, and does not call it.
    certain = bound_names(golden) if star and golden is not None else None
    called = {
        item.func.id for item in walk(goal) if isinstance(item, ast.Call) and isinstance(item.func, ast.Name)
    }
    elsewhere = _read_outside(module, goal) | called | (_names_in(golden) if golden is not None else set())
    # A variable of the golden that only the script below sets, with what the function returns, is none of the mask's.
    lost = bound_names(golden) - bound if golden is not None else set()
    known = module_names(module) | scopes | set(dir(builtins)) | {"__class__", "__file__", "__name__"}
    known -= lost & _variables(module)
    return [
        name
        for name in read
        if name not in known
        and (not star or (certain is not None and (name in certain or name not in elsewhere)))
    ]


def _names_in(node: ast.AST) -> set[str]:
    return {item.id for item in walk(node) if isinstance(item, ast.Name)}


def _read_outside(module: Module, goal: FunctionNode) -> set[str]:
    """Names that a module uses outside of one of its functions."""
    inside = {id(item) for item in walk(goal)}
    return {item.id for item in each(module.tree, ast.Name) if id(item) not in inside}


def module_names(module: Module) -> set[str]:
    """Names bound at a module's top level, in whatever block but the one that only a script runs."""
    names: set[str] = set()
    stack: list[ast.AST] = list(module.tree.body)
    while stack:
        node = stack.pop()
        if is_main_guard(node):
            stack += node.orelse
            continue
        names |= _bound_by(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            stack.extend(children(node))
        else:
            names |= {name for item in walk(node) if isinstance(item, ast.Global) for name in item.names}
    return names


def _variables(module: Module) -> set[str]:
    """Variables of a module's top level."""
    outside = [item for item in module.tree.body if not isinstance(item, FunctionNode | ast.ClassDef)]
    names = (node for statement in outside for node in walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


def bound_names(node: FunctionNode) -> set[str]:
    """Parameters, and names bound anywhere in a function's body."""
    arguments = node.args
    names = {item.arg for item in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    names |= {item.arg for item in (arguments.vararg, arguments.kwarg) if item}
    for statement in node.body:
        for item in walk(statement):
            names |= _bound_by(item)
            if isinstance(item, ast.arg):
                names.add(item.arg)
    return names


def _bound_by(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Store | ast.Del) else set()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return set(bound_by(node))
    if isinstance(node, ast.ExceptHandler):
        return {node.name} if node.name else set()
    if isinstance(node, ast.MatchAs | ast.MatchStar):
        return {node.name} if node.name else set()
    return set()


def enclosing_names(module: Module, qualname: str) -> set[str]:
    """Names that the functions around a nested function bind."""
    names: set[str] = set()
    parts = qualname.split(".")
    around = {".".join(parts[:count]) for count in range(1, len(parts))}
    for item in module.definitions:
        if item.qualname in around and not isinstance(item.node, ast.ClassDef):
            names |= bound_names(item.node)
    return names
