"""The records of ``new-task`` in ``authoring/``: where everything came from, and evidence for the vetting."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author import __version__, files, resources
from lmr_author.environment import BaseImage, Declared, Lock, Recipe, base_json
from lmr_author.errors import LmrError
from lmr_author.model import TaskInfo
from lmr_author.texts import printable
from lmr_author.vetting import evidence
from lmr_author.vetting.questions import licence_stop
from lmr_author.workflow import vet

if TYPE_CHECKING:
    from lmr_author.workflow.new_task import Stages

TOOLS = ("pymupdf", "GitPython", "uv")


def provenance(info: TaskInfo, stages: Stages, created: datetime) -> dict[str, Any]:
    """``authoring/provenance.json`` (``schemas/provenance.schema.json``)."""
    return {
        "created": _time(created),
        "tool": {
            "name": "lmr-author",
            "version": __version__,
            "python": platform.python_version(),
            "packages": {name: metadata.version(name) for name in TOOLS},
        },
        "paper": _paper(info, stages),
        "repository": _repository(info, stages),
        "environment": environment(stages.recipe, stages.base, stages.lock),
    }


def _paper(info: TaskInfo, stages: Stages) -> dict[str, Any]:
    fetched, paper = stages.fetched, stages.paper
    year_origin = (
        paper.year_origin if paper.year == info.year else "arXiv" if fetched.year == info.year else ""
    )
    return {
        "source": fetched.source,
        "url": info.paper_url,
        "sha256": fetched.sha256,
        "pages": len(paper.pages),
        "title": info.paper_name,
        "year": info.year,
        "year_origin": year_origin or "given",
        "arxiv_id": fetched.arxiv_id or paper.arxiv_id,
        "venue": paper.venue,
        "repositories": list(paper.repositories),
        "notes": list(paper.notes),
    }


def _repository(info: TaskInfo, stages: Stages) -> dict[str, Any]:
    clone = stages.clone
    return {
        "url": info.repo_url,
        "commit": clone.commit,
        "commit_date": _time(clone.commit_date),
        "default_branch": clone.default_branch,
        "last_commit_date": _time(clone.last_date) if clone.last_date else None,
        "commits": clone.commits,
        "folder": info.repo_folder_name,
        "license": clone.licence,
        "license_file": printable(clone.licence_file),
        "submodules": [
            {"path": item.path, "url": item.url, "commit": item.commit, "left_out": item.reason}
            for item in clone.submodules
        ],
        "lfs_resolved": clone.lfs_resolved,
        "lfs_left": [printable(name) for name in clone.lfs_left],
        "removed": [{"path": item.path, "reason": item.reason} for item in clone.removed],
        "notes": list(clone.notes),
    }


def environment(recipe: Recipe, base: BaseImage, lock: Lock) -> dict[str, Any]:
    """How Dockerfile and lock came about, as the provenance has it; ``env lock`` brings it up to date."""
    note = "; ".join([*(f"CHANGED: {change}" for change in lock.changes), lock.note])
    return {
        "base_image": base_json(base),
        "lock": {"pinned": lock.pinned, "note": printable(note, 4000), "left_out": list(lock.left_out)},
        "requirements": _declared(recipe.requirements),
        "torch": _declared(recipe.torch),
        "python": recipe.python,
        "python_origin": recipe.python_origin,
        "project": recipe.project,
        "sources": list(recipe.sources),
        "problems": list(recipe.problems),
    }


def _declared(items: Iterable[Declared]) -> list[dict[str, Any]]:
    return [{"requirement": item.text, "origin": item.origin, "guessed": item.guessed} for item in items]


def vetting(info: TaskInfo, stages: Stages) -> dict[str, Any]:
    """``authoring/vetting.json`` (``schemas/vetting.schema.json``): evidence; no question is answered."""
    found = evidence.merged(
        evidence.from_paper(vet.paper_facts(stages.paper, info.year), info.repo_url, datetime.now(UTC).year),
        evidence.from_clone(vet.clone_facts(stages.clone, tuple(stages.recipe.sources))),
    )
    stop = licence_stop(stages.clone.licence, stages.clone.licence_file)
    return {"status": "open", "questions": vet.questions_json(found, {}), "licence_stop": stop}


def read_vetting(path: Path) -> dict[str, Any]:
    """What ``vet`` wrote. Raises LmrError when it is not as its schema says, or rejects the paper."""
    from jsonschema import Draft202012Validator

    data = files.read_json(path) if path.is_file() else None
    error = next(Draft202012Validator(resources.schema("vetting")).iter_errors(data), None)
    if error is not None or not isinstance(data, dict):
        why = error.message[:120] if error is not None and data is not None else "there is no such file"
        raise LmrError(f"--vetting {path}: {why}", "pass the file that `lmr-author vet` wrote")
    if data["status"] == "rejected":
        raise LmrError(
            f"--vetting {path}: the paper was rejected: {'; '.join(data.get('reasons', []))}",
            "choose another paper, or vet it again",
        )
    return data


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
