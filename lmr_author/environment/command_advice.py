"""Explain what is wrong with the environment of a command that `record` ran, and what repairs it there."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from lmr_author.environment.failures import Explanation, explain_traceback
from lmr_author.environment.local import for_here
from lmr_author.environment.repair import OF_THE_LOCK

_GOAL_FILE = "where the masked file cannot be imported without it"
"""The reach of ``--fix``. A driver, or tests, may import more."""


def explainer(*, in_image: bool, python: Path | None) -> Callable[[str], str]:
    """Return a function from a command's output to cause and advice, "" when the environment is not to blame.

    Args:
        in_image: the command ran in the task's image.
        python: the interpreter that the annotator named; None for the environment of the task, or none at all.
    """

    def explain(said: str) -> str:
        found = explain_traceback(said)
        # An unknown module may come from anywhere: the place decides, not the environment.
        if found is None or (
            found.name == "no-module" and not found.fix and "package index" not in found.advice
        ):
            return ""
        repair = _in_image(found) if in_image else _here(found, python)
        shown = found if in_image else for_here(found)
        return f"{shown.cause}: {shown.advice}{repair and f'; {repair}'}"

    return explain


def _in_image(found: Explanation) -> str:
    if found.fix is None:
        return ""
    if found.name == "no-module":
        return f"`lmr-author env build --fix` does that {_GOAL_FILE}, else add it by hand and build again"
    return "`lmr-author env build --fix` does that"


def _here(found: Explanation, python: Path | None) -> str:
    """Return what repairs an environment on this machine."""
    fix = found.fix
    if fix is not None and fix.kind == "system":
        return f"here by `apt-get install {' '.join(fix.names)}`"
    if fix is not None and fix.kind == "requirements":
        if python is not None:
            return f"here by `{shlex.join([str(python), '-m', 'pip', 'install', *fix.names])}`"
        if found.name == "no-module":
            command = shlex.join(["lmr-author", "env", "local", *(f"--with={text}" for text in fix.names)])
            alone = f"for what the command alone needs: `{command}`"
            return f"`lmr-author env local --fix` does that {_GOAL_FILE}; {alone}"
    if fix is not None and fix.kind in OF_THE_LOCK:
        return "`lmr-author env local --fix` does that, in an environment of the task's own"
    return "or run in the task's image (--sandbox docker), or with another Python (--python)"
