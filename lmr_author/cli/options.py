"""Options that several verbs share, and the task or repository that they name."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Context, Option

from lmr_author.core.errors import LmrError, NotATaskError, UsageError
from lmr_author.core.texts import did_you_mean

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.release.recipes.stages import StandIns


class Format(StrEnum):
    text = "text"
    json = "json"


class SandboxKind(StrEnum):
    local = "local"
    docker = "docker"


def finite(value: float) -> float:
    if not math.isfinite(value):
        raise BadParameter(f"{value} is not a number of seconds, megabytes or days")
    return value


# Completion in the shell: typer leaves out what does not begin as the word does


def complete_category() -> list[str]:
    from lmr_author.core.task import CATEGORIES

    return list(CATEGORIES)


def complete_check() -> list[tuple[str, str]]:
    from lmr_author.proof.checks.registry import by_code

    return [(code, check.title) for code, check in by_code().items()]


def complete_function(ctx: Context) -> list[str]:
    """Return node ids and names of the repository's functions: bash splits words at colons."""
    from lmr_author.core import indexing

    with suppress(LmrError):
        task = current_task(ctx.params.get("task"))
        functions = indexing.build(task.repository(task.load())).functions
        return [name for function in functions for name in (function.node_id, function.qualname)]
    return []


def complete_masked(ctx: Context) -> list[str]:
    with suppress(LmrError):
        masked = current_task(ctx.params.get("task")).load().implementations
        return [name for each in masked for name in (str(each.target), each.qualname)]
    return []


CATEGORY_HELP = (
    "Feature Learning & Representation; Neural Network Architectures; Prompt Engineering & Instruction Tuning; "
    "Information Extraction; Data Augmentation; Training Objectives & Optimization; Decoding & Search Strategies; "
    "Evaluation Metrics; or Interpretability & Explainability."
)
TaskOption = Annotated[
    Path | None, Option("--task", "-t", help="The task; by default the one that contains the current folder.")
]
TaskArgument = Annotated[Path | None, Argument(metavar="TASK", help="As --task.")]
TasksArgument = Annotated[
    list[Path] | None, Argument(metavar="TASK…", help="As --task; several are allowed.")
]
PlaceOption = Annotated[
    Path | None, Option("--task", "-t", help="A task, or a folder of tasks; by default the current one.")
]
FormatOption = Annotated[Format, Option("--format", "-f", help="text for people, json for programs.")]
OfflineOption = Annotated[
    bool,
    Option(
        "--offline",
        help="Use no network: no web service, no package index; paper and repository are on this machine.",
    ),
]
ForceOption = Annotated[bool, Option("--force", help="Replace what exists; a copy is kept.")]
ReasonOption = Annotated[str, Option(help="The reason, kept with the task.")]
ReviewerOption = Annotated[str | None, Option(metavar="NAME", help="Your name, stored with the review.")]
ChecklistOption = Annotated[
    Path | None, Option(help="Your lab's list; by default checklist.yaml beside the tasks, else ours.")
]
CaseTimeOption = Annotated[float, Option(min=1, callback=finite, help="Time limit of one case, in seconds.")]
MemoryOption = Annotated[int, Option(min=64, help="Memory limit of an answer, in MB.")]
ImplementationOption = Annotated[int | None, Option(help="The implementation, if the task has several.")]

_SHORT_IMAGES = {"pytorch": "pytorch/pytorch", "python": "python", "debian": "debian", "ubuntu": "ubuntu"}


def check_image(image: str | None) -> str | None:
    """Refuse a misspelt short name of a base image; a name with "/" or ":" is never checked."""
    if image and not {"/", ":"} & set(image) and image not in _SHORT_IMAGES:
        close = difflib.get_close_matches(image, _SHORT_IMAGES, 1)
        if close:
            hint = f"{did_you_mean([_SHORT_IMAGES[close[0]]])} if it is {image}, write {image}:latest"
            raise UsageError(f"--base-image {image}: looks misspelt", hint)
    return image


_where = partial(Option, rich_help_panel="Where it runs")
WHERE_OPTIONS: dict[str, tuple[Any, Any]] = {
    "sandbox": (
        Annotated[SandboxKind, _where(help="local (bubblewrap if installed) or docker (the task's image).")],
        SandboxKind.local,
    ),
    "python": (
        Annotated[
            Path | None, _where(help="Interpreter of the local sandbox, with the dependencies installed.")
        ],
        None,
    ),
    "base_image": (
        Annotated[
            str,
            _where(
                metavar="IMAGE",
                callback=check_image,
                help="Build the image on this base, not the Dockerfile's.",
            ),
        ],
        "",
    ),
    "gpus": (
        Annotated[str, _where(metavar="N|all", help="GPUs for the container; with --sandbox docker.")],
        "",
    ),
}
"""Parameter → its annotation and default, in the order of :class:`Where`'s fields."""

