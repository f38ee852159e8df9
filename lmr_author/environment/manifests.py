"""Read what a repository declares in pyproject.toml, setup.cfg, conda's environment.yml and Pipfile."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment import conda, tables
from lmr_author.environment.parsing import parse_requirement
from lmr_author.environment.poetry import as_requirements, as_specifier
from lmr_author.environment.python_version import of_classifiers
from lmr_author.environment.recipe import Declared, Manifest, Unused
from lmr_author.environment.requirements import normal_path, own_or_unused, read_requirements, read_text
from lmr_author.errors import LmrError
from lmr_author.texts import printable

Line = tuple[str, str]
"""A requirement as written, and its origin."""


class Places:
    """Where in a file something stands, for formats whose parsers do not say."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()
        self._at = 0

    def of(self, *needles: str) -> str:
        """``path:line`` of the next line that holds all needles (from the top again when there is none)."""
        for start, stop in ((self._at, len(self._lines)), (0, self._at)):
            for number in range(start, stop):
                if all(needle in self._lines[number] for needle in needles):
                    self._at = number
                    return f"{self._path}:{number + 1}"
        return self._path


def _unreadable(path: str, error: Exception) -> Manifest:
    return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))


def _toml(root: Path, path: str) -> tuple[dict[str, Any], Places] | Manifest:
    """A TOML file and where things are in it; a manifest with the problem, where it cannot be read."""
    try:
        text = read_text(files.inside(root, path))
        return tomllib.loads(text), Places(path, text)
    except (LmrError, tomllib.TOMLDecodeError, RecursionError) as error:
        return _unreadable(path, error)


def read_pyproject(root: Path, path: str) -> Manifest:
    """``[project]`` (PEP 621: also of PDM, flit and hatch), else ``[tool.poetry]``, else flit's older form.

    What is optional (extras, groups) is suggested only.
    """
    read = _toml(root, path)
    if isinstance(read, Manifest):
        return read
    data, places = read
    project, tool = tables.table(data, "project"), tables.table(data, "tool")
    poetry, flit = tables.table(tool, "poetry"), tables.table(tables.table(tool, "flit"), "metadata")
    if project:
        lines = [(line, places.of(line)) for line in tables.strings(project.get("dependencies"))]
        python, name = tables.text(project.get("requires-python")), tables.text(project.get("name"))
    elif poetry:
        lines, python, name = _poetry_lines(poetry, places)
    else:
        lines = [(line, places.of(line)) for line in tables.strings(flit.get("requires"))]
        python, name = tables.text(flit.get("requires-python")), tables.text(flit.get("module"))
    dynamic = "dependencies" in tables.strings(project.get("dynamic"))
    origin = places.of("python", python.split(",")[0].lstrip("><=!~ ")) if python else ""
    if not python:
        listed = tables.strings((project or poetry or flit).get("classifiers"))
        classified = of_classifiers([(line, places.of(line)) for line in listed])
        python, origin = classified.text, classified.origin
    return make(
        path,
        lines,
        python=python,
        python_origin=origin,
        project=name,
        suggested=_optional(data, places),
        problems=[f"{path}: dependencies are dynamic"] if dynamic else [],
    )


def _poetry_lines(poetry: Mapping[str, Any], places: Places) -> tuple[list[Line], str, str]:
    dependencies = tables.table(poetry, "dependencies")
    lines = [
        (line, places.of(name, "="))
        for name, value in dependencies.items()
        if name.lower() != "python"
        for line in as_requirements(name, value)
    ]
    return lines, as_specifier(dependencies.get("python")), tables.text(poetry.get("name"))


def _optional(data: Mapping[str, Any], places: Places) -> list[Line]:
    """Extras and groups: of PEP 621, PEP 735, poetry, PDM, hatch and uv."""
    project, tool = tables.table(data, "project"), tables.table(data, "tool")
    poetry, pdm = tables.table(tool, "poetry"), tables.table(tool, "pdm")
    found = [tables.table(project, "optional-dependencies"), tables.table(data, "dependency-groups")]
    found += [
        tables.table(pdm, "dev-dependencies"),
        {"uv": tables.table(tool, "uv").get("dev-dependencies")},
    ]
    found += [tables.table(tables.table(tool, "hatch"), "envs")]
    lines: list[Line] = []
    for table in found:
        for value in table.values():
            listed = value.get("dependencies") if isinstance(value, dict) else value
            lines += [(line, places.of(line)) for line in tables.strings(listed)]
    optional = {
        name: value for name, value in tables.table(poetry, "dependencies").items() if _is_optional(value)
    }
    groups = [
        tables.table(group, "dependencies")
        for group in tables.table(poetry, "group").values()
        if isinstance(group, dict)
    ]
    for table in (optional, tables.table(poetry, "dev-dependencies"), *groups):
        for name, value in table.items():
            lines += [(line, places.of(name, "=")) for line in as_requirements(name, value, optional=True)]
    return lines


