"""The Pythons of this machine. Virtual environments are not run: their packages are untrusted."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.runtime.environment.packages import table
from lmr_author.runtime.sandbox.local import find_interpreter

_OLDEST = Version("3.7")


@dataclass(frozen=True)
class Interpreter:
    path: Path
    version: str

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])


def find(minor: str) -> Interpreter | None:
    for folder in _folders():
        # Unlike Path.is_file, these skip unreadable folders.
        if os.path.isfile(folder / f"python{minor}") and not os.path.isfile(folder.parent / "pyvenv.cfg"):  # noqa: PTH113
            with suppress(LmrError):
                return at(folder / f"python{minor}")
    return None


def _folders() -> list[Path]:
    """Return the folders of our environment's base Python, of PATH, and of pyenv's and uv's versions.

    pyenv's shims work only for its selected version.
    """
    own = Path(getattr(sys, "_base_executable", sys.executable)).parent
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or Path.home() / ".local/share/uv/python")
    installed = [*sorted(pyenv.glob("versions/*/bin")), *sorted(uv.glob("*/bin"))]
    folders = [own, *map(Path, os.get_exec_path()), *installed]
    return [folder for folder in folders if folder.is_absolute() and folder != pyenv / "shims"]


def at(path: Path) -> Interpreter:
    """Return the Python at a path. Raises LmrError if there is none, or it is older than 3.7."""
    hint = "use the path of a Python 3.7 or newer, or a version such as 3.10"
    try:
        python = find_interpreter(path.expanduser().absolute())
    except SandboxError as error:
        raise LmrError(error.message, hint) from error
    if Version(python.version) < _OLDEST:
        raise LmrError(f"{path} is Python {python.version}", hint)
    return Interpreter(python.path, python.version)


def choose(wanted: str, asked: str | None) -> tuple[Interpreter, str]:
    """Return the interpreter for an environment, and a remark ("" if it is the wanted one).

    Args:
        wanted: minor version of the lock; else the nearest is used, of two the newer.
        asked: the annotator's choice, which must exist: a version such as ``3.10``, or an interpreter's path.
    """
    if asked is not None and "/" in asked:
        return _base_of(at(Path(asked))), ""
    if python := find(asked or wanted):
        return python, ""
    number = Version(wanted).minor
    minors = sorted(
        map(Version, table("pythons")), key=lambda version: (abs(version.minor - number), -version.minor)
    )
    here = list(filter(None, map(find, map(str, minors))))
    if asked is not None or not here:
        have = ", ".join(python.minor for python in here) or "none"
        raise LmrError(
            f"Python {asked or wanted} is not installed on this machine (installed: {have})",
            "install it (uv python install, pyenv, your distribution), or build the image: `lmr-author env build`",
        )
    missing = f"requirements.lock is for Python {wanted}, which is not on this machine"
    return here[0], f"{missing}; {here[0].version} is the nearest"


def _base_of(python: Interpreter) -> Interpreter:
    configuration = python.path.parent.parent / "pyvenv.cfg"
    if not configuration.is_file():
        return python
    home = re.search(r"^home\s*=\s*(.+?)\s*$", configuration.read_text("utf-8", "replace"), re.M)
    program = Path(home[1], f"python{python.minor}") if home else python.path.resolve()
    return Interpreter(program if program.is_file() else python.path.resolve(), python.version)
