"""What a docstring says of a golden that is not so."""

from __future__ import annotations

import ast

import pytest

from lmr_author.release.review.docstring import docstring_contradictions

NONE = "the docstring says that it returns None, and the golden returns something"
NOTHING = "the docstring describes a result, and the golden returns nothing"


@pytest.mark.parametrize(
    ("docstring", "body", "found"),
    [
        (
            "Do.\n\n    Args:\n        x: one.\n        y (int): two,\n            note: more.\n",
            "return x",
            ["y"],
        ),
        ("Do.\n\n    :param int z: one.\n    :param x: two.\n    :returns: it\n", "return x", ["z"]),
        ("Do.\n\n    Returns:\n        None\n", "return x", [NONE]),
        ("Do.\n\n    Returns:\n        The norm.\n", "x.sort()", [NOTHING]),
        ("Do.\n\n    Returns\n    -------\n    float\n", "def inner(): return 1\n    x.sort()", [NOTHING]),
        ("Do.\n\n    Returns:\n        None\n", "return None", []),
        ("Do.\n\n    Returns:\n        Nothing if x is empty, else its norm.\n", "return x", []),
        ("Do.\n\n    Yields:\n        Numbers.\n", "yield x", []),
        ("Return x: it is one.", "return x", []),
    ],
)
def test_contradictions(docstring: str, body: str, found: list[str]) -> None:
    function = ast.parse(f'def f(x):\n    """{docstring}    """\n    {body}\n').body[0]
    assert isinstance(function, ast.FunctionDef)
    expected = [
        one if " " in one else f"the docstring describes {one}, which is no parameter" for one in found
    ]
    assert list(docstring_contradictions([function])) == expected
