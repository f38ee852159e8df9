"""Options that several verbs share, and the task or repository that they name."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.core.errors import NotATaskError, UsageError

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.runtime.environment.where import Where


class Format(StrEnum):
    """Format of a report."""

    text = "text"
    json = "json"


class SandboxKind(StrEnum):
    """Kind of sandbox for a task's code."""

    local = "local"
    docker = "docker"


TaskOption = Annotated[
    Path | None, Option("--task", "-t", help="The task; by default the one that contains the current folder.")
]
TaskArgument = Annotated[
    Path | None,
    Argument(metavar="TASK", help="The task, by default the current one; or a folder of tasks."),
]
TasksArgument = Annotated[
    list[Path] | None,
    Argument(metavar="PATH…", help="Tasks, or folders of tasks; by default the current one."),
]
FormatOption = Annotated[Format, Option("--format", "-f", help="text for people, json for programs.")]
NoInputOption = Annotated[bool, Option("--no-input", help="Never ask; fail where an answer is missing.")]
DryRunOption = Annotated[bool, Option("--dry-run", help="Only show the result; write nothing.")]
ForceOption = Annotated[
    bool, Option("--force", help="Replace what was made or edited before; a copy of it is kept.")
]
ReasonOption = Annotated[str, Option(help="The reason for a decision, kept with the task.")]
ReviewerOption = Annotated[str | None, Option(metavar="NAME", help="Your name, as it is stored.")]
ChecklistOption = Annotated[
    Path | None, Option(help="Your lab's own list; by default checklist.yaml beside the tasks, else ours.")
]
ImplementationOption = Annotated[int | None, Option(help="The implementation, if the task has several.")]

SandboxOption = Annotated[
    SandboxKind, Option(help="local (bubblewrap if installed) or docker (the task's image).")
]
PythonOption = Annotated[
    Path | None,
    Option(help="Interpreter of the local sandbox, with the repository's dependencies installed."),
]
BaseImageOption = Annotated[
    str | None,
    Option(metavar="IMAGE", help="Build the task's image on this base instead of its Dockerfile's."),
]
GpusOption = Annotated[str, Option(metavar="N|all", help="GPUs for the container; with --sandbox docker.")]

RepoOption = Annotated[
    Path | None, Option(metavar="FOLDER", help="A cloned repository instead of a task; nothing is written.")
]
ImageOption = Annotated[
    str | None,
    Option("--base-image", metavar="IMAGE", help="Use this base image, not the one that fits best."),
]
VersionOption = Annotated[
    str | None,
    Option("--python-version", metavar="X.Y", help="Python inside the base image, if you know it."),
]


def where_of(
    sandbox: SandboxKind, python: Path | None = None, base_image: str | None = None, gpus: str = ""
) -> Where:
    """Return the sandbox that the options name."""
    from lmr_author.runtime.environment.where import Where

    return Where(sandbox.value, python, base_image or "", gpus)


def current_task(task: Path | None) -> Task:
    """Return the task named by ``--task``, else the one that contains the current folder."""
    from lmr_author.core.task import Task

    return Task.find(task or Path.cwd())


def task_words(task: Path | None) -> list[str]:
    """Return the words that name the task again in the next command."""
    return ["--task", str(task)] if task else []


def task_or_repo(task: Path | None) -> Task:
    """As :func:`current_task`, for commands that accept a repository too: the hint says so."""
    try:
        return current_task(task)
    except NotATaskError as error:
        raise NotATaskError(error.message, f"{error.hint}; or name a repository: --repo FOLDER") from error


def default_tasks() -> Path:
    """Return where to look when no task is named: the current task, else ``tasks/`` here."""
    here = Path.cwd()
    inside = any((folder / "info.json").is_file() for folder in (here, *here.parents))
    return here / "tasks" if not inside and (here / "tasks").is_dir() else here


def text_or_file(value: str | None, option: str) -> str | None:
    """Return ``TEXT``, or the content of FILE for ``@FILE``."""
    return read_text(Path(value[1:]), option).strip() if value and value.startswith("@") else value


def read_text(path: Path, option: str, hint: str = "name an existing file") -> str:
    """Return the content of a file that an option names. Raises UsageError with a hint where there is none."""
    if not path.is_file():
        raise UsageError(f"{option} {path}: there is no such file", hint)
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{option} {path}: not a UTF-8 text file", "save it as UTF-8") from error
