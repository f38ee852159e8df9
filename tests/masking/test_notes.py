"""What stands in a masked body: comment and docstring, written and read back."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lmr_author.authoring.masking.body import (
    MaskNotes,
    clean_docstring,
    docstring_lines,
    mask_source,
    masked_body,
    notes_in,
    one_line,
    unmask_source,
)
from lmr_author.core import code
from lmr_author.core.errors import TargetError

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80) | st.lists(
    st.sampled_from(
        ["# TODO: implement f.", "#", "", "raise NotImplementedError", "word " * 60, "  - w", "\\"]
    ),
    max_size=5,
).map("\n".join)
ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])


@settings(max_examples=200, deadline=None)
@given(text, ENDINGS)
def test_a_comment_survives_a_file(comment: str, newline: str) -> None:
    """Masked into a file, read from it, and the file restored, whatever it says."""
    data = newline.join(["class A:", "    async def f(self):", "        return 1", "    x = 1", ""]).encode()
    module = code.Module.parse(data, "file.py")
    masked = mask_source(module, [module.definitions[1]], {"A.f": MaskNotes(comment)}).data
    goal = code.Module.parse(masked, "file.py")
    tidy = "\n".join(map(one_line, comment.strip().splitlines()))
    assert notes_in(goal, goal.definitions[1]) == MaskNotes(tidy)
    assert unmask_source(module, goal, "A.f") == data


def test_a_bare_todo() -> None:
    assert masked_body("f", MaskNotes(docstring="D."), generator=False) == [
        "# TODO: implement f.", "raise NotImplementedError",
    ]  # fmt: skip


# docstrings


docstrings = st.text(max_size=80) | st.lists(
    st.sampled_from(
        ['"', '"""', "\\", "\n", "'''", "é", "中", "x", " ", "\t", "\r", "\x00", "\x0c", r"\N{DASH}"]
    ),
    max_size=20,
).map("".join)


@settings(max_examples=500, deadline=None)
@given(
    docstrings,
    st.sampled_from(["utf-8", "latin-1", "ascii", "gbk"]),
    ENDINGS,
    st.sampled_from(["    ", "\t"]),
)
def test_any_docstring_in_any_file(said: str, encoding: str, newline: str, indent: str) -> None:
    """The masked function has the docstring's text, nothing else changed, and unmasking restores the file."""
    assume(newline != "\r" or encoding == "utf-8")  # the interpreter finds no cookie in a line that long
    said = said.encode("utf-8", "replace").decode("utf-8")
    lines = [f"# coding: {encoding}", "class A:", indent + "def f(x): return 1", indent + "y = '1'"]
    module = code.Module.parse(newline.join(lines).encode(encoding), "file.py")
    masked = mask_source(module, [module.definitions[1]], {"A.f": MaskNotes(docstring=said)}).data
    goal = code.Module.parse(masked, "file.py")
    found = goal.definitions[1].docstring
    assert (inspect.cleandoc(found) if found is not None else "") == clean_docstring(said)
    assert unmask_source(module, goal, "A.f") == module.data


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        ("One line.", ['"""One line."""']),
        ("Two.\n\n  lines\n", ['"""Two.', "", "lines", '"""']),
        (r"A \d+.", [r'r"""A \d+."""']),
        ("A \\d 中.", ['"""A \\\\d 中."""']),
        ('Says "x"', [r'"""Says "x\""""']),
        ("ends in \\", [r'"""ends in \\"""']),
    ],
)
def test_docstring_literals(said: str, lines: list[str]) -> None:
    assert docstring_lines(said, str.isascii) == lines


def test_an_existing_docstring_is_never_changed() -> None:
    module = code.Module.parse(b'def f():\n    """Mine."""\n    return 1\n', "file.py")
    with pytest.raises(TargetError, match="never changes"):
        mask_source(module, module.definitions, {"f": MaskNotes(docstring="Yours.")})
