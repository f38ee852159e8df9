"""Lines of comments and texts that one file has, and another has not."""

from __future__ import annotations

import pytest

from lmr_author.code import Module
from lmr_author.leaks.fragments import added_comments

ORIGINAL = '''\
"""A module."""
# total = a + b
x = """
mean = total / 2
"""
'''


@pytest.mark.parametrize(
    ("more", "added"),
    [
        ("", set()),
        ("    # total = a + b\n", set()),
        ("#total=a+b\n", set()),
        ("# other = a - b\n", {"other=a-b"}),
        ("'other = a - b'\n", {"other=a-b"}),
        ("y = '''\nother = a - b\n'''\n", {"other=a-b"}),
        ("y = 'other = a - b'\n", set()),
        ("y = '''\nmean = total / 2\n'''\n", set()),
    ],
)
def test_what_is_new(more: str, added: set[str]) -> None:
    original, module = (Module.parse(text.encode(), "a.py") for text in (ORIGINAL, ORIGINAL + more))

    assert added_comments(module, original) == added
    assert added_comments(original, module) == set()
