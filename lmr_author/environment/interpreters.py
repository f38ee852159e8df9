"""The Pythons of this machine."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lmr_author import processes
from lmr_author.errors import LmrError


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
    """Return the CPythons 3.7 and newer of this machine, newest first, each version once."""
    import uv

    env = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
    argv = [uv.find_uv_bin(), "python", "list", "--only-installed", "--output-format", "json", "--quiet"]
    listed = json.loads(processes.run(argv, cwd=Path("/"), env=env, seconds=60).stdout or b"[]")
    own = (item for item in listed if item.get("path") and item.get("implementation") == "cpython")
    found = [Interpreter(Path(item["path"]), item["version"]) for item in own]
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")  # uv does not look there
    pyenv = sorted(root.glob("versions/3.*/bin/python"))
    found += [Interpreter(path, path.parent.parent.name) for path in pyenv]
    base = Path(getattr(sys, "_base_executable", sys.executable))
    found.append(Interpreter(base, ".".join(map(str, sys.version_info[:3]))))
    best: dict[str, Interpreter] = {}
    # pyenv's shims are scripts that work only where a version is selected: its real ones come first.
    for item in sorted(found, key=lambda item: "/shims/" in str(item.path)):
        if re.fullmatch(r"3\.\d+\.\d+", item.version) and _numbers(item.version) >= (3, 7):
            best.setdefault(item.version, item)
    return sorted(best.values(), key=lambda item: _numbers(item.version), reverse=True)


def at(path: Path) -> Interpreter:
    """Return the CPython at a path. Raises LmrError where there is none, or an older one than 3.7."""
    program = path.expanduser().absolute()
    asked = "import sys; print('.'.join(map(str, sys.version_info[:3])))"
    if not os.access(program, os.X_OK) or program.is_dir():
        raise LmrError(
            f"there is no Python interpreter at {path}", "give the path of one, or a version as 3.10"
        )
    done = processes.run([str(program), "-I", "-c", asked], cwd=Path("/"), seconds=30)
    version = done.stdout.decode("utf-8", "replace").strip()
    if done.exit_code != 0 or not re.fullmatch(r"3\.\d+\.\d+", version) or _numbers(version) < (3, 7):
        raise LmrError(f"{path} is no Python 3.7 or newer", "give the path of one, or a version as 3.10")
    return Interpreter(program, version)


def choose(wanted: str, asked: str | None, found: Sequence[Interpreter]) -> tuple[Interpreter, str]:
    """Return the interpreter for an environment, and a remark ("" when it is the one that was wanted).

    Args:
        wanted: minor version that the lock was made for.
        asked: version that the annotator asks for (``3.10`` or ``3.10.13``), or the path of an interpreter; it must
            be there.
    """
    if asked is not None and "/" in asked:
        return at(Path(asked)), ""
    same = [item for item in found if asked in (item.version, item.minor)]
    if same:
        return same[0], ""
    if asked is not None or not found:
        have = ", ".join(dict.fromkeys(item.minor for item in found)) or "none"
        raise LmrError(
            f"there is no Python {asked or wanted} on this machine (there is: {have})",
            "install it (uv python install, pyenv, your distribution), or build the image: `lmr-author env build`",
        )

    def distance(item: Interpreter) -> tuple[int, int, int]:
        apart = _numbers(item.minor)[1] - _numbers(wanted)[1]
        return abs(apart), -apart, -_numbers(item.version)[2]

    near = min(found, key=distance)
    missing = f"requirements.lock is for Python {wanted}, which is not on this machine"
    return near, "" if near.minor == wanted else f"{missing}; {near.version} is the nearest"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def for_builds(minor: str) -> Path:
    """Return the interpreter that builds a source to learn its requirements: of that version, else this one."""
    same = [item.path for item in interpreters() if item.minor == minor]
    return same[0] if same else Path(sys.executable)
