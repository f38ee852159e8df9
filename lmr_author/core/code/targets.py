"""From a target to the definition that it means."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable

from lmr_author.core.code.edit import region_bytes
from lmr_author.core.code.module import Definition, FunctionNode, Module
from lmr_author.core.code.tree import children
from lmr_author.core.errors import TargetError
from lmr_author.core.task import Target

_YIELDS = frozenset({ast.Yield, ast.YieldFrom})
_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})


def find(module: Module, target: Target) -> Definition:
    """Return the definition that a target names. Raises TargetError: unknown (did you mean) or ambiguous."""
    same = [definition for definition in module.definitions if definition.qualname == target.qualname]
    if not same:
        raise TargetError(f"no function {target.qualname!r} in {module.name}", _suggestion(module, target))
    if target.nth is not None:
        for definition in same:
            if definition.nth == target.nth:
                return definition
        raise TargetError(
            f"{target.qualname} is defined {len(same)} times in {module.name}, there is no #{target.nth}",
            f"lines: {_lines(same)}",
        )
    if target.line is not None:
        for definition in same:
            if definition.line <= target.line <= definition.end_line:
                return definition
        raise TargetError(
            f"no {target.qualname} at line {target.line} of {module.name}", f"it is defined at {_lines(same)}"
        )
    real = [definition for definition in same if not definition.is_overload] or same
    if len(real) > 1:
        raise TargetError(
            f"{target.qualname} is defined {len(real)} times in {module.name}: {_lines(real)}",
            f"add #N or a line, as in {target.path}::{target.qualname}#{real[0].nth} or :{real[0].line}",
        )
    return real[0]


def number(module: Module, definition: Definition) -> int | None:
    """Return the number of a definition among those of its name; None for the only one (overloads do not count)."""
    same = 0
    for other in module.definitions:
        is_namesake = (other.qualname, other.kind) == (definition.qualname, definition.kind)
        same += is_namesake and not other.is_overload
    return definition.nth if same > 1 else None


def _suggestion(module: Module, target: Target) -> str:
    """Return "did you mean …" for a name that a module does not define."""
    names = list(dict.fromkeys(definition.qualname for definition in module.definitions))
    close = [name for name in names if name.rpartition(".")[2] == target.name]
    close += difflib.get_close_matches(target.qualname, names, 3, 0.6)
    last = {name.rpartition(".")[2]: name for name in reversed(names)}
    close += [last[name] for name in difflib.get_close_matches(target.name, last, 3, 0.6)]
    if not close:
        return f"it defines: {', '.join(names[:8]) or 'nothing'}{', …' if len(names) > 8 else ''}"
    nodes = [f"{target.path}::{name}" for name in dict.fromkeys(close)]
    return f"did you mean {' or '.join(nodes[:4])}?"


def methods(module: Module, definition: Definition) -> tuple[Definition, ...]:
    """Return the functions that a target stands for: itself, or each method of a class (overloads left out).

    Methods that stand under an ``if`` of the class are its methods too; those of nested classes are not.
    """
    if definition.kind == "function":
        return (definition,)
    inside = []
    for function in module.definitions:
        if function.kind != "function" or function.is_overload:
            continue
        is_inside = definition.line <= function.line <= definition.end_line
        if is_inside and function.qualname == f"{definition.qualname}.{function.name}":
            inside.append(function)
    if not inside:
        raise TargetError(
            f"class {definition.qualname} in {module.name} has no methods", "name a function instead"
        )
    return tuple(inside)


def is_generator(node: FunctionNode) -> bool:
    """Return True for a function with a ``yield`` of its own, which makes it a generator."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind in _YIELDS:
            return True
        if kind in _SCOPES:
            # Decorators, defaults and bases are evaluated in the enclosing scope, and a yield there is ours.
            stack.extend(getattr(current, "decorator_list", []))
            arguments = getattr(current, "args", None)
            if isinstance(arguments, ast.arguments):
                stack.extend([*arguments.defaults, *filter(None, arguments.kw_defaults)])
            stack.extend(getattr(current, "bases", []))
            continue
        stack.extend(children(current))
    return False


def matching(
    golden: Module, goal: Module, qualname: str, nth: int | None = None
) -> tuple[Definition, Definition] | None:
    """Return the target's definitions in the golden and in the goal file.

    Of several definitions of the name, paired by their order, the ``nth`` is meant; when that is not
    known, the one whose region differs. None when either file lacks it, or the pair cannot be told.
    """
    ours = [definition for definition in golden.definitions if definition.qualname == qualname]
    theirs = [definition for definition in goal.definitions if definition.qualname == qualname]
    if len(ours) != len(theirs):
        return None
    pairs = []
    for original, now in zip(ours, theirs, strict=True):
        if original.kind == now.kind == "function" and nth in (None, original.nth):
            pairs.append((original, now))
    if len(pairs) <= 1:
        return pairs[0] if pairs else None
    differing = [
        (original, now)
        for original, now in pairs
        if region_bytes(golden, original) != region_bytes(goal, now)
    ]
    if len(differing) == 1:
        return differing[0]
    real = [pair for pair in pairs if not pair[0].is_overload]
    return real[0] if len(real) == 1 else None


def _lines(definitions: Iterable[Definition]) -> str:
    return ", ".join(f"line {definition.line}" for definition in definitions)
