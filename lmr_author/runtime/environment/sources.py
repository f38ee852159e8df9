"""Find the files of a repository that say what it needs, and read them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.runtime.environment.base_images import INSTALLED_BY
from lmr_author.runtime.environment.commands import read_readme
from lmr_author.runtime.environment.manifests import read_manifest
from lmr_author.runtime.environment.requirements import Manifest, read_requirements, read_text

_REQUIREMENTS = re.compile(r"^(pip[-_]?)?(requirements?|reqs?)([-_.].*)?\.(txt|in)$", re.I)
_NOT_FOR_RUNNING = re.compile(
    r"(^|[-_./])(dev|tests?|docs?|lint|ci|build|examples?|optional|extras?|pre-commit.*|mkdocs)([-_./]|$)",
    re.I,
)
_CONDA = re.compile(r"^(environment|env|conda|requirements?)([-_.].*)?\.ya?ml$", re.I)
_CONDA_FOLDERS = ("scripts", "install", "setup", "conda", "env", "envs", "environment", "environments")
_README = re.compile(
    r"^(readme|install(ation|ing)?)(\.(md|rst|txt))?$|^(setup|requirements)\.(md|rst)$"
    r"|^(install|setup|env|environment|create_env)([-_.].*)?\.sh$",
    re.I,
)
"""Files with commands for people, scripts of such commands among them."""


def read_manifests(repo: Path) -> list[Manifest]:
    """Read every file that says what is needed, in the order in which they count; not those that say nothing."""
    top = _files(repo)
    read = [read_requirements(repo, name) for name in _requirements_files(repo, top)]
    read += [read_manifest(repo, name) for name in _conda_files(repo, ("",))]
    read += [read_manifest(repo, name) for name in INSTALLED_BY if name in top]
    if not any(manifest.declared for manifest in read):
        read += [read_manifest(repo, name) for name in _conda_files(repo, _CONDA_FOLDERS)]
    readmes = [read_readme(repo, name) for name in top if _README.match(name)]
    read += _included(repo, read, readmes)
    return [manifest for manifest in [*read, *readmes] if manifest != Manifest(manifest.path)]


def _files(folder: Path) -> list[str]:
    """Return the names of a folder's files, sorted; none of a folder that is absent or a link."""
    if not folder.is_dir() or folder.is_symlink():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def _requirements_files(repo: Path, top: list[str]) -> list[str]:
    """Return ``requirements.txt``, else others like it, else those of the folder ``requirements/``."""
    if "requirements.txt" in top:
        return ["requirements.txt"]
    paths = [name for name in top if _REQUIREMENTS.match(name)]
    if not paths:
        below = _files(repo / "requirements")
        paths = [f"requirements/{name}" for name in below if name.endswith(".txt")]
    return [path for path in paths if not _NOT_FOR_RUNNING.search(path)]


def _conda_files(repo: Path, folders: Sequence[str]) -> list[str]:
    """Return the first YAML file of some folders with dependencies, those with a usual name before others."""
    for folder in folders:
        yaml_files = [name for name in _files(repo / folder) if name.endswith((".yml", ".yaml"))]
        for name in sorted(yaml_files, key=lambda name: not _CONDA.match(name)):
            path = posixpath.join(folder, name)
            if not _NOT_FOR_RUNNING.search(name) and _has_dependencies(repo / path):
                return [path]
    return []


def _has_dependencies(path: Path) -> bool:
    try:
        return re.search(r"^dependencies:", read_text(path), re.M) is not None
    except LmrError:
        return False


def _included(repo: Path, read: list[Manifest], readmes: list[Manifest]) -> list[Manifest]:
    """Return the files that a command of a README installs; suggestions where another file declares."""
    paths = {manifest.path for manifest in read}
    is_declared = any(manifest.declared for manifest in read)
    included = []
    for path in (posixpath.normpath(name) for readme in readmes for name in readme.includes):
        if path in paths or _NOT_FOR_RUNNING.search(path) or not files.is_file_inside(repo, path):
            continue
        paths.add(path)
        is_conda = path.endswith((".yml", ".yaml"))
        manifest = read_manifest(repo, path) if is_conda else read_requirements(repo, path)
        if is_declared:
            manifest = replace(manifest, declared=[], unused=[], suggested=manifest.declared)
        included.append(manifest)
    return included
