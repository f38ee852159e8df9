"""For every tag of a document: whatever value it stands for comes back as it was, and fits the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from lmr_author import resources
from lmr_author.probe import storage, values
from lmr_author.probe.codec import Document, Fixtures, decode, encode
from lmr_author.probe.compare import compare
from lmr_author.probe.leaves import walk
from lmr_author.probe.tree import FIELDS
from tests.probe.drawn import VALUES, small_values
from tests.probe.sameness import SAME, same_plain

pytestmark = pytest.mark.torch

SCHEMA = Draft202012Validator(resources.schema("document"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("unit_test") / "fixtures.py"
    path.write_text("from tests.probe.shapes import Config\n\ndef thing():\n    return Config('built')\n")
    return str(path)


def stored(value: Any, folder: Any, fixtures: Fixtures) -> Document:
    """Encoded, written to disk, valid by the schema, and read again."""
    document = encode({"thing": value}, stands_in=fixtures.find)
    storage.dump(document, str(folder), "inputs")
    assert storage.load(str(folder), "inputs").digest() == document.digest()
    problems = [
        error.message for error in SCHEMA.iter_errors(json.loads((folder / "inputs.json").read_text()))
    ]
    assert problems == []
    return storage.from_bytes(storage.to_bytes(document))


def tags(document: Document) -> Iterator[str]:
    for _, node in walk(document):
        if isinstance(node, dict):
            yield node["$"]


def test_every_tag_has_its_values() -> None:
    assert sorted(VALUES) == sorted(FIELDS)
    assert set(resources.schema("document")["$defs"]["tagged"]["properties"]["$"]["enum"]) == set(FIELDS)


@pytest.mark.parametrize("tag", sorted(VALUES))
def test_values_come_back(tag: str, built: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("case")
    fewer = 12 if tag in ("tensor", "dataframe", "series", "object", "value") else 6

    @settings(
        max_examples=5 * fewer, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(VALUES[tag])
    def check(value: Any) -> None:
        names = ("thing",) if tag == "fixture" else ()
        document = stored(value, folder, Fixtures(names))
        assert tag in set(tags(document))
        again = decode(document, Fixtures(path=built))["thing"]
        if tag not in ("omitted", "fixture"):
            assert compare(document, encode({"thing": again})) == []
        SAME.get(tag, same_plain)(value, again)

    check()


def test_every_small_value_is_among_them() -> None:
    """Each constructor that a document may name is drawn at least once; what is JAX's has its own tests."""
    found: set[str] = set()

    @settings(
        max_examples=1500,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(small_values)
    def collect(value: Any) -> None:
        described = values.describe(value)
        assert described is not None
        found.add(described[0])

    collect()
    assert found == set(values.BUILDERS) - {"jax.key", "flax.module"}
