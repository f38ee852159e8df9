"""JSON schemas of the records, generated from their classes: type annotations and docstrings."""

from __future__ import annotations

import inspect
import re
from typing import Any

import msgspec

from lmr_author.core.task.accepted import AcceptedFindings, Finding
from lmr_author.core.task.challenge import Challenge
from lmr_author.core.task.difficulty import Difficulty
from lmr_author.core.task.drafted import DraftOrigin
from lmr_author.core.task.environment import BuiltEnvironment
from lmr_author.core.task.equivalents import EquivalentMutants
from lmr_author.core.task.evaluation import Evaluation
from lmr_author.core.task.info import AlsoMaskedList
from lmr_author.core.task.ledger import Ledger
from lmr_author.core.task.provenance import Provenance
from lmr_author.core.task.record import Record
from lmr_author.core.task.recording import Recording
from lmr_author.core.task.reviews import Adjudication, Grades, Review
from lmr_author.core.task.vetting import VettingRecord

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ADDRESS = "https://lmr-author.github.io/schemas"

RECORDS: dict[str, type[Record]] = {
    "accepted": AcceptedFindings,
    "adjudication": Adjudication,
    "also-masked": AlsoMaskedList,
    "challenge": Challenge,
    "difficulty": Difficulty,
    "drafted": DraftOrigin,
    "environment": BuiltEnvironment,
    "equivalent-mutants": EquivalentMutants,
    "evaluation": Evaluation,
    "finding": Finding,
    "ledger": Ledger,
    "provenance": Provenance,
    "recording": Recording,
    "review": Review,
    "scores": Grades,
    "vetting": VettingRecord,
}
"""Short name of each generated schema."""

WITH_DEFAULTS = ("*",)
"""As a record's ``optional``: it and its parts are written by hand, and what has a default may be left out."""

_ENTRY = re.compile(r"^ {4}(\w+): (.*?)(?=^ {4}\w+: |\Z)", re.MULTILINE | re.DOTALL)


def schema_of(name: str, record: type[Record]) -> dict[str, Any]:
    """Return the schema of a record; descriptions come from the docstrings' ``Attributes:`` sections."""
    (root,), definitions = msgspec.json.schema_components([record], ref_template="#/$defs/{name}")
    by_hand = record.optional == WITH_DEFAULTS
    _describe(definitions, {cls.__name__: cls for cls in _classes(record)}, by_hand=by_hand)
    own = definitions.pop(record.__name__, root)
    head = {"$schema": DIALECT, "$id": f"{ADDRESS}/{name}.schema.json"}
    if f"'#/$defs/{record.__name__}'" in str(definitions | own):  # it contains itself
        definitions[record.__name__] = own
        own = {**own, "$ref": root["$ref"]}
        own = {key: own[key] for key in ("title", "description", "$ref")}
    return {**head, **own, **({"$defs": dict(sorted(definitions.items()))} if definitions else {})}


def _classes(record: type[Any]) -> set[type[Any]]:
    """Return a record and every dataclass and enum reachable from its module."""
    module = inspect.getmodule(record)
    return {value for value in vars(module).values() if isinstance(value, type)} | {record}


def _describe(definitions: dict[str, Any], classes: dict[str, type[Any]], *, by_hand: bool) -> None:
    """Add what no annotation says: texts, and that a document has every key of its class and no other."""
    for name, definition in definitions.items():
        if "properties" not in definition:
            definition["description"] = " ".join(definition.get("description", "").split())
            continue
        record = classes[name]
        head, _, attributes = inspect.cleandoc(record.__doc__ or "").partition("\nAttributes:\n")
        properties: dict[str, Any] = definition["properties"]
        optional = getattr(record, "optional", ())
        definition["description"] = " ".join(head.split())
        if not by_hand:
            definition["required"] = [key for key in properties if key not in optional]
        definition["additionalProperties"] = False
        for value in properties.values():
            if value.get("default") == {}:  # which some versions of msgspec say, and others do not
                del value["default"]
        for key, entry in _ENTRY.findall(attributes):
            if key in properties:
                properties[key]["description"] = " ".join(entry.split())
        if "$schema" in optional:
            properties["$schema"] = {"type": "string", "description": "address of this schema, for editors."}
        _add_titles(definition)


def _add_titles(definition: dict[str, Any]) -> None:
    for key, value in definition.get("properties", {}).items():
        value["title"] = key.lstrip("$").replace("_", " ").capitalize()
        _add_titles(value)
