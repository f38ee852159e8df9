"""A data set for the Hugging Face hub: card with declared features, JSONL, archives of bundles, Croissant.

Goldens, unit tests and expected values are in the private part only.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lmr_author.core import code, files, quoting, resources
from lmr_author.core.errors import LmrError
from lmr_author.core.repo.citations import month_of_preprint
from lmr_author.core.task import AUTHORING, Evaluation, Implementation, provenance
from lmr_author.core.task.challenge import ChallengeStatus
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.task.provenance import drafted_by
from lmr_author.core.texts import counted, size_text
from lmr_author.release.export.agent import write_bundle
from lmr_author.release.export.assessment import ASSESSMENT, as_yaml, assess, gather
from lmr_author.release.export.croissant import croissant
from lmr_author.release.export.options import NOT_REVIEWED, Exportable, ExportOptions, Publication
from lmr_author.release.export.output import files_and_links, render, write_tar
from lmr_author.release.review.review import result_of
from lmr_author.release.review.review_status import ACCEPTED

TEMPLATES = "export/huggingface"
TITLE = "Research code to implement from papers"
MUTANTS = ("made", "killed", "indistinguishable", "accepted", "open")
"""Results of the mutants: columns of the implementations."""
SHARED = ("paper_name", "paper_url", "repo_url", "repo_commit", "repo_patch", "repo_folder_name", "license",
          "paper_license")  # fmt: skip
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
PRIVATE_RECORDS = ("*.json", "originals/**/*")
"""Files of ``authoring/`` that an evaluation needs."""

_LICENSE_ID = re.compile(r"[a-z0-9][a-z0-9.+-]*")
"""The form of the hub's names of licences; it refuses a card with another text."""

Row = dict[str, Any]
Columns = dict[str, list[list[str]]]
"""Name, type and description of each column, by table."""


def write_huggingface(tasks: list[Exportable], folder: Path, options: ExportOptions) -> None:
    tables: dict[str, list[Row]] = {"implementations": [], "papers": []}
    for exportable in tasks:
        archive = folder / "tasks" / f"{exportable.task.name}.tar.gz"
        with files.temporary_folder(".bundle-", folder) as bundle:
            write_bundle(exportable, bundle, options.base_image)
            write_tar(archive, bundle, files_and_links(bundle), exportable.task.name)
        packed = {"archive": f"tasks/{archive.name}", "archive_sha256": files.sha256_file(archive)}
        rows = []
        for implementation in exportable.info.implementations:
            rows.append({**_implementation(exportable, implementation), **packed})
        tables["implementations"] += rows
        tables["papers"].append(_paper(exportable))
    columns = json.loads(resources.template(f"{TEMPLATES}/columns.json"))
    for name, rows in tables.items():
        ordered = ({column: row[column] for column, *_ in columns[name]} for row in rows)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ordered)
        files.write_text(folder / "data" / f"{name}.jsonl", text)
    # The day the newest task was made: the same tasks always have the same date.
    day = max(provenance.load(exportable.task).created[:10] for exportable in tasks)
    publication = options.publication
    citation = _citation(publication, day[:4])
    described = croissant(folder, columns, tables["papers"], publication, day)
    files.write_json(folder / "croissant.json", {**described, "citeAs": citation})
    files.write_text(folder / "eval.yaml", quoting.yaml(_benchmark(publication, described["description"])))
    evidence = [gather(exportable.task, exportable.findings) for exportable in tasks]
    items = assess(evidence)
    files.write_text(folder / ASSESSMENT, as_yaml(items))
    unsound = {exportable.task.name: exportable.problems for exportable in tasks if exportable.problems}
    card = render(
        "export/huggingface/README.md.j2",
        front_matter=quoting.yaml(_front_matter(tables, columns, described["license"])),
        tasks=len(tasks),
        unreviewed=[exportable.task.name for exportable in tasks if exportable.review == NOT_REVIEWED],
        canary=publication.canary,
        unsound=unsound,
        citation=citation,
        assessment=items,
        **_datasheet(tasks, [each.proof for each in evidence], tables, folder, publication.release_version),
    )
    files.write_text(folder / "README.md", card)


