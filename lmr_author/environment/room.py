"""What disk space a build needs, as far as it can be told before it starts."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author import files, processes
from lmr_author.environment.lock_lines import requirements
from lmr_author.errors import LmrError
from lmr_author.texts import size_text

_GB = 1000**3
UNPACKED = 4
"""A wheel's room when it is installed, beside its download: about this many times its size (measured on
numpy, scipy, pandas, transformers, pyarrow: 3.0 to 4.4)."""
BASES = {"runtime": 8 * _GB, "devel": 18 * _GB}
"""About what an official PyTorch image takes, unpacked and while it is unpacked."""
UNKNOWN_BASE = 8 * _GB
PER_PACKAGE = 15 * 1000**2
"""Assumed of a package whose size the index does not tell."""
_SPARE = 1 * _GB
_LOOK_UP_SECONDS = 20.0


@dataclass(frozen=True)
class Room:
    """Bytes that a build needs, and has.

    Attributes:
        base_bytes: what the base image takes, 0 when the engine has it.
        packages: what the lock's packages take; ``guessed`` of them have no size on the index.
        repository: the repository's files, sent to the engine and copied into a layer.
        free: None when it is not known.
    """

    base_bytes: int
    packages: int
    count: int
    guessed: int
    repository: int
    free: int | None

    @property
    def needed(self) -> int:
        """Everything together."""
        return self.base_bytes + self.packages + 2 * self.repository

    def __str__(self) -> str:
        base = (
            f"the base image has to be fetched (about {size_text(self.base_bytes)})"
            if self.base_bytes
            else "the base image is here"
        )
        about = "about " if self.guessed else ""
        free = f"{size_text(self.free)} free" if self.free is not None else "free space unknown"
        return (
            f"{base}; {self.count} packages, {about}{size_text(self.packages)}; repository"
            f" {size_text(self.repository)}; in all about {size_text(self.needed)}, {free}"
        )

    def require(self) -> None:
        """Raise LmrError when there is certainly not enough."""
        if self.free is not None and self.needed + _SPARE > self.free:
            raise LmrError(
                f"not enough disk space for the image: it needs about {size_text(self.needed + _SPARE)}, "
                f"{size_text(self.free)} are free",
                "free some with `lmr-author env prune --all`, see what else uses it with `docker system df`,"
                " or pass --no-disk-check if you know better",
            )


def room(
    base: str, base_bytes: int | None, lock: str, python: str, repository: Path, free: int | None
) -> Room:
    """What building a task's image takes on the engine's disk, estimated, beside what is free.

    Args:
        base: the base image's reference, which tells its size where the engine does not have it.
        base_bytes: the base image's size, None when the engine does not have it.
        python: version inside, as far as known: it decides which wheels are used.
    """
    missing = next((bytes_ for kind, bytes_ in BASES.items() if base.endswith(kind)), UNKNOWN_BASE)
    wanted = requirements(lock)
    known = wheel_sizes(wanted, python)
    guessed = max(0, len(wanted) - len(known))
    packages = UNPACKED * sum(known.values()) + guessed * PER_PACKAGE
    tree = sum(path.stat().st_size for path in files.walk(repository))
    return Room(missing if base_bytes is None else 0, packages, len(wanted), guessed, tree, free)


def wheel_sizes(wanted: list[str], python: str) -> dict[str, int]:
    """Bytes of each requirement's largest fitting file, by name, of those whose index tells them."""
    found = {}
    for package in _files_of(wanted, python).get("packages", []):
        sizes = [item.get("size") for item in [*package.get("wheels", []), package.get("sdist", {})]]
        known = [item for item in sizes if isinstance(item, int)]
        if known:
            found[str(package.get("name"))] = max(known)
    return found


def _files_of(wanted: list[str], python: str) -> dict[str, Any]:
    """The files of each requirement, as uv writes them into a ``pylock.toml`` (PEP 751); empty when it cannot."""
    try:
        import uv

        program = uv.find_uv_bin()
    except (ImportError, FileNotFoundError):
        return {}
    with files.temporary_folder("lmr-author-sizes-") as folder:
        (folder / "requirements.in").write_text("".join(f"{line}\n" for line in wanted), "utf-8")
        arguments = [program, "pip", "compile", "requirements.in"]
        arguments += ["--format", "pylock.toml", "--no-deps", "--quiet"]
        arguments += ["--python-platform", "x86_64-manylinux_2_28"]
        arguments += ["--python-version", python] if re.fullmatch(r"3\.\d+", python) else []
        quick = {
            "NO_COLOR": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_HTTP_RETRIES": "0",
            "UV_HTTP_TIMEOUT": "5",
        }
        env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"} | quick
        done = processes.run(arguments, cwd=folder, env=env, seconds=_LOOK_UP_SECONDS)
    try:
        return tomllib.loads(done.stdout.decode("utf-8", "replace")) if done.exit_code == 0 else {}
    except tomllib.TOMLDecodeError:
        return {}
