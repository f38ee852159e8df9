"""Where a repository says what it needs: the files to read, in the order in which they count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from lmr_author import files
from lmr_author.environment import lockfiles, manifests, mentioned, setup_py
from lmr_author.environment.recipe import Manifest
from lmr_author.environment.requirements import normal_path, read_requirements
from lmr_author.texts import listed, printable

_REQUIREMENTS = re.compile(r"^(pip[-_]?)?(requirements?|reqs?)([-_.].*)?\.(txt|in)$", re.I)
_NOT_FOR_RUNNING = re.compile(
    r"(^|[-_./])(dev|tests?|docs?|lint|ci|build|examples?|optional|extras?)([-_./]|$)", re.I
)
_CONDA = re.compile(r"^(environment|env|conda|requirements?)([-_.].*)?\.ya?ml$", re.I)
_README = re.compile(r"^(readme|install(ation|ing)?|setup|requirements)(\.(md|rst|txt))?$", re.I)
_DOCKERFILE = re.compile(r"^(Dockerfile([.-][\w.-]+)?|[\w-]+\.Dockerfile)$", re.I)

Reader = Callable[[Path, str], Manifest]

DECLARING: tuple[tuple[str, Reader], ...] = (
    ("pyproject.toml", manifests.read_pyproject),
    ("setup.cfg", manifests.read_setup_cfg),
    ("setup.py", setup_py.read_setup_py),
    ("Pipfile", manifests.read_pipfile),
)
LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
VERSION_FILES = (".python-version", "runtime.txt")


def read_all(repo: Path) -> list[Manifest]:
    """What every such file says, in the order in which they count; files that say nothing are left out."""
    names = sorted(path.name for path in repo.iterdir() if path.is_file() and not path.is_symlink())
    found = [reader(repo, path) for path, reader in _declaring(repo, names)]
    spoken = [reader(repo, path) for path, reader in _mentioning(repo, names)]
    found += _included(repo, found, spoken)
    found += [lockfiles.read_lock_file(repo, name) for name in LOCKS if name in names]
    found += [mentioned.read_version_file(repo, name) for name in VERSION_FILES if name in names]
    return [item for item in [*found, *spoken] if item != Manifest(item.path)]


def _declaring(repo: Path, names: list[str]) -> list[tuple[str, Reader]]:
    """The files that declare, in order of precedence."""
    found: list[tuple[str, Reader]] = [(name, read_requirements) for name in _requirements_files(repo, names)]
    conda = [name for name in names if _CONDA.match(name) and not _NOT_FOR_RUNNING.search(name)]
    found += [(name, manifests.read_environment) for name in conda[:1]]
    return found + [(name, reader) for name, reader in DECLARING if name in names]


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


def _mentioning(repo: Path, names: list[str]) -> list[tuple[str, Reader]]:
    """README and installation notes, then Dockerfiles, then CI."""
    found: list[tuple[str, Reader]] = [(name, mentioned.read_readme) for name in names if _README.match(name)]
    found = [(name, reader) for name, reader in found if not _REQUIREMENTS.match(name)]
    docs = (path for folder in ("docs", "doc") for path in (repo / folder).glob("**/install*.*"))
    found += [
        (path.relative_to(repo).as_posix(), mentioned.read_readme)
        for path in sorted(docs)
        if path.suffix in (".md", ".rst", ".txt") and path.is_file() and not path.is_symlink()
    ]
    docker = [name for name in names if _DOCKERFILE.match(name)]
    docker += [
        f"{folder}/{path.name}"
        for folder in ("docker", ".devcontainer")
        for path in (sorted((repo / folder).iterdir()) if (repo / folder).is_dir() else ())
        if _DOCKERFILE.match(path.name) and path.is_file()
    ]
    found += [(name, mentioned.read_dockerfile) for name in docker]
    workflows = repo / ".github" / "workflows"
    listed = sorted(workflows.glob("*.y*ml")) if workflows.is_dir() else []
    return found + [
        (f".github/workflows/{path.name}", mentioned.read_workflow) for path in listed if path.is_file()
    ]


def _included(repo: Path, found: list[Manifest], spoken: list[Manifest]) -> list[Manifest]:
    """Files that the README tells to install, where no file at the top declares anything; else suggestions."""
    known = {item.path for item in found}
    declared = any(item.declared for item in found)
    added = []
    for manifest in spoken:
        for name in dict.fromkeys(map(normal_path, manifest.includes)):
            if name in known or _NOT_FOR_RUNNING.search(name) or not _is_file(repo, name):
                continue
            known.add(name)
            reader = manifests.read_environment if name.endswith((".yml", ".yaml")) else read_requirements
            read = reader(repo, name)
            added.append(read if not declared else _as_suggestion(read))
    return added


def _as_suggestion(manifest: Manifest) -> Manifest:
    return replace(manifest, declared=(), unused=(), suggested=(*manifest.declared, *manifest.suggested))


def _is_file(repo: Path, name: str) -> bool:
    path = repo / name
    return (
        not name.startswith(("/", "..")) and path.is_file() and path.resolve().is_relative_to(repo.resolve())
    )


def deeper(repo: Path) -> list[str]:
    """Requirement files below the top folder, for a part of the repository only."""
    return sorted(
        path.relative_to(repo).as_posix()
        for path in files.walk(repo)
        if path.parent != repo
        and (path.name == "requirements.txt" or (_CONDA.match(path.name) and "requirement" not in path.name))
        and not _NOT_FOR_RUNNING.search(path.name)
        and not path.relative_to(repo).as_posix().startswith("requirements/")
    )  # fmt: skip


def some(names: Iterable[str], limit: int = 5) -> str:
    """The first of some names, and how many more there are."""
    return listed([printable(name) for name in names], limit)
