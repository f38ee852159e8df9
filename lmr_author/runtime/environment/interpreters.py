"""The Pythons of this machine. None is started with its packages: those may be of a repository that nobody has read."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packaging.version import Version

from lmr_author.core import processes
from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.runtime.sandbox.local import find_interpreter

_OLDEST = Version("3.7")
_QUERY = (
    "import sys; "
    "print(sys.implementation.name, sys.version_info[3], '%d.%d.%d' % sys.version_info[:3], sys.executable)"
)


@dataclass(frozen=True)
class Interpreter:
    """A Python of this machine."""

    path: Path
    version: str

    @property
    def minor(self) -> str:
        """Return it as in ``3.11``."""
        return ".".join(self.version.split(".")[:2])


@cache
def interpreters() -> list[Interpreter]:
    """Return the CPythons 3.7 and newer of this machine, newest first, each version once; no virtual environment's.

    `uv python list` would start the environment that the shell has activated, with the packages in it.
    """
    programs: dict[str, Path] = {}
    for program in _programs():
        programs.setdefault(os.path.realpath(program), program)
    by_version: dict[str, Interpreter] = {}
    for python in filter(None, map(_ask, programs.values())):
        by_version.setdefault(python.version, python)
    return sorted(by_version.values(), key=lambda python: Version(python.version), reverse=True)


def _programs() -> Iterator[Path]:
    """Yield the programs that may be a Python: uv's, those of PATH, pyenv's, and the one below our own environment."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    managed = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    # A shim works only where pyenv has a version selected; the versions themselves are listed after it.
    on_path = [folder for folder in map(Path, os.get_exec_path()) if folder != pyenv / "shims"]
    for folder in (
        *_below(managed, "*/bin"),
        *filter(Path.is_absolute, on_path),
        *_below(pyenv, "versions/*/bin"),
    ):
        if not _below(folder.parent, "pyvenv.cfg"):
            yield from _below(folder, "python3")
            yield from _below(folder, "python3.[0-9]")
            yield from _below(folder, "python3.[0-9][0-9]")
    yield Path(getattr(sys, "_base_executable", sys.executable))


def _below(folder: Path, pattern: str) -> list[Path]:
    """Return what a pattern matches in a folder, in order; nothing where it is absent or may not be read."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _ask(program: Path) -> Interpreter | None:
    """Ask a Python for its version, without its packages (-S). None for another program, or one too old."""
    try:
        done = processes.run([str(program), "-I", "-S", "-c", _QUERY], cwd=Path("/"), seconds=60)
    except (OSError, LmrError):
        return None
    words = os.fsdecode(done.stdout).strip().split(" ", 3)
    if len(words) != 4 or words[:2] != ["cpython", "final"] or Version(words[2]) < _OLDEST:
        return None
    return Interpreter(Path(words[3]), words[2])


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
