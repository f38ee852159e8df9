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

from packaging.version import Version

from lmr_author import processes
from lmr_author.errors import LmrError, SandboxError
from lmr_author.sandbox.local import find_interpreter

UV_SETTINGS = {"UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}
"""For each run of uv: it never fetches a Python."""


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

    env = {**os.environ, **UV_SETTINGS}
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
        if re.fullmatch(r"3\.\d+\.\d+", item.version) and Version(item.version) >= Version("3.7"):
            best.setdefault(item.version, item)
    return sorted(best.values(), key=lambda item: Version(item.version), reverse=True)


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
    near = min(found, key=lambda item: abs(Version(item.minor).minor - Version(wanted).minor))
    missing = f"requirements.lock is for Python {wanted}, which is not on this machine"
    return near, "" if near.minor == wanted else f"{missing}; {near.version} is the nearest"
