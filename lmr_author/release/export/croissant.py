"""``croissant.json``: the data set's description in Croissant 1.0 (https://docs.mlcommons.org/croissant)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmr_author import __version__
from lmr_author.core import files, resources
from lmr_author.core.texts import counted
from lmr_author.release.export.options import NOT_REVIEWED, Publication
from lmr_author.release.review.review_status import ACCEPTED

TYPES = {
    "string": "sc:Text",
    "strings": "sc:Text",
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "date32": "sc:Date",
}


Row = Mapping[str, Any]


def croissant(
    folder: Path,
    columns: Mapping[str, Sequence[Sequence[str]]],
    papers: Sequence[Row],
    publication: Publication,
    day: str,
) -> dict[str, Any]:
    """Describe the JSONL files and archives in a folder; ``day`` is that of publication."""
    document: dict[str, Any] = json.loads(resources.template("export/huggingface/croissant.json"))
    document |= {
        "name": publication.name,
        "version": publication.release_version,
        "license": sorted({row["license"] or "unknown" for row in papers}),
        **_creator(publication),
        **({"datePublished": day} if day else {}),
        **_lineage(papers),
    }
    document["description"] += _paper_licenses(papers)
    if unreviewed := sum(row["review"] == NOT_REVIEWED for row in papers):
        document["description"] += f" Not reviewed by people yet: {unreviewed} of {len(papers)} tasks."
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


def _lineage(papers: Sequence[Row]) -> dict[str, Any]:
    """Return the origin of the tasks, with the licence of each part, and the steps that made them."""
    sources = []
    for row in papers:
        code = {"url": row["repo_url"], "version": row["repo_commit"], "license": row["license"]}
        paper = {"url": row["paper_url"], "license": row["paper_license"]}
        for kind, facts in (("repository", code), ("paper", paper)):
            known = {name: value for name, value in facts.items() if value}
            label = f"{row['task']}: {kind}"
            sources.append({"@type": "prov:Entity", "prov:label": label, "name": row["paper_name"], **known})
    models = sorted({row["drafted_by"] for row in papers if row["drafted_by"]})
    tools = [f"lmr-author {__version__}", *models]
    accepted = sum(row["review"] == ACCEPTED for row in papers)
    return {
        # Only what a model wrote is synthetic: not the code, the papers and the recorded calls.
        "rai:hasSyntheticData": bool(models),
        "rai:machineAnnotationTools": tools,
        "rai:dataAnnotationAnalysis": [f"Reviewers accepted {accepted} of {counted(len(papers), 'task')}."],
        "prov:wasDerivedFrom": sources,
        "prov:wasGeneratedBy": [
            {
                "@type": "prov:Activity",
                "prov:label": "masking, recording, evaluation",
                "description": "Functions masked, calls recorded, tests tried on originals and small mistakes.",
                "prov:wasAssociatedWith": [
                    {"@type": "prov:SoftwareAgent", "prov:label": tool} for tool in tools
                ],
            }
        ],
    }


def _creator(publication: Publication) -> dict[str, Any]:
    if not publication.author:
        return {"creator": {"@type": "sc:Organization", "name": publication.organization}}
    return {"creator": [{"@type": "sc:Person", "name": name} for name in publication.author]}


def _paper_licenses(papers: Sequence[Row]) -> str:
    """Return a sentence: Croissant's ``license`` is that of the code alone."""
    names = sorted({row["paper_license"] for row in papers if row["paper_license"]})
    if names:
        return f" Licences of the papers: {', '.join(names)}."
    return " Licences of the papers are not recorded."


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
