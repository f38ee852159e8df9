"""Which file of a repository defines a name: imports followed by reading, nothing is ever imported."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lmr_author import source

MAX_BYTES = 2 * 1024 * 1024
"""Larger files are data; nothing is looked for in them."""

MAX_DEPTH = 10
"""Imports followed from one file to the next."""

SOURCE_FOLDERS = ("", "src", "lib", "python")
"""Folders that a repository's packages lie in, as a rule."""


@dataclass(frozen=True)
class Found:
    """Where a name is defined.

    Attributes:
        path: file, relative to the repository.
        name: the defined name; "" when a module itself is meant.
        node: the statement that binds it; None for a module.
    """

    path: str
    name: str = ""
    node: ast.stmt | None = None

    @property
    def kind(self) -> str:
        """``module``, ``class``, ``function`` or ``variable``."""
        if self.node is None:
            return "module"
        if isinstance(self.node, ast.ClassDef):
            return "class"
        return "function" if isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef) else "variable"


class Imports:
    """The files of a repository as its imports see them; each is read at most once."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._bound: dict[str, dict[str, ast.stmt]] = {}
        self._exists: dict[str, bool] = {}

    def bindings(self, path: str) -> dict[str, ast.stmt]:
        """What a file binds at its top level, under ``if`` and ``try`` too. Empty when it cannot be read.

        ``from x import *`` is found under ``*1``, ``*2``…
        """
        if path not in self._bound:
            self._bound[path] = bindings(self._parse(path))
        return self._bound[path]

    def roots(self, path: str) -> list[str]:
        """Folders that absolute imports of a file may start from, the likeliest first.

        Those of a package come last: only a script that is run by its path imports from there.
        """
        folders = ["" if str(item) == "." else str(item) for item in PurePosixPath(path).parents]
        packages = [item for item in folders if item and self._is_file(f"{item}/__init__.py")]
        plain = [item for item in folders if item not in packages]
        return list(dict.fromkeys([*plain, *SOURCE_FOLDERS, *packages]))

    def module(self, dotted: str, level: int, path: str) -> str | None:
        """The file of a module that ``path`` imports; a folder without ``__init__.py`` is given as ``name/``.

        None when it is not the repository's: standard library, third-party, missing.
        """
        inner = dotted.replace(".", "/")
        if level:
            base = PurePosixPath(path).parent
            for _ in range(level - 1):
                base = base.parent
            return self._at("" if str(base) == "." else str(base), inner)
        standard = dotted.partition(".")[0] in sys.stdlib_module_names
        for root in self.roots(path):
            if standard and root and self._is_file(f"{root}/__init__.py"):
                continue
            if found := self._at(root, inner):
                return found
        return None

    def member(self, module: str, name: str, depth: int = MAX_DEPTH) -> Found | None:
        """What ``module.name`` is: a definition, followed through re-exports, or a submodule."""
        if module.endswith("/"):
            below = self._at(module.rstrip("/"), name)
            return Found(below) if below else None
        bound = self.bindings(module)
        if name in bound and depth:
            found = self._follow(module, name, bound[name], depth - 1)
            if found is not None:
                return found
        for star in (node for key, node in bound.items() if key.startswith("*")):
            assert isinstance(star, ast.ImportFrom)
            origin = self.module(star.module or "", star.level, module)
            if origin and depth and (found := self.member(origin, name, depth - 1)):
                return found
        if module.rpartition("/")[2] == "__init__.py":
            below = self._at(module.rpartition("/")[0], name)
            return Found(below) if below else None
        return None

    def chain(self, parts: Sequence[str], path: str, bound: dict[str, ast.stmt]) -> Found | None:
        """What a dotted name means in a file; for ``Class.attribute`` the class.

        Args:
            parts: ``["utils", "pad"]``.
            path: the file it is written in.
            bound: what its names are bound to there.
        """
        if not parts:
            return None
        node = bound.get(parts[0])
        here = self._follow(path, parts[0], node, MAX_DEPTH) if node is not None else None
        if here is None and node is None:
            here = self.member(path, parts[0])
        rest = list(parts[1:])
        while here is not None and here.node is None and rest:
            here = self.member(here.path, rest.pop(0))
        return here

    def is_foreign(self, name: str, path: str, bound: dict[str, ast.stmt]) -> bool:
        """Whether a name is imported from outside of the repository."""
        node = bound.get(name)
        return isinstance(node, ast.Import | ast.ImportFrom) and self.chain([name], path, bound) is None

    def _follow(self, path: str, name: str, node: ast.stmt | None, depth: int) -> Found | None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname == name:
                    target = self.module(alias.name, 0, path)
                    return Found(target) if target else None
                if alias.asname is None and alias.name.partition(".")[0] == name:
                    target = self.module(name, 0, path)
                    return Found(target) if target else None
            return None
        if isinstance(node, ast.ImportFrom):
            original = next((item.name for item in node.names if (item.asname or item.name) == name), name)
            target = self.module(node.module or "", node.level, path)
            return self.member(target, original, depth) if target else None
        return Found(path, name, node) if node is not None else None

    def _at(self, root: str, inner: str) -> str | None:
        start = f"{root}/{inner}".strip("/")
        for candidate in ([f"{start}.py"] if inner else []) + [f"{start}/__init__.py".lstrip("/")]:
            if self._is_file(candidate):
                return candidate
        return f"{start}/" if start and self._is_folder(start) else None

    def _is_file(self, relative: str) -> bool:
        if relative not in self._exists:
            path = self._repository / relative
            self._exists[relative] = path.is_file() and not _through_a_link(self._repository, relative)
        return self._exists[relative]

    def _is_folder(self, relative: str) -> bool:
        path = self._repository / relative
        return path.is_dir() and not _through_a_link(self._repository, relative)

    def _parse(self, path: str) -> ast.AST:
        file = self._repository / path
        try:
            if not self._is_file(path) or file.stat().st_size > MAX_BYTES:
                return ast.Module([], [])
            return source.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])


def bindings(tree: ast.AST) -> dict[str, ast.stmt]:
    """The statement that binds each name of a module, function or class body; the first one wins."""
    found: dict[str, ast.stmt] = {}
    stack: list[ast.AST] = [tree]
    while stack:
        for node in ast.iter_child_nodes(stack.pop(0)):
            for name in _names(node):
                assert isinstance(node, ast.stmt)
                found.setdefault(name if name != "*" else f"*{len(found)}", node)
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
                stack.append(node)
    return found


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return source.bound_by(node)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)]
    return []


def _through_a_link(repository: Path, relative: str) -> bool:
    path = repository
    for part in PurePosixPath(relative).parts:
        path = path / part
        if path.is_symlink():
            return True
    return False
