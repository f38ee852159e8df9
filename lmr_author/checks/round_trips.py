"""A value that is compared with itself: by way of text and back (LMR513 has the way by a file), or by a measure."""

from __future__ import annotations

import ast

from lmr_author.checks.comparing import Comparison, core
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import is_same, walk

_TEXTS = {"loads": "dumps"}
_LIBRARIES = frozenset({"json", "pickle", "dill", "cloudpickle"})
_PURE = frozenset(
    """
    sum mean max min std var norm abs len sorted argmax argmin prod median round tolist item detach cpu numpy float
    int list tuple
    """.split()  # noqa: SIM905
)


def measured(node: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression takes measures of a value only, which are the same each time: ``x.sum()``, ``len(x)``."""
    for item in walk(node):
        if isinstance(item, ast.Await | ast.NamedExpr):
            return False
        if not isinstance(item, ast.Call):
            continue
        name = last_name(item.func)
        library = isinstance(item.func, ast.Name) or dotted(item.func).partition(".")[0] in (
            "np",
            "numpy",
            "torch",
        )
        if name not in _PURE or name in names or (item.args and not library):
            return False
    used = {item.id for item in walk(node) if isinstance(item, ast.Name)}
    return bool(used - _PURE - {"np", "numpy", "torch"})


def round_trip(one: Comparison) -> str:
    """What is wrong with a comparison of a value with the same, turned into text and back; "" when nothing is."""
    for side, other in ((one.left, one.right), (one.right, one.left)) if one.wanted else ():
        read, value = one.source(side), core(other)
        if not isinstance(value, ast.Name) or one.scope.get(value.id) is None:
            continue
        if not isinstance(read, ast.Call) or dotted(read.func).partition(".")[0] not in _LIBRARIES:
            continue
        stored = _in_text(read)
        if stored is not None and is_same(core(stored), value):
            return f"compares `{value.id}` with itself, turned into text and back"
    return ""


def _in_text(read: ast.Call) -> ast.expr | None:
    """``x`` of ``json.loads(json.dumps(x))``."""
    made = read.args[0] if read.args else None
    wanted = _TEXTS.get(last_name(read.func))
    if not isinstance(made, ast.Call) or not wanted or not made.args:
        return None
    library = dotted(read.func).rpartition(".")[0]
    return made.args[0] if dotted(made.func) == f"{library}.{wanted}" else None
