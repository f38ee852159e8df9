"""Byte fidelity: encodings, line ends, indentation; and what lies outside of the block and the function."""

from __future__ import annotations

import pytest

from lmr_author.authoring.extracting.extract import Extraction, extract
from lmr_author.core import code
from lmr_author.core.errors import TargetError

SCRIPT = "x = 1\ny = [\n  x,\n]\nprint(y)\n"


def of(data: bytes, start: int, end: int, name: str = "fresh") -> Extraction:
    return extract(code.Module.parse(data, "file.py"), start, end, name)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_are_kept(newline: str) -> None:
    data = SCRIPT.replace("\n", newline).encode()
    new = of(data, 2, 4).data.decode()
    lines = [
        "x = 1",
        "",
        "",
        "def fresh(x):",
        "    y = [",
        "      x,",
        "    ]",
        "    return y",
        "",
        "",
        "y = fresh(x)",
    ]
    assert new == newline.join([*lines, "print(y)", ""])


def test_the_block_brings_its_line_ends_where_they_are_mixed() -> None:
    new = of(b"x = 1\ny = x\r\nz = y\r\nprint(z)\n", 2, 3).data
    assert new == (
        b"x = 1\n\r\n\r\ndef fresh(x):\r\n    y = x\r\n    z = y\r\n    return z\r\n\r\n\r\n"
        b"z = fresh(x)\r\nprint(z)\n"
    )


@pytest.mark.parametrize(
    ("cookie", "encoding", "special"),
    [
        ("latin-1", "latin-1", "éü"),
        ("gbk", "gbk", "中文"),
        ("cp1252", "cp1252", "€"),
        ("utf-8", "utf-8", "😀é"),
    ],
)
def test_encodings_are_kept(cookie: str, encoding: str, special: str) -> None:
    text = (
        f"# -*- coding: {cookie} -*-\n# {special}\na = '{special}'\nb = a + '{special}'  # {special}\n"
        f"print(b)  # {special}\n"
    )
    new = of(text.encode(encoding), 4, 4).data.decode(encoding)
    function = f"def fresh(a):\n    b = a + '{special}'  # {special}\n    return b\n"
    lines = text.splitlines(keepends=True)
    assert new == "".join(lines[:3]) + "\n\n" + function + "\n\nb = fresh(a)\n" + lines[4]


def test_byte_order_mark_stays_first() -> None:
    data = b"\xef\xbb\xbf" + SCRIPT.encode()
    new = of(data, 1, 4).data
    assert new.startswith(b"\xef\xbb\xbfdef fresh():\n    x = 1\n")
    assert new.count(b"\xef\xbb\xbf") == 1


def test_a_missing_final_newline_stays_missing() -> None:
    assert of(b"x = 1\nprint(x)", 2, 2).data == b"x = 1\n\n\ndef fresh(x):\n    print(x)\n\n\nfresh(x)"


def test_form_feed_and_blank_lines_outside_are_kept() -> None:
    data = b"import os\n\x0c\n\n  \nx = os.sep\nprint(x)\n\x0c\n# end"
    new = of(data, 6, 6).data
    assert new.startswith(b"import os\n\x0c\n\n  \nx = os.sep\n\n\ndef fresh(x):\n")
    assert new.endswith(b"\n\n\nfresh(x)\n\x0c\n# end")


def test_blank_lines_and_comments_of_the_block_are_not_padded() -> None:
    new = of(b"if 1:\n    a = 1\n\n# b\n    b = a\n", 2, 5).data
    assert b"def fresh():\n    a = 1\n\n    # b\n    b = a\n" in new
    assert of(b"a = 1\n\n# b\nb = a\n", 1, 4).data.startswith(
        b"def fresh():\n    a = 1\n\n    # b\n    b = a\n"
    )


def test_the_file_comment_stays_at_the_top() -> None:
    data = b"#!/usr/bin/env python\n# -*- coding: latin-1 -*-\nx = '\xe9'\nprint(x)\n"
    new = of(data, 3, 3).data
    assert new.startswith(
        b"#!/usr/bin/env python\n# -*- coding: latin-1 -*-\n\n\ndef fresh():\n    x = '\xe9'\n"
    )


def test_a_class_of_tabs_gets_a_method_of_tabs() -> None:
    data = b"class A:\n\tdef f(self, x):\n\t\ty = self, x\n\t\treturn y\n\nprint(A().f(1)[1])\n"
    assert (
        b"class A:\n\tdef fresh(self, x):\n\t\ty = self, x\n\t\treturn y\n\n\tdef f(self, x):\n"
        in of(data, 3, 3).data
    )


def test_the_indentation_of_the_file_is_used() -> None:
    data = b"for i in range(2):\n  print(i)\nx = i\ny = x\n"
    assert b"def fresh(i):\n  print(i)\n" in of(data, 2, 2).data
    data = b"if 1:\n   z = 3\nx = 1\ny = x\nprint(y)\n"
    assert b"def fresh():\n   x = 1\n" in of(data, 3, 4).data


def test_indentation_that_cannot_be_moved_is_refused() -> None:
    # Deeper than eight spaces, whatever a tab is worth; but it does not begin with eight spaces.
    data = b"if 1:\n        if 1:\n\t        x = 1\n        print(1)\n"
    with pytest.raises(TargetError, match=r"lines 2-4 of file\.py cannot be indented anew"):
        of(data, 2, 4)


@pytest.mark.parametrize(
    "text", ["x = '''a\n    b\n'''", 'x = f"""\n  {1}\n    b"""', "x = 'a\\\n  b'", "x = b'''\n\n '''"]
)
def test_strings_keep_their_value(text: str) -> None:
    indented = f"if 1:\n        {text}\n        y = x\nprint(repr(y))\n"
    lines = indented.count("\n")
    new = of(indented.encode(), 2, lines - 1).data.decode()
    values: list[object] = []
    for program in (indented, new):
        variables: dict[str, object] = {}
        exec(program.replace("print(repr(y))", ""), variables)
        values.append(variables["y"])
    assert values[0] == values[1]


def test_the_diff_is_the_difference() -> None:
    assert of(b"x = 1\r\nprint(x)", 2, 2).diff == (
        "--- a/file.py\n+++ b/file.py\n@@ -1,2 +1,8 @@\n x = 1\r\n-print(x)\n\\ No newline at end of file\n"
        "+\r\n+\r\n+def fresh(x):\r\n+    print(x)\r\n+\r\n+\r\n+fresh(x)\n\\ No newline at end of file\n"
    )
