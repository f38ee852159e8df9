"""`--notes FILE`: drafts written and read, and what is said about a file that is wrong."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lmr_author.authoring.masking.body import MaskNotes, clean_docstring
from lmr_author.authoring.masking.notes_file import read_notes_file, write_notes_file
from lmr_author.core import resources
from lmr_author.core.errors import LmrError
from lmr_author.proof.context import Proposal

TARGET = "pkg/a b.py::A.f"

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30).map(
    str.strip
)
line = words.filter(bool) | st.sampled_from(
    ["yes", "1.0", "null", "x: y: z", "- a", "# no", "'q'", "a: b", "{x}", "~"]
)
entries = st.lists(line, max_size=4).map(tuple)
notes = st.builds(
    MaskNotes,
    objective=line,
    inputs=entries,
    outputs=entries,
    dependencies=entries,
    outside=entries,
    steps=entries,
    docstring=st.lists(line | st.just(""), max_size=5).map("\n    ".join).map(clean_docstring),
)


@settings(max_examples=200, deadline=None)
@given(notes)
def test_drafts_are_read_back_as_they_were(said: MaskNotes) -> None:
    text = write_notes_file({TARGET: (said, (Proposal("utils.py", ("defines `x: y`",)),))})
    (entry,) = read_notes_file(text, "notes.yaml")
    assert entry.target == TARGET
    assert entry.described.notes == said
    assert entry.described.retrieval == ("utils.py",)


def test_a_written_file_is_as_the_schema_says_and_explains_itself() -> None:
    text = write_notes_file({TARGET: (MaskNotes("o", ("x: y",)), ())}, [TARGET])
    assert not list(Draft202012Validator(resources.schema("notes")).iter_errors(yaml.safe_load(text)))
    assert "It has a docstring, which stays as it is." in text and "docstring:" not in text
    assert "- x: y\n" in text


def test_what_a_person_writes() -> None:
    text = """
targets:
- target: a.py::f
  objective: yes
  inputs:
  - logits: (batch, classes)
  - "labels: int"
  - temperature
  steps:
  category: Evaluation Metrics
  instruction: |
    Two
    lines.
  retrieval_context: []
- target: b.py::g
"""
    first, second = read_notes_file(text, "n")
    assert first.described.notes == MaskNotes(
        "yes", ("logits: (batch, classes)", "labels: int", "temperature")
    )
    assert (first.described.category, first.described.instruction) == ("Evaluation Metrics", "Two\nlines.")
    assert first.described.retrieval == () and second.described.retrieval is None
    (emptied,) = read_notes_file("targets:\n- target: c.py::h\n  retrieval_context:\n", "n")
    assert emptied.described.retrieval == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "n: Expected `object`, got `null`"),
        ("a: 1", "n: Object contains unknown field `a`"),
        ("- a", "n: Expected `object`, got `array`"),
        ("targets: []", "n: Expected `array` of length >= 1 - at `targets`"),
        ("targets:\n- objective: x", "n: Object missing required field `target` - at `targets[0]`"),
        ("targets:\n\n- target: a\n  inputs: 5\n", "- at `targets[0].inputs`"),
        (
            "targets:\n- target: a\n  input: []\n",
            "n: Object contains unknown field `input` - at `targets[0]`",
        ),
        ("targets:\n- target: a\n  inputs:\n  - [1]\n", "got `array` - at `targets[0].inputs[0]`"),
        ("targets:\n- target: a\n  dependencies: [b]\n", "got `array` - at `targets[0].dependencies`"),
        ("targets:\n- target: a\n  objective: [b]\n", "got `array` - at `targets[0].objective`"),
        ("targets: [a\n", "n:2: not valid YAML"),
        ("targets:\n- target: a\n  objective: x: y\n", "n:3: not valid YAML: mapping values"),
        ("\x00", "not valid YAML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_part_that_is_wrong(text: str, message: str) -> None:
    with pytest.raises(LmrError) as error:
        read_notes_file(text, "n")
    assert message in error.value.message
    assert error.value.hint
