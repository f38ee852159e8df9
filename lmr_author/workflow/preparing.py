"""Making a task's sandbox ready: which interpreter, and why an image could not be built."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lmr_author.environment.failures import Failure, explain
from lmr_author.errors import SandboxBuildError
from lmr_author.sandbox.base import Sandbox


def build_hint(error: SandboxBuildError) -> str:
    """What to do about a build that failed: the likely cause and its fix, where they are known."""
    found = explain(Failure("build", error.step, "\n".join(error.said) or error.message, error.line))
    if found is None:
        return error.hint
    rest = error.hint.partition("; ")[2]
    return f"{found.cause}: {found.advice}" + (f"; {rest}" if rest else "")


def prepare(sandbox: Sandbox, progress: Callable[[str], None]) -> Mapping[str, str]:
    """Prepare a sandbox. Raises SandboxError; when an image cannot be built, its hint says why."""
    try:
        return sandbox.prepare(progress)
    except SandboxBuildError as error:
        raise SandboxBuildError(
            error.message, build_hint(error), step=error.step, line=error.line, said=error.said
        ) from error
