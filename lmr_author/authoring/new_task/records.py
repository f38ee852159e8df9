"""The parts that a new task is made of, its records in ``authoring/``, and notes for the annotator to check."""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata

from lmr_author import __version__
from lmr_author.authoring.new_task.draft import Draft
from lmr_author.authoring.vetting.facts import Fact, Facts, conflicts, sources_of
from lmr_author.authoring.vetting.questions import from_clone, from_facts, from_paper, licence_stop, merged
from lmr_author.authoring.vetting.vet import open_questions
from lmr_author.core.paper import FetchedPaper, Paper
from lmr_author.core.repo import Address, Clone
from lmr_author.core.repo.tree import unusable_code
from lmr_author.core.task import Task, TaskInfo
from lmr_author.core.task.provenance import (
    BaseImageOrigin,
    MakingTool,
    PaperOrigin,
    PatchOrigin,
    Provenance,
    RemovedFile,
    RepositoryOrigin,
    SubmoduleOrigin,
)
from lmr_author.core.task.reviews import VettingRecord
from lmr_author.core.texts import counted, printable
from lmr_author.runtime.environment.detect import problems
from lmr_author.runtime.environment.lock import environment_record, without_versions
from lmr_author.runtime.environment.lock_file import Lock
from lmr_author.runtime.environment.needs import Needs

TOOLS = ("pymupdf", "GitPython", "uv")


@dataclass(frozen=True)
class Stages:
    fetched: FetchedPaper
    paper: Paper
    facts: Facts
    clone: Clone
    needs: Needs
    base: BaseImageOrigin
    lock: Lock
    patch_reason: str = ""


def provenance(
    info: TaskInfo, draft: Draft, stages: Stages, text_sha256: str, created: datetime
) -> Provenance:
    packages = {name: metadata.version(name) for name in TOOLS}
    return Provenance(
        created=_time(created),
        tool=MakingTool(version=__version__, python=platform.python_version(), packages=packages),
        paper=replace(_paper(info, draft, stages), text_sha256=text_sha256),
        repository=_repository(info, stages),
        environment=environment_record(stages.needs, stages.base, stages.lock),
    )


def _paper(info: TaskInfo, draft: Draft, stages: Stages) -> PaperOrigin:
    fetched, paper = stages.fetched, stages.paper
    return PaperOrigin(
        source=fetched.source,
        url=info.paper_url,
        sha256=fetched.sha256,
        pages=len(paper.pages),
        title=info.paper_name,
        year=info.year,
        year_origin=sources_of(stages.facts, "year", str(info.year)) or "given",
        arxiv_id=fetched.arxiv_id or paper.arxiv_id,
        authors=tuple(filter(None, (name.strip() for name in draft.authors.split(";")))),
        venue=draft.venue,
        repositories=tuple(paper.repositories),
        notes=tuple(paper.notes),
    )


def _repository(info: TaskInfo, stages: Stages) -> RepositoryOrigin:
    clone = stages.clone
    return RepositoryOrigin(
        url=info.repo_url,
        commit=clone.commit,
        patch=PatchOrigin(sha256=info.repo_patch, reason=stages.patch_reason) if info.repo_patch else None,
        commit_date=_time(clone.commit_date),
        default_branch=clone.default_branch,
        last_commit_date=_time(clone.last_date) if clone.last_date else None,
        commits=clone.commits,
        folder=info.repo_folder_name,
        license=clone.licence,
        license_file=printable(clone.licence_file),
        submodules=tuple(
            SubmoduleOrigin(module.path, module.url, module.commit, module.reason)
            for module in clone.submodules
        ),
        lfs_resolved=clone.lfs_resolved,
        lfs_left=tuple(printable(name) for name in clone.lfs_left),
        removed=tuple(RemovedFile(file.path, file.reason) for file in clone.removed),
        notes=tuple(clone.notes),
    )


def vetting(info: TaskInfo, stages: Stages) -> VettingRecord:
    """Return the evidence as ``authoring/vetting.json``; no question is answered."""
    clone, paper, facts = stages.clone, stages.paper, stages.facts
    if not sources_of(facts, "year", str(info.year)):
        facts = {**facts, "year": (Fact(str(info.year), ("the annotator",)), *facts["year"])}
    gathered = merged(
        from_paper(paper, info.repo_url),
        from_facts(facts, datetime.now(UTC).year),
        from_clone(clone, tuple(stages.needs.sources)),
    )
    return VettingRecord(
        status="open",
        questions=open_questions(gathered),
        licence_stop=licence_stop(clone.licence, clone.licence_file),
    )


def notes_on(task: Task, info: TaskInfo, stages: Stages, had_tests: bool) -> list[str]:
    """Return the notes, most important first."""
    change = f"lmr-author set --task {shlex.quote(str(task.root))}"
    clone, lock, base = stages.clone, stages.lock, stages.base
    notes = list(stages.paper.notes)
    values = {"title": info.paper_name, "year": str(info.year)}
    for name, value in values.items():
        for other in conflicts(stages.facts, name, value):
            why = sources_of(stages.facts, name, value) or "as given"
            notes.append(
                f"{name} is {value} ({why}); another source has {other}: `{change} {name}=…` if that is right"
            )
    if not info.paper_url:
        notes.append(f"info.json has no paper_url: `{change} paper_url=URL` adds it")
    if Address.parse(info.repo_url).local:
        linked = f" (the paper links {stages.paper.repositories[0]})" if stages.paper.repositories else ""
        notes.append(
            f"info.json's repo_url is a path on this machine: `{change} repo_url=URL` puts the public address"
            f" in its place{linked}"
        )
    if not clone.licence:
        where = (
            f"the licence in {clone.licence_file} is not recognised"
            if clone.licence_file
            else "no licence file"
        )
        notes.append(f"{where}: check that the repository may be redistributed")
    notes += [f"submodule {lost.path} left out: {lost.reason}" for lost in clone.submodules if lost.reason]
    if clone.lfs_left:
        notes.append(
            f"{counted(len(clone.lfs_left), 'Git LFS pointer')} instead of data, first {clone.lfs_left[0]}"
        )
    notes += [f"removed {file.path}: {file.reason}" for file in clone.removed[:10]]
    if len(clone.removed) > 10:
        notes.append(f"and {len(clone.removed) - 10} more removed (authoring/provenance.json)")
    notes += clone.notes
    if had_tests:
        notes.append(
            "the repository already has a folder unit_test; the task's tests are written beside its files"
        )
    notes += unusable_code(task.repository(info))
    notes += problems(stages.needs, base)
    if not lock.pinned:
        again = "`lmr-author env lock` makes it again"
        if command := without_versions(lock):
            again = f"`{command}` drops the versions that conflict"
        notes.append(f"requirements.lock is {lock.note} ({again})")
    notes += [f"requirements.lock: {note}" for note in (*lock.changes, *lock.left_out)]
    if not base.python_certain:
        notes.append(
            f"requirements are locked for Python {base.python}, the likely version in {base.reference}"
        )
    return notes


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
