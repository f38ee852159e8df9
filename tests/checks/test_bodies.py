"""Which statements of a golden still stand in a masked body."""

from __future__ import annotations

import ast

import pytest

from lmr_author.checks.bodies import kept_pieces, parts, pieces
from lmr_author.source import FunctionNode

GOLDEN = """\
def f(x, y):
    '''Doc.'''
    for item in x:
        y = y + item
    with open(x) as file:
        if y > x:
            return file
    try:
        y = g(y)
    except ValueError as error:
        y = h(error)
    return y
"""


def _function(text: str) -> FunctionNode:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    return node


def test_every_statement_but_a_try_is_a_part() -> None:
    lines = [node.lineno for node in parts(_function(GOLDEN).body)]

    assert lines == [3, 4, 5, 6, 7, 9, 11, 12]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("if a: pass", "if b: pass"),
        ("if a: pass", "while a: pass"),
        ("for a in b: pass", "for a in c: pass"),
        ("for a in b: pass", "for c in b: pass"),
        ("with a: pass", "with b: pass"),
        ("with a: pass", "with a, b: pass"),
        ("with a: pass", "with a as b: pass"),
        ("def f(a): pass", "def f(b): pass"),
        ("def f(a): pass", "def g(a): pass"),
        ("class A: pass", "class B: pass"),
        ("a = 1", "a = 2"),
    ],
)
def test_heads_are_compared_and_not_only_their_kind(one: str, other: str) -> None:
    first, second = (next(pieces(ast.parse(text).body))[0] for text in (one, other))

    assert first != second
    assert first == next(pieces(ast.parse(one.replace("pass", "print()")).body))[0]


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("    for item in x:\n        y = item\n", 1),
        ("    for item in y:\n        y = item\n", 0),
        ("    if y > x:\n        y = g(y)\n", 2),
        ("    async_y = g(y)\n", 0),
        ("", 0),
    ],
)
def test_what_a_mask_keeps(line: str, kept: int) -> None:
    found, total = kept_pieces(
        _function(GOLDEN), _function(f"def f(x, y):\n{line}    raise NotImplementedError\n")
    )

    assert (len(found), total) == (kept, 6)
