"""The task folder, the only module that knows where things are in it, and the states of a task.

<id>-<name>/
├── info.json  Dockerfile  requirements.lock  .dockerignore
├── <repo_folder_name>/            the repository as the agent sees it
│   ├── paper.pdf  paper.json
│   └── unit_test/                 unit_test_N.py, recordings/N/case_K/, logs/
├── golden_files/
└── authoring/                     never shipped
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from lmr_author.core import files
from lmr_author.core.errors import LmrError, NotATaskError, UnsafePathError, UsageError
from lmr_author.core.task.info import AlsoMasked, AlsoMaskedList, Implementation, TaskInfo

INFO = "info.json"
UNIT_TEST = "unit_test"
GOLDEN = "golden_files"
AUTHORING = "authoring"
NOT_SHIPPED = (GOLDEN, AUTHORING)
MADE_BY_RUNNING = ("__pycache__", ".pytest_cache")


class _Own:
    def __init__(self, *parts: str) -> None:
        self._path = "/".join(parts)

    def __get__(self, task: Task, owner: type[Task]) -> Path:
        return task.own(self._path)


@dataclass(frozen=True)
class Task:
    """A task folder. Making one reads nothing; :meth:`find` and :meth:`load` do."""

    root: Path

    info_path = _Own(INFO)
    dockerfile = _Own("Dockerfile")
    dockerignore = _Own(".dockerignore")
    lock = _Own("requirements.lock")  # the packages that the Dockerfile installs
    golden_folder = _Own(GOLDEN)
    authoring = _Own(AUTHORING)  # records that never reach an agent
    provenance_path = _Own(AUTHORING, "provenance.json")
    vetting_path = _Own(AUTHORING, "vetting.json")
    ledger_path = _Own(AUTHORING, "ledger.json")  # paper beside code
    patch_path = _Own(AUTHORING, "patches", "repository.patch")  # applied to the pinned commit
    drafted_path = _Own(AUTHORING, "drafted.json")
    evaluation_path = _Own(AUTHORING, "evaluation.json")
    challenge_path = _Own(AUTHORING, "challenge.json")
    difficulty_path = _Own(AUTHORING, "difficulty.json")  # what models' answers came to
    accepted_path = _Own(AUTHORING, "accepted.json")
    environment_path = _Own(AUTHORING, "environment.json")  # contents of the built image
    local_environment_path = _Own(AUTHORING, "local-environment")  # name of the one that `env local` made
    also_masked_path = _Own(AUTHORING, "also-masked.json")
    equivalent_mutants_path = _Own(AUTHORING, "equivalent-mutants.json")
    originals = _Own(AUTHORING, "originals")  # files with masked look-alikes, as they were before
    removed_folder = _Own(AUTHORING, "removed")  # files removed from the task, under their paths in it
    reviews_folder = _Own(AUTHORING, "reviews")
    adjudication_path = _Own(AUTHORING, "adjudication.json")
    scores_folder = _Own(AUTHORING, "scores")  # people's grades of candidates
    logs_folder = _Own(AUTHORING, "logs")  # build and run logs; not part of the task's content

    @classmethod
    def find(cls, start: Path) -> Task:
        """Return the task that ``start`` is or lies in, searching upwards like git. Raises NotATaskError."""
        start = Path(os.path.normpath(start.absolute()))
        for folder in (start, *start.parents):
            if (folder / INFO).is_file():
                return cls(folder)
        raise NotATaskError(
            f"{start} is not a task folder, nor inside one (no {INFO})",
            "change into a task folder, name one, or make one with `lmr-author new-task`",
        )

    @classmethod
    def find_all(cls, path: Path) -> list[Task]:
        """Return the tasks that a path means: the task it is or lies in, else every task folder directly below.

        A folder of the name ``<number>-<name>`` counts as a task, so that one without ``info.json`` is not overlooked.
        Raises NotATaskError when there is none.
        """
        path = Path(os.path.normpath(path.absolute()))
        if not path.exists():
            raise NotATaskError(f"{path} does not exist", "check the path")
        if path.is_dir() and not (path / INFO).is_file():
            below = [cls(child) for child in sorted(path.iterdir()) if _looks_like_a_task(child)]
            if below:
                return sorted(below, key=lambda task: (_leading_number(task.name), task.name))
            try:
                return [cls.find(path)]
            except NotATaskError as error:
                if deeper := _folder_of_tasks(path):
                    hint = f"its tasks are in {deeper.name}/: name that, or `cd {shlex.quote(str(deeper))}`"
                    raise NotATaskError(error.message, hint) from None
                raise
        return [cls.find(path)]

    @property
    def name(self) -> str:
        return self.root.name

    def own(self, path: str) -> Path:
        """Return a path of the task. Raises UnsafePathError for a link out of it: a task comes from strangers."""
        return files.inside(self.root, path)

    def load(self) -> TaskInfo:
        """Read ``info.json``, leniently. Raises LmrError if it is no object, UnsafePathError for a link out of it."""
        info = TaskInfo.from_json(self.load_raw())
        self._refuse_links(info)
        return info

    def _refuse_links(self, info: TaskInfo) -> None:
        """Raise UnsafePathError for a link out of the task in its folder, or at any depth among its records."""
        entries = list(self.root.iterdir())
        tops = [self.golden_folder, self.authoring]
        with contextlib.suppress(
            UnsafePathError
        ):  # the name of another folder, which is refused where it is used
            tops.append(self.repository(info) / UNIT_TEST)
        for top in tops:
            self.own(top.relative_to(self.root).as_posix())
            for folder, folders, names in os.walk(top):
                entries += [Path(folder, name) for name in (*folders, *names)]
        for entry in entries:
            if entry.is_symlink():
                self.own(entry.relative_to(self.root).as_posix())

    def load_raw(self) -> dict[str, Any]:
        """Return ``info.json`` as it is. Raises LmrError when it is absent or not a JSON object."""
        if not self.info_path.is_file():
            raise NotATaskError(f"{self.root} has no {INFO}", "make a task with `lmr-author new-task`")
        data = files.read_json(self.info_path)
        if not isinstance(data, dict):
            raise LmrError(f"{self.info_path}: not a JSON object", "see schemas/info.schema.json")
        return data

    def save(self, info: TaskInfo) -> None:
        files.write_json(self.info_path, info.to_json())

    def also_masked(self) -> tuple[AlsoMasked, ...]:
        """Return the masked look-alikes. Raises LmrError when their file is damaged: one could never be restored."""
        path = self.also_masked_path
        return AlsoMaskedList.read(path).also if path.is_file() else ()

    def masked_in(self, path: str, info: TaskInfo) -> list[tuple[str, int | None]]:
        """Return qualified name and number of what is masked in a file: implementations, and look-alikes."""
        masked = [(entry.qualname, entry.nth) for entry in info.implementations if entry.goal_file == path]
        return masked + [(entry.qualname, entry.nth) for entry in self.also_masked() if entry.path == path]

    def save_also_masked(self, entries: Sequence[AlsoMasked]) -> None:
        if not entries:
            self.also_masked_path.unlink(missing_ok=True)
            return
        ordered = sorted(entries, key=lambda entry: (entry.path, entry.qualname, entry.nth))
        AlsoMaskedList(tuple(ordered)).write(self.also_masked_path)

    def original_name(self, path: str) -> str:
        """Return where the original of a file with look-alikes is kept, relative to the task."""
        return (self.originals / path).relative_to(self.root).as_posix()

    def repository(self, info: TaskInfo) -> Path:
        """Return the repository folder. Raises UnsafePathError when its name leads out of the task."""
        return files.inside(self.root, info.repo_folder_name or info.folder_name)

    def goal(self, info: TaskInfo, implementation: Implementation) -> Path:
        return files.inside(self.repository(info), implementation.goal_file)

    def golden(self, implementation: Implementation) -> Path:
        return files.inside(self.root, implementation.golden_file)

    def unit_test(self, info: TaskInfo, implementation: Implementation) -> Path:
        return files.inside(self.repository(info), implementation.unit_test_file)

    def unit_test_folder(self, info: TaskInfo) -> Path:
        return files.inside(self.repository(info), UNIT_TEST)

    def recording(self, info: TaskInfo, index: int) -> Path:
        return files.inside(self.repository(info), f"{UNIT_TEST}/recordings/{index}")

    def paper_json(self, info: TaskInfo) -> Path:
        return files.inside(self.repository(info), "paper.json")

    def paper_pdf(self, info: TaskInfo) -> Path:
        return files.inside(self.repository(info), "paper.pdf")

    def content_files(self) -> Iterator[Path]:
        """Yield every file that makes the task what it is: all but ``authoring/``, test logs and caches."""
        for path in files.walk(self.root):
            parts = path.relative_to(self.root).parts
            if parts[0] == AUTHORING or any(part in MADE_BY_RUNNING for part in parts):
                continue
            if len(parts) > 2 and parts[-3:-1] == (UNIT_TEST, "logs"):
                continue
            yield path

    def content(self) -> Iterator[tuple[bytes, str]]:
        """Yield path in the task and SHA-256 of each of :meth:`content_files`, in order."""
        for path in sorted(self.content_files()):
            relative = path.relative_to(self.root).as_posix()
            yield relative.encode("utf-8", "surrogateescape"), files.sha256_file(path)

    def content_digest(self) -> str:
        digest = hashlib.sha256()
        for name, of_file in self.content():
            digest.update(name + b"\0" + of_file.encode() + b"\n")
        return digest.hexdigest()

    def move_to_removed(self, path: Path, *, copy: bool = False) -> str:
        """Move, or copy, a file or folder to a free name in ``authoring/removed/``; return its former path in the task.

        A file is not copied twice: a command may have been killed after it made the copy.
        """
        relative = path.relative_to(self.root)
        target = self.own(f"{AUTHORING}/removed/{relative.as_posix()}")
        number = 1
        while target.exists():
            if copy and target.is_file() and target.read_bytes() == path.read_bytes():
                return relative.as_posix()
            number += 1
            target = target.with_name(f"{path.name}.{number}")
        target.parent.mkdir(parents=True, exist_ok=True)
        if copy:
            files.write_bytes(target, path.read_bytes())
            shutil.copystat(path, target)
        else:
            shutil.move(path, target)
        return relative.as_posix()


def tasks_at(paths: Iterable[Path]) -> list[Task]:
    """Return the tasks at some paths, each once. Raises NotATaskError for a path without any."""
    tasks = [task for path in paths for task in Task.find_all(path)]
    return list({task.root.resolve(): task for task in tasks}.values())


def by_name(tasks: Sequence[Task], results: str) -> dict[str, Task]:
    """Return the tasks by folder name. Raises UsageError when two have the same: ``results`` would be mixed up."""
    named: dict[str, Task] = {}
    for task in tasks:
        other = named.setdefault(task.name, task)
        if other is not task:
            raise UsageError(
                f"{other.root} and {task.root} have the same name, and {results} are stored by name",
                "name one of the two, then the other with a different --out",
            )
    return named


def unit_test_name(index: int) -> str:
    return f"{UNIT_TEST}/unit_test_{index}.py"


def golden_name(goal_file: str, taken: dict[str, str]) -> str:
    """Return the path of a goal file's golden: ``golden_files/trainers_golden.py``.

    ``taken`` maps goldens of the task to goal files; if another one holds the name, the folders' names come first.
    """
    pure = PurePosixPath(goal_file)
    stems = [pure.stem, "_".join([*pure.parent.parts, pure.stem])]
    for stem in stems:
        name = f"{GOLDEN}/{stem}_golden{pure.suffix}"
        if taken.get(name, goal_file) == goal_file:
            return name
    return f"{GOLDEN}/{stems[1]}_{hashlib.sha256(goal_file.encode()).hexdigest()[:8]}_golden{pure.suffix}"


def _looks_like_a_task(folder: Path) -> bool:
    if folder.is_symlink() or not folder.is_dir():
        return False
    number, _, name = folder.name.partition("-")
    return (folder / INFO).is_file() or (number.isdecimal() and bool(name))


def _folder_of_tasks(folder: Path) -> Path | None:
    children = sorted(child for child in folder.iterdir() if child.is_dir() and not child.is_symlink())
    for child in children:
        with contextlib.suppress(OSError):
            if any((below / INFO).is_file() for below in child.iterdir()):
                return child
    return None


def _leading_number(name: str) -> float:
    number = name.partition("-")[0]
    return int(number) if number.isdecimal() else float("inf")


_NOT_RUN = frozenset(
    {
        "instance_id",
        "paper_name",
        "paper_url",
        "year",
        "repo_url",
        "repo_commit",
        "repo_patch",
        "license",
        "paper_license",
        "implementations",
    }
)
"""Keys of ``info.json`` that no run depends on; one that is not known might."""
_NOT_RUN_OF_ONE = frozenset({"instruction", "category", "retrieval_context", "retrieval_content"})
"""Those of an implementation."""


@dataclass(frozen=True)
class TaskState:
    """A task as it is at one time.

    Attributes:
        content: digest of every file that makes the task what it is.
        running: digest of those that running depends on.
        reviewed: what a sign-off holds for: the content, the mutants that are accepted as equivalent, and the ledger;
            "" of an evaluation, which says nothing about it.
    """

    content: str
    running: str
    reviewed: str = ""

    @classmethod
    def of(cls, task: Task) -> TaskState:
        """Return the task's state now; reads every file once."""
        content, running = hashlib.sha256(), hashlib.sha256()
        for name, digest in task.content():
            content.update(name + b"\0" + digest.encode() + b"\n")
            if name == INFO.encode():
                digest = files.sha256_bytes(_run_of_info(task))
            running.update(name + b"\0" + digest.encode() + b"\n")
        of_content = content.hexdigest()
        return cls(of_content, running.hexdigest(), reviewed_digest(task, of_content))


def reviewed_digest(task: Task, content: str = "") -> str:
    """Return the SHA-256 of what a sign-off holds for; ``content`` is the digest of the content, where known."""
    content = content or task.content_digest()
    for path in (task.equivalent_mutants_path, task.ledger_path):
        if path.is_file():
            content = files.sha256_bytes(f"{content}\0{files.sha256_file(path)}".encode())
    return content


def _run_of_info(task: Task) -> bytes:
    """``info.json`` without what no run depends on; as it stands where it is none."""
    try:
        data = task.load_raw()
    except (LmrError, RecursionError):
        return task.info_path.read_bytes()
    run = {key: value for key, value in data.items() if key not in _NOT_RUN}
    each = data.get("implementations")
    run["implementations"] = [_run_of_one(entry) for entry in each] if isinstance(each, list) else each
    return json.dumps(run, sort_keys=True).encode()


def _run_of_one(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    return {key: value for key, value in entry.items() if key not in _NOT_RUN_OF_ONE}
