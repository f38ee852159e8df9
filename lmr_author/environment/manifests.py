"""Read what a repository declares in pyproject.toml, setup.cfg, setup.py and conda's environment.yml."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment import conda
from lmr_author.environment.recipe import Declared, Manifest, parse_requirement
from lmr_author.environment.requirements import read_text
from lmr_author.errors import LmrError
from lmr_author.processes import printable


def read_pyproject(root: Path, path: str) -> Manifest:
    """``[project]`` (PEP 621), else ``[tool.poetry]``."""
    try:
        data = tomllib.loads(read_text(files.inside(root, path)))
    except (LmrError, tomllib.TOMLDecodeError, RecursionError) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    project, poetry = _table(data, "project"), _table(_table(data, "tool"), "poetry")
    lines = [str(item) for item in _list(project.get("dependencies"))]
    python = _text(project.get("requires-python"))
    if not project and poetry:
        dependencies = _table(poetry, "dependencies")
        python = _poetry_version(dependencies.get("python"))
        lines = [_poetry(name, value) for name, value in dependencies.items() if name.lower() != "python"]
    problems = (
        [f"{path}: dependencies are dynamic"] if "dependencies" in _list(project.get("dynamic")) else []
    )
    name = _text(project.get("name")) or _text(poetry.get("name"))
    return _manifest(path, [(line, path) for line in lines if line], python, name, problems)


def read_setup_cfg(root: Path, path: str) -> Manifest:
    """``install_requires``, ``python_requires`` and ``name``."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(read_text(files.inside(root, path)))
    except (LmrError, configparser.Error) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    listed = parser.get("options", "install_requires", fallback="")
    # One requirement per line; within one line, ';' belongs to a marker.
    lines = [
        (line.strip(), path)
        for line in listed.splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]
    python = parser.get("options", "python_requires", fallback="")
    return _manifest(path, lines, python, parser.get("metadata", "name", fallback=""))


def read_setup_py(root: Path, path: str) -> Manifest:
    """Literal ``install_requires``, ``python_requires`` and ``name`` of the ``setup`` call; not executed."""
    try:
        tree = ast.parse(read_text(files.inside(root, path)))
    except (LmrError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    names = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    call = next(
        (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) == "setup"), None
    )
    if call is None:
        return Manifest(path)
    keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    problems, lines = [], []
    if "install_requires" in keywords:
        items, complete = _strings(keywords["install_requires"], names)
        lines = [(text, f"{path}:{line}") for text, line in items]
        if not complete:
            problems.append(f"{path}: part of install_requires is computed and was not read")
    python, _ = _strings(keywords.get("python_requires"), names)
    name, _ = _strings(keywords.get("name"), names)
    return _manifest(path, lines, python[0][0] if python else "", name[0][0] if name else "", problems)


def read_environment(root: Path, path: str) -> Manifest:
    """Conda's ``environment.yml``: its pip part as it is, its conda part by the package index's names."""
    import yaml

    try:
        data = yaml.safe_load(read_text(files.inside(root, path)))
    except (LmrError, yaml.YAMLError, RecursionError, ValueError) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    lines: list[tuple[str, str]] = []
    problems: list[str] = []
    python = ""
    for item in _list(data.get("dependencies")) if isinstance(data, dict) else []:
        if isinstance(item, dict):
            for line in _list(item.get("pip")):
                text = str(line).strip()
                if text.startswith("-"):
                    problems.append(f"{path}: not used, an option: {printable(text, 120)}")
                else:
                    lines.append((text, f"{path}, pip"))
        elif isinstance(item, str):
            name, text = conda.requirement(item)
            if name == "python":
                python = text
            elif text:
                lines.append((text, f"{path}, conda"))
    return _manifest(path, lines, python, "", problems)


def _manifest(
    path: str, lines: Iterable[tuple[str, str]], python: str, name: str, problems: Iterable[str] = ()
) -> Manifest:
    declared: list[Declared] = []
    found = list(problems)
    for text, origin in lines:
        parsed = parse_requirement(text, origin)
        if isinstance(parsed, str):
            found.append(parsed)
        else:
            declared.append(parsed)
    try:
        SpecifierSet(python)
    except InvalidSpecifier:
        found.append(f"{path}: the Python version {printable(python, 60)} cannot be read")
        python = ""
    own = canonicalize_name(name) if re.fullmatch(r"[A-Za-z0-9][\w.-]*", name) else ""
    return Manifest(path, tuple(declared), python, own, tuple(found))


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _strings(
    node: ast.expr | None, names: Mapping[str, ast.expr], depth: int = 0
) -> tuple[list[tuple[str, int]], bool]:
    """The literal strings of an expression with their lines, and whether there is nothing else in it."""
    if node is None or depth > 20:
        return [], node is None
    if isinstance(node, ast.Constant):
        return (
            ([(node.value, node.lineno)], True) if isinstance(node.value, str) else ([], node.value is None)
        )
    if isinstance(node, ast.Name) and node.id in names:
        return _strings(names[node.id], names, depth + 1)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        parts = [_strings(item, names, depth + 1) for item in node.elts]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_strings(side, names, depth + 1) for side in (node.left, node.right)]
    else:
        return [], False
    return [item for found, _ in parts for item in found], all(complete for _, complete in parts)


def _poetry(name: str, value: object) -> str:
    """A dependency of poetry in PEP 508 form; "" when it is optional; an address stays one."""
    if isinstance(value, dict):
        if value.get("optional"):
            return ""
        for kind in ("git", "url", "path"):
            if kind in value:
                return f"{name} @ {value[kind]}"
        extras = ",".join(str(extra) for extra in _list(value.get("extras")))
        return f"{name}{f'[{extras}]' if extras else ''}{_poetry_version(value.get('version'))}"
    return f"{name}{_poetry_version(value)}"


def _poetry_version(value: object) -> str:
    """``^1.2`` and ``~1.2`` (python-poetry.org/docs/dependency-specification) as PEP 440 specifiers."""
    parts = []
    for part in str(value or "*").split(","):
        part = part.strip()
        match = re.fullmatch(r"([\^~]?)\s*(\d+(?:\.\d+)*)", part)
        if part in ("", "*"):
            continue
        if match is None:
            parts.append(part)
        elif match[1] == "":
            parts.append(f"=={match[2]}")
        else:
            parts.append(f">={match[2]},<{_next(match[2], caret=match[1] == '^')}")
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


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
