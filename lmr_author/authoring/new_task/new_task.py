"""``new-task``: a paper and its repository become a task folder, whole or not at all."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author.authoring.new_task.draft import (
    RESERVED,
    Questioner,
    Stages,
    TaskDraft,
    default_name,
    notes_on,
    provenance_of,
    require_valid,
    vetting_of,
)
from lmr_author.authoring.vetting.facts import Facts, best, gather_facts
from lmr_author.authoring.vetting.vet import read_accepted_vetting
from lmr_author.core import files, foreign, paper, repo
from lmr_author.core.errors import LmrError, UsageError, concerning
from lmr_author.core.paper import FetchedPaper, Paper
from lmr_author.core.paper.fetch import arxiv_id
from lmr_author.core.repo import Address, Clone, CloneOptions
from lmr_author.core.repo.citations import every_citation
from lmr_author.core.repo.tree import unusable_code
from lmr_author.core.task import Progress, Task, TaskInfo
from lmr_author.core.task.provenance import BaseImageOrigin
from lmr_author.core.task.reviews import VettingRecord
from lmr_author.runtime.environment.base_images import choose_base
from lmr_author.runtime.environment.detect import read_needs
from lmr_author.runtime.environment.dockerfile import render, render_dockerignore
from lmr_author.runtime.environment.lock_file import SECONDS, LockOptions
from lmr_author.runtime.environment.needs import Needs
from lmr_author.runtime.environment.pinning import pin

MOST_PATCH_BYTES = 1_000_000
SENTENCE = 3
"""Words that a reason has at least."""


@dataclass(frozen=True)
class NewTaskOptions:
    """Options of ``new-task``; None means "not given" (derived, or asked for).

    Attributes:
        paper: PDF file, URL or arXiv id.
        repo: address of the repository, or a local folder.
        name: name of the task folder, after its number; ``repo_folder`` names the repository's folder in it.
        repo_url: public address to write down, when ``repo`` is a local clone of it.
        patch: unified diff to apply to the commit; ``patch_reason`` says why.
        python_version: Python version of the base image, where the table does not know it.
        vetting: file that ``vet`` wrote; it becomes the task's ``authoring/vetting.json``.
    """

    paper: str
    repo: str
    commit: str | None = None
    id: int | None = None
    name: str | None = None
    title: str | None = None
    year: int | None = None
    paper_url: str | None = None
    repo_url: str | None = None
    patch: Path | None = None
    patch_reason: str = ""
    base_image: str | None = None
    python_version: str | None = None
    repo_folder: str | None = None
    tasks_dir: Path = Path("tasks")
    skip_submodules: bool = False
    skip_lfs: bool = False
    offline: bool = False
    vetting: Path | None = None


@dataclass(frozen=True)
class NewTaskResult:
    task: Task
    info: TaskInfo
    base: BaseImageOrigin
    notes: tuple[str, ...]


def new_task(
    options: NewTaskOptions, progress: Progress | None = None, wizard: Questioner | None = None
) -> NewTaskResult:
    """Make a task folder. It appears at the end, complete; on any error, and on Ctrl-C, there is none.

    Raises LmrError when paper or repository cannot be read or a name is taken;
    UsageError when a value cannot be derived and there is no wizard.
    """
    say = progress or (lambda message: None)
    vetted = read_accepted_vetting(options.vetting) if options.vetting else None
    if vetted:
        options = _with_vetted_address(options, vetted.repository)
    taken, fields = _taken_numbers(options.tasks_dir), _given(options)
    if options.repo:
        fields["repo_folder"] = _repo_folder(options, Address.parse(options.repo))
    if options.id in taken:
        raise LmrError(
            f"the number {options.id} is taken by {taken[options.id]}/", "pass another --id, or none"
        )
    require_valid(TaskDraft(**fields), taken, fields)  # wrong input fails before any work
    choose_base(Needs(), options.base_image, options.python_version)
    patch = _read_patch(options)
    is_remote = options.paper.startswith(("http://", "https://")) or arxiv_id(options.paper)
    if options.offline and is_remote:
        raise UsageError(f"--offline fetches no paper: {options.paper}", "name a PDF file")
    with files.temporary_folder("lmr-author-paper-") as temporary:
        say(f"fetching the paper {options.paper}")
        with concerning("PAPER"):
            fetched = paper.fetch(options.paper, temporary / "paper.pdf")
            say("reading the paper")
            read = _read(options, fetched)
        if wizard and not options.repo:
            options = replace(options, repo=wizard.repository(read.repositories))
        # The repository tells facts about the paper, so it is here before the task has a name.
        with files.staged_folder(options.tasks_dir / "new-task", lambda: final) as staging:
            clone = _clone(options, patch, staging / "repository", say)
            facts = gather_facts(read, fetched, every_citation(clone.folder))
            draft = _draft(options, read, facts, taken)
            if wizard:
                draft = wizard.edit(draft, taken, facts)
            require_valid(draft, taken)
            digest = files.sha256_bytes(patch) if patch else ""
            info = replace(_info(draft), repo_commit=clone.commit, repo_patch=digest, license=clone.licence)
            final = options.tasks_dir / info.folder_name
            _require_free(final)
            clone = replace(clone, folder=clone.folder.rename(staging / info.repo_folder_name))
            stages = _stages(options, clone, fetched, read, facts, say, watched=wizard is not None)
            had_tests = Task(staging).unit_test_folder(info).is_dir()
            say("writing the task")
            if patch:
                files.write_bytes(Task(staging).patch_path, patch)
            _write(Task(staging), info, draft, stages, vetted)
            _require_free(final)
    task = Task(final)
    notes = notes_on(task, info, stages, had_tests)
    if vetted is None:  # else `vet` has told them
        notes += unusable_code(task.repository(info))
    return NewTaskResult(task, info, stages.base, tuple(notes))


def _with_vetted_address(options: NewTaskOptions, public: str) -> NewTaskOptions:
    """Return options with the public address that ``vet`` was given, where the repository is a local clone."""
    is_local = bool(options.repo) and Address.parse(options.repo).local
    if options.repo_url or not is_local or not public or Address.parse(public).local:
        return options
    return replace(options, repo_url=public)


def _given(options: NewTaskOptions) -> dict[str, str]:
    fields = {
        "number": options.id,
        "name": options.name,
        "title": options.title,
        "year": options.year,
        "paper_url": options.paper_url,
        "repo_url": options.repo_url,
        "repo_folder": options.repo_folder,
    }
    return {field: str(value) for field, value in fields.items() if value is not None}


def _taken_numbers(tasks_dir: Path) -> dict[int, str]:
    if tasks_dir.exists() and not tasks_dir.is_dir():
        raise UsageError(f"--tasks-dir {tasks_dir} is not a folder", "name the folder that holds the tasks")
    taken: dict[int, str] = {}
    for folder in sorted(tasks_dir.iterdir()) if tasks_dir.is_dir() else ():
        number, dash, _ = folder.name.partition("-")
        if dash and number.isdecimal():
            taken.setdefault(int(number), folder.name)
        if (folder / "info.json").is_file() and not folder.name.startswith("."):
            with suppress(LmrError):
                taken.setdefault(Task(folder).load().instance_id, folder.name)
    return taken


def _read(options: NewTaskOptions, fetched: FetchedPaper) -> Paper:
    """Read the paper; errors name it as the annotator did, not our temporary copy."""
    try:
        return paper.extract(fetched.path)
    except LmrError as error:
        named = error.message.replace(str(fetched.path), options.paper).replace(
            fetched.path.name, options.paper
        )
        raise LmrError(named, error.hint) from error


def _read_patch(options: NewTaskOptions) -> bytes:
    if options.patch is None:
        if options.patch_reason:
            raise UsageError("--patch-reason without --patch", "add --patch FILE")
        return b""
    data = foreign.read_regular(str(options.patch), MOST_PATCH_BYTES)
    if not data:
        raise UsageError(
            f"--patch {options.patch}: no such file, empty, a link, or larger than 1 MB",
            "name a unified diff, as from `git diff >FILE`",
        )
    if len(options.patch_reason.split()) < SENTENCE:
        raise UsageError(
            f"--patch {options.patch}: no reason given",
            f"add --patch-reason, a sentence of {SENTENCE} words or more: reviewers read it",
        )
    return data


def _clone(options: NewTaskOptions, patch: bytes, folder: Path, say: Progress) -> Clone:
    address = Address.parse(options.repo)
    if options.offline and not address.local:
        raise UsageError(f"--offline clones nothing: {address.shown}", "name a local clone by --repo")
    say(f"cloning {address.shown}")
    how = CloneOptions(skip_submodules=options.skip_submodules, skip_lfs=options.skip_lfs, patch=patch)
    with concerning("--repo"):
        return repo.clone(options.repo, options.commit, folder, how, say)


def _stages(
    options: NewTaskOptions,
    clone: Clone,
    fetched: FetchedPaper,
    read: Paper,
    facts: Facts,
    say: Progress,
    *,
    watched: bool,
) -> Stages:
    """Read the repository's requirements and lock them; ``watched`` by a person, who may stop the locking."""
    say("reading the repository's requirements")
    needs = read_needs(clone.folder, clone.commit_date)
    base = choose_base(needs, options.base_image, options.python_version)
    stop = ", Ctrl-C skips this" if watched else ""
    doing = f"pinning {len(needs.requirements)} requirements as of {clone.commit_date.date()}{stop}"
    say(doing)
    made = pin(
        needs,
        base,
        LockOptions(seconds=0 if options.offline else SECONDS),
        lambda line: say(f"{doing}: {line}"),
        stoppable=watched,
    )
    return Stages(fetched, read, facts, clone, needs, base, made, options.patch_reason)


