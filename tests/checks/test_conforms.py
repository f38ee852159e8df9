"""What is said to conform does, whatever else the library would say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from lmr_author import resources
from lmr_author.checks import example_task
from lmr_author.checks.conforms import conforms

SCHEMAS: list[dict[str, Any]] = [
    {"type": "integer", "minimum": 0, "maximum": 2},
    {"type": ["number", "null"]},
    {"type": "string", "minLength": 2, "pattern": "^a|b$"},
    {"const": 1},
    {"enum": ["a", True, 0, None]},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 1},
    {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}},
    {"type": "object", "properties": {"a": {"const": "b"}}, "additionalProperties": False},
    {"minLength": 1},
    {"uniqueItems": True},
    {"anyOf": [{"type": "string"}, {"minimum": 1}]},
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.floats(-1, 3) | st.text("abc", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)


@given(VALUES, st.sampled_from(SCHEMAS))
def test_what_conforms_is_valid(value: object, schema: dict[str, Any]) -> None:
    assert not conforms(value, schema) or Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (1, SCHEMAS[0]),
        (None, SCHEMAS[1]),
        ("ab", SCHEMAS[2]),
        (1, SCHEMAS[3]),
        (True, SCHEMAS[4]),
        ([True], SCHEMAS[5]),
        ({"a": 1, "b": 2}, SCHEMAS[6]),
        ({"a": [], "b": "c"}, SCHEMAS[7]),
        ({"a": "b"}, SCHEMAS[8]),
    ],
)
def test_the_usual_keywords_are_known(value: object, schema: dict[str, Any]) -> None:
    assert conforms(value, schema)


def test_a_keyword_that_is_not_known_is_left_to_the_library() -> None:
    assert not conforms("a", {"type": "string", "maxLength": 9})


def test_a_good_task_needs_no_library(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    provenance = json.loads((task.authoring / "provenance.json").read_text())

    assert conforms(task.load_raw(), resources.schema("info"))
    assert conforms(provenance, resources.schema("provenance"))
