"""The splice: what stands where, and that nothing else moves."""

from __future__ import annotations

import ast
import random
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.authoring.masking.body import MaskNotes, is_masked, mask_source, unmask_source
from lmr_author.core import code
from lmr_author.core.errors import SourceError, TargetError
from lmr_author.core.task import Target
from tests.masking.roundtrip import check_file, installed_files, standard_files

CASES: dict[str, dict[str, str]] = tomllib.loads((Path(__file__).parent / "cases.toml").read_text("utf-8"))


def mask_one(data: bytes, qualname: str) -> bytes:
    module = code.Module.parse(data, "file.py")
    return mask_source(module, [code.find(module, Target("file.py", qualname))]).data


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case_of_the_table(case: dict[str, str]) -> None:
    before, after = (
        case[name].replace("\n", case.get("newline", "\n")).encode(case.get("encoding", "utf-8"))
        for name in ("before", "after")
    )
    target = Target.parse("file.py::" + case["target"])
    module = code.Module.parse(before, "file.py")
    definition = code.find(module, target)
    notes = MaskNotes(case.get("comment", ""), case.get("docstring", ""))
    masked = mask_source(module, [definition], {target.qualname: notes}).data
    assert masked == after
    goal, golden = code.Module.parse(masked, "file.py"), code.Module.parse(before, "golden.py")
    assert unmask_source(golden, goal, target.qualname) == before


DUPLICATES = b"""\
from typing import overload
if True:
    def f(): return 1
else:
    def f(): return 2
class A:
    @property
    def p(self): return 1
    @p.setter
    def p(self, value): self.q = value
    class B:
        def forward(self): return 1
@overload
def o(x: int) -> int: ...
@overload
def o(x: str) -> str: ...
def o(x): return x
"""


def test_names_defined_twice_take_a_number_or_a_line() -> None:
    module = code.Module.parse(DUPLICATES, "file.py")
    with pytest.raises(TargetError, match="defined 2 times") as error:
        code.find(module, Target.parse("file.py::f"))
    assert "file.py::f#1" in error.value.hint
    assert code.find(module, Target.parse("file.py::f#2")).line == 5
    assert code.find(module, Target.parse("file.py::A.p:10")).line == 10
    assert code.find(module, Target.parse("file.py::A::B::forward")).class_name == "A.B"
    assert code.find(module, Target.parse("file.py::o")).line == 17
    with pytest.raises(TargetError, match="no #3"):
        code.find(module, Target.parse("file.py::f#3"))


@pytest.mark.parametrize(
    "text",
    ["", "trainers.py", "::f", "trainers.py::", "a.py::f#x"],
    ids=["empty", "no name", "no path", "empty name", "bad number"],
)
def test_not_a_target(text: str) -> None:
    with pytest.raises(TargetError, match="not a target"):
        Target.parse(text)


@pytest.mark.parametrize(
    "data",
    [
        b"def f(:\n",
        b"print 'python 2'\n",
        b"x = '\xff'\n",
        b"\x00\x01\x02",
        b"# coding: no-such\n",
        b"\xff\xfe\x00d",
    ],
)
def test_what_is_no_python_is_said(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"file\.py"):
        code.Module.parse(data, "file.py")


def test_a_qualified_name_is_that_of_classes_and_then_of_functions() -> None:
    text = (
        b"def f(): pass\nclass A:\n    def g(self):\n        class C:\n            def h(self): pass\n"
        b"    class B:\n        if f:\n            def i(self): pass\n"
    )
    module = code.Module.parse(text, "file.py")
    assert [(item.class_name, item.function_name) for item in module.definitions] == [
        ("", "f"),
        ("", "A"),
        ("A", "g"),
        ("A", "g.C"),
        ("A", "g.C.h"),
        ("A", "B"),
        ("A.B", "i"),
    ]


def test_unmask_of_mask_is_the_file_on_a_sample_of_real_code() -> None:
    """Every function of files drawn from the standard library and from what is installed."""
    small = [path for path in standard_files() + installed_files() if path.stat().st_size < 20_000]
    checked = [check_file(path) for path in random.Random(20).sample(small, 20)]
    assert [problem for one in checked for problem in one.problems] == []
    assert sum(one.functions for one in checked) > 60


names = st.sampled_from(["a", "b", "x"])
statements = st.sampled_from(
    [
        "return 1",
        "x = 1; y = 2",
        "pass",
        "if x:\n    return 2\nelse:\n    y = 3",
        "'''text\n  more'''",
        "yield x",
        "@d\ndef g():\n    return 1",
        "x = (1,\n  2)",
        "# comment only\nz = 0",
        "return \\\n    5",
        "lambda: (yield)",
    ]
)
headers = st.sampled_from(
    [
        "def f(x):",
        "async def f(a, *, b=lambda q: q):",
        "def f(a: dict = {1: 2}, /) -> 'A[1:2]':  # why",
        "def f(\n    a,  # first: one\n    b=[1, 2][0:1],\n):",
        "def f() -> lambda: 0:",
        "def f(x): \\\n",
    ]
)


@settings(max_examples=200, deadline=None)
@given(
    headers,
    st.lists(statements, min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from(["    ", "\t", " "]),
    st.sampled_from(["", "\n", "\n\n# after\n", "\n  # deeper\nx = 1\n"]),
)
def test_property_any_shape(header: str, body: list[str], doc: bool, indent: str, tail: str) -> None:
    if header.endswith("\\\n"):
        text = header + indent + "return 1" + tail
    else:
        lines = (['"""Doc."""'] if doc else []) + "\n".join(body).split("\n")
        text = header + "\n" + "\n".join(indent + line for line in lines) + tail
    try:
        ast.parse(text)
    except SyntaxError:
        return
    data = text.encode()
    module = code.Module.parse(data, "file.py")
    definition = module.definitions[0]
    masked = mask_source(module, [definition]).data
    goal = code.Module.parse(masked, "file.py")
    assert is_masked(goal.definitions[0])
    assert goal.definitions[0].docstring == definition.docstring
    assert unmask_source(module, goal, "f") == data


def test_did_you_mean() -> None:
    module = code.Module.parse(DUPLICATES, "file.py")
    with pytest.raises(TargetError) as error:
        code.find(module, Target.parse("file.py::forward"))
    assert error.value.hint == "did you mean file.py::A.B.forward?"
    with pytest.raises(TargetError) as error:
        code.find(module, Target.parse("file.py::A.B.forwrd"))
    assert "A.B.forward" in error.value.hint
