"""What a masked body is: what is kept of the golden's, what it does instead."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from lmr_author.checks import bodies
from lmr_author.checks.pairing import Pair, TargetPair, pair
from lmr_author.checks.view import TaskView
from lmr_author.model import Implementation
from lmr_author.source import FunctionNode


@dataclass(frozen=True)
class MaskedBody:
    """What is known of one masked function."""

    qualname: str
    same: bool
    kept: list[ast.AST]
    total: int
    undefined: list[str]
    silent: bool
    raises: bool


def _masked(one: Pair, golden: FunctionNode, goal: FunctionNode, target: TargetPair) -> MaskedBody:
    assert one.goal is not None
    kept, total = bodies.kept_pieces(golden, goal)
    scopes = bodies.enclosing_names(one.goal, target.qualname)
    undefined = bodies.undefined_names(one.goal, goal, golden, scopes)
    body = bodies.statements(goal)
    left = {id(node) for node in kept}
    computing = [
        node
        for _, node in bodies.pieces(body)
        if id(node) not in left
        and not isinstance(node, ast.Raise)
        and not bodies.is_trivial(node)
        and not _returns_nothing_new(node, goal)
    ]
    return MaskedBody(
        qualname=target.qualname,
        same=bodies.dump(bodies.statements(golden)) == bodies.dump(body),
        kept=kept,
        total=total,
        undefined=undefined,
        silent=not computing and not undefined,
        raises=bodies.always_raises(goal.body),
    )


def _returns_nothing_new(node: ast.AST, goal: FunctionNode) -> bool:
    """Whether a return gives back a constant, an argument, or names that were set to constants."""
    if not isinstance(node, ast.Return):
        return False
    value = node.value
    items = value.elts if isinstance(value, ast.Tuple | ast.List) else [] if value is None else [value]
    return all(
        bodies.is_constant(item) or isinstance(item, ast.Name) or _is_own_attribute(item) for item in items
    )


def _is_own_attribute(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def all_masked(view: TaskView, implementation: Implementation) -> list[tuple[MaskedBody, ast.AST]]:
    one = pair(view, implementation)
    return view.memo(
        ("masked", id(implementation)),
        lambda: [(_masked(one, golden, goal, target), goal) for golden, goal, target in one.complete],
    )
