"""Read what a repository declares in pyproject.toml, setup.cfg, setup.py and conda's environment.yml."""

from __future__ import annotations

import ast
import configparser
import posixpath
import re
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.utils import canonicalize_name

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.needs import NOTHING, Fact
from lmr_author.runtime.environment.requirements import (
    Manifest,
    parse_requirement,
    pip_line,
    read_requirements,
    read_text,
)

_OPENED = re.compile(r"^(\./)?[\w./-]*req[\w.-]*\.(txt|in)$", re.I)
"""A requirements file that a ``setup.py`` opens."""
_DEEPEST = 20
"""So many names of a ``setup.py`` are followed to a string: one may stand for itself."""


class Lines:
    """The lines of a file, for formats whose parsers do not tell where a value is."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()

    def of(self, *needles: str) -> str:
        """Return ``path:line`` of the first line with all needles."""
        for number, line in enumerate(self._lines, 1):
            if all(needle in line for needle in needles):
                return f"{self._path}:{number}"
        return self._path


def read_manifest(root: Path, path: str) -> Manifest:
    """Read a file by its name; one that cannot be read is a problem, and declares nothing."""
    reader = _READERS.get(PurePosixPath(path).name, _read_conda)
    manifest = Manifest(path)
    try:
        reader(read_text(files.inside(root, path)), manifest, root)
    except (
        LmrError,
        ValueError,
        TypeError,
        AttributeError,
        SyntaxError,
        configparser.Error,
        RecursionError,
    ) as error:
        return Manifest(path, problems=[f"{path}: cannot be read ({printable(str(error), 100)})"])
    is_name = re.fullmatch(r"[A-Za-z0-9][\w.-]*", manifest.project)
    manifest.project = canonicalize_name(manifest.project) if is_name else ""
    return manifest


def _read_pyproject(text: str, manifest: Manifest, root: Path) -> None:
    """Read ``[project]`` (PEP 621), else ``[tool.poetry]``; extras and groups are not used."""
    data = tomllib.loads(text)
    lines = Lines(manifest.path, text)
    project, poetry = _table(data, "project"), _table(_table(data, "tool"), "poetry")
    if poetry and not project:
        dependencies = _table(poetry, "dependencies")
        _read_poetry(dependencies, lines, manifest)
        python = _poetry_specifier(dependencies.get("python"))
    else:
        for requirement in _strings(project.get("dependencies")):
            manifest.add(parse_requirement(requirement, lines.of(requirement)))
        python = _text(project.get("requires-python"))
    if python:
        manifest.python = Fact(python, lines.of("python", python.split(",")[0].lstrip("><=!~ ")))
    manifest.project = _text((project or poetry).get("name"))
    manifest.version = _text((project or poetry).get("version"))
    if "dependencies" in _strings(project.get("dynamic")):
        manifest.problems.append(f"{manifest.path}: dependencies are dynamic")


def _read_poetry(dependencies: Mapping[str, Any], lines: Lines, manifest: Manifest) -> None:
    for name, value in dependencies.items():
        row = value if isinstance(value, dict) else {"version": value}
        if name.lower() == "python" or row.get("optional"):
            continue
        origin = lines.of(name, "=")
        address = row.get("git") or row.get("url") or row.get("path")
        if address:
            address = f"git+{address}" if "git" in row else address
            manifest.add(parse_requirement(f"{name} @ {address}", origin))
            continue
        extras = ",".join(_strings(row.get("extras")))
        marker = f"; {row['markers']}" if "markers" in row else ""
        version = _poetry_specifier(row.get("version"))
        manifest.add(parse_requirement(f"{name}[{extras}]{version}{marker}", origin))


def _poetry_specifier(value: object) -> str:
    """Return ``^1.2`` and ``~1.2`` (python-poetry.org/docs/dependency-specification) as PEP 440 specifiers."""
    parts = []
    for part in str(value or "*").replace(" ", "").split(","):
        match = re.fullmatch(r"([\^~])(\d+(?:\.\d+)*)\w*", part)
        if match:
            parts.append(f">={part[1:]},<{_end_of_range(match[1], match[2])}")
        elif part != "*":
            parts.append(part if part[:1] in tuple("<>=!") else f"=={part}")
    return ",".join(parts)


def _end_of_range(operator: str, version: str) -> str:
    """Return the first version after ``^version``, where the first number but 0 is kept, or ``~version``."""
    numbers = [int(number) for number in version.split(".")]
    last = min(1, len(numbers) - 1)
    if operator == "^":
        last = 0
        while numbers[last] == 0 and last < len(numbers) - 1:
            last += 1
    return ".".join(map(str, [*numbers[:last], numbers[last] + 1]))


def _read_setup_cfg(text: str, manifest: Manifest, root: Path) -> None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    lines = Lines(manifest.path, text)
    # One requirement per line; within one line, ';' belongs to a marker.
    for value in map(str.strip, parser.get("options", "install_requires", fallback="").splitlines()):
        if value and not value.startswith("#"):
            manifest.add(parse_requirement(value, lines.of(value)))
    if python := parser.get("options", "python_requires", fallback=""):
        manifest.python = Fact(python, lines.of("python_requires"))
    manifest.project = parser.get("metadata", "name", fallback="")
    manifest.version = parser.get("metadata", "version", fallback="")


def _read_setup_py(text: str, manifest: Manifest, root: Path) -> None:
    """Read the arguments of the ``setup`` call, as far as they are literal; the file is not run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the repository's invalid escapes are not ours to report
        tree = ast.parse(text)
    reader = _SetupReader(tree, manifest.path)
    for requirement in reader.strings("install_requires"):
        manifest.add(parse_requirement(requirement.text, requirement.origin))
    if not reader.complete:
        _read_opened(tree, manifest, root)
    manifest.python = next(reader.strings("python_requires"), NOTHING)
    manifest.project = next(reader.strings("name"), NOTHING).text
    manifest.version = next(reader.strings("version"), NOTHING).text


