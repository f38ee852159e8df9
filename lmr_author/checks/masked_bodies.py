"""What a masked body is: what is kept of the golden's, what it does instead."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.checks import bodies, scopes
from lmr_author.checks.pairing import Pair, TargetPair, pair
from lmr_author.checks.syntax import last_name
from lmr_author.checks.unwanted import built
from lmr_author.checks.view import TaskView
from lmr_author.model import Implementation
from lmr_author.source import FunctionNode, walk

_COLLECTED = frozenset({"stack", "cat", "concatenate", "hstack", "vstack", "tensor", "array", "asarray"})
"""Functions that only put values beside each other."""


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
    around = scopes.enclosing_names(one.goal, target.qualname)
    undefined = scopes.undefined_names(one.goal, goal, golden, around)
    body = bodies.statements(goal)
    left = {id(node) for node in kept}
    computing = [
        node
        for node in bodies.parts(body)
        if id(node) not in left
        and not isinstance(node, ast.Raise)
        and not bodies.is_trivial(node)
        and not _returns_nothing_new(node, goal)
    ]
    return MaskedBody(
        qualname=target.qualname,
        same=bodies.are_same(bodies.statements(golden), body),
        kept=kept,
        total=total,
        undefined=undefined,
        silent=not computing and not undefined,
        raises=bodies.always_raises(goal.body),
    )


def _returns_nothing_new(node: ast.AST, goal: FunctionNode) -> bool:
    """Whether a return gives back constants, arguments and names set to constants, or a sum or product of these."""
    if not isinstance(node, ast.Return):
        return False
    value = node.value
    items = value.elts if isinstance(value, ast.Tuple | ast.List) else [] if value is None else [value]
    return all(
        _is_given(item) or (_is_arithmetic(item) and _names(item) & _placeholders(goal)) for item in items
    )


def _is_given(node: ast.expr) -> bool:
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return own or isinstance(node, ast.Name) or bodies.is_constant(node)


def _is_arithmetic(node: ast.expr) -> bool:
    """Whether an expression only calculates with what is there: ``total * scale``, ``torch.stack([hits, misses])``."""
    if isinstance(node, ast.List | ast.Tuple):
        return all(map(_is_arithmetic, node.elts))
    if isinstance(node, ast.Call):
        return last_name(node.func) in _COLLECTED and bool(node.args) and all(map(_is_arithmetic, node.args))
    if isinstance(node, ast.BinOp):
        return _is_arithmetic(node.left) and _is_arithmetic(node.right)
    return _is_arithmetic(node.operand) if isinstance(node, ast.UnaryOp) else _is_given(node)


def _names(node: ast.expr) -> set[str]:
    return {item.id for item in walk(node) if isinstance(item, ast.Name)}


def _placeholders(goal: FunctionNode) -> set[str]:
    """Names that a masked body sets to numbers, and to nothing else: ``total = 0.0``."""
    numbers: set[str] = set()
    others: set[str] = set()
    for node in bodies.parts(bodies.statements(goal)):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            is_number = isinstance(node, ast.Assign | ast.AnnAssign) and _is_number(node.value)
            (numbers if is_number else others).update(*map(_names, targets))
    return numbers - others


def _is_number(node: ast.expr | None) -> bool:
    """Whether an expression is a number, or an array or tensor of numbers that say nothing."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float | complex)
    if isinstance(node, ast.Tuple):
        return all(map(_is_number, node.elts))
    return isinstance(node, ast.UnaryOp | ast.Call) and bodies.is_constant(node)


def all_masked(view: TaskView, implementation: Implementation) -> list[tuple[MaskedBody, ast.AST]]:
    one = pair(view, implementation)
    return view.memo(
        ("masked", id(implementation)),
        lambda: [(_masked(one, golden, goal, target), goal) for golden, goal, target in one.complete],
    )


def masked_copy(view: TaskView, one: Pair, qualname: str) -> Path | None:
    """Another file of the repository in which a target is masked, though the goal file has the golden's body.

    It has the goal file's name, or that with "masked"; a copy of the original, in ``build/`` or elsewhere, is none,
    although the original may raise NotImplementedError, too.
    """
    found = next(
        ((golden, target) for golden, _, target in one.complete if target.qualname == qualname), None
    )
    if found is None or one.goal_path is None:
        return None
    stem, products = one.goal_path.stem, tuple(f"{folder}/" for folder in built(view))
    for path in view.repository_files:
        if path == one.goal_path or path.suffix != ".py" or _without_mask_word(path.stem) != stem:
            continue
        module = None if view.relative_raw(path).startswith(products) else view.module(path)
        for item in module.definitions if module else ():
            if item.qualname != qualname or isinstance(item.node, ast.ClassDef):
                continue
            body = _masked(replace(one, goal=module), found[0], item.node, found[1])
            if not body.same and (body.raises or body.silent or body.undefined):
                return path
    return None


_MASK_WORD = re.compile(r"[-_.]?mask(?:ed)?$|^mask(?:ed)?[-_.]")


def _without_mask_word(stem: str) -> str:
    return _MASK_WORD.sub("", stem) or stem