def _repo_folder(options: NewTaskOptions, address: Address) -> str:
    if options.repo_folder is not None:
        return options.repo_folder
    # A clone's folder may have any name; the public address has the repository's.
    public = Address.parse(options.repo_url).folder_name if options.repo_url and address.local else ""
    name = public or address.folder_name
    return f"{name}-code" if name.lower() in RESERVED else name


def _draft(options: NewTaskOptions, read: Paper, facts: Facts, taken: dict[int, str]) -> TaskDraft:
    address = Address.parse(options.repo)
    repo_folder = _repo_folder(options, address)
    title = options.title or best(facts, "title")
    return TaskDraft(
        number=str(options.id or max([0, *taken]) + 1),
        name=options.name or default_name(title) or repo_folder,
        title=title,
        authors=best(facts, "authors"),
        year=str(options.year or best(facts, "year")),
        venue=best(facts, "venue"),
        paper_url=options.paper_url or best(facts, "url"),
        repo_url=Address.parse(options.repo_url).shown
        if options.repo_url
        else repo.public_address(address, read.repositories) or address.shown,
        repo_folder=repo_folder,
    )


def _info(draft: TaskDraft) -> TaskInfo:
    return TaskInfo(
        instance_id=int(draft.number),
        paper_name=draft.title,
        folder_name=f"{draft.number}-{draft.name}",
        paper_url=draft.paper_url,
        year=int(draft.year),
        repo_url=draft.repo_url,
        repo_folder_name=draft.repo_folder,
    )


