"""Read what a repository declares in pyproject.toml, setup.cfg, Pipfile, conda files and lock files."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment.packages import pattern, table
from lmr_author.environment.recipe import Declared, Fact, Manifest, Unused
from lmr_author.environment.requirements import (
    normal_path,
    parse_requirement,
    pip_line,
    read_requirements,
    read_text,
)
from lmr_author.errors import LmrError
from lmr_author.texts import printable

Line = tuple[str, str]
"""A requirement as written, and its origin."""

LOCK_BYTES = 32 * 1024 * 1024
"""The lock file of a large project with all its hashes has a few megabytes."""


class Lines:
    """The lines of a file, for formats whose parsers do not tell where a value is."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()
        self._at = 0

    def of(self, *needles: str) -> str:
        """Return ``path:line`` of the next line with all needles (from the top again when there is none)."""
        for start, stop in ((self._at, len(self._lines)), (0, self._at)):
            for number in range(start, stop):
                if all(needle in self._lines[number] for needle in needles):
                    self._at = number
                    return f"{self._path}:{number + 1}"
        return self._path

    def each(self, values: object) -> list[Line]:
        """Return the strings of a list, each with its origin."""
        return [(text, self.of(text)) for text in _strings(values)]


def unreadable(path: str, error: Exception) -> Manifest:
    """Return the manifest of a file that cannot be read."""
    return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))


def make(
    path: str,
    lines: Iterable[Line],
    *,
    python: Fact = Fact("", ""),  # noqa: B008  (frozen)
    project: str = "",
    suggested: Iterable[Line] = (),
    constraints: Iterable[Line] = (),
    problems: Iterable[str] = (),
    unused: Iterable[Unused] = (),
) -> Manifest:
    """Return the manifest of lines as they were read."""
    read = [parse_requirement(text, origin) for text, origin in lines]
    problems = list(problems)
    try:
        SpecifierSet(python.text)
    except InvalidSpecifier:
        problems.append(f"{path}: the Python version {printable(python.text, 60)} cannot be read")
        python = Fact("", "")
    return Manifest(
        path,
        tuple(item for item in read if isinstance(item, Declared)),
        python.text,
        canonicalize_name(project) if re.fullmatch(r"[A-Za-z0-9][\w.-]*", project) else "",
        tuple(problems),
        (*unused, *(item for item in read if isinstance(item, Unused))),
        _only_declared(suggested),
        _only_declared(constraints),
        python.origin or (path if python.text else ""),
    )


def _only_declared(lines: Iterable[Line]) -> tuple[Declared, ...]:
    read = (parse_requirement(text, origin) for text, origin in lines)
    return tuple(item for item in read if isinstance(item, Declared))


def classified_python(lines: Iterable[Line]) -> Fact:
    """Return the lowest Python among classifiers (``Programming Language :: Python :: 3.12``)."""
    read = [
        (re.fullmatch(r"\s*Programming Language :: Python :: 3\.(\d+)\s*", text), at) for text, at in lines
    ]
    minors = [(int(match[1]), at) for match, at in read if match]
    return Fact(f">=3.{min(minors)[0]}", f"{min(minors)[1]}, classifiers") if minors else Fact("", "")


def read_pyproject(root: Path, path: str) -> Manifest:
    """Read ``[project]`` (PEP 621), else ``[tool.poetry]``, else flit's older form; extras and groups are suggested."""
    try:
        text = read_text(files.inside(root, path))
        data = tomllib.loads(text)
    except (LmrError, tomllib.TOMLDecodeError, RecursionError) as error:
        return unreadable(path, error)
    lines = Lines(path, text)
    project, poetry = _table(data, "project"), _table(data, "tool", "poetry")
    flit = _table(data, "tool", "flit", "metadata")
    if project:
        needed = lines.each(project.get("dependencies"))
        python, name = _text(project.get("requires-python")), _text(project.get("name"))
    elif poetry:
        dependencies = _table(poetry, "dependencies")
        needed = [item for key, value in dependencies.items() if key.lower() != "python"
                  for item in _poetry(key, value, lines)]  # fmt: skip
        python, name = _poetry_specifier(dependencies.get("python")), _text(poetry.get("name"))
    else:
        needed = lines.each(flit.get("requires"))
        python, name = _text(flit.get("requires-python")), _text(flit.get("module"))
    asked = (
        Fact(python, lines.of("python", python.split(",")[0].lstrip("><=!~ "))) if python else Fact("", "")
    )
    if not python:
        asked = classified_python(lines.each((project or poetry or flit).get("classifiers")))
    dynamic = "dependencies" in _strings(project.get("dynamic"))
    return make(
        path, needed, python=asked, project=name, suggested=_optional(data, lines),
        problems=[f"{path}: dependencies are dynamic"] if dynamic else [],
    )  # fmt: skip


