"""Files taken apart: the same functions as when they are parsed whole; odd files do no harm."""

from __future__ import annotations

import ast
import json
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author import leaks
from lmr_author.leaks.fragments import Fragment, fragments, loose_statements, parse
from tests.leaks.functions import ATTENTION, METRIC, wanted

LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::5]


def _all(name: str, data: bytes) -> list[Fragment]:
    return list(fragments(name, data))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name)
def test_the_functions_of_a_file_are_those_of_the_whole(path: Path) -> None:
    data = path.read_bytes()
    whole = parse(data, path.name)
    assert whole is not None
    wanted_ = sorted(
        (item.qualname, item.line, ast.dump(item.node))
        for item in whole.definitions
        if item.kind == "function"
    )

    found = [piece for piece in _all(path.name, data) if piece.definition is not None]
    names = sorted(
        (piece.where, piece.line, ast.dump(piece.definition.node))
        for piece in found
        if piece.definition is not None
    )
    assert names == wanted_


def test_a_definition_inside_a_text_at_the_left_margin_is_no_definition() -> None:
    text = b'TEXT = """\ndef not_a_function(x):\n    return x\n"""\n\n\ndef real(x):\n    return x\n'

    assert [piece.where for piece in _all("a.py", text) if piece.definition] == ["real"]


def test_a_decorator_of_several_lines_stays_with_its_class() -> None:
    text = b"@deco(\n    1,\n)\n@other\nclass A(object):\n\n    @prop\n    def f(self):\n        return 1\n"

    (piece,) = [piece for piece in _all("a.py", text) if piece.definition]
    assert (piece.where, piece.line) == ("A.f", 8)


def test_another_encoding_is_read() -> None:
    text = f"# -*- coding: latin-1 -*-\nNAME = 'é'\n\n\n{METRIC}".encode("latin-1")

    assert [leak.line for leak in leaks.in_file("a.py", text, [wanted(METRIC)])] == [5]


LINES = [
    ("plain", "x = compute(y)"),
    ("comment", "# x = compute(y)"),
    ("prompt", ">>> x = compute(y)"),
    ("notebook prompt", "In [12]: x = compute(y)"),
    ("numbered", "  12  x = compute(y)"),
    ("numbered with a bar", "12| x = compute(y)"),
    ("quoted", "> x = compute(y)"),
    ("another language's comment", "// x = compute(y)"),
    ("Cython", "cdef double x = compute(y)"),
    ("continued", "x = compute(\n    y\n)"),
    ("backslash", "x = \\\n    compute(y)"),
]


@pytest.mark.parametrize(("name", "text"), LINES, ids=[name for name, _ in LINES])
def test_a_statement_is_read_however_it_is_written(name: str, text: str) -> None:
    (plain,) = loose_statements("x = compute(y)")

    assert [
        item.exact for item in loose_statements(f"Some words, and then:\n\n{text}\n\nMore (words) here.\n")
    ] == [plain.exact]


def test_heads_of_blocks_are_read_alone() -> None:
    text = "for a in f(b):\nwhile g(c):\nif h(d):\nelif i(e):\nwith j(k) as l:\n"

    assert [item.shape[0] for item in loose_statements(text)] == ["for", "while", "if", "if", "with"]


def test_statements_know_their_lines() -> None:
    assert [item.line for item in loose_statements("words\nx = f(y)\n\nz = g(\n  x)\nw = h(z)\n", 10)] == [
        11,
        13,
        15,
    ]


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=400),
    st.sampled_from(["a.py", "a.ipynb", "a.patch", "a.html", "a.json", "a", "a.txt", "a.pyc"]),
)
def test_no_content_does_harm(data: bytes, name: str) -> None:
    solution = wanted(METRIC)
    words = b" ".join((*solution.needed, *solution.variables))

    assert leaks.in_file(name, data, [solution]) == []
    leaks.in_file(name, data + b"\n" + words + b"\n" + METRIC.encode() + data, [solution])


DEEP = {
    "brackets": b"x = " + b"(" * 50_000 + b"\n" + METRIC.encode(),
    "a long sum": b"x = " + b"1 + " * 50_000 + b"1\n" + METRIC.encode(),
    "one line": METRIC.encode().replace(b"\n", b" ") * 200,
    "many lines": METRIC.encode() + b"y = f(x)\n" * 60_000,
}


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("file", ["a.py", "a.txt", "a.ipynb"])
def test_deep_and_long_files_end(name: str, file: str) -> None:
    assert isinstance(leaks.in_file(file, DEEP[name], [wanted(METRIC)]), list)


NOTEBOOKS = {
    "no JSON": json.dumps({"source": METRIC.splitlines(keepends=True)}, indent=1)[:-1].encode(),
    "a list": json.dumps([METRIC]).encode(),
    "cells that are none": json.dumps({"cells": [None, 3, {"cell_type": "code", "source": METRIC}]}).encode(),
    "an older format": json.dumps(
        {"worksheets": [{"cells": [{"cell_type": "code", "input": [METRIC]}]}]}
    ).encode(),
    "does not parse": json.dumps(
        {"cells": [{"cell_type": "code", "source": METRIC + "\nprint 'x'\n"}]}
    ).encode(),
    "outputs that are none": json.dumps(
        {"cells": [{"cell_type": "code", "source": METRIC, "outputs": [None, 3, {"data": None}]}]}
    ).encode(),
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_of_every_kind_are_read(name: str) -> None:
    assert [leak.kind for leak in leaks.in_file("a.ipynb", NOTEBOOKS[name], [wanted(METRIC)])] == ["notebook"]


def test_a_copy_spread_over_cells_is_found() -> None:
    lines = ATTENTION.splitlines()[2:]
    cells = [{"cell_type": "code", "source": line.strip()} for line in lines if "mask" not in line]

    found = leaks.in_file("a.ipynb", json.dumps({"cells": cells}).encode(), [wanted(ATTENTION)])

    assert [leak.sure for leak in found] == [True]
