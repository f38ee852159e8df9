"""Reading syntax trees: walks, forms, names, and what runs on import."""

from __future__ import annotations

import argparse
import ast
import inspect

import pytest

from lmr_author.core import code
from lmr_author.core.code import (
    block_end,
    bound_by,
    children,
    form,
    is_main_guard,
    is_same,
    root_name,
    set_at_run_time,
    walk,
)
from lmr_author.core.task import Target

SNIPPETS = [
    "match x:\n    case {'a': 1, **rest}: pass\n    case A(b=2, c=[1, *others]) as all: pass\n    case None | _: pass",
    "import a.b as c\nfrom .d import e as f, g\nglobal h",
    "try:\n    pass\nexcept* (A, B) as error:\n    raise error from None\nelse:\n    pass\nfinally:\n    del x[0].y",
    "f'{a!r:>{width}} {b}'",
    "async def f(a, /, b: int = 1, *c, d=2, **e) -> int:\n    return [j async for j in k if j]",
    "async def f():\n    async with g() as (h, i): pass\n    await j",
    "lambda *a, b=1: (yield a)\nx: int = 1\n@d(1)\nclass C(B, metaclass=M): '''Doc.'''",
]


@pytest.mark.parametrize("source", [*SNIPPETS, inspect.getsource(argparse)])
def test_everything_but_contexts_is_found_in_the_same_order(source: str) -> None:
    tree = ast.parse(source)
    expected = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]

    assert list(walk(tree)) == expected
    for node in expected:
        inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]
        assert children(node) == inner


@pytest.mark.parametrize("source", SNIPPETS)
def test_the_form_does_not_depend_on_places(source: str) -> None:
    tree, moved = ast.parse(source), ast.parse("\n\n" + source + "  # the same\n")

    assert form(tree) == form(moved)
    assert is_same(tree, moved) and is_same(tree.body, moved.body)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "b"),
        ("f(a)", "f(b=a)"),
        ("1", "'1'"),
        ("1", "1.0"),
        ("1", "True"),
        ("(a, b)", "[a, b]"),
        ("a\nb", "a"),
        ("0.0", "-0.0"),
    ],
)
def test_other_code_has_another_form(one: str, other: str) -> None:
    first, second = ast.parse(one), ast.parse(other)

    assert form(first) != form(second)
    assert not is_same(first, second) and not is_same(second, first)


@pytest.mark.parametrize(
    "condition",
    [
        '__name__ == "__main__"',
        '"__main__" == __name__',
        '__name__ == "__main__" and DEBUG',
        '__name__ in ("__main__", "__mp_main__")',
        '__name__ == "main"',
    ],
)
def test_what_a_script_alone_runs(condition: str) -> None:
    assert is_main_guard(ast.parse(f"if {condition}:\n    pass\n").body[0])


@pytest.mark.parametrize(
    "statement",
    [
        'if __name__ != "__main__":\n    pass',
        'if __name__ == "__main__" or DEBUG:\n    pass',
        'if __name__.startswith("a"):\n    pass',
        'if name == "__main__":\n    pass',
        'while __name__ == "__main__":\n    pass',
    ],
)
def test_what_an_import_may_run_too(statement: str) -> None:
    assert not is_main_guard(ast.parse(statement).body[0])


def test_a_block_ends_with_its_last_statement() -> None:
    code = "def f(x):\n    if x:\n        a = 1\n        b = [\n 2]\n    else:\n        @g\n        def h(): pass"
    tree = ast.parse(code)
    assert [block_end(tree, line) for line in (1, 2, 3, 4, 7, 99)] == [8, 8, 5, 4, 8, 99]


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("import torch.nn.functional", ["torch"]),
        ("import torch.nn.functional as F, math", ["F", "math"]),
        ("from . import utils as u, models", ["u", "models"]),
        ("from torch import *", ["*"]),
    ],
)
def test_what_an_import_binds(statement: str, names: list[str]) -> None:
    (node,) = ast.parse(statement).body
    assert isinstance(node, ast.Import | ast.ImportFrom)
    assert bound_by(node) == names


@pytest.mark.parametrize(
    ("text", "name"), [("a", "a"), ("a.b[0].c", "a"), ("f().b", ""), ("a.b().c", ""), ("(1).real", "")]
)
def test_where_an_expression_begins(text: str, name: str) -> None:
    assert root_name(ast.parse(text, mode="eval").body) == name


RUN_AS_SCRIPT = """
import argparse
from math import sqrt as root
SIZE, LIMIT = 3, 4

def setup(n):
    global LIMIT, device
    LIMIT = device = n

def helper(x):
    return x * args.scale + LIMIT + len(__builtins__)

class Model:
    def method(self, rows):
        return [helper(row) for row in rows] + [root(SIZE), tokenizer(self), __name__, len(rows)]

def target(model, x):
    try:
        import json
    except ImportError as problem:
        raise problem
    local = device
    return model.method(x), lambda y: (y, local, json)

if __name__ == "__main__":
    args = argparse.ArgumentParser().parse_args()
    tokenizer = str
"""


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("helper", ("LIMIT", "args")),
        ("method", ("LIMIT", "args", "tokenizer")),
        ("target", ("LIMIT", "args", "device", "tokenizer")),
        ("setup", ()),
    ],
)
def test_globals_that_only_a_run_sets(name: str, names: tuple[str, ...]) -> None:
    tree = ast.parse(RUN_AS_SCRIPT)
    (function,) = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)
    assert set_at_run_time(tree, function) == names


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("of_goal", ["\n", "\r\n", "\r"])
def test_code_that_moves_takes_the_line_ends_of_its_file(newline: str, of_goal: str) -> None:
    text = 'def f(x):\n    """Doc."""\n    y = """a\n  b"""\n\f    if x:\n        y = 1\n\n    return y\n'
    class_text = "class A:\n\n  def f(self, x):\n    pass\n"
    source = code.Module.parse(text.replace("\n", newline).encode(), "source.py")
    goal = code.Module.parse(class_text.replace("\n", of_goal).encode(), "goal.py")
    function, method = code.find(source, Target("", "f")), code.find(goal, Target("", "A.f"))
    body = '    y = """a\n  b"""\n    if x:\n        y = 1\n\n    return y'

    whole = code.body_from(source, function, goal, method).decode()
    without_docstring = code.body_of(source, function.statements, goal, method).decode()
    inserted = code.insert_above(goal, method, [source.text], at_top=False).decode()

    assert whole == f'\n    """Doc."""\n{body}'.replace("\n", of_goal)
    assert without_docstring == f"\n{body}".replace("\n", of_goal)
    behind_form_feed = code.body_of(source, function.statements[1:], goal, method).decode()
    assert behind_form_feed == "\n    if x:\n        y = 1\n\n    return y".replace("\n", of_goal)
    assert f"  def f(x):{of_goal}" in inserted and f'"""a{of_goal}  b"""{of_goal}      if x' in inserted
    assert code.statement_text(source, function.node) == f'def f(x):\n    """Doc."""\n{body}'
