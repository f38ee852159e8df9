# ruff: noqa: E501 (samples of source code and tables of cases read better unbroken)
"""The instrumented function is the same function, handed over raw, and its blocks report themselves."""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.core import code
from lmr_author.runtime.probe.instrument import HIT, REGISTER, Hook, TargetNotFound, instrument


def run(
    source: str, qualname: str, line: int = 0
) -> tuple[dict[str, Any], list[Any], set[int], dict[int, int]]:
    """Execute an instrumented module: its namespace, the registered functions, hits, and lines of blocks."""
    functions: list[Any] = []
    hits: set[int] = set()

    def register(function: Any) -> Any:
        functions.append(function)
        return function

    found = instrument(textwrap.dedent(source).encode(), "goal.py", qualname, line)
    setattr(builtins, REGISTER, register)
    setattr(builtins, HIT, hits.add)
    namespace: dict[str, Any] = {"__name__": "goal"}
    exec(found.code, namespace)
    return namespace, functions, hits, found.lines


BLOCKS = """\
def f(x, items=()):
    '''Doc.'''
    if x > 0:
        y = 'pos'
    elif x == 0:
        y = 'zero'
    for item in items:
        if item:
            continue
    else:
        y = 'looped'
    try:
        1 / x
    except ZeroDivisionError as e:
        y = 'div'
    while x > 100:
        x -= 1
    with open(__import__('os').devnull):
        y += '!'
    z = 'even' if x % 2 == 0 else 'odd'
    return y, z, [k for k in items if k]
"""


def lines_hit(source: str, *args: Any) -> set[int]:
    namespace, _, hits, lines = run(source, "f")
    hits.clear()
    namespace["f"](*args)
    return {lines[hit] for hit in hits}


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((1,), {3, 4, 11, 20}),
        ((0, [1]), {3, 6, 8, 9, 11, 15, 20}),
        ((-1, [0]), {3, 5, 8, 11, 20}),
        ((101, [0]), {3, 4, 8, 11, 17, 20}),
    ],
)
def test_blocks_report_themselves(args: Any, expected: set[int]) -> None:
    assert lines_hit(BLOCKS, *args) == expected


def test_the_function_stays_what_it_is() -> None:
    source = """\
    from __future__ import annotations
    import functools
    total = 0

    class Base:
        def area(self, k):
            return k

    class Shape(Base):
        '''Class.'''
        def area(self, k: Undefined, /, *, scale=2) -> Undefined:
            '''Doc.'''
            global total
            total += 1
            return super().area(k) * scale, __class__.__name__
    """
    namespace, (function,), hits, lines = run(source, "Shape.area")
    shape = namespace["Shape"]()
    assert shape.area(3) == (6, "Shape")
    assert namespace["total"] == 1
    assert function is namespace["Shape"].area
    assert function.__doc__ == "Doc." and function.__kwdefaults__ == {"scale": 2}
    assert function.__annotations__ == {"k": "Undefined", "return": "Undefined"}
    assert function.__code__.co_firstlineno == 11
    assert hits == {0} and lines == {0: 13}


@pytest.mark.parametrize(
    ("source", "doc"),
    [
        (b'def f():\n    "only a docstring"', "only a docstring"),
        (b"# -*- coding: latin-1 -*-\ndef f():\n    return '\xe4'\n", None),
        (b"with open(__file__):\n    async def f():\n        async for x in y:\n            await x\n", None),
    ],
)
def test_the_raw_function_is_registered_whatever_surrounds_it(source: bytes, doc: str | None) -> None:
    target: Any = instrument(source, "goal.py", "f").path[-1]
    assert target.decorator_list[-1].id == REGISTER and ast.get_docstring(target) == doc


@pytest.mark.skipif(sys.version_info < (3, 10), reason="match came with Python 3.10")
def test_match_statements() -> None:
    source = "def f(x):\n    match x:\n        case 1:\n            return 'one'\n        case [a, *_]:\n            return a\n"
    assert lines_hit(source, 1) == {2, 4}
    assert lines_hit(source, [5]) == {2, 6}


def test_definitions_of_one_name_are_told_apart_by_line() -> None:
    source = "def f():\n    return 1\n\n@g\n@h(\n    1)\ndef f():\n    return 2\n"
    for line, first in ((1, 1), (7, 7), (0, 7)):
        assert instrument(source.encode(), "goal.py", "f", line).first == first
    with pytest.raises(TargetNotFound, match="at line 40"):
        instrument(source.encode(), "goal.py", "f", 40)
    with pytest.raises(TargetNotFound, match=r"no function A\.f"):
        instrument(source.encode(), "goal.py", "A.f")
    with pytest.raises(TargetNotFound):
        instrument(b"def f(:\n", "goal.py", "f")


STANDARD = sorted(Path(inspect.__file__).parent.glob("*.py"))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_function_of_the_standard_library_compiles_with_its_lines_kept(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(STANDARD))
    source = path.read_bytes()
    definitions = code.Module.parse(source, path.name).definitions
    functions = [item for item in definitions if item.kind == "function" and "<" not in item.qualname]
    if not functions:
        return
    target = data.draw(st.sampled_from(functions))
    found = instrument(source, str(path), target.qualname, target.line)
    assert found.first == target.line
    assert all(found.first <= at <= found.last for at in found.lines.values())
    plain = {item.co_name: item.co_firstlineno for item in _codes(compile(source, str(path), "exec"))}
    ours = {item.co_name: item.co_firstlineno for item in _codes(found.code)}
    assert {name: at for name, at in ours.items() if name in plain} == plain


def _codes(whole: Any) -> list[Any]:
    found = [whole]
    for item in whole.co_consts:
        if inspect.iscode(item):
            found += _codes(item)
    return found


def test_only_the_goal_file_is_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "goal_a.py").write_text("def f():\n    return 1\n")
    (tmp_path / "other_a.py").write_text("def f():\n    return 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen: list[Any] = []
    hook = Hook(str(tmp_path / "goal_a.py"), "f", 0, lambda function: seen.append(function) or function)
    hook.install()
    try:
        import goal_a  # type: ignore[import-not-found]
        import other_a  # type: ignore[import-not-found]
    finally:
        Hook.serving = None
    assert seen == [goal_a.f]
    assert goal_a.f() == 1 and hook.hits == {0}
    assert HIT in goal_a.f.__code__.co_names and HIT not in other_a.f.__code__.co_names
    sys.modules.pop("goal_a")
    import goal_a as again  # type: ignore[import-not-found]

    assert HIT not in again.f.__code__.co_names, "not served any more"


def test_an_else_that_is_not_written_is_told_with_the_if_that_it_belongs_to() -> None:
    source = """
    def f(x, y):
        if x:
            x = 1
        if y:
            y = 1
        elif x > 3:
            y = 2
        if x > 5:
            return x
        else:
            return y
    """
    found = instrument(textwrap.dedent(source).encode(), "goal.py", "f")

    assert [(found.lines[block], found.lines[own]) for block, own in found.absent.items()] == [(3, 4), (7, 8)]
