"""Lock files that the repository keeps: poetry.lock, uv.lock, pdm.lock, Pipfile.lock. They give constraints."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.environment.manifests import Line, make
from lmr_author.environment.recipe import Manifest
from lmr_author.errors import LmrError
from lmr_author.texts import printable

MAX_BYTES = 32 * 1024 * 1024
"""Lock files are long: that of a large project with all its hashes has a few megabytes."""


def read_lock_file(root: Path, path: str) -> Manifest:
    """The versions that a lock file names, as constraints; a package in several versions gives none."""
    try:
        place = files.inside(root, path)
        if place.stat().st_size > MAX_BYTES:
            return Manifest(path, problems=(f"{path}: larger than {MAX_BYTES} bytes",))
        text = place.read_text("utf-8")
        lines = _pipfile_lock(text, path) if path.endswith("Pipfile.lock") else _toml_lock(text, path)
    except (LmrError, OSError, ValueError, RecursionError) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    return make(path, (), constraints=lines)


def _toml_lock(text: str, path: str) -> list[Line]:
    """``[[package]]`` with ``name`` and ``version``, as poetry, uv and pdm write it."""
    starts = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[package]]"]
    packages = tomllib.loads(text).get("package", [])
    versions: dict[str, list[tuple[str, int]]] = {}
    for number, package in enumerate(packages if isinstance(packages, list) else []):
        line = starts[number] if number < len(starts) else 1
        if isinstance(package, dict) and _registered(package):
            versions.setdefault(str(package.get("name")), []).append((str(package["version"]), line))
    return [
        (f"{name}=={found[0][0].partition('+')[0]}", f"{path}:{found[0][1]}")
        for name, found in versions.items()
        if len({version for version, _ in found}) == 1
    ]


def _registered(package: dict[str, Any]) -> bool:
    """Whether a package comes from an index: not the project itself, no repository, no folder."""
    source = package.get("source")
    kinds = set(source) if isinstance(source, dict) else set()
    legacy = source.get("type") in (None, "legacy") if isinstance(source, dict) else True
    return (
        isinstance(package.get("version"), str)
        and legacy
        and not kinds & {"git", "editable", "virtual", "path", "directory"}
    )


def _pipfile_lock(text: str, path: str) -> list[Line]:
    data = json.loads(text)
    default = data.get("default") if isinstance(data, dict) else None
    lines = text.splitlines()
    found = []
    for name, entry in (default if isinstance(default, dict) else {}).items():
        version = entry.get("version") if isinstance(entry, dict) else None
        if isinstance(version, str) and version.startswith("=="):
            number = next((number for number, line in enumerate(lines, 1) if f'"{name}": {{' in line), 1)
            found.append((f"{name}{version}", f"{path}:{number}"))
    return found