def write_private(tasks: list[Exportable], folder: Path) -> None:
    """Write what an evaluator needs: complete task folders, without reviews and logs."""
    files.write_text(folder / "README.md", resources.template(f"{TEMPLATES}/private.md"))
    for exportable in tasks:
        task = exportable.task
        records = (path for pattern in PRIVATE_RECORDS for path in task.authoring.glob(pattern))
        links = (path for path in files_and_links(task.root) if path.is_symlink())
        content = {*task.content_files(), *(path for path in records if path.is_file())}
        content |= {path for path in links if path.relative_to(task.root).parts[0] != AUTHORING}
        write_tar(folder / "tasks" / f"{task.name}.tar.gz", task.root, content, task.name)


def _shared(exportable: Exportable) -> Row:
    info = exportable.info
    origin = provenance.load(exportable.task)
    return {
        **{name: getattr(info, name) for name in SHARED},
        "task": exportable.task.name,
        "year": info.year or None,
        "paper_date": month_of_preprint(origin.paper.arxiv_id),
        "commit_date": origin.repository.commit_date[:10] or None,
        "review": exportable.review,
    }


def _implementation(exportable: Exportable, implementation: Implementation) -> Row:
    task, info = exportable.task, exportable.info
    repository, paper = task.repository(info), task.paper_json(info)
    goal, score = task.goal(info, implementation), exportable.mutants[implementation.index]
    answers = exportable.difficulty.get(implementation.index)
    names = ("index", "category", "goal_file", "goal_function", "class_name", "instruction")
    return {
        **_shared(exportable),
        **{name: getattr(implementation, name) for name in names},
        "id": f"{exportable.task.name}/{implementation.index}",
        "instance_id": info.instance_id,
        "masked_file": code.Module.parse(goal.read_bytes(), implementation.goal_file).text,
        "context": [
            {"path": path, "text": files.inside(repository, path).read_text("utf-8", errors="replace")}
            for path in implementation.retrieval_context
            if files.is_file_inside(repository, path)
        ],
        "paper_json": paper.read_text("utf-8", errors="replace") if paper.is_file() else "",
        "problems": list(exportable.problems),
        **{f"mutants_{name}": score.to_json()[name] for name in MUTANTS},
        "answers_tried": answers.tried if answers else None,
        "answers_solved": answers.solved if answers else None,
        "models_tried": answers.models if answers else None,
    }


def _paper(exportable: Exportable) -> Row:
    pdf = exportable.task.paper_pdf(exportable.info)
    try:
        agreement = result_of(exportable.task).agreement
    except LmrError:
        agreement = None
    share = agreement.percent if agreement else None
    drafted, status = drafted_by(exportable.task), exportable.challenge
    return {
        **_shared(exportable),
        "venue": provenance.load(exportable.task).paper.venue,
        "pdf_sha256": files.sha256_file(pdf) if pdf.is_file() else "",
        "implementations": len(exportable.info.implementations),
        "drafted_by": drafted.model if drafted else "",
        "challenge": "never tried" if status is ChallengeStatus.NEVER else status.value,
        "agreement": None if share is None else round(100 * share, 1),
    }


def _front_matter(tables: dict[str, list[Row]], columns: Columns, licenses: list[str]) -> dict[str, Any]:
    count = len(tables["implementations"])
    single = licenses[0].lower() if len(licenses) == 1 and licenses != ["unknown"] else "other"
    return {
        "pretty_name": TITLE,
        "license": single if _LICENSE_ID.fullmatch(single) else "other",
        "language": ["en"],
        "task_categories": ["text-generation"],
        "tags": ["code", "research-code", "reproducibility"],
        "size_categories": [next((name for most, name in SIZES if count < most), "n>100K")],
        "configs": [
            {
                "config_name": name,
                "data_files": [{"split": "test", "path": f"data/{name}.jsonl"}],
                **({"default": True} if name == "implementations" else {}),
            }
            for name in columns
        ],
        "dataset_info": [
            {"config_name": name, "features": [_feature(column, kind) for column, kind, _ in listed]}
            for name, listed in columns.items()
        ],
    }


