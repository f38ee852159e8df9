"""``new-task``: a paper and its repository become a task folder, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import environment, files, paper, repo
from lmr_author.environment import BaseImage, Lock, Recipe
from lmr_author.errors import LmrError, UsageError
from lmr_author.model import TaskInfo
from lmr_author.paper import FetchedPaper, Paper
from lmr_author.repo import Address, Clone, CloneOptions
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import new_task_records as records
from lmr_author.workflow.new_task_draft import (
    Draft,
    Kept,
    Wizard,
    default_name,
    forget,
    keep,
    kept_in,
    require_complete,
    require_folder,
    require_name,
    with_answers,
)

Progress = Callable[[str], None]


@dataclass(frozen=True)
class NewTaskOptions:
    """What the annotator gave to ``new-task``; None means "not given" (derived, or asked for).

    Attributes:
        paper: PDF file, URL or arXiv id.
        repo: address of the repository, or a local folder.
        name: of the task folder, after its number; ``repo_folder`` of the repository's folder in it.
        repo_url: public address to write down, when ``repo`` is a local clone of it.
        python_version: inside the base image, when it is known better than the table does.
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
    """The new task, its ``info.json``, and what the annotator should know."""

    task: TaskDir
    info: TaskInfo
    base: BaseImage
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Stages:
    """What the stages found; all that the written files are made of."""

    fetched: FetchedPaper
    paper: Paper
    clone: Clone
    recipe: Recipe
    base: BaseImage
    lock: Lock


def new_task(
    options: NewTaskOptions, progress: Progress | None = None, wizard: Wizard | None = None
) -> NewTaskResult:
    """Make a task folder. It appears at the end, complete; on any error, and on Ctrl-C, there is none.

    With a wizard, answers given so far are kept in the folder of tasks until the task is made.

    Raises LmrError for what is wrong with paper, repository, or a name that is taken; UsageError when
    something cannot be derived and there is no wizard.
    """
    say = progress or (lambda message: None)
    if options.repo:
        _repo_folder(options, Address.parse(options.repo))  # wrong input fails before any work
    environment.choose_base(Recipe(), options.base_image, options.python_version)
    taken = _taken(options)
    vetted = records.read_vetting(options.vetting) if options.vetting else None
    with files.temporary_folder("lmr-author-paper-") as temporary:
        say(f"fetching the paper {options.paper}")
        fetched = paper.fetch(options.paper, temporary / "paper.pdf")
        say("reading the paper")
        read = _read(options, fetched)
        options, draft = _settle(options, fetched, read, taken, wizard)
        info = _info(draft)
        final = options.tasks_dir / info.folder_name
        _require_free(final)
        with files.staged_folder(final) as staging:
            stages = _stages(options, staging / info.repo_folder_name, fetched, read, say)
            info = replace(info, repo_commit=stages.clone.commit, license=stages.clone.licence)
            had_tests = TaskDir(staging).unit_test_folder(info).is_dir()
            say("writing the task")
            _write(TaskDir(staging), info, stages, vetted)
            _require_free(final)
    forget(options.tasks_dir)
    return NewTaskResult(TaskDir(final), info, stages.base, tuple(_notes(info, stages, had_tests)))


def _settle(
    options: NewTaskOptions,
    fetched: FetchedPaper,
    read: Paper,
    taken: dict[int, str],
    wizard: Wizard | None,
) -> tuple[NewTaskOptions, Draft]:
    """The repository, and everything that is going to be written: complete, and seen by the person there is."""
    before = kept_in(options.tasks_dir) if wizard else None
    answers = dict(before.answers or {}) if before and before.paper == options.paper else {}
    if wizard and not options.repo:
        keep(options.tasks_dir, Kept(options.paper))
        options = replace(options, repo=wizard.repository(read.repositories))
    address = Address.parse(options.repo)
    draft = _draft(options, fetched, read, address, _repo_folder(options, address), taken)
    if wizard:
        given = {"number": options.id, "name": options.name, "title": options.title, "year": options.year,
                 "paper_url": options.paper_url, "repo_url": options.repo_url,
                 "repo_folder": options.repo_folder}  # fmt: skip
        draft = with_answers(draft, answers, [name for name, value in given.items() if value is not None])
        derived = asdict(draft)

        def note(now: Draft) -> None:
            changed = {name: value for name, value in asdict(now).items() if value != derived[name]}
            keep(options.tasks_dir, Kept(options.paper, options.repo, {**answers, **changed}))

        note(draft)
        draft = wizard.edit(draft, taken, note)
    require_complete(draft, taken)
    return options, draft


