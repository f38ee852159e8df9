"""Options that several verbs share, and what a verb needs before it can start."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmr_author.errors import UsageError

if TYPE_CHECKING:
    from lmr_author.environment.place import Place
    from lmr_author.task import Task


class Format(StrEnum):
    """How a report is printed."""

    text = "text"
    json = "json"


class SandboxKind(StrEnum):
    """Where a task's code runs."""

    local = "local"
    docker = "docker"


TaskOption = Annotated[
    Path | None,
    typer.Option("--task", "-t", help="The task folder; by default the one the current folder lies in."),
]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="text for people, json for programs.")]
SandboxOption = Annotated[
    SandboxKind,
    typer.Option("--sandbox", help="local (bubblewrap where there is one) or docker (the task's image)."),
]
PythonOption = Annotated[
    Path | None,
    typer.Option(
        "--python", help="Interpreter of the local sandbox, with what the repository imports installed."
    ),
]
BaseImageOption = Annotated[
    str | None,
    typer.Option("--base-image", help="Build the task's image on this base instead of its Dockerfile's."),
]
RepoOption = Annotated[
    Path | None,
    typer.Option(
        "--repo", metavar="FOLDER", help="A cloned repository that is no task's yet; nothing is written."
    ),
]
ImageOption = Annotated[
    str | None, typer.Option("--base-image", help="This base image, rather than the one that fits best.")
]
VersionOption = Annotated[
    str | None,
    typer.Option("--python-version", metavar="X.Y", help="Python inside the base image, where you know it."),
]
NoInputOption = Annotated[
    bool, typer.Option("--no-input", help="Never ask; fail where an answer is missing.")
]


def current_task(task: Path | None) -> Task:
    """The task named by ``--task``, else the one the current folder lies in."""
    from lmr_author.task import Task

    return Task.find(task or Path.cwd())


def task_or_repo(task: Path | None) -> Task:
    """As :func:`current_task`, for commands that work on a repository, too: without a task they say how."""
    from lmr_author.errors import NotATaskError

    try:
        return current_task(task)
    except NotATaskError as error:
        raise NotATaskError(error.message, f"{error.hint}; or name a repository: --repo FOLDER") from error


def place(task: Path | None, repo: Path | None) -> Place:
    """The repository of ``--repo``, else that of the task."""
    from lmr_author.environment.place import place_alone, place_of

    if repo is None:
        return place_of(task_or_repo(task))
    if task is not None:
        raise UsageError("--repo and --task are two places", "give one of them")
    return place_alone(repo)


def default_tasks() -> Path:
    """Where a command looks when no task is named: the current task, else ``tasks/`` here."""
    here = Path.cwd()
    inside = any((folder / "info.json").is_file() for folder in (here, *here.parents))
    return here / "tasks" if not inside and (here / "tasks").is_dir() else here


def text_or_file(value: str | None, option: str) -> str | None:
    """``TEXT``, or the content of FILE for ``@FILE``."""
    if value is None or not value.startswith("@"):
        return value
    path = Path(value[1:])
    if not path.is_file():
        raise UsageError(f"{option} {value}: there is no file {path}", "name an existing file after the @")
    try:
        return path.read_text("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"{option} {value}: not a UTF-8 text file", "save it as UTF-8") from error


def can_ask(no_input: bool) -> bool:
    """Whether there is a person at a terminal to ask."""
    return not no_input and sys.stdin.isatty() and sys.stderr.isatty()


def print_json(data: Any) -> None:
    """Write one JSON document to stdout, alone; escaped where stdout cannot hold its characters."""
    import json

    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except (
        UnicodeEncodeError
    ):  # half of a surrogate pair in a foreign file, or a terminal of another encoding
        text = json.dumps(data, indent=2) + "\n"
    sys.stdout.write(text)


def where_options(sandbox: SandboxKind, python: Path | None, base_image: str | None = None) -> list[str]:
    """The options that say where code runs, but for their defaults."""
    words = ["--sandbox", sandbox.value] if sandbox is not SandboxKind.local else []
    words += ["--python", str(python)] if python else []
    return [*words, *(["--base-image", base_image] if base_image else [])]
