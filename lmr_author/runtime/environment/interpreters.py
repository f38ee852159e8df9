"""The Pythons of this machine, as uv finds them. No virtual environment is started: its packages may be anybody's."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
from packaging.version import Version

from lmr_author.core import processes
from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.runtime.environment import uv_command
from lmr_author.runtime.sandbox.local import find_interpreter

_OLDEST = Version("3.7")
_ACTIVATED = ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")


@dataclass(frozen=True)
class Interpreter:
    """A Python of this machine."""

    path: Path
    version: str

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])


class _Installed(msgspec.Struct):
    """A row of `uv python list`."""

    path: str
    version: str
    implementation: str
    variant: str


@cache
def interpreters() -> list[Interpreter]:
    """Return the CPythons 3.7 and newer of this machine, newest first, each version once; no virtual environment's."""
    env = {key: value for key, value in os.environ.items() if key not in _ACTIVATED}
    done = processes.run(
        [str(uv_command.program()), "python", "list", "--only-installed", "--output-format", "json"],
        cwd=Path("/"),
        env={**env, **uv_command.NO_DOWNLOADS, "PATH": os.pathsep.join(map(str, _folders()))},
        seconds=120,
    )
    try:
        rows = msgspec.json.decode(done.stdout, type=list[_Installed])
    except msgspec.MsgspecError as error:
        said = os.fsdecode(done.stderr)[-300:]
        raise LmrError(
            f"`uv python list` says nothing that can be read: {said}", "name one by --python PATH"
        ) from error
    by_version: dict[str, Interpreter] = {}
    for row in rows:
        version = Version(row.version)
        if row.implementation == "cpython" and row.variant == "default" and not version.is_prerelease:
            by_version.setdefault(row.version, Interpreter(Path(row.path), row.version))
    newest_first = sorted(by_version.values(), key=lambda python: Version(python.version), reverse=True)
    return [python for python in newest_first if Version(python.version) >= _OLDEST]


def _folders() -> list[Path]:
    """Return PATH's folders, pyenv's versions and that below our own environment, without virtual environments.

    pyenv's shims work only for the version that it has selected.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    own = Path(getattr(sys, "_base_executable", sys.executable)).parent
    folders = [*map(Path, os.get_exec_path()), *sorted(pyenv.glob("versions/*/bin")), own]
    usable = [folder for folder in folders if folder.is_absolute() and folder != pyenv / "shims"]
    # Unlike Path.is_file, this passes over a folder that may not be read.
    return [folder for folder in usable if not os.path.isfile(folder.parent / "pyvenv.cfg")]  # noqa: PTH113


def at(path: Path) -> Interpreter:
    """Return the Python at a path. Raises LmrError where there is none, or one older than 3.7."""
    hint = "give the path of a Python 3.7 or newer, or a version as 3.10"
    try:
        python = find_interpreter(path.expanduser().absolute())
    except SandboxError as error:
        raise LmrError(error.message, hint) from error
    if Version(python.version) < _OLDEST:
        raise LmrError(f"{path} is Python {python.version}", hint)
    return Interpreter(python.path, python.version)


def choose(wanted: str, asked: str | None, here: Sequence[Interpreter]) -> tuple[Interpreter, str]:
    """Return the interpreter for an environment, and a remark ("" when it is the one that was wanted).

    Args:
        wanted: minor version that the lock was made for; else the nearest is taken, of two the newer.
        asked: version that the annotator asks for (``3.10`` or ``3.10.13``), or the path of an interpreter; it must
            be there.
        here: those of this machine, newest first.
    """
    if asked is not None and "/" in asked:
        return _base_of(at(Path(asked))), ""
    for python in here:
        if asked in (python.version, python.minor):
            return python, ""
    if asked is not None or not here:
        have = ", ".join(dict.fromkeys(python.minor for python in here)) or "none"
        raise LmrError(
            f"there is no Python {asked or wanted} on this machine (there is: {have})",
            "install it (uv python install, pyenv, your distribution), or build the image: `lmr-author env build`",
        )
    near = min(here, key=lambda python: abs(Version(python.minor).minor - Version(wanted).minor))
    missing = f"requirements.lock is for Python {wanted}, which is not on this machine"
    return near, "" if near.minor == wanted else f"{missing}; {near.version} is the nearest"


def _base_of(python: Interpreter) -> Interpreter:
    """Return the Python of which a virtual environment was made; any other is itself."""
    configuration = python.path.parent.parent / "pyvenv.cfg"
    if not configuration.is_file():
        return python
    home = re.search(r"^home\s*=\s*(.+?)\s*$", configuration.read_text("utf-8", "replace"), re.M)
    program = Path(home[1], f"python{python.minor}") if home else python.path.resolve()
    return Interpreter(program if program.is_file() else python.path.resolve(), python.version)
