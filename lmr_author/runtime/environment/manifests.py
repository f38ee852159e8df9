"""Find and read the files that declare a repository's requirements; requirements files have their own module."""

from __future__ import annotations

import ast
import configparser
import posixpath
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from packaging.utils import canonicalize_name

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import yaml_data
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.base_images import INSTALLED_BY
from lmr_author.runtime.environment.needs import NOTHING, DeclaredNeed, Fact, is_exact
from lmr_author.runtime.environment.requirements import (
    Manifest,
    join_lines,
    parse_requirement,
    pip_line,
    read_requirements,
    read_text,
)

_REQUIREMENTS = re.compile(r"^(pip[-_]?)?(requirements?|reqs?)([-_.].*)?\.(txt|in)$", re.I)
_NOT_FOR_RUNNING = re.compile(
    r"(^|[-_./])(dev|tests?|docs?|lint|ci|build|examples?|optional|extras?|pre-commit.*|mkdocs)([-_./]|$)",
    re.I,
)
_YAML = (".yml", ".yaml")
_CONDA = re.compile(r"^(environment|env|conda|requirements?)([-_.].*)?\.ya?ml$", re.I)
_CONDA_FOLDERS = ("scripts", "install", "setup", "conda", "env", "envs", "environment", "environments")
_README = re.compile(
    r"^(readme|install(ation|ing)?)(\.(md|rst|txt))?$|^(setup|requirements)\.(md|rst)$"
    r"|^(install|setup|env|environment|create_env)([-_.].*)?\.sh$",
    re.I,
)
_INSTALLS = re.compile(r"\b(?:pip[\d.]*|conda|mamba|micromamba) (?:install|create)\b(.*)")
_VERSIONED = re.compile(r"[A-Za-z][\w.-]*(?:\[[\w,-]*\])?[=<>~!]{1,2}\d[\w.*+=,<>!]*")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_IN_PROSE = re.compile(r"(?<![\w=/.-])([A-Za-z][\w.-]*?)`?\s?(==)\s?`?v?(\d+(?:\.\d+)+)(?!\.?\w|[+*])")
"""A package and its exact version, as in "tested on `torch==2.0.1`"; no development or local version."""
_LIST_ITEM = re.compile(
    r"^\s*[-*+]\s+[`*]*([A-Za-z][\w.-]*)[`*]*\s*(==|>=|=|:)?\s*`?v?(\d+(?:\.\d+)+)`?\.?\s*$"
)
"""A list item with only a package and its version, as in "- PyTorch 1.7.1"."""
_UNREADABLE = (
    LmrError, ValueError, TypeError, AttributeError, SyntaxError, RecursionError, configparser.Error,
    msgspec.MsgspecError,
)  # fmt: skip
"""Errors of reading a file; PyYAML raises the unusual ones for an invalid date."""


def read_manifests(repo: Path) -> list[Manifest]:
    """Read every file that declares requirements, in order of precedence."""
    top = _files(repo)
    read = [read_requirements(repo, name) for name in _requirements_files(repo, top)]
    read += _read_conda_files(repo, [""])
    read += [read_manifest(repo, name) for name in INSTALLED_BY if name in top]
    if not any(manifest.declared for manifest in read):
        read += _read_conda_files(repo, _CONDA_FOLDERS)
    read += [_read_readme(repo, name) for name in filter(_README.match, top)]
    return [manifest for manifest in read if manifest != Manifest(manifest.path)]


