"""Where a task's code runs: the choice that a user makes once, the Python behind it, and the sandbox."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import Hint, SandboxBuildError, UsageError
from lmr_author.core.task import Progress, Task, TaskInfo
from lmr_author.runtime.environment import venvs
from lmr_author.runtime.environment.base_images import dummies_of
from lmr_author.runtime.environment.failures import build_hint
from lmr_author.runtime.sandbox import image_tag
from lmr_author.runtime.sandbox.base import Sandbox

LOCAL, DOCKER = "local", "docker"
_FIRST_USER = 1000


@dataclass(frozen=True)
class Where:
    """The sandbox that a user chose.

    Attributes:
        kind: :data:`LOCAL` or :data:`DOCKER`.
        python: interpreter of the local sandbox; None for the task's own environment, else the one that runs this.
        base_image: replaces the Dockerfile's ``BASE_IMAGE`` (docker); "" leaves it.
        gpus: "all" or a number of GPUs for each container (docker); "" for none.

    Raises UsageError for what contradicts itself.
    """

    kind: str = LOCAL
    python: Path | None = None
    base_image: str = ""
    gpus: str = ""

    def __post_init__(self) -> None:
        if self.kind not in (LOCAL, DOCKER):
            raise UsageError(f"there is no sandbox {self.kind!r}", f"use {LOCAL} or {DOCKER}")
        if self.gpus and self.kind != DOCKER:
            raise UsageError("--gpus is for containers", "add --sandbox docker")
        if self.gpus and self.gpus != "all" and not (self.gpus.isdecimal() and int(self.gpus) > 0):
            raise UsageError(f"--gpus {self.gpus}: not a number of GPUs", "give a number, or all")

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a command that runs in the same place; a base image means nothing to the local sandbox."""
        words: list[str] = []
        if self.kind == DOCKER:
            words += ["--sandbox", DOCKER]
            words += ["--base-image", self.base_image] if self.base_image else []
            words += ["--gpus", self.gpus] if self.gpus else []
        elif self.python is not None:
            words += ["--python", str(self.python)]
        return tuple(words)

    @property
    def absolute(self) -> Where:
        """The same place for a process with another current folder."""
        return replace(self, python=self.python and self.python.absolute())

    def sandbox(self, task: Task, info: TaskInfo, *, no_cache: bool = False) -> Sandbox:
        """Return a task's sandbox, not prepared yet. ``no_cache``: make every layer anew (docker)."""
        if self.kind == LOCAL:
            from lmr_author.runtime.sandbox.local import LocalSandbox

            variables = dummies_of(files.read_text_or_empty(task.dockerfile))
            return LocalSandbox(python_of(task, self).path, variables=variables)
        from lmr_author.runtime.sandbox.docker import DockerSandbox

        # Root builds for a user, too: a Dockerfile creates this user and group.
        root = os.geteuid() == 0
        user, group = (_FIRST_USER, _FIRST_USER) if root else (os.geteuid(), os.getegid())
        args = {"UID": str(user), "GID": str(group), "DIR": info.repo_folder_name}
        if self.base_image:
            args["BASE_IMAGE"] = self.base_image
        return DockerSandbox(
            task.root, tag=image_tag(task.name, task.root), build_args=args,
            log=task.logs_folder / "build.log", no_cache=no_cache, gpus=self.gpus,
        )  # fmt: skip


HERE = Where()
"""The local sandbox, with the task's own environment."""


@dataclass(frozen=True)
class ChosenPython:
    """The interpreter of a local sandbox.

    Attributes:
        path: None for the one that runs this, and for an image.
        environment: the one that ``env local`` made for the task's lock; None where the interpreter is not of that.
    """

    path: Path | None
    environment: venvs.LocalEnvironment | None = None

    @property
    def remark(self) -> str:
        """Its origin in words; "" where somebody named it."""
        if self.environment is None:
            return ""
        return f"in the environment made by `lmr-author env local` (Python {self.environment.version})"


def python_of(task: Task, where: Where) -> ChosenPython:
    """Return the interpreter: the one that was named, else that of the environment made for the task."""
    if where.python is not None or where.kind == DOCKER or not task.lock.is_file():
        return ChosenPython(where.python)
    environment = venvs.find(task)
    return ChosenPython(environment.python.path if environment else None, environment)


def other_python(task: Task, where: Where) -> str:
    """Return a name for an interpreter that somebody asked for in place of the task's own; "" for that.

    It is that of its virtual environment and a few digits of where it lies, such as ``dpo-env-3f2a91c0``: enough to
    tell two on one machine apart, and no path.
    """
    if where.python is None or where.kind == DOCKER:
        return ""
    name, folder = _environment_of(where.python)
    own = python_of(task, HERE).path
    if folder == _environment_of(own or Path(sys.executable))[1]:
        return ""
    return f"{name}-{files.sha256_bytes(os.fsencode(folder))[:8]}"


def _environment_of(python: Path) -> tuple[str, Path]:
    """The name and the folder of an interpreter's virtual environment; its own where it is in none."""
    path = Path(os.path.normpath(Path(shutil.which(str(python)) or python).absolute()))
    folder = path.parent.parent
    return (folder.name, folder) if (folder / "pyvenv.cfg").is_file() else (path.name, path)


def python_in_words(python: ChosenPython, where: Where) -> str:
    """Return the Python that a local sandbox runs, where nobody named one; "" where somebody did, and for an image."""
    if where.kind == DOCKER or where.python is not None:
        return ""
    if python.remark:
        return python.remark
    version = ".".join(map(str, sys.version_info[:3]))
    return (
        f"with lmr-author's own Python {version} ({sys.executable}): this task has no environment yet; `lmr-author env "
        "local` makes one, and --python names another"
    )


def prepare(sandbox: Sandbox, progress: Progress) -> Mapping[str, str]:
    """Prepare a sandbox. Raises SandboxError; when an image cannot be built, its hint says why."""
    try:
        return sandbox.prepare(progress)
    except SandboxBuildError as error:
        error.advice = Hint(build_hint(error))
        raise
