"""Detect what a repository needs: a pure function of its files and its commit's date."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from packaging.requirements import Requirement

from lmr_author import files
from lmr_author.environment import imports, manifests
from lmr_author.environment.recipe import (
    BUILT_WITH_TORCH,
    TORCH_FAMILY,
    Declared,
    Manifest,
    Recipe,
    applies,
    is_freeze,
)
from lmr_author.environment.requirements import read_requirements
from lmr_author.processes import printable

_REQUIREMENTS = re.compile(r"^(pip[-_]?)?(requirements?|reqs?)([-_.].*)?\.(txt|in)$", re.I)
_NOT_FOR_RUNNING = re.compile(
    r"(^|[-_./])(dev|tests?|docs?|lint|ci|build|examples?|optional|extras?)([-_./]|$)", re.I
)
_CONDA = re.compile(r"^(environment|env|conda)([-_.].*)?\.ya?ml$", re.I)

Reader = Callable[[Path, str], Manifest]


def detect(repo: Path, commit_date: datetime | None = None) -> Recipe:
    """What the repository in the folder ``repo`` needs.

    Declared requirements are taken from its top folder: requirements files first, then conda's
    environment, pyproject.toml, setup.cfg and setup.py; what an earlier file pins, a later one does
    not change. What the main code imports at once without declaring it is added; where nothing is
    declared, everything that the code imports is used.
    """
    found = [reader(repo, path) for path, reader in _manifests(repo)]
    found = [
        manifest
        for manifest in found
        if manifest.declared or manifest.python or manifest.problems or manifest.project
    ]
    problems = [problem for manifest in found for problem in manifest.problems]
    project = next((manifest.project for manifest in found if manifest.project), "")
    declared = _merge(item for manifest in found for item in manifest.declared)
    if not declared:
        problems.append("no requirements are declared: they were derived from the imports")
        declared = imports.imported_packages(repo)
    else:
        added = _undeclared(repo, declared, project)
        declared += added
        problems += [f"{item.text} is not declared but needed: {item.origin}" for item in added]
    problems += _deeper(repo)
    kept, own = _without_own(declared, project)
    problems += own
    problems += _cuda_sources(repo)
    asks = next((manifest for manifest in found if manifest.python), None)
    return Recipe(
        requirements=tuple(item for item in kept if item.name not in TORCH_FAMILY and not _nvidia(item)),
        torch=tuple(item for item in kept if item.name in TORCH_FAMILY),
        python=asks.python if asks else "",
        python_origin=asks.path if asks else "",
        project=project,
        devel=_devel(kept),
        source_folder=_source_folder(repo),
        date=commit_date,
        sources=tuple(manifest.path for manifest in found if manifest.declared or manifest.python),
        problems=tuple(dict.fromkeys(problems)),
    )


def _manifests(repo: Path) -> list[tuple[str, Reader]]:
    """The files to read, in order of precedence."""
    names = sorted(path.name for path in repo.iterdir() if path.is_file())
    found: list[tuple[str, Reader]] = [(name, read_requirements) for name in _requirements_files(repo, names)]
    conda = [name for name in names if _CONDA.match(name) and not _NOT_FOR_RUNNING.search(name)]
    found += [(name, manifests.read_environment) for name in conda[:1]]
    fixed: tuple[tuple[str, Reader], ...] = (
        ("pyproject.toml", manifests.read_pyproject),
        ("setup.cfg", manifests.read_setup_cfg),
        ("setup.py", manifests.read_setup_py),
    )
    return found + [(name, reader) for name, reader in fixed if name in names]


def _requirements_files(repo: Path, names: list[str]) -> list[str]:
    """``requirements.txt``, else others like it, else those of the folder ``requirements/``."""
    if "requirements.txt" in names:
        return ["requirements.txt"]
    others = [name for name in names if _REQUIREMENTS.match(name) and not _NOT_FOR_RUNNING.search(name)]
    if others:
        return others
    folder = repo / "requirements"
    if not folder.is_dir():
        return []
    below = sorted(
        f"requirements/{path.name}" for path in folder.iterdir() if path.suffix == ".txt" and path.is_file()
    )
    return [name for name in below if not _NOT_FOR_RUNNING.search(name.partition("/")[2])]


def _merge(declared: Iterable[Declared]) -> list[Declared]:
    """One file's say per package: the first that names a version. Its several lines (markers) are kept."""
    chosen: dict[str, list[Declared]] = {}
    for item in declared:
        if not applies(item):
            continue
        before = chosen.get(item.name)
        if before is None or (not any(map(_versioned, before)) and _versioned(item)):
            chosen[item.name] = [item]
        elif _file(before[0]) == _file(item) and item.text not in {other.text for other in before}:
            before.append(item)
    return [item for items in chosen.values() for item in items]


def _versioned(item: Declared) -> bool:
    return bool(Requirement(item.text).specifier)


def _file(item: Declared) -> str:
    return item.origin.rpartition(":")[0] or item.origin


def _without_own(declared: list[Declared], project: str) -> tuple[list[Declared], list[str]]:
    """Without the repository's own package: installing its published form would ship the solution."""
    own = [item for item in declared if project and item.name == project]
    problems = [f"{item.origin}: not used, {item.name} is this repository's own package" for item in own]
    return [item for item in declared if item not in own], problems


def _nvidia(item: Declared) -> bool:
    return item.name.startswith("nvidia-") and item.name.rpartition("-")[2].startswith("cu")


def _devel(declared: list[Declared]) -> str:
    """Why the image must have a compiler. The repository's own CUDA code is no reason: it is not compiled."""
    compiling = (item for item in declared if item.name in BUILT_WITH_TORCH or item.name == "deepspeed")
    return next((f"{item} compiles CUDA code" for item in compiling), "")


def _cuda_sources(repo: Path) -> list[str]:
    found = [path.relative_to(repo).as_posix() for path in files.walk(repo) if path.suffix == ".cu"]
    if not found:
        return []
    advice = (
        "a target that needs them needs a -devel image (--base-image) and a line of its own in the Dockerfile"
    )
    return [f"CUDA sources are not compiled: {_some(found)}; {advice}"]


def _undeclared(repo: Path, declared: list[Declared], project: str) -> list[Declared]:
    """Packages without which the main code cannot be imported, and which nobody declares."""
    if is_freeze(declared):
        return []
    known = {item.name for item in declared} | {project}
    return [item for item in imports.imported_packages(repo, at_once=True) if item.name not in known]


def _some(names: Iterable[str], limit: int = 5) -> str:
    listed = [printable(name) for name in names]
    more = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + more


def _source_folder(repo: Path) -> str:
    """``src`` when packages lie in it (``src/peft/__init__.py``) and it is no package itself."""
    folder = repo / "src"
    if not folder.is_dir() or folder.is_symlink() or (folder / "__init__.py").exists():
        return ""
    return "src" if any(folder.glob("*/__init__.py")) or any(folder.glob("*.py")) else ""


def _deeper(repo: Path) -> list[str]:
    """Requirement files below the top folder, which may belong to the part that is masked."""
    found = sorted(
        path.relative_to(repo).as_posix()
        for path in files.walk(repo)
        if path.parent != repo
        and (path.name == "requirements.txt" or _CONDA.match(path.name))
        and not _NOT_FOR_RUNNING.search(path.name)
        and not path.relative_to(repo).as_posix().startswith("requirements/")
    )  # fmt: skip
    return [f"not used, for a part of the repository only: {_some(found)}"] if found else []