def _files(folder: Path) -> list[str]:
    if not folder.is_dir() or folder.is_symlink():
        return []
    return sorted(path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def _requirements_files(repo: Path, top: list[str]) -> list[str]:
    if "requirements.txt" in top:
        return ["requirements.txt"]
    below = [f"requirements/{name}" for name in _files(repo / "requirements") if name.endswith(".txt")]
    paths = list(filter(_REQUIREMENTS.match, top)) or below
    return [path for path in paths if not _NOT_FOR_RUNNING.search(path)]


def _read_conda_files(repo: Path, folders: Sequence[str]) -> list[Manifest]:
    """Read the YAML files with dependencies in the first folder that has any.

    An export of the authors' environment with exact versions comes first, then a usual file name.
    """
    for folder in folders:
        names = [name for name in _files(repo / folder) if name.endswith(_YAML)]
        paths = [
            posixpath.join(folder, name) for name in sorted(names, key=lambda name: not _CONDA.match(name))
        ]
        paths = [
            path for path in paths if not _NOT_FOR_RUNNING.search(path) and _has_dependencies(repo / path)
        ]
        if paths:
            read = [read_manifest(repo, path) for path in paths]
            return sorted(read, key=lambda manifest: -sum(map(is_exact, manifest.declared)))
    return []


def _has_dependencies(path: Path) -> bool:
    try:
        return re.search(r"^dependencies:", read_text(path), re.M) is not None
    except LmrError:
        return False


def _read_readme(root: Path, path: str) -> Manifest:
    """Read the versions in installation commands, lists and prose as hints. A ``.sh`` file is all commands."""
    manifest = Manifest(path)
    try:
        lines = list(enumerate(read_text(files.inside(root, path)).splitlines(), 1))
    except LmrError as error:
        manifest.problems.append(f"{path}: {error.message}")
        return manifest
    is_script = path.endswith(".sh")
    for number, line in join_lines(lines if is_script else _fenced(lines)):
        for command in re.split(r"&&|;", line.partition(" #")[0]):
            installs = _INSTALLS.search(command)
            for word in re.sub("['\"]", " ", installs[1]).split() if installs else ():
                if _VERSIONED.fullmatch(word):
                    manifest.add_conda(word, f"{path}:{number}")
    in_commands = [replace(each, mentioned=True) for each in manifest.declared]
    stated = () if is_script else _stated(lines, path)
    manifest.declared, manifest.stated = [], [*stated, *in_commands]
    return manifest


def _fenced(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    is_fenced = False
    for number, line in lines:
        if re.match(r"^\s*(```|~~~)", line):
            is_fenced = not is_fenced
        elif is_fenced:
            yield number, line.strip()


def _stated(lines: Iterable[tuple[int, str]], path: str) -> Iterator[DeclaredNeed]:
    for number, line in lines:
        text = _LINK.sub(r"\1", line)
        match = _LIST_ITEM.match(text)
        for name, operator, version in [match.groups()] if match else _IN_PROSE.findall(text):
            package = "torch" if name.lower() == "pytorch" else name
            bound = f"{package}{'>=' if operator == '>=' else '=='}{version}"
            requirement = parse_requirement(bound, f"{path}:{number}")
            if isinstance(requirement, DeclaredNeed):
                yield replace(requirement, mentioned=True)


def _place(path: str, text: str, *needles: str) -> str:
    """Return ``path:line`` of the first line with all needles: parsers do not give positions."""
    for number, line in enumerate(text.splitlines(), 1):
        if all(needle in line for needle in needles):
            return f"{path}:{number}"
    return path


def read_manifest(root: Path, path: str) -> Manifest:
    """Read a file by its name; an unreadable one becomes a problem and declares nothing."""
    reader = _READERS.get(PurePosixPath(path).name, _read_conda)
    manifest = Manifest(path)
    try:
        reader(read_text(files.inside(root, path)), manifest, root)
    except _UNREADABLE as error:
        return Manifest(path, problems=[f"{path}: cannot be read ({printable(str(error), 100)})"])
    is_name = re.fullmatch(r"[A-Za-z0-9][\w.-]*", manifest.project)
    manifest.project = canonicalize_name(manifest.project) if is_name else ""
    return manifest


class _Project(msgspec.Struct):
    name: str = ""
    version: str = ""
    dependencies: list[str] | dict[str, Any] = []
    dynamic: list[str] = []
    python: str = msgspec.field(name="requires-python", default="")


class _Tools(msgspec.Struct, frozen=True):
    poetry: _Project | None = None


class _PyProject(msgspec.Struct):
    project: _Project | None = None
    tool: _Tools = _Tools()


def _read_pyproject(text: str, manifest: Manifest, root: Path) -> None:
    """Read ``[project]``, else ``[tool.poetry]``, ignoring extras and groups."""
    pyproject = msgspec.toml.decode(text, type=_PyProject)
    project = pyproject.project or pyproject.tool.poetry or _Project()
    place, python = partial(_place, manifest.path, text), project.python
    if isinstance(project.dependencies, dict):
        python = _poetry_specifier(project.dependencies.get("python"))
        _read_poetry(project.dependencies, place, manifest)
    else:
        for requirement in project.dependencies:
            manifest.add(parse_requirement(requirement, place(requirement)))
    if python:
        manifest.python = Fact(python, place("python", python.split(",")[0].lstrip("><=!~ ")))
    manifest.project, manifest.version = project.name, project.version
    if "dependencies" in project.dynamic:
        manifest.problems.append(f"{manifest.path}: dependencies are dynamic")


def _read_poetry(dependencies: Mapping[str, Any], place: Callable[..., str], manifest: Manifest) -> None:
    """Read each dependency: a version, a table, or a list of tables for different Pythons and platforms."""
    for name, value in dependencies.items():
        for constraint in value if isinstance(value, list) else [value]:
            row = constraint if isinstance(constraint, dict) else {"version": constraint}
            if name.lower() != "python" and not row.get("optional"):
                manifest.add(parse_requirement(_poetry_requirement(name, row), place(name, "=")))


def _poetry_requirement(name: str, row: Mapping[str, Any]) -> str:
    """Convert a row of ``[tool.poetry.dependencies]`` to PEP 508."""
    for key, prefix in (("git", "git+"), ("url", ""), ("path", "")):
        if key in row:
            return f"{name} @ {prefix}{row[key]}"
    extras = ",".join(_strings(row.get("extras")))
    markers = [f"({row['markers']})"] if "markers" in row else []
    if "platform" in row:
        markers.append(f"sys_platform == '{row['platform']}'")
    for part in filter(None, _poetry_specifier(row.get("python")).split(",")):
        markers.append(re.sub(r"^([<>=!~]+)(.*)$", r"python_version \1 '\2'", part))
    marker = f"; {' and '.join(markers)}" if markers else ""
    return f"{name}[{extras}]{_poetry_specifier(row.get('version'))}{marker}"


def _poetry_specifier(value: object) -> str:
    """Convert ``^1.2`` and ``~1.2`` (python-poetry.org/docs/dependency-specification) to PEP 440 specifiers."""
    parts = []
    for part in str(value or "*").replace(" ", "").split(","):
        match = re.fullmatch(r"([\^~])(\d+(?:\.\d+)*)\w*", part)
        if match:
            parts.append(f">={part[1:]},<{_end_of_range(match[1], match[2])}")
        elif part != "*":
            parts.append(part if part[:1] in tuple("<>=!") else f"=={part}")
    return ",".join(parts)


def _end_of_range(operator: str, version: str) -> str:
    """Return the first version above ``^version``, which fixes the first nonzero number, or ``~version``."""
    numbers = list(map(int, version.split(".")))
    last = len(numbers) - 1
    last = next(filter(numbers.__getitem__, range(last)), last) if operator == "^" else min(1, last)
    return ".".join(map(str, [*numbers[:last], numbers[last] + 1]))


def _read_setup_cfg(text: str, manifest: Manifest, root: Path) -> None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    place = partial(_place, manifest.path, text)
    # One requirement per line; within one line, ';' belongs to a marker.
    for value in map(str.strip, parser.get("options", "install_requires", fallback="").splitlines()):
        if value and not value.startswith("#"):
            manifest.add(parse_requirement(value, place(value)))
    if python := parser.get("options", "python_requires", fallback=""):
        manifest.python = Fact(python, place("python_requires"))
    manifest.project = parser.get("metadata", "name", fallback="")
    manifest.version = parser.get("metadata", "version", fallback="")


def _read_setup_py(text: str, manifest: Manifest, root: Path) -> None:
    """Read the literal arguments of the ``setup`` call without running the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # do not report the repository's invalid escapes
        tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    setup = next((call for call in calls if re.fullmatch(r"(\w+\.)?setup", ast.unparse(call.func))), None)
    literals: dict[str | None, Any] = {}
    for argument in setup.keywords if setup else []:
        with suppress(ValueError):
            literals[argument.arg] = ast.literal_eval(argument.value)
        if argument.arg == "install_requires" and argument.arg not in literals:
            manifest.problems.append(f"{manifest.path}: install_requires is computed and was not read")
    place = partial(_place, manifest.path, text)
    for requirement in _strings(literals.get("install_requires")):
        manifest.add(parse_requirement(requirement, place(requirement)))
    python, name, version = (str(literals.get(key, "")) for key in ("python_requires", "name", "version"))
    manifest.python = Fact(python, place("python_requires")) if python else NOTHING
    manifest.project, manifest.version = name, version


def _read_conda(text: str, manifest: Manifest, root: Path) -> None:
    data = yaml_data(text)
    place = partial(_place, manifest.path, text)
    dependencies = data.get("dependencies") if isinstance(data, dict) else None
    for dependency in dependencies if isinstance(dependencies, list) else []:
        if isinstance(dependency, str):
            manifest.add_conda(dependency, place(dependency))
        elif isinstance(dependency, dict):
            for line in _strings(dependency.get("pip")):
                _read_pip_line(line.strip(), manifest, place, root)


def _read_pip_line(line: str, manifest: Manifest, place: Callable[..., str], root: Path) -> None:
    if include := re.match(r"^(?:-r|--requirement)[\s=]*(\S+)$", line):
        below = posixpath.normpath(PurePosixPath(manifest.path).parent / include[1])
        read_requirements(root, below, manifest)
    else:
        manifest.add(pip_line(line, place(line[:200])))


_READERS: dict[str, Callable[[str, Manifest, Path], None]] = {
    "pyproject.toml": _read_pyproject,
    "setup.cfg": _read_setup_cfg,
    "setup.py": _read_setup_py,
}


def _strings(value: object) -> list[str]:
    """Return the strings of a list, ignoring other values: converting an alias bomb in YAML would explode."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
