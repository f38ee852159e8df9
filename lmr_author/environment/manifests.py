"""Read what a repository declares in pyproject.toml, setup.cfg, conda's environment.yml and Pipfile."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment import conda
from lmr_author.environment.recipe import Declared, Manifest, Unused, parse_requirement
from lmr_author.environment.requirements import own_or_unused, read_text
from lmr_author.errors import LmrError
from lmr_author.processes import printable

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


def read_pyproject(root: Path, path: str) -> Manifest:
    """``[project]`` (PEP 621: also of PDM, flit and hatch), else ``[tool.poetry]``, else flit's older form.

    What is optional (extras, groups) is suggested only.
    """
    try:
        text = read_text(files.inside(root, path))
        data = tomllib.loads(text)
    except (LmrError, tomllib.TOMLDecodeError, RecursionError) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    places = Places(path, text)
    project, tool = _table(data, "project"), _table(data, "tool")
    poetry, flit = _table(tool, "poetry"), _table(_table(tool, "flit"), "metadata")
    if project:
        lines = [(line, places.of(line)) for line in _strings(project.get("dependencies"))]
        python, name = _text(project.get("requires-python")), _text(project.get("name"))
    elif poetry:
        lines, python, name = _poetry_lines(poetry, places)
    else:
        lines = [(line, places.of(line)) for line in _strings(flit.get("requires"))]
        python, name = _text(flit.get("requires-python")), _text(flit.get("module"))
    dynamic = "dependencies" in _strings(project.get("dynamic"))
    origin = places.of("python", python.split(",")[0].lstrip("><=!~ ")) if python else ""
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
    dependencies = _table(poetry, "dependencies")
    lines = [
        (line, places.of(name, "="))
        for name, value in dependencies.items()
        if name.lower() != "python"
        for line in _poetry(name, value)
    ]
    return lines, _poetry_version(dependencies.get("python")), _text(poetry.get("name"))


def _optional(data: Mapping[str, Any], places: Places) -> list[Line]:
    """Extras and groups: of PEP 621, PEP 735, poetry, PDM, hatch and uv."""
    project, tool = _table(data, "project"), _table(data, "tool")
    poetry, pdm = _table(tool, "poetry"), _table(tool, "pdm")
    tables = [_table(project, "optional-dependencies"), _table(data, "dependency-groups")]
    tables += [_table(pdm, "dev-dependencies"), {"uv": _table(tool, "uv").get("dev-dependencies")}]
    tables += [_table(_table(tool, "hatch"), "envs")]
    lines: list[Line] = []
    for table in tables:
        for value in table.values():
            listed = value.get("dependencies") if isinstance(value, dict) else value
            lines += [(line, places.of(line)) for line in _strings(listed)]
    optional = {name: value for name, value in _table(poetry, "dependencies").items() if _is_optional(value)}
    groups = [
        _table(group, "dependencies") for group in _table(poetry, "group").values() if isinstance(group, dict)
    ]
    for table in (optional, _table(poetry, "dev-dependencies"), *groups):
        for name, value in table.items():
            lines += [(line, places.of(name, "=")) for line in _poetry(name, value, optional=True)]
    return lines


def read_setup_cfg(root: Path, path: str) -> Manifest:
    """``install_requires``, ``python_requires`` and ``name``; extras are suggested."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        text = read_text(files.inside(root, path))
        parser.read_string(text)
    except (LmrError, configparser.Error) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    places = Places(path, text)
    listed = _listed(parser.get("options", "install_requires", fallback=""))
    extras = parser.items("options.extras_require") if parser.has_section("options.extras_require") else []
    python = parser.get("options", "python_requires", fallback="")
    return make(
        path,
        [(line, places.of(line)) for line in listed],
        python=python,
        python_origin=places.of("python_requires") if python else "",
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
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    places = Places(path, text)
    lines: list[Line] = []
    ours: list[Line] = []
    unused: list[Unused] = []
    python = python_origin = ""
    for item in _list(data.get("dependencies")) if isinstance(data, dict) else []:
        if isinstance(item, dict):
            for line in _strings(item.get("pip")):
                read = pip_line(line.strip(), places.of(line.strip()[:200]))
                if isinstance(read, Unused):
                    unused.append(read)
                else:
                    lines.append(read)
        elif isinstance(item, str):
            name, requirement = conda.requirement(item)
            if name == "python":
                python, python_origin = requirement, places.of(item)
            elif requirement:
                ours.append((requirement, places.of(item)))
    manifest = make(path, [*ours, *lines], python=python, python_origin=python_origin, unused=unused)
    origins = {origin for _, origin in ours}
    declared = tuple(replace(item, conda=item.origin in origins) for item in manifest.declared)
    return replace(manifest, declared=declared)


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
    try:
        text = read_text(files.inside(root, path))
        data = tomllib.loads(text)
    except (LmrError, tomllib.TOMLDecodeError, RecursionError) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    places = Places(path, text)
    lines = [
        (_pipfile(name, value), places.of(name, "=")) for name, value in _table(data, "packages").items()
    ]
    extra = [
        (_pipfile(name, value), places.of(name, "=")) for name, value in _table(data, "dev-packages").items()
    ]
    requires = _table(data, "requires")
    version = _text(requires.get("python_full_version")) or _text(requires.get("python_version"))
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


def _poetry(name: str, value: object, *, optional: bool = False) -> list[str]:
    """A dependency of poetry in PEP 508 form: none when it is optional, several for several Pythons."""
    if isinstance(value, list):
        return [line for one in value for line in _poetry(name, one, optional=optional)]
    if not isinstance(value, dict):
        return [f"{name}{_poetry_version(value)}"]
    if value.get("optional") and not optional:
        return []
    for kind in ("git", "url", "path"):
        if kind in value:
            prefix = "git+" if kind == "git" and not str(value[kind]).startswith("git+") else ""
            return [f"{name} @ {prefix}{value[kind]}"]
    return [f"{name}{_extras(value)}{_poetry_version(value.get('version'))}{_poetry_marker(value)}"]


def _poetry_marker(value: Mapping[str, Any]) -> str:
    """``markers = …`` and ``python = …`` of a dependency as a marker of PEP 508."""
    parts = [_text(value.get("markers"))]
    for part in filter(None, _poetry_version(value.get("python")).split(",")):
        match = re.fullmatch(r"([<>=!]+)(\d+\.\d+)(?:\.\d+)*", part)
        if match:
            parts.append(f"python_version {match[1]} '{match[2]}'")
    text = " and ".join(part for part in parts if part)
    return f"; {text}" if text else ""


def _extras(value: Mapping[str, Any]) -> str:
    extras = ",".join(_strings(value.get("extras")))
    return f"[{extras}]" if extras else ""


def _pipfile(name: str, value: object) -> str:
    """A package of a Pipfile in PEP 508 form; an address or path stays one."""
    if not isinstance(value, dict):
        version = _text(value)
        return f"{name}{'' if version == '*' else version}"
    for kind in ("git", "file", "path"):
        if kind in value:
            return f"{name} @ {'git+' if kind == 'git' else ''}{value[kind]}"
    version = _text(value.get("version"))
    marker = _text(value.get("markers"))
    return f"{name}{_extras(value)}{'' if version == '*' else version}{f'; {marker}' if marker else ''}"


def _poetry_version(value: object) -> str:
    """``^1.2`` and ``~1.2`` (python-poetry.org/docs/dependency-specification) as PEP 440 specifiers."""
    parts = []
    for part in str(value or "*").partition("||")[0].split(","):
        part = part.strip()
        match = re.fullmatch(r"([\^~]?)\s*(\d+(?:\.\d+)*)([a-z]+\d*)?", part)
        if part in ("", "*"):
            continue
        if match is None:
            parts.append(re.sub(r"^=(?==)?", "==", part) if part.startswith("=") else part)
        elif match[1] == "":
            parts.append(f"=={match[2]}{match[3] or ''}")
        else:
            parts.append(f">={match[2]}{match[3] or ''},<{_next(match[2], caret=match[1] == '^')}")
    return ",".join(parts)


def _next(version: str, *, caret: bool) -> str:
    """First version that ``^version`` (or ``~version``) no longer allows."""
    numbers = [int(part) for part in version.split(".")]
    place = (
        next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
        if caret
        else min(1, len(numbers) - 1)
    )
    return ".".join(map(str, [*numbers[:place], numbers[place] + 1]))


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(value: object) -> list[str]:
    """The strings of a list; nothing else is turned into text (an alias bomb in YAML would explode)."""
    return [item for item in _list(value) if isinstance(item, str)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
