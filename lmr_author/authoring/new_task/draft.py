"""The values that ``new-task`` writes about paper and folders: given, else derived, else asked for.

A wizard shows all of them before anything is written, and lets all of them be changed.
"""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Protocol

from lmr_author import __version__
from lmr_author.authoring.vetting.facts import Fact, Facts, conflicts, sources_of
from lmr_author.authoring.vetting.questions import from_clone, from_facts, from_paper, licence_stop, merged
from lmr_author.authoring.vetting.vet import open_questions
from lmr_author.core.errors import Hint, LmrError, Setting, UsageError
from lmr_author.core.paper import FetchedPaper, Paper
from lmr_author.core.repo import Clone
from lmr_author.core.repo.address import Address, safe_name
from lmr_author.core.task import NOT_SHIPPED, Task, TaskInfo
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
from lmr_author.runtime.environment.detect import problems as environment_problems
from lmr_author.runtime.environment.lock import environment_record, without_versions
from lmr_author.runtime.environment.lock_file import Lock
from lmr_author.runtime.environment.needs import Needs

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
RESERVED = (*NOT_SHIPPED, "dockerfile", "info.json", "requirements.lock")

LABELS = {
    "number": "Number",
    "name": "Short name",
    "title": "Title of the paper",
    "authors": "Authors",
    "year": "Year of the paper",
    "venue": "Venue",
    "paper_url": "Paper's address",
    "repo_url": "Repository's public address",
    "repo_folder": "Repository's folder",
}
"""The editable fields, in the order shown."""

OPTIONS = {"number": "--id", "name": "--name", "title": "--title", "year": "--year", "repo_url": "--repo-url",
           "paper_url": "--paper-url", "repo_folder": "--repo"}  # fmt: skip


@dataclass(frozen=True)
class TaskDraft:
    """The values of :data:`LABELS`, as text; "" for what is not known. Authors are separated by semicolons."""

    number: str = ""
    name: str = ""
    title: str = ""
    authors: str = ""
    year: str = ""
    venue: str = ""
    paper_url: str = ""
    repo_url: str = ""
    repo_folder: str = ""


class Questioner(Protocol):
    """A person at a terminal."""

    def repository(self, linked: tuple[str, ...]) -> str:
        """Return the repository's address; ``linked`` are those that the paper links."""

    def edit(self, draft: TaskDraft, taken: Mapping[int, str], facts: Facts) -> TaskDraft:
        """Show the draft with the sources of its values, and let everything be changed until nothing is wrong."""


def problems(draft: TaskDraft, taken: Mapping[int, str]) -> dict[str, str]:
    wrong = {}
    for name in ("title", "year"):
        if not getattr(draft, name):
            wrong[name] = "not found in the paper and the repository"
    if draft.year and not re.fullmatch(r"19[5-9]\d|20\d\d|2100", draft.year):
        wrong["year"] = f"{draft.year!r} is not a year"
    if not re.fullmatch(r"[1-9]\d{0,8}", draft.number):
        wrong["number"] = f"{draft.number!r} is not a task number"
    elif int(draft.number) in taken:
        wrong["number"] = f"the number {draft.number} is taken by {taken[int(draft.number)]}/"
    for name in ("name", "repo_folder"):
        if not _NAME.match(getattr(draft, name)):
            rule = "letters, digits, '.', '_' and '-', the first one a letter or digit"
            wrong[name] = f"{getattr(draft, name)!r} is not a valid folder name ({rule})"
    if draft.repo_folder.lower() in RESERVED:
        wrong["repo_folder"] = f"the repository's folder cannot be called {draft.repo_folder}"
    if draft.repo_url:
        try:
            Address.parse(draft.repo_url)
        except LmrError as error:
            wrong["repo_url"] = error.message
    return wrong


def unpublished(draft: TaskDraft) -> dict[str, str]:
    """Return what may be missing in a task in the making, but is an error of `validate` in a finished one."""
    missing = {}
    if not draft.paper_url:
        missing["paper_url"] = "not found; Enter leaves it out for now"
    with suppress(LmrError):
        if Address.parse(draft.repo_url).local:
            missing["repo_url"] = "a path on this machine; Enter keeps it for now"
    return missing


def require_valid(
    draft: TaskDraft, taken: Mapping[int, str], fields: Collection[str] = tuple(LABELS)
) -> None:
    """Raise UsageError for the problems of some fields, naming the options that give the values."""
    wrong = {name: problem for name, problem in problems(draft, taken).items() if name in fields}
    if wrong:
        texts = (f"{LABELS[name].lower()}: {problem}" for name, problem in wrong.items())
        settings = tuple(Setting(OPTIONS[name]) for name in wrong)
        options = " and ".join(f"{{{number}}}" for number in range(len(settings)))
        hint = f"give {'another' if len(wrong) == 1 else 'others'} with {options}"
        raise UsageError("; ".join(texts), Hint(hint, settings))


def default_name(title: str) -> str:
    """Return a short name from a title: the part before its colon, or an acronym; "" when it has neither.

    "SimPO: Simple …" → ``SimPO``; "Direct Preference Optimization: Your …" → ``DPO``.
    """
    head, colon, _ = title.partition(":")
    words = head.split()
    if colon and 1 <= len(words) <= 2:
        return safe_name("-".join(words))
    if colon and len(words) <= 6:
        initials = "".join(
            word[0] for part in words for word in part.split("-") if word and word[0].isupper()
        )
        if len(initials) >= 2:
            return safe_name(initials)
    acronym = re.search(r"\(([A-Z][A-Za-z0-9-]*[A-Z0-9][A-Za-z0-9-]*)\)", title)
    return safe_name(acronym[1]) if acronym else ""


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


def provenance_of(
    info: TaskInfo, draft: TaskDraft, stages: Stages, text_sha256: str, created: datetime
) -> Provenance:
    packages = {name: metadata.version(name) for name in TOOLS}
    return Provenance(
        created=_time(created),
        tool=MakingTool(version=__version__, python=platform.python_version(), packages=packages),
        paper=replace(_paper(info, draft, stages), text_sha256=text_sha256),
        repository=_repository(info, stages),
        environment=environment_record(stages.needs, stages.base, stages.lock),
    )


def _paper(info: TaskInfo, draft: TaskDraft, stages: Stages) -> PaperOrigin:
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


def vetting_of(info: TaskInfo, stages: Stages) -> VettingRecord:
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
            f"info.json's repo_url is a path on this machine: `{change} repo_url=URL` sets "
            f"the public address{linked}"
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
        notes.append("the repository already has a folder unit_test; the task adds its tests there")
    notes += environment_problems(stages.needs, base)
    if not lock.pinned:
        again = "retry with `lmr-author env lock`"
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