RepoOption = Annotated[
    Path | None, Option(metavar="FOLDER", help="A clone in place of a task; nothing is written.")
]
ImageOption = Annotated[
    str | None,
    Option(
        "--base-image", metavar="IMAGE", callback=check_image, help="Use this base image, not the best match."
    ),
]
CloneOption = Annotated[
    list[str] | None, Option("--clone", metavar="URL=PATH", help="A local clone in place of an address.")
]
PaperOption = Annotated[
    list[str] | None,
    Option("--paper", metavar="URL=PATH", help="A PDF in place of a paper's address or arXiv id."),
]
VersionOption = Annotated[
    str | None, Option("--python-version", metavar="X.Y", help="The base image's Python, if you know it.")
]


def taking_where(given: dict[str, Any]) -> dict[str, Any]:
    """Return a verb's arguments with ``where`` in place of the options of where code runs."""
    from lmr_author.runtime.environment.where import Where

    others = {name: value for name, value in given.items() if name not in WHERE_OPTIONS}
    kind, *more = (given[name] for name in WHERE_OPTIONS)
    return {**others, "where": Where(kind.value, *more)}


def taking_stand_ins(clones: list[str] | None, papers: list[str] | None) -> StandIns:
    """Return the pairs of ``--clone`` and ``--paper``. Raises UsageError for no pair, or no such path."""
    from lmr_author.release.recipes.stages import StandIns

    return StandIns(_pairs("--clone", clones or ()), _pairs("--paper", papers or ()))


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    paths = {}
    for text in texts:
        url, _, name = text.rpartition("=")
        path = Path(name).expanduser()
        if not url:
            raise UsageError(
                f"{option} {text}: not URL=PATH", f"as in {option} https://example.org/code=../code"
            )
        if not path.exists():
            raise UsageError(f"{option} {text}: there is no {name}", "check the path")
        paths[url] = str(path.absolute())
    return paths


def current_task(task: Path | None) -> Task:
    from lmr_author.core.task import Task

    return Task.find(_existing(task) if task else Path.cwd())


def named_once(word: Path | None, option: Path | None) -> Path | None:
    if word and option:
        raise UsageError(f"two tasks are named: {word} and {option}", "name one")
    path = word or option
    return _existing(path) if path else None


def named_tasks(words: list[Path] | None, option: Path | None) -> tuple[list[Path], list[Task]]:
    """Return the paths that a command line names, and their tasks; without any path the tasks here."""
    from lmr_author.core.task import tasks_at

    paths = list(map(_existing, [*(words or ()), *([option] if option else [])]))
    return paths, tasks_at(paths or [default_tasks()])


def _existing(path: Path) -> Path:
    if not path.exists():
        folder = path.parent
        names = [other.name for other in folder.iterdir()] if folder.is_dir() else []
        close = [str(folder / name) for name in difflib.get_close_matches(path.name, names, 2)]
        whole = os.path.normpath(path.absolute())
        raise NotATaskError(f"{whole} does not exist", did_you_mean(close, "check the path"))
    return path


def task_words(task: Path | None) -> list[str]:
    return ["--task", str(task)] if task else []


def task_or_repo(task: Path | None) -> Task:
    """As :func:`current_task`; the hint offers ``--repo``."""
    try:
        return current_task(task)
    except NotATaskError as error:
        raise NotATaskError(error.message, f"{error.hint}; or name a repository: --repo FOLDER") from error


def default_tasks() -> Path:
    here = Path.cwd()
    inside = any((folder / "info.json").is_file() for folder in (here, *here.parents))
    return here / "tasks" if not inside and (here / "tasks").is_dir() else here


def text_or_file(value: str | None, option: str) -> str | None:
    return read_text(Path(value[1:]), option).strip() if value and value.startswith("@") else value


def read_text(path: Path, option: str, hint: str = "name an existing file") -> str:
    """Return the content of a file that an option names. Raises UsageError if it cannot be read."""
    if not path.is_file():
        raise UsageError(f"{option} {path}: there is no such file", hint)
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{option} {path}: not a UTF-8 text file", "save it as UTF-8") from error
