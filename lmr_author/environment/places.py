"""The files in which a repository says what it needs, in the order in which they count."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lmr_author import files
from lmr_author.environment import commands, manifests
from lmr_author.environment.recipe import Manifest
from lmr_author.environment.requirements import normal_path, read_requirements, read_text
from lmr_author.environment.setup_py import read_setup_py
from lmr_author.errors import LmrError

_REQUIREMENTS = re.compile(r"^(pip[-_]?)?(requirements?|reqs?)([-_.].*)?\.(txt|in)$", re.I)
_NOT_FOR_RUNNING = re.compile(
    r"(^|[-_./])(dev|tests?|docs?|lint|ci|build|examples?|optional|extras?|pre-commit.*|mkdocs)([-_./]|$)",
    re.I,
)
_CONDA = re.compile(r"^(environment|env|conda|requirements?)([-_.].*)?\.ya?ml$", re.I)
_SCRIPT = re.compile(
    r"^(install|setup|env|environment|create_env|bootstrap|prepare)([-_.].*)?\.(sh|bash)$", re.I
)
_README = re.compile(r"^(readme|install(ation|ing)?|setup|requirements)(\.(md|rst|txt))?$", re.I)
_DOCKERFILE = re.compile(r"^(Dockerfile([.-][\w.-]+)?|[\w-]+\.Dockerfile)$", re.I)

_SETUP_FOLDERS = ("scripts", "install", "setup", "conda", "env", "envs", "environment", "environments")

Reader = Callable[[Path, str], Manifest]

DECLARING: tuple[tuple[str, Reader], ...] = (
    ("pyproject.toml", manifests.read_pyproject),
    ("setup.cfg", manifests.read_setup_cfg),
    ("setup.py", read_setup_py),
    ("Pipfile", manifests.read_pipfile),
)
LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
VERSION_FILES = (".python-version", "runtime.txt")


def read_all(repo: Path) -> list[Manifest]:
    """Read every such file, in the order in which they count; files that say nothing are left out."""
    names = sorted(path.name for path in repo.iterdir() if path.is_file() and not path.is_symlink())
    requirements = _requirements_files(repo, names)
    found = [read_requirements(repo, name) for name in requirements]
    found += [manifests.read_conda(repo, name) for name in _conda_files(repo, names)[:1]]
    found += [reader(repo, name) for name, reader in DECLARING if name in names]
    found += [commands.read_script(repo, name) for name in names if _SCRIPT.match(name)]
    if not any(item.declared for item in found):
        found += _in_setup_folders(repo)
    spoken = [commands.read_readme(repo, name) for name in names
              if _README.match(name) and name not in requirements]  # fmt: skip
    spoken += [commands.read_dockerfile(repo, name) for name in _dockerfiles(repo, names)]
    found += _included(repo, found, spoken)
    found += [manifests.read_lock_file(repo, name) for name in LOCKS if name in names]
    found += [commands.read_version_file(repo, name) for name in VERSION_FILES if name in names]
    return [item for item in [*found, *spoken] if item != Manifest(item.path)]


def _requirements_files(repo: Path, names: list[str]) -> list[str]:
    """``requirements.txt``, else others like it, else those of the folder ``requirements/``."""
    if "requirements.txt" in names:
        return ["requirements.txt"]
    others = [name for name in names if _REQUIREMENTS.match(name) and not _NOT_FOR_RUNNING.search(name)]
    folder = repo / "requirements"
    if others or not folder.is_dir():
        return others
    below = sorted(path.name for path in folder.iterdir() if path.suffix == ".txt" and path.is_file())
    return [f"requirements/{name}" for name in below if not _NOT_FOR_RUNNING.search(name)]


def _conda_files(repo: Path, names: list[str]) -> list[str]:
    """Conda files by their usual names, then of any name: YAML with a list of dependencies."""
    yaml = [name for name in names if name.endswith((".yml", ".yaml")) and not _NOT_FOR_RUNNING.search(name)]
    usual = [name for name in yaml if _CONDA.match(name)]
    return usual + [name for name in yaml if name not in usual and _looks_like_conda(repo / name)]


def _in_setup_folders(repo: Path) -> list[Manifest]:
    """The conda file and the installation scripts of the first folder for setting up that declares something."""
    for folder in (repo / name for name in _SETUP_FOLDERS):
        if not folder.is_dir() or folder.is_symlink():
            continue
        names = sorted(path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink())
        conda = _conda_files(folder, names)[:1]
        read = [manifests.read_conda(repo, f"{folder.name}/{name}") for name in conda]
        scripts = [name for name in names if _SCRIPT.match(name)]
        read += [commands.read_script(repo, f"{folder.name}/{name}") for name in scripts]
        if any(item.declared for item in read):
            return read
    return []


def _looks_like_conda(path: Path) -> bool:
    try:
        text = read_text(path)
    except LmrError:
        return False
    return bool(re.search(r"^dependencies:\s*$", text, re.M) and re.search(r"^(channels|name):", text, re.M))


def _dockerfiles(repo: Path, names: list[str]) -> list[str]:
    found = [name for name in names if _DOCKERFILE.match(name)]
    for folder in ("docker", ".devcontainer"):
        if (repo / folder).is_dir():
            below = sorted((repo / folder).iterdir())
            found += [
                f"{folder}/{path.name}" for path in below if _DOCKERFILE.match(path.name) and path.is_file()
            ]
    return found


def _included(repo: Path, found: list[Manifest], spoken: list[Manifest]) -> list[Manifest]:
    """Files that a script, a README or a Dockerfile installs; suggestions where a file at the top declares."""
    known = {item.path for item in found}
    declared = any(item.declared for item in found)
    added = []
    for name in dict.fromkeys(normal_path(name) for item in (*found, *spoken) for name in item.includes):
        path = repo / name
        if (
            name in known
            or _NOT_FOR_RUNNING.search(name)
            or name.startswith(("/", ".."))
            or not path.is_file()
            or not path.resolve().is_relative_to(repo.resolve())
        ):
            continue
        known.add(name)
        read = (manifests.read_conda if name.endswith((".yml", ".yaml")) else read_requirements)(repo, name)
        added.append(replace(read, declared=(), unused=(), suggested=read.declared) if declared else read)
    return added


def deeper(repo: Path) -> list[str]:
    """Return requirement files below the top folder, for a part of the repository only."""
    found = (path for path in files.walk(repo) if path.parent != repo)
    return sorted(
        path.relative_to(repo).as_posix()
        for path in found
        if (path.name == "requirements.txt" or (_CONDA.match(path.name) and "requirement" not in path.name))
        and not _NOT_FOR_RUNNING.search(path.name)
        and not path.relative_to(repo).as_posix().startswith("requirements/")
    )  # fmt: skip