def read_setup_cfg(root: Path, path: str) -> Manifest:
    """``install_requires``, ``python_requires`` and ``name``; extras are suggested."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        text = read_text(files.inside(root, path))
        parser.read_string(text)
    except (LmrError, configparser.Error) as error:
        return _unreadable(path, error)
    places = Places(path, text)
    listed = _listed(parser.get("options", "install_requires", fallback=""))
    extras = parser.items("options.extras_require") if parser.has_section("options.extras_require") else []
    python = parser.get("options", "python_requires", fallback="")
    origin = places.of("python_requires") if python else ""
    if not python:
        lines = _listed(parser.get("metadata", "classifiers", fallback=""))
        classified = of_classifiers([(line, places.of(line)) for line in lines])
        python, origin = classified.text, classified.origin
    return make(
        path,
        [(line, places.of(line)) for line in listed],
        python=python,
        python_origin=origin,
        project=parser.get("metadata", "name", fallback=""),
        suggested=[(line, places.of(line)) for _, value in extras for line in _listed(value)],
    )


def _listed(text: str) -> list[str]:
    """One requirement per line; within one line, ';' belongs to a marker."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def read_environment(root: Path, path: str) -> Manifest:
    """Conda's ``environment.yml``: its pip part as it is, its conda part by the package index's names."""
    import yaml

    try:
        text = read_text(files.inside(root, path))
        data = yaml.safe_load(text)
    except (LmrError, yaml.YAMLError, RecursionError, ValueError) as error:
        return _unreadable(path, error)
    places = Places(path, text)
    lines: list[Line] = []
    ours: list[Line] = []
    unused: list[Unused] = []
    included: list[Manifest] = []
    python = python_origin = ""
    for item in tables.items(data.get("dependencies")) if isinstance(data, dict) else []:
        if isinstance(item, dict):
            for line in map(str.strip, tables.strings(item.get("pip"))):
                if include := re.match(r"^(?:-r|--requirement)[\s=]*(\S+)$", line):
                    included.append(read_requirements(root, _beside(path, include[1])))
                    continue
                read = pip_line(line, places.of(line[:200]))
                unused.append(read) if isinstance(read, Unused) else lines.append(read)
        elif isinstance(item, str):
            name, requirement = conda.requirement(item)
            if name == "python":
                python, python_origin = requirement, places.of(item)
            elif requirement:
                ours.append((requirement, places.of(item)))
    manifest = make(path, [*ours, *lines], python=python, python_origin=python_origin, unused=unused)
    origins = {origin for _, origin in ours}
    declared = [replace(item, conda=item.origin in origins) for item in manifest.declared]
    return replace(
        manifest,
        declared=(*declared, *(item for below in included for item in below.declared)),
        problems=(*manifest.problems, *(item for below in included for item in below.problems)),
        unused=(*manifest.unused, *(item for below in included for item in below.unused)),
        constraints=(*manifest.constraints, *(item for below in included for item in below.constraints)),
    )


def _beside(path: str, name: str) -> str:
    """A path that a file names, from its own folder."""
    return normal_path(str(PurePosixPath(path).parent / name))


def pip_line(line: str, origin: str) -> Line | Unused:
    """A line of conda's pip part, or an argument of pip: ``-e`` and other options are not used."""
    editable = re.match(r"^(?:-e|--editable)[\s=]+(\S.*)$", line)
    if editable:
        return own_or_unused(editable[1], origin, printable(line, 120))
    if line.startswith("-"):
        return Unused(printable(line, 120), origin, "option", "an option")
    return line, origin


def read_pipfile(root: Path, path: str) -> Manifest:
    """``[packages]`` and ``[requires]`` of a Pipfile; its development packages are suggested."""
    read = _toml(root, path)
    if isinstance(read, Manifest):
        return read
    data, places = read
    lines = [
        (_pipfile(name, value), places.of(name, "="))
        for name, value in tables.table(data, "packages").items()
    ]
    extra = [
        (_pipfile(name, value), places.of(name, "="))
        for name, value in tables.table(data, "dev-packages").items()
    ]
    requires = tables.table(data, "requires")
    version = tables.text(requires.get("python_full_version")) or tables.text(requires.get("python_version"))
    python = f"=={version}.*" if re.fullmatch(r"3\.\d+", version) else f"=={version}" if version else ""
    return make(
        path,
        lines,
        python=python,
        python_origin=places.of("python", version) if version else "",
        suggested=extra,
    )


def make(
    path: str,
    lines: Iterable[Line],
    *,
    python: str = "",
    python_origin: str = "",
    project: str = "",
    suggested: Iterable[Line] = (),
    constraints: Iterable[Line] = (),
    problems: Iterable[str] = (),
    unused: Iterable[Unused] = (),
    includes: Iterable[str] = (),
) -> Manifest:
    """A manifest of lines as they were read; what is no requirement is told."""
    read = [parse_requirement(text, origin) for text, origin in lines]
    found = list(problems)
    try:
        SpecifierSet(python)
    except InvalidSpecifier:
        found.append(f"{path}: the Python version {printable(python, 60)} cannot be read")
        python = ""
    return Manifest(
        path,
        tuple(item for item in read if isinstance(item, Declared)),
        python,
        canonicalize_name(project) if re.fullmatch(r"[A-Za-z0-9][\w.-]*", project) else "",
        tuple(found),
        (*unused, *(item for item in read if isinstance(item, Unused))),
        tuple(_only_declared(suggested)),
        tuple(_only_declared(constraints)),
        python_origin or (path if python else ""),
        tuple(includes),
    )


def _only_declared(lines: Iterable[Line]) -> list[Declared]:
    read = (parse_requirement(text, origin) for text, origin in lines)
    return [item for item in read if isinstance(item, Declared)]


def _is_optional(value: object) -> bool:
    return isinstance(value, dict) and bool(value.get("optional"))


def _pipfile(name: str, value: object) -> str:
    """A package of a Pipfile in PEP 508 form; an address or path stays one."""
    if not isinstance(value, dict):
        version = tables.text(value)
        return f"{name}{'' if version == '*' else version}"
    for kind in ("git", "file", "path"):
        if kind in value:
            return f"{name} @ {'git+' if kind == 'git' else ''}{value[kind]}"
    version = tables.text(value.get("version"))
    marker = tables.text(value.get("markers"))
    return f"{name}{tables.extras(value)}{'' if version == '*' else version}{f'; {marker}' if marker else ''}"
