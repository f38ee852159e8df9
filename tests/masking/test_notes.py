"""What stands in a masked body: comment and docstring, written and read back."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lmr_author.authoring.masking.body import (
    WIDTH,
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

FULL = MaskNotes(
    objective="Add the two.",
    inputs=("x (int): the left one", "y"),
    outputs=("int: the sum",),
    dependencies=("EPS", "Meter.add"),
    outside=("torch.nn.functional as F", "math"),
    steps=("add", "return"),
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    [
        "# Inputs:",
        "- x",
        "1. y",
        "Objective: z",
        "#   - w",
        "word " * 60,
        "https://" + "x" * 150,
        "a, b",
        "\\",
    ]
)
entries = st.lists(text, max_size=3).map(tuple)
names = st.lists(st.from_regex(r"\A[a-z][a-z0-9_. ]{0,20}\Z"), max_size=30).map(tuple)
notes = st.builds(
    MaskNotes,
    objective=text,
    inputs=entries,
    outputs=entries,
    dependencies=names,
    outside=names,
    steps=entries,
)
ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])


def tidy(notes: MaskNotes) -> MaskNotes:
    """What a comment can say of notes: every entry on one line, none of them empty."""

    def said(entries: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in map(one_line, entries) if text)

    return replace(
        notes,
        objective=one_line(notes.objective),
        inputs=said(notes.inputs),
        outputs=said(notes.outputs),
        dependencies=said(notes.dependencies),
        outside=said(notes.outside),
        steps=said(notes.steps),
    )


@settings(max_examples=150, deadline=None)
@given(notes, ENDINGS)
def test_notes_survive_a_file(given_notes: MaskNotes, newline: str) -> None:
    """Masked into a file, read from it, and the file restored, whatever they say."""
    data = newline.join(["class A:", "    async def f(self):", "        return 1", "    x = 1", ""]).encode()
    module = code.Module.parse(data, "file.py")
    masked = mask_source(module, [module.definitions[1]], {"A.f": given_notes}).data
    goal = code.Module.parse(masked, "file.py")
    assert notes_in(goal, goal.definitions[1]) == tidy(given_notes)
    assert unmask_source(module, goal, "A.f") == data


def test_lines_are_wrapped_and_empty_parts_left_out() -> None:
    lines = MaskNotes(objective="word " * 50, steps=("", "only")).lines("f")
    assert max(map(len, lines)) <= WIDTH
    assert lines[0] == "# TODO: implement f."
    assert lines[-2:] == ["# Steps:", "#   1. only"]
    assert not [line for line in lines if "Inputs" in line or "Dependencies" in line]


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
    with pytest.raises(TargetError, match="never changed"):
        mask_source(module, module.definitions, {"f": MaskNotes(docstring="Yours.")})
