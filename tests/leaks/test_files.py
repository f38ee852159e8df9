"""Files taken apart: the same functions as when they are parsed whole; odd files do no harm."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.proof import leaks
from lmr_author.proof.leaks.fragments import loose_statements
from tests.leaks.functions import ATTENTION, METRIC, wanted


def test_another_encoding_is_read() -> None:
    text = f"# -*- coding: latin-1 -*-\nNAME = 'é'\n\n\n{METRIC}".encode("latin-1")

    assert [leak.line for leak in leaks.in_file("a.py", text, [wanted(METRIC)])] == [5]


LINES = {
    "comment": "# x = compute(y)",
    "prompt": ">>> x = compute(y)",
    "notebook prompt": "In [12]: x = compute(y)",
    "numbered": "  12  x = compute(y)",
    "quoted": "> x = compute(y)",
    "continued": "x = compute(\n    y\n)",
    "backslash": "x = \\\n    compute(y)",
}


@pytest.mark.parametrize("name", LINES)
def test_a_statement_is_read_however_it_is_written(name: str) -> None:
    (plain,) = loose_statements("x = compute(y)")

    found = loose_statements(f"Some words, and then:\n\n{LINES[name]}\n\nMore (words) here.\n")
    assert [item.exact for item in found] == [plain.exact]


def test_heads_of_blocks_are_read_alone() -> None:
    text = "for a in f(b):\nwhile g(c):\nif h(d):\nelif i(e):\nwith j(k) as l:\n"

    assert [item.shape[0] for item in loose_statements(text)] == ["for", "while", "if", "if", "with"]


def test_statements_know_their_lines() -> None:
    found = loose_statements("words\nx = f(y)\n\nz = g(\n  x)\nw = h(z)\n", 10)
    assert [item.line for item in found] == [11, 13, 15]


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
    "many lines": METRIC.encode() + b"y = f(x)\n" * 20_000,
}


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("file", ["a.py", "a.txt"])
def test_deep_and_long_files_end(name: str, file: str) -> None:
    assert isinstance(leaks.in_file(file, DEEP[name], [wanted(METRIC)]), list)


NOTEBOOKS = {
    "no JSON": json.dumps({"source": METRIC.splitlines(keepends=True)}, indent=1)[:-1].encode(),
    "a list": json.dumps([METRIC]).encode(),
    "cells that are none": json.dumps({"cells": [None, 3, {"cell_type": "code", "source": METRIC}]}).encode(),
    "an older format": json.dumps({"worksheets": [{"cells": [{"input": [METRIC]}]}]}).encode(),
    "does not parse": json.dumps(
        {"cells": [{"cell_type": "code", "source": f"{METRIC}\nprint 'x'"}]}
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
