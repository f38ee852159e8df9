"""The Python that a local sandbox runs, and the folders that have to be visible for it to start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lmr_author.errors import SandboxError

_QUERY = (
    "import json, platform, sys; "
    "print(json.dumps([platform.python_version(), sys.executable, sys.prefix, sys.base_prefix]))"
)
_PREFIX_PARTS = ("bin", "lib", "lib64", "libexec", "include", "share", "etc", "ssl", "pyvenv.cfg")
"""The part of a prefix that is shown. A virtual environment may have a project beside it."""


@dataclass(frozen=True)
class Interpreter:
    """A Python interpreter.

    Attributes:
        path: as it was found, not resolved: a virtual environment is known by its own path.
        version: such as ``3.11.7``.
        parts: the files and folders it consists of, besides the system's.
    """

    path: Path
    version: str
    parts: tuple[Path, ...]


def find(python: Path | None) -> Interpreter:
    """Find an interpreter's version and folders by running it. None means the one that runs this.

    Raises SandboxError when it does not exist or is not Python.
    """
    wanted = str(python) if python is not None else sys.executable
    program = shutil.which(wanted)
    if program is None:
        raise SandboxError(
            f"there is no Python interpreter at {wanted}",
            "give the path of one, such as .venv/bin/python, with --python",
        )
    version, executable, *prefixes = _query(program)
    path = Path(executable).absolute()
    parts = {path}
    for prefix in {*map(Path, prefixes), *_prefixes_of_links(path)} - {Path("/"), Path("/usr")}:
        if (prefix / "pyvenv.cfg").is_file() or any(prefix.glob("lib*/python3*")):
            parts.update(prefix / name for name in _PREFIX_PARTS if (prefix / name).exists())
    outer = (part for part in sorted(parts) if parts.isdisjoint(part.parents))
    return Interpreter(path, version, tuple(outer))


def _query(program: str) -> list[str]:
    hint = "check that it starts by hand, or give another with --python"
    try:
        # -I: no variable and no folder of the caller's changes the answer.
        done = subprocess.run(
            [Path(program).absolute(), "-I", "-c", _QUERY],
            capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
        )  # fmt: skip
        answer = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"{program} does not run: {error}", hint) from error
    except ValueError as error:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it printed nothing"]
        raise SandboxError(f"{program} is not a working Python interpreter: {lines[-1]}", hint) from error
    if not (isinstance(answer, list) and len(answer) == 4 and all(isinstance(item, str) for item in answer)):
        raise SandboxError(f"{program} is not a Python interpreter", hint)
    return answer


def _prefixes_of_links(path: Path) -> list[Path]:
    """Return the folder above ``bin`` of each symbolic link from ``path`` to the real program, and of that."""
    prefixes = [path.resolve().parent.parent]
    for _ in range(40):
        prefixes.append(path.parent.parent)
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    return prefixes