def _optional(data: dict[str, Any], lines: Lines) -> list[Line]:
    """Extras and groups: of PEP 621, PEP 735, poetry, PDM, hatch and uv."""
    poetry = _table(data, "tool", "poetry")
    groups = [
        _table(data, "project", "optional-dependencies"), _table(data, "dependency-groups"),
        _table(data, "tool", "pdm", "dev-dependencies"), _table(data, "tool", "hatch", "envs"),
        {"uv": _table(data, "tool", "uv").get("dev-dependencies")},
    ]  # fmt: skip
    found: list[Line] = []
    for value in (value for group in groups for value in group.values()):
        found += lines.each(value.get("dependencies") if isinstance(value, dict) else value)
    dependencies = _table(poetry, "dependencies").items()
    tables = [
        {key: value for key, value in dependencies if isinstance(value, dict) and value.get("optional")}
    ]
    tables += [_table(poetry, "dev-dependencies")]
    tables += [
        _table(group, "dependencies") for group in _table(poetry, "group").values() if isinstance(group, dict)
    ]
    for one in tables:
        for key, value in one.items():
            found += _poetry(key, value, lines, optional=True)
    return found


def _poetry(name: str, value: object, lines: Lines, *, optional: bool = False) -> list[Line]:
    """A dependency of poetry in PEP 508 form: none when it is optional, several for several Pythons."""
    if isinstance(value, list):
        return [line for one in value for line in _poetry(name, one, lines, optional=optional)]
    origin = lines.of(name, "=")
    if not isinstance(value, dict):
        return [(f"{name}{_poetry_specifier(value)}", origin)]
    if value.get("optional") and not optional:
        return []
    for kind in ("git", "url", "path"):
        if kind in value:
            prefix = "git+" if kind == "git" and not str(value[kind]).startswith("git+") else ""
            return [(f"{name} @ {prefix}{value[kind]}", origin)]
    markers = [_text(value.get("markers"))]
    for part in filter(None, _poetry_specifier(value.get("python")).split(",")):
        if match := re.fullmatch(r"([<>=!]+)(\d+\.\d+)(?:\.\d+)*", part):
            markers.append(f"python_version {match[1]} '{match[2]}'")
    marker = " and ".join(filter(None, markers))
    return [
        (f"{name}{_extras(value)}{_poetry_specifier(value.get('version'))}{marker and f'; {marker}'}", origin)
    ]


def _poetry_specifier(value: object) -> str:
    """``^1.2`` and ``~1.2`` (python-poetry.org/docs/dependency-specification) as PEP 440 specifiers."""
    parts = []
    for part in str(value or "*").partition("||")[0].split(","):
        part = part.strip()
        match = re.fullmatch(r"([\^~]?)\s*(\d+(?:\.\d+)*)([a-z]+\d*)?", part)
        if part in ("", "*"):
            continue
        if match is None:
            parts.append(re.sub(r"^=(?==)?", "==", part) if part.startswith("=") else part)
        elif not match[1]:
            parts.append(f"=={match[2]}{match[3] or ''}")
        else:
            parts.append(f">={match[2]}{match[3] or ''},<{_next(match[2], caret=match[1] == '^')}")
    return ",".join(parts)


def _next(version: str, *, caret: bool) -> str:
    """First version that ``^version`` (or ``~version``) no longer allows."""
    numbers = [int(part) for part in version.split(".")]
    first = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
    place = first if caret else min(1, len(numbers) - 1)
    return ".".join(map(str, [*numbers[:place], numbers[place] + 1]))