def _read_opened(tree: ast.Module, manifest: Manifest, root: Path) -> None:
    """Read the requirements files that a ``setup.py`` names.

    What it computes is nearly always the content of one, whichever way it is opened.
    """
    opened: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _OPENED.match(node.value):
            opened[node.value.removeprefix("./")] = None
    present = [name for name in opened if files.is_file_inside(root, name)]
    for name in present:
        read_requirements(root, name, manifest)
    if not present:
        manifest.problems.append(f"{manifest.path}: part of install_requires is computed and was not read")


class _SetupReader:
    """Follows the arguments of ``setup`` to the strings that they stand for.

    Attributes:
        complete: whether everything that was asked for so far is literal.
    """

    def __init__(self, tree: ast.Module, path: str) -> None:
        self._path = path
        self._values: dict[str, ast.expr] = {}
        self._arguments: dict[str | None, ast.expr] = {}
        self.complete = True
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._values[node.targets[0].id] = node.value
            elif isinstance(node, ast.Call) and re.fullmatch(r"(\w+\.)?setup", ast.unparse(node.func)):
                self._arguments = self._arguments or {word.arg: word.value for word in node.keywords}

    def strings(self, argument: str) -> Iterator[Fact]:
        """Yield the strings of an argument, each with its origin."""
        if argument in self._arguments:
            yield from self._strings(self._arguments[argument], 0)

    def _strings(self, node: ast.AST, depth: int) -> Iterator[Fact]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Fact(node.value, f"{self._path}:{node.lineno}")
        elif isinstance(node, ast.Name) and node.id in self._values and depth < _DEEPEST:
            yield from self._strings(self._values[node.id], depth + 1)
        elif isinstance(node, ast.List | ast.Tuple | ast.BinOp):
            for child in ast.iter_child_nodes(node):
                yield from self._strings(child, depth)
        elif isinstance(node, ast.expr):
            self.complete = False


def _read_conda(text: str, manifest: Manifest, root: Path) -> None:
    """Read conda's ``environment.yml``: its pip part as it is, its conda part by the package index's names."""
    import yaml

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    lines = Lines(manifest.path, text)
    dependencies = data.get("dependencies") if isinstance(data, dict) else None
    for dependency in dependencies if isinstance(dependencies, list) else []:
        if isinstance(dependency, str):
            manifest.add_conda(dependency, lines.of(dependency))
        elif isinstance(dependency, dict):
            for line in _strings(dependency.get("pip")):
                _read_pip_line(line.strip(), manifest, lines, root)


def _read_pip_line(line: str, manifest: Manifest, lines: Lines, root: Path) -> None:
    if include := re.match(r"^(?:-r|--requirement)[\s=]*(\S+)$", line):
        below = posixpath.normpath(PurePosixPath(manifest.path).parent / include[1])
        read_requirements(root, below, manifest)
    else:
        manifest.add(pip_line(line, lines.of(line[:200])))


_READERS: dict[str, Callable[[str, Manifest, Path], None]] = {
    "pyproject.toml": _read_pyproject,
    "setup.cfg": _read_setup_cfg,
    "setup.py": _read_setup_py,
}


def _table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    table = data.get(key)
    return table if isinstance(table, dict) else {}


def _strings(value: object) -> list[str]:
    """Return the strings of a list; nothing else is turned into text (an alias bomb in YAML would explode)."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
