"""JSON schemas of the records, generated from their classes: type annotations and docstrings."""

from __future__ import annotations

import inspect
import re
from typing import Any

import msgspec

from lmr_author.core.task.accepted import AcceptedFindings, Finding
from lmr_author.core.task.challenge import Challenge
from lmr_author.core.task.difficulty import Difficulty
from lmr_author.core.task.equivalents import EquivalentMutants
from lmr_author.core.task.evaluation import Evaluation
from lmr_author.core.task.info import AlsoMaskedList
from lmr_author.core.task.ledger import Ledger
from lmr_author.core.task.provenance import BuiltEnvironment, DraftOrigin, Provenance
from lmr_author.core.task.record import Record
from lmr_author.core.task.recording import Recording
from lmr_author.core.task.reviews import Adjudication, Grades, Review, VettingRecord

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

_ENTRY = re.compile(r"^ {4}(\w+): (.*?)(?=^ {4}\w+: |\Z)", re.MULTILINE | re.DOTALL)


def schema_of(name: str, record: type[Record]) -> dict[str, Any]:
    """Return the schema of a record; descriptions come from the docstrings' ``Attributes:`` sections."""
    _, definitions = msgspec.json.schema_components([record], ref_template="#/$defs/{name}")
    classes = {value for value in vars(inspect.getmodule(record)).values() if isinstance(value, type)}
    _describe(definitions, {cls.__name__: cls for cls in classes})
    own = definitions.pop(record.__name__)
    editors = {"type": "string", "title": "Schema", "description": "address of this schema, for editors."}
    own["properties"]["$schema"] = editors
    head = {"$schema": DIALECT, "$id": f"{ADDRESS}/{name}.schema.json"}
    return {**head, **own, **({"$defs": dict(sorted(definitions.items()))} if definitions else {})}


def _describe(definitions: dict[str, Any], classes: dict[str, type[Any]]) -> None:
    """Add what no annotation says: texts, and that a document has no keys but those of its class."""
    for name, definition in definitions.items():
        if "properties" not in definition:
            definition["description"] = " ".join(definition.get("description", "").split())
            continue
        head, _, attributes = inspect.cleandoc(classes[name].__doc__ or "").partition("\nAttributes:\n")
        properties: dict[str, Any] = definition["properties"]
        definition["description"] = " ".join(head.split())
        definition["additionalProperties"] = False
        for value in properties.values():
            if value.get("default") == {}:  # which some versions of msgspec say, and others do not
                del value["default"]
        for key, entry in _ENTRY.findall(attributes):
            if key in properties:
                properties[key]["description"] = " ".join(entry.split())
        _add_titles(definition)


def _add_titles(definition: dict[str, Any]) -> None:
    for key, value in definition.get("properties", {}).items():
        value["title"] = key.lstrip("$").replace("_", " ").capitalize()
        _add_titles(value)
