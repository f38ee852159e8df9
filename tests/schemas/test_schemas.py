"""The schemas themselves, and documents that they take and refuse."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lmr_author.core import resources
from lmr_author.core.task import CATEGORIES, TaskInfo
from tests import example as example_texts

ALL = sorted(
    path.name.removesuffix(".schema.json") for path in resources.folder("schemas").glob("*.schema.json")
)


def _errors(name: str, document: Any) -> list[str]:
    return [error.message for error in Draft202012Validator(resources.schema(name)).iter_errors(document)]


def _properties(node: Any, path: str = "") -> list[tuple[str, dict[str, Any]]]:
    found = []
    if isinstance(node, dict):
        for name, value in node.get("properties", {}).items():
            found.append((f"{path}/{name}", value))
        for key, value in node.items():
            named = key == "properties"  # its keys are names, and "properties" may be one of them
            found += _properties(list(value.values()) if named else value, f"{path}/{key}")
    elif isinstance(node, list):
        for item in node:
            found += _properties(item, path)
    return found


@pytest.mark.parametrize("name", ALL)
def test_every_schema_is_a_schema_with_an_id(name: str) -> None:
    schema = resources.schema(name)

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"].endswith(f"/{name}.schema.json")
    assert schema["title"] and schema["description"]


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("document", "from-repository")])
def test_every_property_has_a_title_and_a_description(name: str) -> None:
    found = _properties(resources.schema(name))

    assert found
    assert [path for path, value in found if not (value.get("title") and value.get("description"))] == []


def test_info_takes_what_the_model_writes_and_refuses_the_rest() -> None:
    document = TaskInfo.from_json(example_texts.INFO).to_json()

    assert _errors("info", document) == []
    optional = ("repo_commit", "license")
    assert _errors("info", {key: value for key, value in document.items() if key not in optional}) == []
    for change in ({"year": "2024"}, {"implementations": {}}, {"repo_commit": "abc"}, {"instance_id": "1"}):
        assert _errors("info", {**document, **change}), change
    for change in (
        {"category": "loss"},
        {"goal_file": "../x.py"},
        {"goal_file": "/x.py"},
        {"index": 0},
        {"goal_function": ""},
    ):
        entry = {**document["implementations"][0], **change}
        assert _errors("info", {**document, "implementations": [entry]}), change


def test_categories_are_those_of_the_model() -> None:
    properties = resources.schema("info")["properties"]["implementations"]["items"]["properties"]

    assert tuple(properties["category"]["enum"]) == CATEGORIES
