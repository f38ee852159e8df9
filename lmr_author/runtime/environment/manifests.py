"""Read what a repository declares in pyproject.toml, setup.cfg, setup.py, conda files and lock files."""

from __future__ import annotations

import ast
import configparser
import posixpath
import re
import tomllib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.utils import canonicalize_name

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.needs import NOTHING, Declared, Fact, has_version
from lmr_author.runtime.environment.requirements import (
    MAX_BYTES,
    Manifest,
    conda_requirement,
    parse_requirement,
    pip_line,
    read_requirements,
    read_text,
)

_LOCK_BYTES = 32 * 1024 * 1024
"""The lock file of a large project with all its hashes has a few megabytes."""
_OPENED = re.compile(r"^(\./)?[\w./-]*req[\w.-]*\.(txt|in)$", re.I)
"""A requirements file that a ``setup.py`` opens."""


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
    name = PurePosixPath(path).name
    reader = _READERS.get(name, _read_conda if name.endswith((".yml", ".yaml")) else _read_lock)
    found = Manifest(path)
    try:
        text = read_text(files.inside(root, path), _LOCK_BYTES if name.endswith(".lock") else MAX_BYTES)
        reader(text, found, root)
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
    named = re.fullmatch(r"[A-Za-z0-9][\w.-]*", found.project)
    found.project = canonicalize_name(found.project) if named else ""
    return found


def _read_pyproject(text: str, found: Manifest, root: Path) -> None:
    """Read ``[project]`` (PEP 621), else ``[tool.poetry]``; extras and groups are not used."""
    data = tomllib.loads(text)
    lines = Lines(found.path, text)
    project, poetry = _table(data, "project"), _table(data, "tool", "poetry")
    if poetry and not project:
        dependencies = _table(poetry, "dependencies")
        _read_poetry(dependencies, lines, found)
        python = _poetry_specifier(dependencies.get("python"))
    else:
        for item in _strings(project.get("dependencies")):
            found.add(parse_requirement(item, lines.of(item)))
        python = _text(project.get("requires-python"))
    if python:
        found.python = Fact(python, lines.of("python", python.split(",")[0].lstrip("><=!~ ")))
    found.project = _text((project or poetry).get("name"))
    found.version = _text((project or poetry).get("version"))
    if "dependencies" in _strings(project.get("dynamic")):
        found.problems.append(f"{found.path}: dependencies are dynamic")


def _read_poetry(table: Mapping[str, Any], lines: Lines, found: Manifest) -> None:
    """Read dependencies of poetry, but for optional ones."""
    for name, values in table.items():
        for value in values if isinstance(values, list) else [values]:
            row = value if isinstance(value, dict) else {"version": value}
            if name.lower() == "python" or row.get("optional"):
                continue
            kind = next((kind for kind in ("git", "url", "path", "file") if kind in row), "")
            if kind:
                prefix = "git+" if kind == "git" and not str(row[kind]).startswith("git+") else ""
                text = f"{name} @ {prefix}{row[kind]}"
            else:
                extras = f"[{','.join(_strings(row.get('extras')))}]".removeprefix("[]")
                marker = _text(row.get("markers"))
                text = f"{name}{extras}{_poetry_specifier(row.get('version'))}{marker and f'; {marker}'}"
            found.add(parse_requirement(text, lines.of(name, "=")))


def _poetry_specifier(value: object) -> str:
    """``^1.2`` and ``~1.2`` (python-poetry.org/docs/dependency-specification) as PEP 440 specifiers."""
    parts = []
    for part in str(value or "*").partition("||")[0].split(","):
        part = part.strip()
        match = re.fullmatch(r"([\^~]?)\s*(\d+(?:\.\d+)*)([a-z]+\d*)?", part)
        if part in ("", "*"):
            continue
        if match is None:
            parts.append(re.sub(r"^=(?!=)", "==", part))
        elif not match[1]:
            parts.append(f"=={match[2]}{match[3] or ''}")
        else:
            numbers = [int(number) for number in match[2].split(".")]
            first = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1)
            place = first if match[1] == "^" else min(1, len(numbers) - 1)
            end = ".".join(map(str, [*numbers[:place], numbers[place] + 1]))
            parts.append(f">={match[2]}{match[3] or ''},<{end}")
    return ",".join(parts)


def _read_setup_cfg(text: str, found: Manifest, root: Path) -> None:
    """Read ``install_requires``, ``python_requires``, ``name`` and ``version``."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    lines = Lines(found.path, text)
    # One requirement per line; within one line, ';' belongs to a marker.
    for value in map(str.strip, parser.get("options", "install_requires", fallback="").splitlines()):
        if value and not value.startswith("#"):
            found.add(parse_requirement(value, lines.of(value)))
    if python := parser.get("options", "python_requires", fallback=""):
        found.python = Fact(python, lines.of("python_requires"))
    found.project = parser.get("metadata", "name", fallback="")
    found.version = parser.get("metadata", "version", fallback="")


def _read_setup_py(text: str, found: Manifest, root: Path) -> None:
    """Read the arguments of the ``setup`` call, as far as they are literal; the file is not run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the repository's invalid escapes are not ours to report
        tree = ast.parse(text)
    reader = _SetupReader(tree, found.path)
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.keywords)
    call = next((node for node in calls if dotted_name(node.func).rpartition(".")[2] == "setup"), None)
    keywords = {word.arg: word.value for word in call.keywords} if call else {}
    for item in reader.strings(keywords.get("install_requires")):
        found.add(parse_requirement(item.text, item.origin))
    complete = reader.complete
    found.python = (reader.strings(keywords.get("python_requires")) or [NOTHING])[0]
    found.project = (reader.strings(keywords.get("name")) or [NOTHING])[0].text
    found.version = (reader.strings(keywords.get("version")) or [NOTHING])[0].text
    if complete:
        return
    # What is computed is nearly always the content of a requirements file, whichever way it is opened.
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    names = [text.removeprefix("./") for text in constants if isinstance(text, str) and _OPENED.match(text)]
    opened = [name for name in dict.fromkeys(names) if files.is_file_inside(root, name)]
    for name in opened:
        read_requirements(root, name, found)
    if not opened:
        found.problems.append(f"{found.path}: part of install_requires is computed and was not read")


