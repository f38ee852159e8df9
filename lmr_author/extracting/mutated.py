"""Which inputs a block changes in place: told to the annotator, because no output shows them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from lmr_author.code import root_name

METHODS = frozenset(
    {
        "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft",
        "insert", "intersection_update", "pop", "popitem", "popleft", "remove", "reverse", "rotate",
        "setdefault", "sort", "subtract", "symmetric_difference_update", "update",
        "backward", "close", "eval", "load_state_dict", "step", "train", "write", "writelines", "zero_grad",
    }
)  # fmt: skip
"""Methods that change their object: of containers, files, modules, optimizers; PyTorch's others end in _."""


def mutated(statements: Sequence[ast.stmt], names: Iterable[str]) -> tuple[str, ...]:
    """Those of some names whose objects the statements visibly change, in order of appearance.

    An assignment or deletion of an attribute or item, or a call of a method known to change its object. What
    a called function does to its arguments is not seen.
    """
    found: dict[str, None] = {}
    for node in (node for item in statements for node in ast.walk(item)):
        changed: ast.expr | None = None
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            changed = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            in_place = name.endswith("_") and not name.startswith("_") and not name.endswith("__")
            changed = node.func.value if name in METHODS or in_place else None
        root = root_name(changed)
        if root:
            found.setdefault(root)
    wanted = set(names)
    return tuple(name for name in found if name in wanted)
