"""Walking through trees finds what ``ast`` finds, and forms are equal where the code is."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import typing

import pytest

from lmr_author.code import block_end, children, each, form, is_main_guard, is_same, walk

SNIPPETS = [
    "match x:\n    case {'a': 1, **rest}: pass\n    case A(b=2, c=[1, *others]) as all: pass\n    case None | _: pass",
    "import a.b as c\nfrom .d import e as f, g\nglobal h",
    "try:\n    pass\nexcept* (A, B) as error:\n    raise error from None\nelse:\n    pass\nfinally:\n    del x[0].y",
    "f'{a!r:>{width}} {b}'",
    "async def f(a, /, b: int = 1, *c, d=2, **e) -> int:\n    return [j async for j in k if j]",
    "async def f():\n    async with g() as (h, i): pass\n    await j",
    "lambda *a, b=1: (yield a)\nx: int = 1\n@d(1)\nclass C(B, metaclass=M): '''Doc.'''",
]


@pytest.mark.parametrize(
    "source", [*SNIPPETS, *(inspect.getsource(module) for module in (argparse, dataclasses, typing))]
)
def test_everything_but_contexts_is_found_in_the_same_order(source: str) -> None:
    tree = ast.parse(source)
    expected = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]

    assert list(walk(tree)) == expected
    for node in expected:
        inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]
        assert children(node) == inner


@pytest.mark.parametrize(
    "kinds", [(ast.Name,), (ast.Import, ast.ImportFrom), (ast.Constant, ast.arg, ast.Assign)]
)
def test_the_nodes_of_some_kinds_keep_their_order(kinds: tuple[type[ast.AST], ...]) -> None:
    tree = ast.parse("\n".join(inspect.getsource(module) for module in (argparse, dataclasses)))
    expected = [node for node in ast.walk(tree) if isinstance(node, kinds)]

    assert expected and each(tree, *kinds) == expected
    assert each(ast.parse("pass"), *kinds) == []


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
        ("a.b", "a['b']"),
        ("a\nb", "a"),
        ("return a", "return"),
        ("0.0", "-0.0"),
        ("b'a'", "'a'"),
    ],
)
def test_other_code_has_another_form(one: str, other: str) -> None:
    first, second = ast.parse(one), ast.parse(other)

    assert form(first) != form(second)
    assert not is_same(first, second) and not is_same(second, first)


def test_a_name_has_one_form_wherever_it_stands() -> None:
    (assignment,) = ast.parse("a = a").body
    assert isinstance(assignment, ast.Assign)

    assert form(assignment.targets[0]) == form(assignment.value)


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