def _write(
    task: Task, info: TaskInfo, draft: TaskDraft, stages: Stages, vetted: VettingRecord | None
) -> None:
    """Write every file of the new task; ``info.json`` last, because a folder with it counts as a task."""
    _require_room(task, info, stages)
    pdf = stages.fetched.path.read_bytes()
    files.write_bytes(task.paper_pdf(info), pdf)
    files.write_json(task.paper_json(info), stages.paper.to_json())
    task.unit_test_folder(info).mkdir(exist_ok=True)
    task.golden_folder.mkdir()
    folder = info.repo_folder_name
    made = stages.lock
    text = render(stages.needs, stages.base, folder, pinned=made.pinned, compiled=made.compiled)
    files.write_text(task.dockerfile, text)
    files.write_text(task.dockerignore, render_dockerignore(folder))
    files.write_text(task.lock, stages.lock.text)
    now = datetime.now(UTC)
    digest = files.sha256_file(task.paper_json(info))
    provenance_of(info, draft, stages, digest, now).write(task.provenance_path)
    (vetted or vetting_of(info, stages)).write(task.vetting_path)
    files.write_json(task.info_path, info.to_json())


def _require_free(final: Path) -> None:
    if final.exists() or final.is_symlink():
        raise LmrError(f"{final} exists already", "choose another --id or --name, or remove it")


def _require_room(task: Task, info: TaskInfo, stages: Stages) -> None:
    wanted = (
        (task.paper_pdf(info), stages.fetched.path.read_bytes()),
        (
            task.paper_json(info),
            (json.dumps(stages.paper.to_json(), indent=2, ensure_ascii=False) + "\n").encode(),
        ),
    )
    for path, data in wanted:
        if path.is_symlink() or (path.exists() and not (path.is_file() and path.read_bytes() == data)):
            raise LmrError(
                f"the repository already has a {path.name}, where the task's paper belongs",
                "pass that file as the paper if it is the same, or use a fork of the repository without it",
            )
    tests = task.unit_test_folder(info)
    if tests.is_symlink() or (tests.exists() and not tests.is_dir()):
        raise LmrError(
            "the repository has a file unit_test, where the task's tests belong",
            "use a fork of the repository without it",
        )
