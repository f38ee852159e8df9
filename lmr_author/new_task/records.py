"""The records of ``new-task`` in ``authoring/``: provenance, and evidence for the vetting."""

from __future__ import annotations

import platform
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from typing import TYPE_CHECKING

from lmr_author import __version__
from lmr_author.environment.lock import environment_record
from lmr_author.task import TaskInfo
from lmr_author.task.provenance import (
    MakingTool,
    PaperOrigin,
    Provenance,
    RemovedFile,
    RepositoryOrigin,
    SubmoduleOrigin,
)
from lmr_author.task.vetting import VettingRecord
from lmr_author.texts import printable
from lmr_author.vetting import evidence
from lmr_author.vetting.questions import licence_stop
from lmr_author.vetting.vet import answered_questions

if TYPE_CHECKING:
    from lmr_author.new_task.new_task import Stages

TOOLS = ("pymupdf", "GitPython", "uv")


def provenance(info: TaskInfo, stages: Stages, created: datetime) -> Provenance:
    """Return the record ``authoring/provenance.json``."""
    packages = {name: metadata.version(name) for name in TOOLS}
    return Provenance(
        created=_time(created),
        tool=MakingTool(version=__version__, python=platform.python_version(), packages=packages),
        paper=_paper(info, stages),
        repository=_repository(info, stages),
        environment=environment_record(stages.recipe, stages.base, stages.lock),
    )


def _paper(info: TaskInfo, stages: Stages) -> PaperOrigin:
    fetched, paper = stages.fetched, stages.paper
    year_origin = (
        paper.year_origin if paper.year == info.year else "arXiv" if fetched.year == info.year else ""
    )
    return PaperOrigin(
        source=fetched.source,
        url=info.paper_url,
        sha256=fetched.sha256,
        pages=len(paper.pages),
        title=info.paper_name,
        year=info.year,
        year_origin=year_origin or "given",
        arxiv_id=fetched.arxiv_id or paper.arxiv_id,
        venue=paper.venue,
        repositories=tuple(paper.repositories),
        notes=tuple(paper.notes),
    )


def _repository(info: TaskInfo, stages: Stages) -> RepositoryOrigin:
    clone = stages.clone
    return RepositoryOrigin(
        url=info.repo_url,
        commit=clone.commit,
        commit_date=_time(clone.commit_date),
        default_branch=clone.default_branch,
        last_commit_date=_time(clone.last_date) if clone.last_date else None,
        commits=clone.commits,
        folder=info.repo_folder_name,
        license=clone.licence,
        license_file=printable(clone.licence_file),
        submodules=tuple(
            SubmoduleOrigin(item.path, item.url, item.commit, item.reason) for item in clone.submodules
        ),
        lfs_resolved=clone.lfs_resolved,
        lfs_left=tuple(printable(name) for name in clone.lfs_left),
        removed=tuple(RemovedFile(item.path, item.reason) for item in clone.removed),
        notes=tuple(clone.notes),
    )


def vetting(info: TaskInfo, stages: Stages) -> VettingRecord:
    """Return the evidence as ``authoring/vetting.json``; no question is answered."""
    clone, paper = stages.clone, stages.paper
    if info.year != paper.year:  # known better than from the PDF
        paper = replace(paper, year=info.year, year_origin="")
    found = evidence.merged(
        evidence.from_paper(paper, info.repo_url, datetime.now(UTC).year),
        evidence.from_clone(clone, tuple(stages.recipe.sources)),
    )
    return VettingRecord(
        status="open",
        questions=answered_questions(found, {}),
        licence_stop=licence_stop(clone.licence, clone.licence_file),
    )


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
