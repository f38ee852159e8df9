"""Read what a repository declares in pyproject.toml, setup.cfg, setup.py, conda files and lock files."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment.recipe import Declared, Fact, Manifest, Unused, has_version
from lmr_author.environment.requirements import (
    MAX_BYTES,
    conda_requirement,
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
NOTHING = Fact("", "")
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

    def each(self, values: object) -> list[Line]:
        """Return the strings of a list, each with its origin."""
        return [(text, self.of(text)) for text in _strings(values)]


def read_manifest(root: Path, path: str) -> Manifest:
    """Read a file by its name; one that cannot be read is a problem, and declares nothing."""
    name = PurePosixPath(path).name
    reader = _READERS.get(name, _conda if name.endswith((".yml", ".yaml")) else _toml_lock)
    try:
        text = read_text(files.inside(root, path), _LOCK_BYTES if name.endswith(".lock") else MAX_BYTES)
        return reader(text, path, root)
    except (
        LmrError,
        ValueError,
        TypeError,
        AttributeError,
        SyntaxError,
        configparser.Error,
        RecursionError,
    ) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))


def _manifest(
    path: str,
    lines: Iterable[Line],
    python: Fact = NOTHING,
    project: str = "",
    constraints: Iterable[Line] = (),
    problems: tuple[str, ...] = (),
) -> Manifest:
    def read(lines: Iterable[Line]) -> list[Declared | Unused]:
        return [parse_requirement(text, origin) for text, origin in lines]

    needed = read(lines)
    return Manifest(
        path,
        tuple(item for item in needed if isinstance(item, Declared)),
        python.text,
        canonicalize_name(project) if re.fullmatch(r"[A-Za-z0-9][\w.-]*", project) else "",
        problems,
        tuple(item for item in needed if isinstance(item, Unused)),
        constraints=tuple(item for item in read(constraints) if isinstance(item, Declared)),
        python_origin=python.origin or (path if python.text else ""),
    )


def _pyproject(text: str, path: str, root: Path) -> Manifest:
    """Read ``[project]`` (PEP 621), else ``[tool.poetry]``; extras and groups are not used."""
    data = tomllib.loads(text)
    lines = Lines(path, text)
    project, poetry = _table(data, "project"), _table(data, "tool", "poetry")
    if poetry and not project:
        dependencies = _table(poetry, "dependencies")
        needed = _poetry_lines(dependencies, lines)
        python = _poetry_specifier(dependencies.get("python"))
    else:
        needed = lines.each(project.get("dependencies"))
        python = _text(project.get("requires-python"))
    name = _text((project or poetry).get("name"))
    asked = Fact(python, lines.of("python", python.split(",")[0].lstrip("><=!~ "))) if python else NOTHING
    dynamic = "dependencies" in _strings(project.get("dynamic"))
    problems = (f"{path}: dependencies are dynamic",) if dynamic else ()
    made = _manifest(path, needed, asked, name, problems=problems)
    return replace(made, version=_text((project or poetry).get("version")))


def _poetry_lines(table: Mapping[str, Any], lines: Lines) -> list[Line]:
    """Dependencies of poetry in PEP 508 form: none for an optional one."""
    found = []
    for name, values in table.items():
        for value in values if isinstance(values, list) else [values]:
            row = value if isinstance(value, dict) else {"version": value}
            if name.lower() == "python" or row.get("optional"):
                continue
            origin = lines.of(name, "=")
            marker = _text(row.get("markers"))
            text = f"{name}{_extras(row)}{_poetry_specifier(row.get('version'))}{marker and f'; {marker}'}"
            found.append((_elsewhere(name, row) or text, origin))
    return found


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


def _setup_cfg(text: str, path: str, root: Path) -> Manifest:
    """Read ``install_requires``, ``python_requires`` and ``name``."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    lines = Lines(path, text)

    # One requirement per line; within one line, ';' belongs to a marker.
    values = map(str.strip, parser.get("options", "install_requires", fallback="").splitlines())
    needed = lines.each([value for value in values if value and not value.startswith("#")])
    python = parser.get("options", "python_requires", fallback="")
    asked = Fact(python, lines.of("python_requires")) if python else NOTHING
    made = _manifest(path, needed, asked, parser.get("metadata", "name", fallback=""))
    return replace(made, version=parser.get("metadata", "version", fallback=""))


