"""The Pythons of this machine. None is started with its packages: those may be of a repository that nobody has read."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from lmr_author.core import processes
from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.runtime.sandbox.local import find_interpreter

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
    best: dict[str, Interpreter] = {}
    seen = set()
    for program in _programs():
        real = os.path.realpath(program)
        if real not in seen and (answer := _ask(program)) is not None:
            best.setdefault(answer.version, answer)
        seen.add(real)
    return sorted(best.values(), key=lambda item: Version(item.version), reverse=True)


def _programs() -> Iterator[Path]:
    """Yield the programs that may be a Python: uv's, those of PATH, pyenv's, and the one below our own environment."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    managed = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    folders = [*_listed(managed, "bin"), *map(Path, os.get_exec_path()), *_listed(pyenv / "versions", "bin")]
    for folder in folders:
        names = [path for path in _listed(folder) if re.fullmatch(r"python3(\.\d+)?", path.name)]
        # A shim works only where pyenv has a version selected; the versions themselves are listed after it.
        if names and folder.is_absolute() and folder != pyenv / "shims":
            yield from names if not (folder.parent / "pyvenv.cfg").is_file() else ()
    yield Path(getattr(sys, "_base_executable", sys.executable))


def _listed(folder: Path, below: str = "") -> list[Path]:
    """What lies in a folder, in order; nothing where it is absent or may not be read."""
    with suppress(OSError):
        return [path / below for path in sorted(folder.iterdir())]
    return []


def _ask(program: Path) -> Interpreter | None:
    """Ask a Python for its version, without its packages (-S). None where it is none, or too old."""
    try:
        done = processes.run([str(program), "-I", "-S", "-c", _QUERY], cwd=Path("/"), seconds=60)
    except (OSError, LmrError):
        return None
    words = os.fsdecode(done.stdout).strip().split(" ", 3)
    if len(words) != 4 or words[:2] != ["cpython", "final"] or Version(words[2]) < Version("3.7"):
        return None
    return Interpreter(Path(words[3]), words[2])


def packages(python: Interpreter) -> dict[str, str]:
    """Return name → version of what is installed for a Python, as its folders say."""
    prefix = python.path.parent.parent
    if not (prefix / "pyvenv.cfg").is_file():
        prefix = python.path.resolve().parent.parent
    folders = [prefix / lib / f"python{python.minor}" / "site-packages" for lib in ("lib", "lib64")]
    folders += [
        prefix / "local/lib" / f"python{python.minor}/dist-packages",
        prefix / "lib/python3/dist-packages",
    ]
    installed: dict[str, str] = {}
    for found in metadata.distributions(path=[str(folder) for folder in folders]):
        if name := found.metadata["Name"]:
            installed.setdefault(canonicalize_name(name), found.version)
    return installed


def at(path: Path) -> Interpreter:
    """Return the Python at a path. Raises LmrError where there is none, or an older one than 3.7."""
    hint = "give the path of a Python 3.7 or newer, or a version as 3.10"
    try:
        found = find_interpreter(path.expanduser().absolute())
    except SandboxError as error:
        raise LmrError(error.message, hint) from error
    if Version(found.version) < Version("3.7"):
        raise LmrError(f"{path} is Python {found.version}", hint)
    return Interpreter(found.path, found.version)


def choose(wanted: str, asked: str | None, found: Sequence[Interpreter]) -> tuple[Interpreter, str]:
    """Return the interpreter for an environment, and a remark ("" when it is the one that was wanted).

    Args:
        wanted: minor version that the lock was made for; else the nearest is taken, of two the newer.
        asked: version that the annotator asks for (``3.10`` or ``3.10.13``), or the path of an interpreter; it must
            be there.
        found: newest first.
    """
    if asked is not None and "/" in asked:
        return _below(at(Path(asked))), ""
    same = [item for item in found if asked in (item.version, item.minor)]
    if same:
        return same[0], ""
    if asked is not None or not found:
        have = ", ".join(dict.fromkeys(item.minor for item in found)) or "none"
        raise LmrError(
            f"there is no Python {asked or wanted} on this machine (there is: {have})",
            "install it (uv python install, pyenv, your distribution), or build the image: `lmr-author env build`",
        )
    near = min(found, key=lambda item: abs(Version(item.minor).minor - Version(wanted).minor))
    missing = f"requirements.lock is for Python {wanted}, which is not on this machine"
    return near, "" if near.minor == wanted else f"{missing}; {near.version} is the nearest"


def _below(python: Interpreter) -> Interpreter:
    """Return the Python of which a virtual environment was made; any other is itself."""
    configuration = python.path.parent.parent / "pyvenv.cfg"
    if not configuration.is_file():
        return python
    home = re.search(r"^home\s*=\s*(.+?)\s*$", configuration.read_text("utf-8", "replace"), re.M)
    program = Path(home[1], f"python{python.minor}") if home else python.path.resolve()
    return Interpreter(program if program.is_file() else python.path.resolve(), python.version)
