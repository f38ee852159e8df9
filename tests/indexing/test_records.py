"""What is read off one file: the same definitions as lmr_author.source, and what is said of each."""

from __future__ import annotations

import random
import re
import sys
import sysconfig
from pathlib import Path

import pytest

from lmr_author import code
from lmr_author.errors import SourceError
from lmr_author.indexing import NOT_PARSED, Entry, read

SHAPES = b'''\
import functools
from typing import overload

def plain(a, b: int = 1, *rest, key: "str | None" = None, **more): return a

class Outer:
    """Outer's."""
    def method(self):
        def inner():
            class Local:
                def deep(self): yield 1
            return Local
        return inner
    class Inner(Outer, metaclass=type):
        @property
        @functools.lru_cache(maxsize=None)
        def value(self) -> int: return 1
        @value.setter
        def value(self, new): pass
    async def later(self): return 1
    async def stream(self):
        yield 1

if True:
    def chosen(): return 1
else:
    def chosen(): return 2
try:
    def guarded(): lambda: (yield)
except ImportError:
    def guarded(): return [(yield)]
match 1:
    case 1:
        def matched(): pass
for _ in ():
    while True:
        with open("x") as f:
            def buried(): yield from f

@overload
def loaded(x: int) -> int: ...
@overload
def loaded(x: str) -> str: ...
def loaded(x): return x
'''


def entries(data: bytes) -> list[Entry]:
    """The entries of a file."""
    return read.entries("a.py", data)[0]


def reason(data: bytes) -> str:
    """Why a file is not read."""
    with pytest.raises(SourceError) as caught:
        read.entries("a.py", data)
    return read.reason(caught.value)


def only(text: str) -> Entry:
    """The first entry of a file."""
    return entries(text.encode())[0]


def assert_as_source_says(data: bytes, name: str) -> None:
    """The index and lmr_author.source tell the same of every definition of a file."""
    theirs = [
        (
            *(item.qualname, item.class_name, item.function_name, item.line, item.end_line, item.nth),
            *(item.siblings, item.kind, item.docstring or "", item.is_overload),
            item.kind == "function" and code.is_generator(item.node),  # type: ignore[arg-type]
        )
        for item in code.Module.parse(data, name).definitions
    ]
    ours = [
        (
            *(item.qualname, item.class_name, item.function_name, item.line, item.end_line, item.nth),
            *(item.siblings, "class" if item.is_class else "function", item.docstring, item.is_overload),
            item.generator,
        )
        for item in entries(data)
    ]
    assert ours == theirs, name


def test_every_shape_of_definition() -> None:
    assert_as_source_says(SHAPES, "shapes.py")
    found = {item.qualname: item for item in entries(SHAPES)}
    assert len(entries(SHAPES)) == 20
    assert [item.node_id for item in entries(SHAPES)][-3:] == [f"a.py::loaded#{nth}" for nth in (1, 2, 3)]
    assert found["Outer.Inner"].parameters == ("Outer",)
    assert found["Outer.method.inner.Local.deep"].generator
    assert found["Outer.stream"].kind == "async"


@pytest.mark.parametrize(
    "data",
    [
        SHAPES.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + SHAPES,
        "# -*- coding: latin-1 -*-\ndef f(größe):\n    'é'\n    return größe\n".encode("latin-1"),
        b"x = 1\x0c\ndef f():\n\x0c    return 1\n",
        b"def f():\\\n  return 1\n\n\ndef g(): return '''\ndef no(): pass\n'''",
        b"def f():\n    return f'{(yield)}'\n\n\ndef g():\n    return 'yield'\n",
        "def f(σ):\n    return λ(σ)\n".encode(),
        b"",
    ],
    ids=["crlf", "bom", "latin-1", "form-feed", "backslash-and-string", "f-string", "greek", "empty"],
)
def test_every_form_of_file(data: bytes) -> None:
    assert_as_source_says(data, "form.py")


def test_the_standard_library() -> None:
    folder = Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(path for path in folder.rglob("*.py") if "site-packages" not in path.parts)
    checked = 0
    for path in random.Random(3).sample(paths, 120):
        data = path.read_bytes()
        try:
            code.Module.parse(data, path.name)
        except SourceError:
            assert NOT_PARSED in reason(data), path
            continue
        assert_as_source_says(data, str(path))
        checked += 1
    assert checked > 80


def test_parameters_and_decorators_as_written() -> None:
    first, *rest = entries(SHAPES)
    assert first.parameters == ("a", "b: int", "*rest", "key: str | None", "**more")
    assert first.arguments == ("a", "b", "rest", "key", "more")
    decorated = next(item for item in rest if item.function_name == "value")
    assert decorated.decorators == ("property", "functools.lru_cache")
    assert (decorated.first_line, decorated.line) == (15, 17)
    annotated = only("def f(x: Optional[List[int, a.B]], y: list[1 + 2] = 3): pass")
    assert annotated.parameters == ("x: Optional[List[int, a.B]]", "y: list[1 + 2]")


