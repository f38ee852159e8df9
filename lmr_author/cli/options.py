"""Options that several verbs share, and the task or repository that they name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.errors import NotATaskError, UsageError

if TYPE_CHECKING:
    from lmr_author.environment.place import RepositoryPlace
    from lmr_author.task import Task


class Format(StrEnum):
    """Format of a report."""

    text = "text"
    json = "json"


class SandboxKind(StrEnum):
    """Kind of sandbox for a task's code."""

    local = "local"
    docker = "docker"


TaskOption = Annotated[
    Path | None,
    typer.Option(
        "--task", "-t", help="The task folder; by default the one that contains the current folder."
    ),
]
TasksArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH…", help="Tasks, or folders of tasks; by default the current one."),
]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="text for people, json for programs.")]
NoInputOption = Annotated[
    bool, typer.Option("--no-input", help="Never ask; fail where an answer is missing.")
]

SandboxOption = Annotated[
    SandboxKind,
    typer.Option("--sandbox", help="local (bubblewrap if installed) or docker (the task's image)."),
]
PythonOption = Annotated[
    Path | None,
    typer.Option(help="Interpreter of the local sandbox, with the repository's dependencies installed."),
]
BaseImageOption = Annotated[
    str | None,
    typer.Option(metavar="IMAGE", help="Build the task's image on this base instead of its Dockerfile's."),
]
GpusOption = Annotated[
    str, typer.Option(metavar="N|all", help="GPUs for the container; with --sandbox docker.")
]

RepoOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="A cloned repository instead of a task; nothing is written."),
]
ImageOption = Annotated[
    str | None,
    typer.Option("--base-image", metavar="IMAGE", help="Use this base image, not the one that fits best."),
]
VersionOption = Annotated[
    str | None,
    typer.Option("--python-version", metavar="X.Y", help="Python inside the base image, if you know it."),
]


@dataclass(frozen=True)
class Where:
    """The place in which a task's code runs, as the options name it."""

    kind: SandboxKind = SandboxKind.local
    python: Path | None = None
    base_image: str | None = None
    gpus: str = ""

    @property
    def words(self) -> list[str]:
        """The options that select this place again; none for defaults."""
        given = {
            "--sandbox": self.kind.value if self.kind is not SandboxKind.local else "",
            "--python": str(self.python or ""),
            "--base-image": self.base_image or "",
            "--gpus": self.gpus,
        }
        return [word for option, value in given.items() if value for word in (option, value)]


def current_task(task: Path | None) -> Task:
    """Return the task named by ``--task``, else the one that contains the current folder."""
    from lmr_author.task import Task

    return Task.find(task or Path.cwd())


def task_or_repo(task: Path | None) -> Task:
    """As :func:`current_task`, for commands that accept a repository too: the hint says so."""
    try:
        return current_task(task)
    except NotATaskError as error:
        raise NotATaskError(error.message, f"{error.hint}; or name a repository: --repo FOLDER") from error


def place(task: Path | None, repo: Path | None) -> RepositoryPlace:
    """Return the repository of ``--repo``, else that of the task."""
    from lmr_author.environment.place import place_alone, place_of

    if repo is None:
        return place_of(task_or_repo(task))
    if task is not None:
        raise UsageError("--repo and --task are two places", "give one of them")
    return place_alone(repo)


def default_tasks() -> Path:
    """Return where to look when no task is named: the current task, else ``tasks/`` here."""
    here = Path.cwd()
    inside = any((folder / "info.json").is_file() for folder in (here, *here.parents))
    return here / "tasks" if not inside and (here / "tasks").is_dir() else here


def text_or_file(value: str | None, option: str) -> str | None:
    """Return ``TEXT``, or the content of FILE for ``@FILE``."""
    if value is None or not value.startswith("@"):
        return value
    path = Path(value[1:])
    if not path.is_file():
        raise UsageError(f"{option} {value}: there is no file {path}", "name an existing file after the @")
    try:
        return path.read_text("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"{option} {value}: not a UTF-8 text file", "save it as UTF-8") from error
