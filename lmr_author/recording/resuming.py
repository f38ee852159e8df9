"""A run that was cut short, by a kill or Ctrl-C: the calls that were complete then serve as if it had ended.

While the command runs, the recorder's output lies in the task, beside what was run. It is removed when the
recording is stored, so that what is there afterwards is a run that came to nothing yet.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from pathlib import Path

from lmr_author import __version__, files
from lmr_author.errors import LmrError
from lmr_author.recording.drive import Drive, Recorded, read
from lmr_author.sandbox.base import ExecResult

RUN, OUT = "run.json", "out"


def begin(folder: Path, plan: Drive) -> Path:
    """An empty folder for the recorder's output; what an earlier run left there is gone."""
    forget(folder)
    (folder / OUT).mkdir(parents=True)
    files.write_json(folder / RUN, _identity(plan))
    return folder / OUT


def forget(folder: Path) -> None:
    """Remove what a run left, and the folders above it that were made for it."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # something else lies there
        folder.parent.rmdir()
        folder.parent.parent.rmdir()


def left(folder: Path, plan: Drive) -> Recorded | None:
    """The complete calls of a run of the same command on the same code; None when there are none."""
    if not (folder / RUN).is_file() or files.read_json(folder / RUN) != _identity(plan):
        return None
    killed = ExecResult(-9, b"", b"", 0.0, False, False, False, False)
    recorded = read(folder / OUT, killed)
    return recorded if recorded.calls else None


def taken_up(folder: Path, plan: Drive) -> Recorded:
    """As :func:`left`. Raises LmrError when there is nothing to take up."""
    recorded = left(folder, plan)
    if recorded is None:
        raise LmrError(
            f"no earlier run of this command left complete calls of {plan.qualname}",
            "leave out --resume; it is for the same command, options and code as those of the run that was cut short",
        )
    return recorded


def _identity(plan: Drive) -> dict[str, str]:
    """What a run depends on: another command, script, option, golden or version of this tool is another run."""
    scripts = [file for mount in plan.driver.mounts for file in _files(mount.source)]
    what = {
        "command": list(plan.driver.shown),
        "scripts": {path.name: files.sha256_file(path) for path in scripts},
        "golden": files.sha256_file(plan.tree / plan.goal_file),
        "target": [plan.goal_file, plan.qualname, plan.nth],
        "options": [plan.gradients, plan.max_bytes],
        "fixtures": files.sha256_file(plan.helpers.fixtures) if plan.helpers.fixtures else "",
        "tool": __version__,
    }
    text = json.dumps(what, sort_keys=True)
    return {"command": " ".join(plan.driver.shown), "digest": hashlib.sha256(text.encode()).hexdigest()}


def _files(source: Path) -> list[Path]:
    """The Python and JSON files of a driver's folder, or the one file that it is."""
    if source.is_file():
        return [source]
    return sorted(path for path in source.glob("*") if path.suffix in (".py", ".json") and path.is_file())
