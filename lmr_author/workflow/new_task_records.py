"""The records of ``new-task`` in ``authoring/``: where everything came from, and evidence for the vetting."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author import __version__, files
from lmr_author.environment import BaseImage, Declared, Lock, Recipe, base_json
from lmr_author.model import TaskInfo
from lmr_author.processes import printable

if TYPE_CHECKING:
    from lmr_author.workflow.new_task import Stages

TOOLS = ("pymupdf", "GitPython", "uv")

QUESTIONS = {
    "methodological_focus": "Does the paper propose a method, not a survey, a data set or a benchmark?",
    "reproducibility": "Is the repository official and maintained, and does it reproduce the results?",
    "clarity_and_complexity": "Is the method described in enough detail, and more than a simple prompt?",
    "venue": "Was it published at ACL, EMNLP, NAACL, EACL or COLING (another venue needs a reason)?",
    "year": "Was it published in the past five years?",
    "license": "Does the repository's licence allow redistribution?",
}
"""The benchmark's three selection criteria, and venue, year and licence."""


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
    evidence = {
        "methodological_focus": _method(stages),
        "reproducibility": _reproducibility(info, stages),
        "clarity_and_complexity": _clarity(stages),
        "venue": [f"page 1: {stages.paper.venue}"] if stages.paper.venue else [],
        "year": [f"{info.year} (from {stages.paper.year_origin or 'the annotator'})"],
        "license": _license(stages),
    }
    return {
        "status": "open",
        "questions": {
            name: {"question": question, "evidence": evidence[name], "answer": None, "justification": ""}
            for name, question in QUESTIONS.items()
        },
    }


def _method(stages: Stages) -> list[str]:
    found = []
    abstract = _abstract(stages.paper.pages[0])
    if abstract:
        found.append(f"abstract: {printable(abstract, 700)}")
    text = "\n".join(stages.paper.pages)
    boxes = len(set(re.findall(r"^\s*Algorithm (\d+)\b", text, re.M)))
    found.append(f"algorithm boxes: {boxes}; numbered equations: {_equations(text)}")
    words = re.findall(
        r"\b(survey|benchmark|dataset|data set|corpus|shared task)\b", stages.paper.title, re.I
    )
    if words:
        found.append(f"the title says: {', '.join(words)}")
    return found


def _reproducibility(info: TaskInfo, stages: Stages) -> list[str]:
    clone, named = stages.clone, stages.paper.repositories
    short = info.repo_url.rstrip("/").removesuffix(".git").lower()
    if short in [name.lower() for name in named]:
        found = ["the paper links this repository"]
    else:
        found = [f"the paper links: {', '.join(named)}" if named else "the paper links no repository"]
    found.append(f"{clone.commits} commits up to the pinned one ({clone.commit_date.date()})")
    if clone.last_date is not None:
        found.append(f"last commit on {clone.default_branch or 'its branch'}: {clone.last_date.date()}")
    sources = stages.recipe.sources
    found.append(f"requirements declared in: {', '.join(sources)}" if sources else "no requirements declared")
    return found


def _clarity(stages: Stages) -> list[str]:
    folder = stages.clone.folder
    sources = [path for path in files.walk(folder) if path.suffix == ".py"]
    tests = sum(path.name.startswith("test_") or path.name.endswith("_test.py") for path in sources)
    readme = next((path for path in sorted(folder.iterdir()) if path.name.lower().startswith("readme")), None)
    found = [f"{len(stages.paper.pages)} pages; {len(sources)} Python files, {tests} of them tests"]
    found.append(f"{readme.name}: {_words(readme)} words" if readme and readme.is_file() else "no README")
    return found


def _license(stages: Stages) -> list[str]:
    if stages.clone.licence:
        return [f"{stages.clone.licence}, recognised in {stages.clone.licence_file}"]
    name = stages.clone.licence_file
    return [
        f"{name} is there, but not recognised" if name else "no licence file at the top of the repository"
    ]


def _words(path: Path) -> int:
    with path.open("rb") as file:
        return len(file.read(1024 * 1024).split())


def _equations(text: str) -> int:
    """Numbers in parentheses that end a line, counted as long as they run on from 1."""
    numbers = {int(number) for number in re.findall(r"\((\d{1,3})\)\s*$", text, re.M)}
    count = 0
    while count + 1 in numbers:
        count += 1
    return count


def _abstract(page: str) -> str:
    match = re.search(r"\babstract\b[\s.:—-]*(.*?)(?:\n\s*1?\.?\s*introduction\b|\Z)", page, re.I | re.S)
    return match[1] if match else ""


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