def dotted_name(node: ast.expr) -> str:
    """Return ``a.b.c`` of an expression, or its last attributes where it begins with something else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id] if isinstance(node, ast.Name) else parts))


class _SetupReader:
    """Follows names of a ``setup.py`` to the strings that they stand for.

    Attributes:
        complete: whether everything that was asked for so far is literal.
    """

    def __init__(self, tree: ast.Module, path: str) -> None:
        self._path = path
        self._names: dict[str, list[ast.expr]] = {}
        self.complete = True
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        self._names[target.id] = [node.value]
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self._names.setdefault(node.target.id, []).append(node.value)
            elif isinstance(node, ast.Call) and node.args:
                owner, _, method = dotted_name(node.func).rpartition(".")
                if owner and method in ("append", "extend"):
                    self._names.setdefault(owner, []).append(node.args[0])

    def strings(self, node: ast.expr | None, depth: int = 0) -> list[Fact]:
        """Return the strings of an expression, each with its origin."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [Fact(node.value, f"{self._path}:{node.lineno}")]
        parts: list[ast.expr] | None = None
        if isinstance(node, ast.Name):
            parts = self._names.get(node.id)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            parts = node.elts
        elif isinstance(node, ast.Starred):
            parts = [node.value]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call) and dotted_name(node.func) in ("list", "sorted", "tuple", "set"):
            parts = node.args[:1]
        if parts is None or depth > 20:
            self.complete = self.complete and (node is None or isinstance(node, ast.Constant))
            return []
        return [item for part in parts for item in self.strings(part, depth + 1)]


def _read_conda(text: str, found: Manifest, root: Path) -> None:
    """Read conda's ``environment.yml``: its pip part as it is, its conda part by the package index's names."""
    import yaml

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    lines = Lines(found.path, text)
    dependencies = data.get("dependencies") if isinstance(data, dict) else None
    for item in dependencies if isinstance(dependencies, list) else []:
        if isinstance(item, str):
            name, requirement = conda_requirement(item)
            if name == "python" and requirement:
                found.python = Fact(requirement, lines.of(item))
            elif requirement:
                parsed = parse_requirement(requirement, lines.of(item))
                if isinstance(parsed, Declared):
                    parsed = replace(parsed, mentioned=has_version(parsed))
                found.add(parsed)
        for line in map(str.strip, _strings(item.get("pip")) if isinstance(item, dict) else []):
            if include := re.match(r"^(?:-r|--requirement)[\s=]*(\S+)$", line):
                below = posixpath.normpath(PurePosixPath(found.path).parent / include[1])
                read_requirements(root, below, found)
            else:
                found.add(pip_line(line, lines.of(line[:200])))


def _read_lock(text: str, found: Manifest, root: Path) -> None:
    """Read the versions of poetry.lock, uv.lock or pdm.lock; a package in several versions gives no constraint."""
    starts = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[package]]"]
    versions: dict[str, list[Fact]] = {}
    for start, package in zip(starts, tomllib.loads(text).get("package", []), strict=False):
        source, version = package.get("source") or {}, package.get("version")
        # The project itself, a repository or a folder is none of the index's packages.
        elsewhere = {"git", "editable", "virtual", "path"} & set(source)
        if source.get("type") in (None, "legacy") and not elsewhere and isinstance(version, str):
            fact = Fact(version.partition("+")[0], f"{found.path}:{start}")
            versions.setdefault(str(package.get("name")), []).append(fact)
    for name, facts in versions.items():
        item = parse_requirement(f"{name}=={facts[0].text}", facts[0].origin)
        if isinstance(item, Declared) and len({fact.text for fact in facts}) == 1:
            found.constraints.append(item)


def _read_python_version(text: str, found: Manifest, root: Path) -> None:
    """Read ``.python-version`` (pyenv, uv) or ``runtime.txt`` (``python-3.8.10``)."""
    if match := re.search(r"^\s*(?:cpython-|python-)?(3\.\d+)(?:\.\d+)?\s*$", text, re.M):
        found.python = Fact(f"=={match[1]}.*", f"{found.path}:1")


_READERS: dict[str, Callable[[str, Manifest, Path], None]] = {
    "pyproject.toml": _read_pyproject,
    "setup.cfg": _read_setup_cfg,
    "setup.py": _read_setup_py,
    ".python-version": _read_python_version,
    "runtime.txt": _read_python_version,
}


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
