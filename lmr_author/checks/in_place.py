"""A function that returns what it was given: its result compared with its argument says nothing."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from lmr_author.checks.comparing import Comparison
from lmr_author.checks.syntax import argument, last_name
from lmr_author.source import FunctionNode, is_same, walk


def is_its_argument(one: Comparison, functions: Sequence[FunctionNode]) -> str:
    """The name of a function whose result is compared with the argument that it returns; "" when there is none."""
    for side, other in ((one.left, one.right), (one.right, one.left)) if one.wanted else ():
        call = one.source(side)
        for function in functions if isinstance(call, ast.Call) else ():
            assert isinstance(call, ast.Call)
            name = _returned(function) if last_name(call.func) == function.name else ""
            if not name:
                continue
            names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
            place = names.index(name) - (names[0] in ("self", "cls")) if name in names else len(call.args)
            given = argument(call, place, name)
            if given is not None and is_same(one.renamed(given), one.renamed(other)):
                return function.name
    return ""


def _returned(function: FunctionNode) -> str:
    """The parameter that every ``return`` gives back, and that stands for nothing else in between; "" for none."""
    arguments = function.args
    parameters = {item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    inside = [item for statement in function.body for item in walk(statement)]
    set_anew = {
        item.id for item in inside if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)
    }
    values = [item.value for item in inside if isinstance(item, ast.Return)]
    names = {value.id if isinstance(value, ast.Name) else "" for value in values}
    (name,) = names if len(names) == 1 else ("",)
    return name if name in parameters - set_anew else ""