def _read(options: NewTaskOptions, fetched: FetchedPaper) -> Paper:
    """Read the paper; errors name it as the annotator did, not our temporary copy."""
    try:
        return paper.extract(fetched.path)
    except LmrError as error:
        named = error.message.replace(str(fetched.path), options.paper).replace(
            fetched.path.name, options.paper
        )
        raise LmrError(named, error.hint) from error


def _stages(
    options: NewTaskOptions, folder: Path, fetched: FetchedPaper, read: Paper, say: Progress
) -> Stages:
    """Clone into ``folder``, then find out what the code needs."""
    say(f"cloning {Address.parse(options.repo).shown}")
    how = CloneOptions(skip_submodules=options.skip_submodules, skip_lfs=options.skip_lfs)
    clone = repo.clone(options.repo, options.commit, folder, how, say)
    say("looking for what the repository needs")
    recipe = environment.detect(folder, clone.commit_date)
    base = environment.choose_base(recipe, options.base_image, options.python_version)
    say(f"pinning {len(recipe.requirements)} requirements as of {clone.commit_date.date()}")
    return Stages(
        fetched,
        read,
        clone,
        recipe,
        base,
        environment.lock(recipe, base, seconds=0 if options.offline else 60.0, progress=say),
    )


def _repo_folder(options: NewTaskOptions, address: Address) -> str:
    if options.repo_folder is not None:
        require_name(options.repo_folder, "--repo-folder")
    name = options.repo_folder or address.folder_name
    require_folder(name, address.shown)
    return name


def _taken(options: NewTaskOptions) -> dict[int, str]:
    """Task numbers in use below ``tasks_dir`` → the folder that has it. Checks the options that need it."""
    if options.name is not None:
        require_name(options.name, "--name")
    if options.year is not None and not 1950 <= options.year <= 2100:
        raise UsageError(f"--year {options.year} is not a paper's year", "give four digits, like 2023")
    if options.tasks_dir.exists() and not options.tasks_dir.is_dir():
        raise UsageError(
            f"--tasks-dir {options.tasks_dir} is not a folder", "name the folder that holds the tasks"
        )
    taken: dict[int, str] = {}
    for folder in sorted(options.tasks_dir.iterdir()) if options.tasks_dir.is_dir() else ():
        number, dash, _ = folder.name.partition("-")
        if dash and number.isdecimal():
            taken.setdefault(int(number), folder.name)
        if (folder / "info.json").is_file() and not folder.name.startswith("."):
            taken.setdefault(_instance_id(folder), folder.name)
    if options.id is not None and options.id < 1:
        raise UsageError(f"--id {options.id} is not a task's number", "numbers start at 1")
    if options.id in taken:
        raise LmrError(
            f"the number {options.id} is taken by {taken[options.id]}/", "pass another --id, or none"
        )
    return taken


def _instance_id(folder: Path) -> int:
    try:
        return TaskDir(folder).load().instance_id
    except LmrError:
        return 0


def _require_free(final: Path) -> None:
    if final.exists() or final.is_symlink():
        raise LmrError(f"{final} exists already", "choose another --id or --name, or remove it")


def _draft(
    options: NewTaskOptions,
    fetched: FetchedPaper,
    read: Paper,
    address: Address,
    repo_folder: str,
    taken: dict[int, str],
) -> Draft:
    """What ``info.json`` will say of paper and folders: given, else derived."""
    title = options.title or fetched.title or read.title
    year = options.year or read.year or fetched.year
    known = f"https://arxiv.org/abs/{read.arxiv_id}" if read.arxiv_id else ""
    return Draft(
        number=str(options.id or max([0, *taken]) + 1),
        name=options.name or default_name(title) or repo_folder,
        title=title,
        year=str(year or ""),
        paper_url=options.paper_url or fetched.url or known,
        repo_url=Address.parse(options.repo_url).shown
        if options.repo_url
        else repo.public_address(address, read.repositories) or address.shown,
        repo_folder=repo_folder,
    )


