"""The Python that a local sandbox runs, and the folders it needs to be seen with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lmr_author.errors import SandboxError

_ASK = (
    "import json, platform, sys; "
    "print(json.dumps([platform.python_version(), sys.executable, sys.prefix, sys.base_prefix]))"
)
_ASK_SECONDS = 60
_PREFIX_PARTS = ("bin", "lib", "lib64", "libexec", "include", "share", "etc", "ssl", "pyvenv.cfg")
"""What is shown of a prefix. A virtual environment may have a project beside it."""


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
    """Look an interpreter up by running it. None means the one that runs this.

    Raises SandboxError when it does not exist or is no Python.
    """
    asked = str(python) if python is not None else sys.executable
    program = shutil.which(asked)
    if program is None:
        raise SandboxError(
            f"there is no Python interpreter at {asked}",
            "give the path of one, such as .venv/bin/python, with --python",
        )
    version, executable, prefix, base_prefix = _ask(program)
    path = Path(executable).absolute()
    folders = [Path(prefix), Path(base_prefix), *_homes_on_the_way(path)]
    return Interpreter(path, version, _parts(path, folders))


def _ask(program: str) -> list[str]:
    hint = "check that it starts by hand, or give another with --python"
    try:
        # -I: no variable and no folder of the caller's changes what it says.
        done = subprocess.run(
            [Path(program).absolute(), "-I", "-c", _ASK],
            capture_output=True, stdin=subprocess.DEVNULL, timeout=_ASK_SECONDS, check=False,
        )  # fmt: skip
        answer = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"{program} does not run: {error}", hint) from error
    except ValueError as error:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it says nothing"]
        raise SandboxError(f"{program} is not a working Python interpreter: {said[-1]}", hint) from error
    if not (isinstance(answer, list) and len(answer) == 4 and all(isinstance(item, str) for item in answer)):
        raise SandboxError(f"{program} is not a Python interpreter", hint)
    return answer


def _homes_on_the_way(path: Path) -> list[Path]:
    """The folders above ``bin`` for each symbolic link from ``path`` to the real program, and that one."""
    homes = []
    for _ in range(40):
        homes.append(path.parent.parent)
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    homes.append(path.resolve().parent.parent)
    return homes


def _parts(path: Path, folders: list[Path]) -> tuple[Path, ...]:
    found = {path: None}
    for folder in folders:
        if folder in (Path("/"), Path("/usr")) or not _is_prefix(folder):
            continue
        for name in _PREFIX_PARTS:
            if (folder / name).exists():
                found[folder / name] = None
    return tuple(
        part for part in found if not any(part != each and part.is_relative_to(each) for each in found)
    )


def _is_prefix(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file() or any(folder.glob("lib*/python3*"))
