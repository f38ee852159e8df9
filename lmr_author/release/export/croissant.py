"""``croissant.json``: the data set's description in Croissant 1.0 (https://docs.mlcommons.org/croissant)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmr_author.core import files, resources

TYPES = {"string": "sc:Text", "strings": "sc:Text", "int64": "sc:Integer", "float64": "sc:Float"}


def croissant(
    folder: Path, columns: Mapping[str, Sequence[Sequence[str]]], licenses: Sequence[str], day: str
) -> dict[str, Any]:
    """Describe the JSONL files and archives that a folder holds.

    Args:
        columns: name, type and description of each column, by table.
        day: when the data set was published; "" if unknown.
    """
    document: dict[str, Any] = json.loads(resources.template("export/huggingface/croissant.json"))
    document["license"] = licenses
    if day:
        document["datePublished"] = day
    document["distribution"] = [
        {
            "@type": "cr:FileObject",
            "@id": path.name,
            "name": path.name,
            "contentUrl": path.relative_to(folder).as_posix(),
            "encodingFormat": "application/jsonlines" if path.suffix == ".jsonl" else "application/gzip",
            "sha256": files.sha256_file(path),
        }
        for path in sorted([*(folder / "data").iterdir(), *(folder / "tasks").iterdir()])
    ]
    document["recordSet"] = [
        {
            "@type": "cr:RecordSet",
            "@id": name,
            "name": name,
            "field": [_field(name, *column) for column in listed],
        }
        for name, listed in columns.items()
    ]
    return document


def _field(table: str, column: str, kind: str, description: str) -> dict[str, Any]:
    origin = {"fileObject": {"@id": f"{table}.jsonl"}, "extract": {"column": column}}
    field = {"@type": "cr:Field", "@id": f"{table}/{column}", "name": column, "description": description}
    if kind != "context":
        repeated = {"repeated": True} if kind == "strings" else {}
        return {**field, **repeated, "dataType": TYPES[kind], "source": origin}
    parts = [
        {
            "@type": "cr:Field",
            "@id": f"{table}/{column}/{part}",
            "name": part,
            "dataType": "sc:Text",
            "source": {**origin, "transform": {"jsonPath": f"$.{part}"}},
        }
        for part in ("path", "text")
    ]
    return {**field, "repeated": True, "subField": parts}
