"""``env build``: build the image, ask what it holds, import the goal file in it; explain failures."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import __version__, files
from lmr_author.environment import place
from lmr_author.environment.failures import Explanation, Failure, explain
from lmr_author.environment.smoke import SECONDS, Imported, ask_inventory, import_files
from lmr_author.errors import LmrError, SandboxBuildError, SandboxError, UsageError
from lmr_author.replay.staging import tree_path
from lmr_author.sandbox import image_tag, open_sandbox
from lmr_author.sandbox.base import OnLine, Sandbox
from lmr_author.task import Progress, Task, TaskInfo
from lmr_author.task.environment import BuiltEnvironment

_MOST_TOP_LEVEL = 20


@dataclass(frozen=True)
class BuildOptions:
    """The options of ``env build``.

    Attributes:
        base_image: replaces the Dockerfile's.
        no_cache: make every layer anew.
        files: what to import, in place of the goal files.
        seconds: time limit of one import.
    """

    base_image: str | None = None
    no_cache: bool = False
    files: tuple[str, ...] = ()
    seconds: float = SECONDS


@dataclass(frozen=True)
class BuildFailure:
    """The reason why the image could not be built.

    Attributes:
        message: the instruction and its error.
        step, line: the instruction, and where it is in the Dockerfile.
        said: its last lines.
        explanation: None when nobody knows.
    """

    message: str
    step: str
    line: int
    said: tuple[str, ...]
    explanation: Explanation | None


@dataclass(frozen=True)
class BuildResult:
    """The result of a build.

    Attributes:
        built: the contents of the image; None when it was not built.
        failure: why it was not.
        imported: the smoke test.
        instead: the base image that was given in place of the Dockerfile's; "" for none.
    """

    task: Task
    built: BuiltEnvironment | None
    failure: BuildFailure | None
    imported: tuple[Imported, ...]
    instead: str = ""

    @property
    def passed(self) -> bool:
        """Return whether the image is built and everything can be imported in it."""
        return self.failure is None and bool(self.imported) and all(item.result.ok for item in self.imported)


def build(task: Task, options: BuildOptions, say: Progress, on_line: OnLine) -> BuildResult:
    """Build a task's image, and import its goal files in it.

    Writes ``authoring/environment.json`` when there is an image, and ``authoring/logs/build.log`` in any case.

    Args:
        say: called with the current step.
        on_line: called with each line of the build's log.

    Raises:
        SandboxError: no engine, or one that stops answering; or the machine, not the task, is at fault.
        LmrError: nothing to import, no Dockerfile.
    """
    info = task.load()
    if not task.dockerfile.is_file():
        raise LmrError(f"{task.name} has no Dockerfile", "write it: `lmr-author env dockerfile`")
    wanted = _files(task, info, options.files)
    began = time.monotonic()
    own = place.base_of(place.text_of(task.dockerfile))
    instead = options.base_image if options.base_image not in (None, own) else ""
    with sandbox_of(
        task, info, "docker", base_image=options.base_image, no_cache=options.no_cache
    ) as sandbox:
        say("building the image")
        try:
            prepared = dict(sandbox.prepare(on_line))
            seconds = time.monotonic() - began
            say("asking the image what it holds")
            inventory = ask_inventory(sandbox)
        except SandboxBuildError as error:
            return BuildResult(task, None, _failure(task, error), ())
        say(f"importing {', '.join(wanted)}")
        lock = place.text_of(task.lock)
        imported = import_files(sandbox, tree_path(info), wanted, seconds=options.seconds, lock=lock)
    built = _built(task, options, prepared | inventory, imported, seconds)
    built.write(task.environment_path)
    return BuildResult(task, built, None, tuple(imported), instead or "")


def _files(task: Task, info: TaskInfo, given: tuple[str, ...]) -> tuple[str, ...]:
    """The files to import: as given, else the goal files, else the packages at the repository's top."""
    root = task.repository(info)
    for name in given:
        if not files.inside(root, name).is_file():
            raise UsageError(f"--file {name}: no such file in {root.name}/", "give a path in the repository")
    if found := given or place.goal_files(info):
        return found
    aside = ("test", "tests", "docs", "unit_test", "examples", "scripts", "benchmarks")
    packages = sorted([*root.glob("*/__init__.py"), *root.glob("src/*/__init__.py")])
    top = [path.relative_to(root).as_posix() for path in packages if path.parent.name not in aside]
    if not top:
        raise LmrError(
            f"{task.name} has nothing masked, and no packages at the top of its repository",
            "name what to import with --file, or mask a function first",
        )
    return tuple(top[:_MOST_TOP_LEVEL])


def _failure(task: Task, error: SandboxBuildError) -> BuildFailure:
    """The task's mistake. Raises SandboxError for the machine's fault."""
    said = "\n".join(error.said) or error.message
    found = explain(Failure("build", error.step, said, lock=place.text_of(task.lock)))
    if found is not None and found.about == "machine":
        raise SandboxError(
            f"the image could not be built: {found.cause}",
            f"{found.advice} (log: {task.logs_folder / 'build.log'})",
        ) from error
    return BuildFailure(error.message, error.step, error.line, error.said, found)


def _built(
    task: Task, options: BuildOptions, held: dict[str, Any], imported: list[Imported], seconds: float
) -> BuiltEnvironment:
    versions = {key: str(held.get(key, "")) for key in ("python", "platform", "torch", "cuda", "numpy")}
    return BuiltEnvironment(
        tool=__version__,
        built=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(seconds, 3),
        image=held["image"],
        tag=image_tag(task.name, task.root),
        base_image=place.known(task, options.base_image).base.reference,
        engine=held["engine"],
        dockerfile_sha256=files.sha256_file(task.dockerfile),
        lock_sha256=files.sha256_file(task.lock) if task.lock.is_file() else "",
        packages=held.get("packages", {}),
        imports=tuple(item.result for item in imported),
        **versions,
    )


def sandbox_of(
    task: Task,
    info: TaskInfo,
    kind: str,
    *,
    python: Path | None = None,
    base_image: str | None = None,
    gpus: str = "",
    no_cache: bool = False,
) -> Sandbox:
    """Return a task's sandbox, not prepared yet; see :func:`~lmr_author.sandbox.factory.open_sandbox`."""
    return open_sandbox(
        kind,
        context=task.root,
        name=task.name,
        python=python,
        base_image=base_image,
        repo_folder=info.repo_folder_name,
        log=task.logs_folder / "build.log",
        no_cache=no_cache,
        gpus=gpus,
    )


def build_hint(error: SandboxBuildError) -> str:
    """Return what to do about a build that failed: the likely cause and its fix, where they are known."""
    found = explain(Failure("build", error.step, "\n".join(error.said) or error.message))
    if found is None:
        return error.hint
    return "; ".join(filter(None, [f"{found.cause}: {found.advice}", error.hint.partition("; ")[2]]))


def prepare(sandbox: Sandbox, progress: Progress) -> Mapping[str, str]:
    """Prepare a sandbox. Raises SandboxError; when an image cannot be built, its hint says why."""
    try:
        return sandbox.prepare(progress)
    except SandboxBuildError as error:
        raise SandboxBuildError(
            error.message, build_hint(error), step=error.step, line=error.line, said=error.said
        ) from error
