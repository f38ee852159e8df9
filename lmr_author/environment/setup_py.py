"""Read a ``setup.py`` without running it: the arguments of its ``setup`` call, as far as they are literal.

What research code commonly computes is followed: names, sums, ``list(…)``, a table of requirements that is looked
up by name (``deps["torch"]``, ``deps_list("torch")``), and the lines of a requirements file that is opened,
whatever helper does it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author import files
from lmr_author.environment.manifests import Line, make
from lmr_author.environment.python_version import of_classifiers
from lmr_author.environment.recipe import Fact, Manifest
from lmr_author.environment.requirements import read_requirements, read_text
from lmr_author.errors import LmrError
from lmr_author.source import parse
from lmr_author.texts import printable

_REQUIREMENTS = re.compile(r"^[\w./-]*req[\w.-]*\.(txt|in)$", re.I)
_DEPTH = 20
_TABLES = frozenset({"deps", "dependencies", "requirements", "dependency_versions"})


@dataclass
class _Values:
    """Strings of an expression with their lines, files that it reads, and whether that is all of it."""

    texts: list[tuple[str, int]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    complete: bool = True

    def add(self, other: _Values) -> None:
        """Join with the values of another part."""
        self.texts += other.texts
        self.opened += other.opened
        self.complete = self.complete and other.complete


def read_setup_py(root: Path, path: str) -> Manifest:
    """``install_requires``, ``python_requires``, ``name`` and extras of the ``setup`` call; not executed."""
    try:
        tree = parse(read_text(files.inside(root, path)))
    except (LmrError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Manifest(path, problems=(f"{path}: cannot be read ({printable(str(error), 100)})",))
    reader = _Reader(tree)
    keywords = _setup_keywords(tree)
    needed = reader.values(keywords.get("install_requires"))
    python = _python(reader, keywords, path)
    name = reader.values(keywords.get("name")).texts
    manifest = make(
        path,
        [(text, f"{path}:{line}") for text, line in needed.texts],
        python=python.text,
        python_origin=python.origin,
        project=name[0][0] if name else "",
        suggested=_extras(reader, keywords.get("extras_require"), path),
    )
    return _with_opened(root, manifest, needed)


def _python(reader: _Reader, keywords: dict[str, ast.expr], path: str) -> Fact:
    """``python_requires``, else the lowest version that the classifiers name."""
    demanded = reader.values(keywords.get("python_requires")).texts
    if demanded:
        return Fact(demanded[0][0], f"{path}:{demanded[0][1]}")
    listed = reader.values(keywords.get("classifiers")).texts
    return of_classifiers([(text, f"{path}:{line}") for text, line in listed])


def _setup_keywords(tree: ast.Module) -> dict[str, ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == "setup":
            keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
            if keywords:
                return keywords
    return {}


def _extras(reader: _Reader, node: ast.expr | None, path: str) -> list[Line]:
    if isinstance(node, ast.Name):
        node = reader.names.get(node.id)
    parts = list(node.values) if isinstance(node, ast.Dict) else []
    # extras = {}; extras["test"] = […]: the assignments to its items.
    parts += reader.items
    return [(text, f"{path}:{line}") for part in parts for text, line in reader.values(part).texts]


def _with_opened(root: Path, manifest: Manifest, needed: _Values) -> Manifest:
    """With what a requirements file says that install_requires is read from."""
    declared, problems, unused = list(manifest.declared), list(manifest.problems), list(manifest.unused)
    complete = needed.complete
    for name in dict.fromkeys(needed.opened):
        if (root / name).is_file():
            below = read_requirements(root, name)
            declared += below.declared
            problems += below.problems
            unused += below.unused
        else:
            complete = False
    if not complete:
        problems.append(f"{manifest.path}: part of install_requires is computed and was not read")
    return Manifest(
        manifest.path,
        tuple(declared),
        manifest.python,
        manifest.project,
        tuple(problems),
        tuple(unused),
        manifest.suggested,
        python_origin=manifest.python_origin,
    )


class _Reader:
    """Follows names through the assignments and functions of a module."""

    def __init__(self, tree: ast.Module) -> None:
        self.names: dict[str, ast.expr] = {}
        self.added: dict[str, list[ast.expr]] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.items: list[ast.expr] = []
        self.opened: dict[str, list[ast.Call]] = {}
        self.table: dict[str, tuple[str, int]] = {}
        for node in ast.walk(tree):
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.names[target.id] = node.value
                    if target.id.strip("_").lower() in _TABLES and isinstance(node.value, ast.List):
                        self._note_table(node.value)
                elif isinstance(target, ast.Subscript) and "extra" in ast.dump(target.value).lower():
                    self.items.append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            self.names[node.target.id] = node.value
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self.added.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.FunctionDef):
            self.functions[node.name] = node
        elif isinstance(node, ast.With):
            for item in node.items:
                if isinstance(item.optional_vars, ast.Name) and isinstance(item.context_expr, ast.Call):
                    self.opened.setdefault(item.optional_vars.id, []).append(item.context_expr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and node.func.attr in ("append", "extend") and node.args:
                self.added.setdefault(owner.id, []).append(node.args[0])

    def _note_table(self, node: ast.List) -> None:
        """``_deps = ["torch>=2.0", …]``: the habit of transformers and of what is derived from it."""
        for item in node.elts:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                name = re.split(r"[\s!<>=~;\[@]", item.value.strip(), maxsplit=1)[0]
                self.table[name] = (item.value, item.lineno)

    def _looked_up(self, node: ast.expr) -> list[tuple[str, int]] | None:
        """Requirements that are taken from a table by their names; None when this is something else."""
        keys: list[ast.expr] = []
        if isinstance(node, ast.Subscript):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and "dep" in _called(node).lower():
            keys = list(node.args)
        names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        found = [self.table[name] for name in names if name in self.table]
        return found if keys and len(found) == len(keys) else None

    def values(self, node: ast.expr | None, depth: int = 0) -> _Values:
        """The strings of an expression: literal, or read from a requirements file."""
        if node is None or depth > _DEPTH:
            return _Values(complete=node is None)
        if isinstance(node, ast.Constant):
            texts = [(node.value, node.lineno)] if isinstance(node.value, str) else []
            return _Values(texts, complete=bool(texts) or node.value is None)
        if isinstance(node, ast.Name) and node.id in self.names:
            return self._join([self.names[node.id], *self.added.get(node.id, ())], depth)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return self._join(node.elts, depth)
        if isinstance(node, ast.Starred):
            return self.values(node.value, depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._join([node.left, node.right], depth)
        if isinstance(node, ast.Call) and _called(node) in ("list", "sorted", "tuple", "set") and node.args:
            return self.values(node.args[0], depth + 1)
        looked_up = self._looked_up(node)
        if looked_up is not None:
            return _Values(looked_up)
        opened = list(dict.fromkeys(self._files(node, depth)))
        return _Values(opened=opened, complete=bool(opened))

    def _join(self, nodes: list[ast.expr], depth: int) -> _Values:
        joined = _Values()
        for node in nodes:
            joined.add(self.values(node, depth + 1))
        return joined

    def _files(self, node: ast.AST, depth: int) -> Iterator[str]:
        """Requirements files that are named anywhere in an expression, or in a function that it calls."""
        if depth > _DEPTH:
            return
        for below in ast.walk(node):
            if isinstance(below, ast.Constant) and isinstance(below.value, str):
                if _REQUIREMENTS.match(below.value) and not below.value.startswith("/"):
                    yield below.value.removeprefix("./")
            elif isinstance(below, ast.Name):
                for call in self.opened.get(below.id, ()):
                    yield from self._files(call, depth + 5)
                if below.id in self.names and self.names[below.id] is not node:
                    yield from self._files(self.names[below.id], depth + 5)
            elif isinstance(below, ast.Call) and _called(below) in self.functions:
                yield from self._files(self.functions[_called(below)], depth + 5)


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