def test_statements_and_branches() -> None:
    entry = only(
        "def f(x):\n"
        '    """Not counted."""\n'
        "    import os  # computes nothing\n"
        "    if x:\n"
        "        x += 1\n"
        "    elif os:\n"
        "        pass\n"
        "    for y in x:\n"
        "        try:\n"
        "            y()\n"
        "        except OSError:\n"
        "            raise\n"
        "    def g():\n"
        "        while x:\n"
        "            break\n"
        "    return g\n"
    )
    assert entry.shape == "DFIITWaerx"
    assert (entry.statements, entry.branches) == (10, 5)


def test_names_are_of_code_and_comments_are_apart() -> None:
    entry = only(
        "@hidden(1)\n"
        "def f(x):  # first comment\n"
        '    """A docstring that says nothing(."""\n'
        "    # TODO: second\n"
        "    y = model.encode(x, text='# no comment', more=\"it's\")  #: third\n"
        "    z = '''\n    # none either\n    ''' + f'{ignored(y)}'\n"
        "    return y if z else len (y)\n"
        "# outside\n"
    )
    assert entry.docstring == "A docstring that says nothing(."
    assert entry.comments == "first comment\nTODO: second\nthird"
    assert entry.names == ("x", "y", "model", "text", "more", "z")
    assert entry.calls == ("encode", "ignored", "len")


def test_calls_of_a_file_are_counted_once_each() -> None:
    data = b"""\
import a
a.loss(1); loss(2)

def loss(x):
    def inner():
        return loss(x - 1)
    return inner()  # loss(3)

class C(Base):
    def forward(self): return loss("loss(4)")
    value = loss(5)

@wrap(1)
def last(): loss(6)
loss(7)
"""
    assert read.entries("a.py", data)[1] == {"loss": 7, "inner": 1, "wrap": 1}


COPY = """\
def loss(chosen, rejected, beta=0.1):
    margin = chosen - rejected
    scale = beta * margin.abs()
    for item, other in pairs(margin):
        scale = scale + weigh(item)
    return -F.logsigmoid(scale).mean()
"""


def test_copies_have_one_fingerprint() -> None:
    renamed = COPY
    for old, new in (("chosen", "a"), ("rejected", "b"), ("margin", "diff"), ("scale", "s"), ("item", "one")):
        renamed = renamed.replace(old, new)
    reordered = COPY.splitlines(keepends=True)
    reordered[1], reordered[2] = reordered[2], reordered[1]
    documented = COPY.replace("    margin =", "    '''Doc.'''\n    # why\n    margin =", 1)
    wanted = only(COPY).fingerprint
    for other in (renamed, "".join(reordered), documented, COPY.replace("def loss", "def other")):
        assert only(other).fingerprint == wanted, other


@pytest.mark.parametrize(
    ("old", "new"), [("logsigmoid", "relu"), (".abs()", ""), ("    return", "    scale += 1\n    return")]
)
def test_other_code_has_another_fingerprint(old: str, new: str) -> None:
    assert only(COPY.replace(old, new)).fingerprint != only(COPY).fingerprint


def test_what_is_too_short_has_no_fingerprint() -> None:
    assert only("def f(x):\n    y = g(x)\n    return y\n").fingerprint == ""


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"print 'Python 2'\n", f"{NOT_PARSED}: line 1"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", NOT_PARSED),
        (b"x = 1\x00\n", "null bytes"),
        (b"# -*- coding: no-such -*-\n", NOT_PARSED),
        (b"'\xff'\n", NOT_PARSED),
        (b"x = " + b"(" * 5000 + b")" * 5000, f"{NOT_PARSED}|too deeply"),
        (b"x = " + b"-" * 100_000 + b"1", "too deeply"),
        (b"x = 1" + b" + 1" * 100_000, "too deeply"),
        (b"def f(:\n", f"{NOT_PARSED}: line 1: "),
    ],
)
def test_what_cannot_be_parsed_has_a_reason(data: bytes, expected: str) -> None:
    assert re.search(expected, reason(data))


def test_what_cannot_be_parsed_names_the_python_that_tried() -> None:
    """A file in the syntax of a later version is no worse for it."""
    assert reason(b"type = = 1\n").startswith(f"not Python 3.{sys.version_info.minor}: line 1")


def test_a_lone_surrogate_in_a_docstring_is_kept() -> None:
    assert only('def f():\n    "\\ud800"\n').docstring == "\ud800"
