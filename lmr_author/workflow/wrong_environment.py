"""What is wrong with the environment that `record` runs in, told as `env build` tells it, and what repairs it."""

from __future__ import annotations

import shlex
from pathlib import Path

from lmr_author.environment.failures import Explanation, explain_traceback
from lmr_author.environment.failures.changes import Requirements, SystemPackages
from lmr_author.environment.failures.importing import NoModule
from lmr_author.recording.failed import Explain
from lmr_author.workflow.env_repair import OF_THE_LOCK

_GOAL_FILE = "where the masked file cannot be imported without it"
"""What ``--fix`` looks at. A driver, or tests, may import more."""


def explainer(*, in_image: bool, python: Path | None) -> Explain:
    """Explains what a command said for the place where it ran.

    Args:
        in_image: in the task's image.
        python: the interpreter that the annotator named; None for the environment of the task, or none at all.
    """

    def explain(said: str) -> str:
        found = explain_traceback(said)
        if found is None or _is_unknown(found):
            return ""
        here = found if in_image else for_here(found)
        repair = _in_image(found) if in_image else _here(found, python)
        return f"{here.cause}: {here.advice}{repair and f'; {repair}'}"

    return explain


def _in_image(found: Explanation) -> str:
    if found.change is None:
        return ""
    if found.name == NoModule.name:
        return f"`lmr-author env build --fix` does that {_GOAL_FILE}, else add it by hand and build again"
    return "`lmr-author env build --fix` does that"


def _is_unknown(found: Explanation) -> bool:
    """Whether it is about a module of which nothing is known: where it may come from depends on the place."""
    return found.name == NoModule.name and found.change is None and "package index" not in found.advice


def for_here(found: Explanation) -> Explanation:
    """Without the image, which has no part in this."""
    words = (
        ("the base image's", "this environment's"),
        ("the base image", "this environment"),
        ("a base image", "an environment"),
        ("the image's", "this"),
    )
    cause, advice = found.cause, found.advice
    for before, after in words:
        cause, advice = cause.replace(before, after), advice.replace(before, after)
    return Explanation(found.name, cause, advice, found.change)


def _here(found: Explanation, python: Path | None) -> str:
    """What repairs an environment on this machine."""
    change = found.change
    if isinstance(change, SystemPackages):
        return f"here by `apt-get install {' '.join(change.names)}`"
    if python is not None and isinstance(change, Requirements):
        return f"here by `{shlex.join([str(python), '-m', 'pip', 'install', *change.texts])}`"
    if isinstance(change, Requirements) and found.name == NoModule.name:
        command = shlex.join(["lmr-author", "env", "local", *(f"--with={text}" for text in change.texts)])
        return (
            f"`lmr-author env local --fix` does that {_GOAL_FILE}; what the command alone needs: `{command}`"
        )
    if isinstance(change, OF_THE_LOCK):
        return "`lmr-author env local --fix` does that, in an environment of the task's own"
    return "or run in the task's image (--sandbox docker), or with another Python (--python)"
