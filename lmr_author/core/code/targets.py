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
    same = [item for item in module.definitions if item.qualname == target.qualname]
    if not same:
        raise TargetError(f"no function {target.qualname!r} in {module.name}", _suggestion(module, target))
    if target.nth is not None:
        for item in same:
            if item.nth == target.nth:
                return item
        raise TargetError(
            f"{target.qualname} is defined {len(same)} times in {module.name}, there is no #{target.nth}",
            f"lines: {_lines(same)}",
        )
    if target.line is not None:
        for item in same:
            if item.line <= target.line <= item.end_line:
                return item
        raise TargetError(
            f"no {target.qualname} at line {target.line} of {module.name}", f"it is defined at {_lines(same)}"
        )
    real = [item for item in same if not item.is_overload] or same
    if len(real) > 1:
        raise TargetError(
            f"{target.qualname} is defined {len(real)} times in {module.name}: {_lines(real)}",
            f"add #N or a line, as in {target.path}::{target.qualname}#{real[0].nth} or :{real[0].line}",
        )
    return real[0]


def number(module: Module, definition: Definition) -> int | None:
    """Return the number of a definition among those of its name; None for the only one (overloads do not count)."""
    same = [
        item
        for item in module.definitions
        if item.qualname == definition.qualname and item.kind == definition.kind and not item.is_overload
    ]
    return definition.nth if len(same) > 1 else None


def _suggestion(module: Module, target: Target) -> str:
    """Return "did you mean …" for a name that a module does not define."""
    names = list(dict.fromkeys(item.qualname for item in module.definitions))
    close = [name for name in names if name.rpartition(".")[2] == target.name]
    close += difflib.get_close_matches(target.qualname, names, 3, 0.6)
    last = {name.rpartition(".")[2]: name for name in reversed(names)}
    close += [last[name] for name in difflib.get_close_matches(target.name, last, 3, 0.6)]
    if not close:
        return f"it defines: {', '.join(names[:8]) or 'nothing'}{', …' if len(names) > 8 else ''}"
    return (
        "did you mean "
        + " or ".join(f"{target.path}::{name}" for name in list(dict.fromkeys(close))[:4])
        + "?"
    )


def methods(module: Module, definition: Definition) -> tuple[Definition, ...]:
    """Return the functions that a target stands for: itself, or each method of a class (overloads left out).

    Methods that stand under an ``if`` of the class are its methods too; those of nested classes are not.
    """
    if definition.kind == "function":
        return (definition,)
    inside = tuple(
        item
        for item in module.definitions
        if item.kind == "function"
        and item.qualname == f"{definition.qualname}.{item.name}"
        and definition.line <= item.line <= definition.end_line
        and not item.is_overload
    )
    if not inside:
        raise TargetError(
            f"class {definition.qualname} in {module.name} has no methods", "name a function instead"
        )
    return inside


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
                stack.extend([*arguments.defaults, *(item for item in arguments.kw_defaults if item)])
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
    ours = [item for item in golden.definitions if item.qualname == qualname]
    theirs = [item for item in goal.definitions if item.qualname == qualname]
    if not ours or len(ours) != len(theirs):
        return None
    pairs = [
        pair
        for pair in zip(ours, theirs, strict=True)
        if pair[0].kind == pair[1].kind == "function" and nth in (None, pair[0].nth)
    ]
    if len(pairs) == 1:
        return pairs[0]
    differing = [pair for pair in pairs if region_bytes(golden, pair[0]) != region_bytes(goal, pair[1])]
    if len(differing) == 1:
        return differing[0]
    real = [pair for pair in pairs if not pair[0].is_overload]
    return real[0] if len(real) == 1 else None


def _lines(definitions: Iterable[Definition]) -> str:
    return ", ".join(f"line {item.line}" for item in definitions)