def _benchmark(publication: Publication, description: str) -> dict[str, Any]:
    """Return the fields that make a hub data set a benchmark; its results come from Harbor's export of the tasks."""
    return {
        "name": TITLE,
        "description": description,
        "evaluation_framework": "harbor",
        "tasks": [{"id": publication.name, "config": "implementations", "split": "test"}],
    }


def _feature(column: str, kind: str) -> dict[str, Any]:
    if kind == "context":
        parts = [{"name": name, "dtype": "string"} for name in ("path", "text")]
        return {"name": column, "list": parts}
    return {"name": column, "list": "string"} if kind == "strings" else {"name": column, "dtype": kind}


def _datasheet(
    tasks: list[Exportable],
    proofs: list[Evaluation | None],
    tables: dict[str, list[Row]],
    folder: Path,
    version: str,
) -> dict[str, Any]:
    implementations, papers = tables["implementations"], tables["papers"]
    agreements = [row["agreement"] for row in papers if row["agreement"] is not None]
    agreement = f"{sum(agreements) / len(agreements):.0f} %" if agreements else NOT_REVIEWED
    mutants = [score for exportable in tasks for score in exportable.mutants.values()]
    proven = sum(proof is not None and proof.passed for proof in proofs)
    held = sum(exportable.challenge is ChallengeStatus.HELD for exportable in tasks)
    size = sum(path.stat().st_size for path in (folder / "tasks").iterdir())
    return {
        "facts": {
            "Version": version,
            "Tasks": len(papers),
            "Implementations": len(implementations),
            "Mutants": MutationScore.total(mutants).text,
            "Every gate holds": f"{proven} of {counted(len(tasks), 'task')}",
            "Challenged, nothing left open": f"{held} of {counted(len(tasks), 'task')}",
            "Answers of models that pass": _solved(tasks),
            "Years of the papers": _range(row["year"] for row in papers if row["year"]),
            "Size of the archives": size_text(size),
            "Lines of masked files": _range(row["masked_file"].count("\n") for row in implementations),
            "Accepted by reviewers": f"{sum(row['review'] == ACCEPTED for row in papers)} of {len(papers)}",
            "Agreement of reviewers": agreement,
        },
        "categories": Counter(row["category"] or "none" for row in implementations),
        "repository_licenses": Counter(row["license"] or "unknown" for row in papers),
        "paper_licenses": Counter(row["paper_license"] or "not recorded" for row in papers),
    }


def _solved(tasks: list[Exportable]) -> str:
    targets = [target for exportable in tasks for target in exportable.difficulty.values()]
    if not targets:
        return "no model was tried"
    solved, tried = (sum(getattr(target, name) for target in targets) for name in ("solved", "tried"))
    return f"{solved} of {tried}, on {counted(len(targets), 'function')}"


def _citation(publication: Publication, year: str) -> str:
    people = publication.author or (publication.organization,)
    authors = " and ".join(f"{{{quoting.latex(name)}}}" for name in people)
    key = re.sub(r"[^a-z0-9]", "", publication.organization.lower()) + year
    fields = {
        "title": TITLE,
        "author": authors,
        "year": year,
        "version": quoting.latex(publication.release_version),
    }
    lines = (f"  {name} = {{{text}}}," for name, text in fields.items() if text)
    return "\n".join([f"@misc{{{key},", *lines, "}"])


def _range(values: Iterable[int]) -> str:
    numbers = sorted(set(values))
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(*numbers) or "unknown"