def _info(draft: Draft) -> TaskInfo:
    return TaskInfo(
        instance_id=int(draft.number),
        paper_name=draft.title,
        folder_name=f"{draft.number}-{draft.name}",
        paper_url=draft.paper_url,
        year=int(draft.year),
        repo_url=draft.repo_url,
        repo_folder_name=draft.repo_folder,
    )


def _write(task: TaskDir, info: TaskInfo, stages: Stages, vetted: dict[str, Any] | None) -> None:
    """Every file of the new task; ``info.json`` last, because a folder with it counts as a task."""
    _require_room(task, info, stages)
    pdf = stages.fetched.path.read_bytes()
    files.write_bytes(task.paper_pdf(info), pdf)
    files.write_json(task.paper_json(info), stages.paper.to_json())
    task.unit_test_folder(info).mkdir(exist_ok=True)
    task.golden_folder.mkdir()
    folder = info.repo_folder_name
    files.write_text(
        task.dockerfile, environment.render(stages.recipe, stages.base, folder, pinned=stages.lock.pinned)
    )
    files.write_text(task.dockerignore, environment.render_dockerignore(folder))
    files.write_text(task.lock, stages.lock.text)
    now = datetime.now(UTC)
    files.write_json(task.provenance_path, records.provenance(info, stages, now))
    files.write_json(task.vetting_path, vetted or records.vetting(info, stages))
    files.write_json(task.info_path, info.to_json())


def _require_room(task: TaskDir, info: TaskInfo, stages: Stages) -> None:
    """Raise when the repository has other files where the paper and the tests belong."""
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
                f"the repository has a {path.name} of its own, where the task's paper belongs",
                "pass that file as the paper if it is the same, or use a fork of the repository without it",
            )
    tests = task.unit_test_folder(info)
    if tests.is_symlink() or (tests.exists() and not tests.is_dir()):
        raise LmrError(
            "the repository has a file unit_test, where the task's tests belong",
            "use a fork of the repository without it",
        )


def _notes(info: TaskInfo, stages: Stages, had_tests: bool) -> list[str]:
    """What the annotator should look at, most important first."""
    clone, lock, base = stages.clone, stages.lock, stages.base
    notes = list(stages.paper.notes)
    if not info.paper_url:
        notes.append("info.json has no paper_url: pass --paper-url, or add it")
    if Address.parse(info.repo_url).local:
        linked = f" (the paper links {stages.paper.repositories[0]})" if stages.paper.repositories else ""
        notes.append(f"info.json's repo_url is on this machine: put the public address in its place{linked}")
    if not clone.licence:
        where = (
            f"the licence in {clone.licence_file} is not recognised"
            if clone.licence_file
            else "no licence file"
        )
        notes.append(f"{where}: check that the repository may be redistributed")
    notes += [f"submodule {item.path} left out: {item.reason}" for item in clone.submodules if item.reason]
    if clone.lfs_left:
        notes.append(f"{len(clone.lfs_left)} Git LFS pointer(s) in place of data, first {clone.lfs_left[0]}")
    notes += [f"removed {item.path}: {item.reason}" for item in clone.removed[:10]]
    if len(clone.removed) > 10:
        notes.append(f"and {len(clone.removed) - 10} more removed (authoring/provenance.json)")
    notes += clone.notes
    if had_tests:
        notes.append("the repository has a folder unit_test of its own; the task's tests join it")
    notes += stages.recipe.problems
    if not lock.pinned:
        notes.append(f"requirements.lock is {lock.note}")
    notes += [f"requirements.lock: {item}" for item in (*lock.changes, *lock.left_out)]
    if not base.python_certain:
        notes.append(
            f"requirements are locked for Python {base.python}, which {base.reference} is thought to have"
        )
    return notes
