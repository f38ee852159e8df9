"""A task's sandbox: opening it, making it ready, and why its image could not be built."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lmr_author.environment.failures import Failure, explain
from lmr_author.errors import SandboxBuildError
from lmr_author.model import Progress, TaskInfo
from lmr_author.sandbox.base import Sandbox
from lmr_author.sandbox.factory import open_sandbox
from lmr_author.taskdir import TaskDir


def sandbox_of(
    task: TaskDir,
    info: TaskInfo,
    kind: str,
    *,
    python: Path | None = None,
    base_image: str | None = None,
    gpus: str = "",
    no_cache: bool = False,
) -> Sandbox:
    """A task's sandbox, not prepared yet; see :func:`~lmr_author.sandbox.factory.open_sandbox`."""
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
    """What to do about a build that failed: the likely cause and its fix, where they are known."""
    found = explain(Failure("build", error.step, "\n".join(error.said) or error.message))
    if found is None:
        return error.hint
    rest = error.hint.partition("; ")[2]
    fix = "`lmr-author env build --fix` (with the same --base-image) does what can safely be done"
    return f"{found.cause}: {found.advice}; {fix}" + (f"; {rest}" if rest else "")


def prepare(sandbox: Sandbox, progress: Progress) -> Mapping[str, str]:
    """Prepare a sandbox. Raises SandboxError; when an image cannot be built, its hint says why."""
    try:
        return sandbox.prepare(progress)
    except SandboxBuildError as error:
        raise SandboxBuildError(
            error.message, build_hint(error), step=error.step, line=error.line, said=error.said
        ) from error
