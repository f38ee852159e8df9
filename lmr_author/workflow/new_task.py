"""``new-task``: a paper and its repository become a task folder, whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import environment, files, paper, repo
from lmr_author.environment import BaseImage, Lock, Recipe
from lmr_author.errors import LmrError, UsageError
from lmr_author.model import TaskInfo
from lmr_author.paper import FetchedPaper, Paper
from lmr_author.repo import Address, Clone, CloneOptions
from lmr_author.repo.address import safe_name
from lmr_author.taskdir import NOT_SHIPPED, TaskDir
from lmr_author.workflow import new_task_records as records

Progress = Callable[[str], None]
Ask = Callable[[str, str], str]
"""A question and its default answer → the answer of a person at a terminal."""

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
_RESERVED = (*NOT_SHIPPED, "dockerfile", "info.json", "requirements.lock")


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
    options: NewTaskOptions, progress: Progress | None = None, ask: Ask | None = None
) -> NewTaskResult:
    """Make a task folder. It appears at the end, complete; on any error, and on Ctrl-C, there is none.

    Raises LmrError for what is wrong with paper, repository, or a name that is taken; UsageError when
    something cannot be derived and ``ask`` is None.
    """
    say = progress or (lambda message: None)
    address = Address.parse(options.repo)
    repo_folder = _repo_folder(options, address)
    environment.choose_base(
        Recipe(), options.base_image, options.python_version
    )  # wrong input fails before any work
    taken = _taken(options)
    vetted = records.read_vetting(options.vetting) if options.vetting else None
    with files.temporary_folder("lmr-author-paper-") as temporary:
        say(f"fetching the paper {options.paper}")
        fetched = paper.fetch(options.paper, temporary / "paper.pdf")
        say("reading the paper")
        read = _read(options, fetched)
        info = _info(options, fetched, read, address, repo_folder, taken, ask)
        final = options.tasks_dir / info.folder_name
        _require_free(final)
        with files.staged_folder(final) as staging:
            stages = _stages(options, staging / repo_folder, fetched, read, say)
            info = replace(info, repo_commit=stages.clone.commit, license=stages.clone.licence)
            had_tests = TaskDir(staging).unit_test_folder(info).is_dir()
            say("writing the task")
            _write(TaskDir(staging), info, stages, vetted)
            _require_free(final)
    return NewTaskResult(TaskDir(final), info, stages.base, tuple(_notes(info, stages, had_tests)))


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
        _require_name(options.repo_folder, "--repo-folder")
    name = options.repo_folder or address.folder_name
    if not name:
        raise UsageError(
            f"{address.shown} gives the repository's folder no name", "pass one with --repo-folder"
        )
    if name.lower() in _RESERVED:
        raise UsageError(
            f"the repository's folder cannot be called {name}", "pass another name with --repo-folder"
        )
    return name


def _require_name(name: str, option: str) -> None:
    if not _NAME.match(name):
        raise UsageError(
            f"{option} {name!r} is not a folder's name",
            "use letters, digits, '.', '_' and '-', starting with a letter or digit",
        )


def _taken(options: NewTaskOptions) -> dict[int, str]:
    """Task numbers in use below ``tasks_dir`` → the folder that has it. Checks the options that need it."""
    if options.name is not None:
        _require_name(options.name, "--name")
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


def _info(
    options: NewTaskOptions,
    fetched: FetchedPaper,
    read: Paper,
    address: Address,
    repo_folder: str,
    taken: dict[int, str],
    ask: Ask | None,
) -> TaskInfo:
    """What ``info.json`` says of paper and folders: given, else derived, else asked for."""
    title = options.title or fetched.title or read.title
    if options.title is None and (ask is not None or not title):
        title = _asked(ask, "Title of the paper", title, "--title")
    year = options.year or read.year or fetched.year
    if options.year is None and (ask is not None or year is None):
        year = _year(_asked(ask, "Year of the paper", str(year or ""), "--year"))
    number = options.id or max([0, *taken]) + 1
    name = options.name or default_name(title) or repo_folder
    if options.name is None and ask is not None:
        name = _asked(ask, f"Name of the task's folder, after '{number}-'", name, "--name")
        _require_name(name, "--name")
    known = f"https://arxiv.org/abs/{read.arxiv_id}" if read.arxiv_id else ""
    return TaskInfo(
        instance_id=number,
        paper_name=title,
        folder_name=f"{number}-{name}",
        paper_url=options.paper_url or fetched.url or known,
        year=year or 0,
        repo_url=Address.parse(options.repo_url).shown if options.repo_url else address.shown,
        repo_folder_name=repo_folder,
    )


def _asked(ask: Ask | None, question: str, default: str, option: str) -> str:
    answer = ask(question, default).strip() if ask is not None else ""
    if not answer:
        raise UsageError(f"{question.lower()}: not found in the paper", f"pass it with {option}")
    return answer


def _year(text: str) -> int:
    if not re.fullmatch(r"(19|20)\d\d", text):
        raise UsageError(f"{text!r} is not a year", "give four digits, like 2023")
    return int(text)


def default_name(title: str) -> str:
    """A short name from a title: what stands before its colon, or an acronym in it; "" when there is none.

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
    notes += [f"requirements.lock: {item}" for item in lock.left_out]
    if not base.python_certain:
        notes.append(
            f"requirements are locked for Python {base.python}, which {base.reference} is thought to have"
        )
    return notes