def _setup_py(text: str, path: str, root: Path) -> Manifest:
    """Read the arguments of the ``setup`` call, as far as they are literal; the file is not run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the repository's invalid escapes are not ours to report
        tree = ast.parse(text)
    reader = _SetupReader(tree, path)
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.keywords)
    call = next((node for node in calls if dotted_name(node.func).rpartition(".")[2] == "setup"), None)
    keywords = {word.arg: word.value for word in call.keywords} if call else {}
    needed = reader.lines(keywords.get("install_requires"))
    complete = reader.complete
    name = reader.lines(keywords.get("name"))
    demanded = reader.lines(keywords.get("python_requires"))
    python = Fact(*demanded[0]) if demanded else NOTHING
    version = reader.lines(keywords.get("version"))
    made = _manifest(path, needed, python, name[0][0] if name else "")
    made = replace(made, version=version[0][0] if version else "")
    if complete:
        return made
    # What is computed is nearly always the content of a requirements file, whichever way it is opened.
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    names = (
        value.removeprefix("./") for value in constants if isinstance(value, str) and _OPENED.match(value)
    )
    opened = [read_requirements(root, one) for one in dict.fromkeys(names) if files.is_file_inside(root, one)]
    if opened:
        return _with(made, opened)
    problem = f"{path}: part of install_requires is computed and was not read"
    return replace(made, problems=(*made.problems, problem))


def _with(manifest: Manifest, others: Iterable[Manifest]) -> Manifest:
    """Return a manifest with what other files declare that it includes."""
    for other in others:
        manifest = replace(
            manifest,
            declared=(*manifest.declared, *other.declared),
            unused=(*manifest.unused, *other.unused),
            problems=(*manifest.problems, *other.problems),
            constraints=(*manifest.constraints, *other.constraints),
        )
    return manifest


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
                    elif isinstance(target, ast.Subscript):  # extras["dev"] = …
                        self._names.setdefault(dotted_name(target.value), []).append(node.value)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self._names.setdefault(node.target.id, []).append(node.value)
            elif isinstance(node, ast.Call) and node.args:
                owner, _, method = dotted_name(node.func).rpartition(".")
                if owner and method in ("append", "extend"):
                    self._names.setdefault(owner, []).append(node.args[0])

    def lines(self, node: ast.expr | None, depth: int = 0) -> list[Line]:
        """Return the strings of an expression, each with its origin."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [(node.value, f"{self._path}:{node.lineno}")]
        parts: list[ast.expr] | None = None
        if isinstance(node, ast.Name):
            parts = self._names.get(node.id)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            parts = node.elts
        elif isinstance(node, ast.Dict):
            parts = node.values
        elif isinstance(node, ast.Starred):
            parts = [node.value]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call) and dotted_name(node.func) in ("list", "sorted", "tuple", "set"):
            parts = node.args[:1]
        if parts is None or depth > 20:
            self.complete = self.complete and (node is None or isinstance(node, ast.Constant))
            return []
        return [line for part in parts for line in self.lines(part, depth + 1)]


def _conda(text: str, path: str, root: Path) -> Manifest:
    """Read conda's ``environment.yml``: its pip part as it is, its conda part by the package index's names."""
    import yaml

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    lines = Lines(path, text)
    needed: list[Line] = []
    pip: list[Declared | Unused] = []
    included: list[Manifest] = []
    python = NOTHING
    dependencies = data.get("dependencies") if isinstance(data, dict) else None
    for item in dependencies if isinstance(dependencies, list) else []:
        for line in map(str.strip, _strings(item.get("pip")) if isinstance(item, dict) else []):
            if include := re.match(r"^(?:-r|--requirement)[\s=]*(\S+)$", line):
                below = normal_path(str(PurePosixPath(path).parent / include[1]))
                included.append(read_requirements(root, below))
            else:
                pip.append(pip_line(line, lines.of(line[:200])))
        if isinstance(item, str):
            name, requirement = conda_requirement(item)
            if name == "python":
                python = Fact(requirement, lines.of(item))
            elif requirement:
                needed.append((requirement, lines.of(item)))
    found = _manifest(path, needed, python)
    declared = [replace(item, mentioned=has_version(item)) for item in found.declared]
    own = replace(
        found,
        declared=(*declared, *(item for item in pip if isinstance(item, Declared))),
        unused=(*found.unused, *(item for item in pip if isinstance(item, Unused))),
    )
    return _with(own, included)


def _toml_lock(text: str, path: str, root: Path) -> Manifest:
    """Read the versions of poetry.lock, uv.lock or pdm.lock; a package in several versions gives no constraint."""
    starts = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == "[[package]]"]
    versions: dict[str, list[Line]] = {}
    for start, package in zip(starts, tomllib.loads(text).get("package", []), strict=False):
        source = package.get("source") or {}
        # The project itself, a repository or a folder is none of the index's packages.
        elsewhere = source.get("type") not in (None, "legacy") or {
            "git",
            "editable",
            "virtual",
            "path",
        } & set(source)
        if isinstance(package.get("version"), str) and not elsewhere:
            versions.setdefault(str(package.get("name")), []).append((package["version"], f"{path}:{start}"))
    lines = [
        (f"{name}=={found[0][0].partition('+')[0]}", found[0][1])
        for name, found in versions.items()
        if len({version for version, _ in found}) == 1
    ]
    return _manifest(path, (), constraints=lines)


def _python_version(text: str, path: str, root: Path) -> Manifest:
    """Read ``.python-version`` (pyenv, uv) or ``runtime.txt`` (``python-3.8.10``)."""
    match = re.search(r"^\s*(?:cpython-|python-)?(3\.\d+)(?:\.\d+)?\s*$", text, re.M)
    return _manifest(path, (), Fact(f"=={match[1]}.*", f"{path}:1") if match else NOTHING)


_READERS: dict[str, Callable[[str, str, Path], Manifest]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    ".python-version": _python_version,
    "runtime.txt": _python_version,
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


def _extras(row: Mapping[str, Any]) -> str:
    names = ",".join(_strings(row.get("extras")))
    return f"[{names}]" if names else ""


def _elsewhere(name: str, row: Mapping[str, Any]) -> str:
    """A requirement by its address or path; "" for one of the index."""
    kind = next((kind for kind in ("git", "url", "path", "file") if kind in row), "")
    prefix = "git+" if kind == "git" and not str(row[kind]).startswith("git+") else ""
    return f"{name} @ {prefix}{row[kind]}" if kind else ""
