"""Options of the version before, and how they are spelt now; this file goes with the next version."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

OPTIONS = {
    ("evaluate", "--predictions"): ("judge", "--predictions"),
    ("evaluate", "--accept-mutant"): ("accept", "--mutant"),
    ("review", "--results"): ("agreement", ""),
    ("review", "--adjudicate"): ("adjudicate", "--item"),
    ("record", "--gradients"): ("record", "--compare=gradients"),
    ("record", "--files"): ("record", "--compare=files"),
    ("record", "--in-place"): ("record", "--compare=arguments"),
    ("record", "--no-in-place"): ("record", ""),
    ("record", "--yes"): ("record", "--no-input"),
    ("record", "-y"): ("record", "--no-input"),
    ("new-task", "--skip-submodules"): ("new-task", "--skip=submodules"),
    ("new-task", "--skip-lfs"): ("new-task", "--skip=lfs"),
    ("env", "--no-input"): ("env", ""),
    ("export", "--cpus"): ("export", "--harbor=cpus="),
    ("export", "--memory-mb"): ("export", "--harbor=memory-mb="),
    ("export", "--storage-mb"): ("export", "--harbor=storage-mb="),
    ("export", "--gpus"): ("export", "--harbor=gpus="),
    ("export", "--agent-seconds"): ("export", "--harbor=agent-seconds="),
    ("export", "--offline"): ("export", "--harbor=offline=true"),
}
"""Verb and option of the version before, and what says the same now; goes with the next version.

What ends with ``=`` is followed by the option's value.
"""

GONE = {
    ("new-task", "--python-version"): "env lock --python-version X.Y --force",
    ("new-task", "--repo-folder"): "new-task PAPER --repo URL",
}
"""Verb and option of the version before → the command that does it now, in another way."""


def in_place_of(gone: tuple[str, str], arguments: Sequence[str]) -> str:
    """Return the command that does now what an option of :data:`GONE` did, for the target that was typed."""
    target = next((word for word in arguments if "::" in word), "TARGET")
    return GONE[gone].format(target=shlex.quote(target))
