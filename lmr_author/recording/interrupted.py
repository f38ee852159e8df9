"""Recordings that were interrupted: their complete calls lie in ``authoring/runs/N/`` until a test is made of them.

The same command on the same code uses them instead of running again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from lmr_author import __version__, files
from lmr_author.recording.run import Run

RUN = "run.json"


def digest(plan: Run) -> str:
    """Return a digest of what a run depends on: command, script, golden, fixtures, options, version."""
    scripts: list[Path] = []
    for mount in plan.driver.mounts:
        inside = [mount.source] if mount.source.is_file() else sorted(mount.source.glob("*"))
        scripts += [path for path in inside if path.suffix in (".py", ".json") and path.is_file()]
    parts = [
        list(plan.driver.shown),
        {path.name: files.sha256_file(path) for path in scripts},
        files.sha256_file(plan.tree / plan.goal_file),
        [plan.goal_file, plan.qualname, plan.nth, plan.gradients, plan.cuda_as_cpu, plan.max_bytes],
        files.sha256_file(plan.helpers.fixtures) if plan.helpers.fixtures else "",
        __version__,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def begin(folder: Path, run: str, words: Sequence[str]) -> Path:
    """Return an empty folder for a recorder's calls.

    Args:
        run: its :func:`digest`.
        words: what follows ``lmr-author record``, to run it again.
    """
    forget(folder)
    out = folder / "out"
    out.mkdir(parents=True)
    files.write_json(folder / RUN, {"digest": run, "words": list(words)})
    return out


def calls_of(folder: Path, run: str) -> Path | None:
    """Return the folder of the complete calls that a run has left; None when there are none."""
    return folder / "out" if words_of(folder) and files.read_json(folder / RUN).get("digest") == run else None


def words_of(folder: Path) -> list[str]:
    """Return what was typed after ``lmr-author record``; [] where no complete call is left."""
    words = files.read_object_or_empty(folder / RUN).get("words")
    return (
        list(map(str, words)) if isinstance(words, list) and any(folder.glob("out/calls/*/meta.json")) else []
    )


def forget(folder: Path) -> None:
    """Remove what a run left, and the folders above it that were made for it."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # something else lies there
        folder.parent.rmdir()
        folder.parent.parent.rmdir()
