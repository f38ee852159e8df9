"""The user's choice of a sandbox for a task's code, and of its Python."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import Hint, SandboxBuildError, UsageError
from lmr_author.core.task import Progress, Task, TaskInfo, evaluation, provenance
from lmr_author.core.task.provenance import BuiltEnvironment
from lmr_author.runtime.environment import lock_file, venvs
from lmr_author.runtime.environment.base_images import base_of, dummies_of, known_image
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
        python: interpreter of the local sandbox; None for the task's own environment, else the current interpreter.
        base_image: replaces the Dockerfile's ``BASE_IMAGE`` (docker); "" keeps it.
        gpus: "all" or a number of GPUs for each container (docker); "" for none.

    Raises UsageError for contradictory options.
    """

    kind: str = LOCAL
    python: Path | None = None
    base_image: str = ""
    gpus: str = ""

    def __post_init__(self) -> None:
        if self.kind not in (LOCAL, DOCKER):
            raise UsageError(f"unknown sandbox {self.kind!r}", f"use {LOCAL} or {DOCKER}")
        if self.gpus and self.kind != DOCKER:
            raise UsageError("--gpus works only with containers", "add --sandbox docker")
        if self.gpus and self.gpus != "all" and not (self.gpus.isdecimal() and int(self.gpus) > 0):
            raise UsageError(f"--gpus {self.gpus}: not a number of GPUs", "use a number, or all")

    @property
    def options(self) -> tuple[str, ...]:
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
        return replace(self, python=self.python and self.python.absolute())

    def sandbox(self, task: Task, info: TaskInfo, *, no_cache: bool = False) -> Sandbox:
        """Return a task's sandbox, not prepared yet. ``no_cache``: rebuild every layer (docker)."""
        if self.kind == LOCAL:
            from lmr_author.runtime.sandbox.local import LocalSandbox

            variables = dummies_of(files.read_text_or_empty(task.dockerfile))
            return LocalSandbox(python_of(task, self).path, variables=variables)
        from lmr_author.runtime.sandbox.docker import DockerSandbox

        # Root builds for a user too: a Dockerfile creates this user and group.
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
        path: None for the current interpreter, and for an image.
        environment: the environment that ``env local`` created for the task's lock, if the interpreter is its own.
    """

    path: Path | None
    environment: venvs.LocalEnvironment | None = None

    @property
    def remark(self) -> str:
        if self.environment is None:
            return ""
        return f"in the environment made by `lmr-author env local` (Python {self.environment.version})"


def python_of(task: Task, where: Where) -> ChosenPython:
    if where.python is not None or where.kind == DOCKER or not task.lock.is_file():
        return ChosenPython(where.python)
    environment = venvs.find(task)
    return ChosenPython(environment.python.path if environment else None, environment)


def other_python(task: Task, where: Where) -> str:
    """Return a name for an interpreter that the user chose instead of the task's own; "" for the task's own.

    It is the name of its virtual environment and a digest of its path, such as ``dpo-env-3f2a91c0``: unique on a
    machine, without revealing the path.
    """
    if where.python is None or where.kind == DOCKER:
        return ""
    name, folder = _environment_of(where.python)
    own = python_of(task, HERE).path
    if folder == _environment_of(own or Path(sys.executable))[1]:
        return ""
    return f"{name}-{files.sha256_bytes(os.fsencode(folder))[:8]}"


def _environment_of(python: Path) -> tuple[str, Path]:
    path = Path(os.path.normpath(Path(shutil.which(str(python)) or python).absolute()))
    folder = path.parent.parent
    return (folder.name, folder) if (folder / "pyvenv.cfg").is_file() else (path.name, path)


def python_in_words(python: ChosenPython, where: Where) -> str:
    """Return a description of a local sandbox's default Python; "" if the user chose one, and for an image."""
    if where.kind == DOCKER or where.python is not None:
        return ""
    if python.remark:
        return python.remark
    version = ".".join(map(str, sys.version_info[:3]))
    return (
        f"with lmr-author's own Python {version} ({sys.executable}): the task has no environment yet; create one with "
        "`lmr-author env local`, or choose an interpreter with --python"
    )


def prepare(sandbox: Sandbox, progress: Progress) -> Mapping[str, str]:
    """Prepare a sandbox. Raises SandboxError; if a build fails, its hint has the cause."""
    try:
        return sandbox.prepare(progress)
    except SandboxBuildError as error:
        error.advice = Hint(build_hint(error))
        raise


# versions

_VERSION = re.compile(r"[0-9][\w.+!-]{0,40}")
_TITLES = {"python": "Python", "torch": "PyTorch", "numpy": "NumPy"}


def find_versions(task: Task, base_image: str = "") -> dict[str, str]:
    """Return the known versions in a task's image: reported by a build, else from Dockerfile and lock.

    Args:
        base_image: replaces the Dockerfile's; "" keeps it.
    """
    built = BuiltEnvironment.read_if_valid(task.environment_path)
    run = evaluation.load(task)
    dockerfile = task.dockerfile.read_text("utf-8", "replace") if task.dockerfile.is_file() else ""
    if base_image:
        found = _declared(task, base_image)
    elif built and dockerfile and built.dockerfile_sha256 == files.sha256_file(task.dockerfile):
        found = {"python": built.python, "torch": built.torch, "numpy": built.numpy}
    elif run and run.sandbox.kind == DOCKER and not run.sandbox.other_base_image:
        found = {"python": run.sandbox.python, "torch": run.sandbox.torch, "numpy": run.sandbox.numpy}
    else:
        found = _declared(task, base_of(dockerfile) or provenance.load(task).environment.base_image.reference)
    return {name: version for name, version in found.items() if _VERSION.fullmatch(version)}


def _declared(task: Task, image: str) -> dict[str, str]:
    lock = task.lock.read_text("utf-8", "replace") if task.lock.is_file() else ""
    pins = {name: line.partition("==")[2] for name, line in lock_file.requirements(lock).items()}
    base = known_image(image)
    python = lock_file.python(lock) or (base.python if base.torch else "")
    return {"python": python, "torch": pins.get("torch") or base.torch, "numpy": pins.get("numpy", "")}


def in_words(versions: Mapping[str, str]) -> str:
    named = [f"{title} {versions[name]}" for name, title in _TITLES.items() if versions.get(name)]
    return " and ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))