def read_setup_cfg(root: Path, path: str) -> Manifest:
    """Read ``install_requires``, ``python_requires`` and ``name``; extras are suggested."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        text = read_text(files.inside(root, path))
        parser.read_string(text)
    except (LmrError, configparser.Error) as error:
        return unreadable(path, error)
    lines = Lines(path, text)

    def listed(section: str, option: str) -> list[Line]:
        # One requirement per line; within one line, ';' belongs to a marker.
        values = map(str.strip, parser.get(section, option, fallback="").splitlines())
        return lines.each([value for value in values if value and not value.startswith("#")])

    needed = listed("options", "install_requires")
    python = parser.get("options", "python_requires", fallback="")
    asked = (
        Fact(python, lines.of("python_requires"))
        if python
        else classified_python(listed("metadata", "classifiers"))
    )
    extras = parser.options("options.extras_require") if parser.has_section("options.extras_require") else []
    return make(
        path, needed, python=asked, project=parser.get("metadata", "name", fallback=""),
        suggested=[line for extra in extras for line in listed("options.extras_require", extra)],
    )  # fmt: skip


def read_conda(root: Path, path: str) -> Manifest:
    """Read conda's ``environment.yml``: its pip part as it is, its conda part by the package index's names."""
    import yaml

    try:
        text = read_text(files.inside(root, path))
        data = yaml.safe_load(text)
    except (LmrError, yaml.YAMLError, RecursionError, ValueError) as error:
        return unreadable(path, error)
    lines = Lines(path, text)
    needed: list[Line] = []
    pip: list[Declared | Unused] = []
    included: list[Manifest] = []
    python = Fact("", "")
    dependencies = data.get("dependencies") if isinstance(data, dict) else None
    for item in dependencies if isinstance(dependencies, list) else []:
        if isinstance(item, dict):
            for line in map(str.strip, _strings(item.get("pip"))):
                if include := re.match(r"^(?:-r|--requirement)[\s=]*(\S+)$", line):
                    below = normal_path(str(PurePosixPath(path).parent / include[1]))
                    included.append(read_requirements(root, below))
                else:
                    pip.append(pip_line(line, lines.of(line[:200])))
        elif isinstance(item, str):
            name, requirement = conda_requirement(item)
            if name == "python":
                python = Fact(requirement, lines.of(item))
            elif requirement:
                needed.append((requirement, lines.of(item)))
    found = make(path, needed, python=python)
    declared = [replace(item, conda=True) for item in found.declared]
    declared += [item for item in pip if isinstance(item, Declared)]
    unused = [*found.unused, *(item for item in pip if isinstance(item, Unused))]
    return replace(
        found,
        declared=(*declared, *(item for below in included for item in below.declared)),
        unused=(*unused, *(item for below in included for item in below.unused)),
        problems=(*found.problems, *(item for below in included for item in below.problems)),
        constraints=tuple(item for below in included for item in below.constraints),
    )


def conda_requirement(spec: str) -> tuple[str, str]:
    """Return a conda dependency as (conda's name, requirement); for ``python`` the version specifier alone.

    The requirement is "" for what the package index does not have (system libraries, CUDA).
    """
    match = re.match(r"^(?P<name>[\w.-]+)\s*(?:\[.*\])?\s*(?P<rest>.*)$", spec.strip().rpartition("::")[2])
    if match is None:
        return "", ""
    name, version = match["name"].lower(), _conda_version(match["rest"].strip())
    if name == "python":
        return name, version
    known = "" if re.match(pattern("conda_other"), name) else table("conda").get(name, name)
    return name, f"{known}{version}" if known else ""


def _conda_version(rest: str) -> str:
    """``=1.19.2=py38h…`` is an exact version, ``=1.19`` a prefix (conda's match specification)."""
    if rest.startswith("=") and not rest.startswith("=="):
        version, _, build = rest[1:].partition("=")
        version = version.strip()
        # Three numbers name one release.
        prefix = not build and "*" not in version and re.fullmatch(r"\d+(\.\d+)?", version)
        return f"=={version}.*" if prefix else f"=={version}"
    if rest[:1].isdigit():
        return f"=={rest.split()[0].split('=')[0]}"
    # Alternatives ("1.2|1.3") and build strings after a blank have no counterpart.
    return re.sub(r"\s+", "", rest.split("|")[0]) if re.match(r"^[<>=!~]", rest) else ""


def read_pipfile(root: Path, path: str) -> Manifest:
    """Read ``[packages]`` and ``[requires]`` of a Pipfile; its development packages are suggested."""
    try:
        text = read_text(files.inside(root, path))
        data = tomllib.loads(text)
    except (LmrError, tomllib.TOMLDecodeError, RecursionError) as error:
        return unreadable(path, error)
    lines = Lines(path, text)

    def listed(section: str) -> list[Line]:
        return [(_pipfile(name, value), lines.of(name, "=")) for name, value in _table(data, section).items()]

    needed, extra = listed("packages"), listed("dev-packages")
    requires = _table(data, "requires")
    version = _text(requires.get("python_full_version")) or _text(requires.get("python_version"))
    python = f"=={version}.*" if re.fullmatch(r"3\.\d+", version) else f"=={version}" if version else ""
    asked = Fact(python, lines.of("python", version)) if version else Fact("", "")
    return make(path, needed, python=asked, suggested=extra)


def _pipfile(name: str, value: object) -> str:
    """A package of a Pipfile in PEP 508 form; an address or path stays one."""
    table_ = value if isinstance(value, dict) else {"version": value}
    for kind in ("git", "file", "path"):
        if kind in table_:
            return f"{name} @ {'git+' if kind == 'git' else ''}{table_[kind]}"
    version, marker = _text(table_.get("version")), _text(table_.get("markers"))
    return f"{name}{_extras(table_)}{'' if version == '*' else version}{f'; {marker}' if marker else ''}"


def read_lock_file(root: Path, path: str) -> Manifest:
    """Read the versions of poetry.lock, uv.lock, pdm.lock or Pipfile.lock as constraints."""
    try:
        text = read_text(files.inside(root, path), LOCK_BYTES)
        lines = _pipfile_lock(text, path) if path.endswith("Pipfile.lock") else _toml_lock(text, path)
    except (LmrError, ValueError, RecursionError) as error:
        return unreadable(path, error)
    return make(path, (), constraints=lines)


def _toml_lock(text: str, path: str) -> list[Line]:
    """``[[package]]`` with ``name`` and ``version``; a package in several versions gives no constraint."""
    starts = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[package]]"]
    packages = tomllib.loads(text).get("package", [])
    versions: dict[str, list[Line]] = {}
    for number, package in enumerate(packages if isinstance(packages, list) else []):
        if isinstance(package, dict) and isinstance(package.get("version"), str) and _from_index(package):
            origin = f"{path}:{starts[number] if number < len(starts) else 1}"
            versions.setdefault(str(package.get("name")), []).append((str(package["version"]), origin))
    return [
        (f"{name}=={found[0][0].partition('+')[0]}", found[0][1])
        for name, found in versions.items()
        if len({version for version, _ in found}) == 1
    ]


def _from_index(package: Mapping[str, Any]) -> bool:
    """Return whether a package is not the project itself, a repository or a folder."""
    source = package.get("source")
    if not isinstance(source, dict):
        return True
    elsewhere = {"git", "editable", "virtual", "path", "directory"}
    return source.get("type") in (None, "legacy") and not elsewhere & set(source)


def _pipfile_lock(text: str, path: str) -> list[Line]:
    data = json.loads(text)
    lines = Lines(path, text)
    packages = _table(data, "default") if isinstance(data, dict) else {}
    return [
        (f"{name}{entry['version']}", lines.of(f'"{name}": {{'))
        for name, entry in packages.items()
        if isinstance(entry, dict) and str(entry.get("version", "")).startswith("==")
    ]


def _table(data: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """The table below some keys, empty when there is none."""
    found: Any = data
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _strings(value: object) -> list[str]:
    """The strings of a list; nothing else is turned into text (an alias bomb in YAML would explode)."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _extras(value: Mapping[str, Any]) -> str:
    names = ",".join(_strings(value.get("extras")))
    return f"[{names}]" if names else ""
