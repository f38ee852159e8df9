"""Read a ``setup.py`` without running it: the arguments of its ``setup`` call, as far as they are literal.

The habits of research code are followed: names, sums, ``list(…)``, a table of requirements that is looked up by name
(``deps["torch"]``, ``deps_list("torch")``), and the lines of a requirements file, whatever helper opens it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from lmr_author import files
from lmr_author.environment.code import parse_quietly
from lmr_author.environment.manifests import classified_python, make, unreadable
from lmr_author.environment.recipe import Fact, Manifest
from lmr_author.environment.requirements import read_requirements, read_text
from lmr_author.errors import LmrError

_REQUIREMENTS = re.compile(r"^[\w./-]*req[\w.-]*\.(txt|in)$", re.I)
_DEPTH = 20
_TABLES = frozenset({"deps", "dependencies", "requirements", "dependency_versions"})


@dataclass
class _Values:
    """Strings of an expression with their lines, files that it reads, and whether that is all of it."""

    texts: list[tuple[str, int]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    complete: bool = True


def read_setup_py(root: Path, path: str) -> Manifest:
    """Read ``install_requires``, ``python_requires``, ``name`` and extras of the ``setup`` call."""
    try:
        tree = parse_quietly(read_text(files.inside(root, path)))
    except (LmrError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return unreadable(path, error)
    reader = _Reader(tree)
    keywords = _setup_keywords(tree)

    def lines(values: _Values) -> list[tuple[str, str]]:
        return [(text, f"{path}:{line}") for text, line in values.texts]

    needed = reader.values(keywords.get("install_requires"))
    demanded = lines(reader.values(keywords.get("python_requires")))
    python = (
        Fact(*demanded[0])
        if demanded
        else classified_python(lines(reader.values(keywords.get("classifiers"))))
    )
    name = reader.values(keywords.get("name")).texts
    extras = reader.extras(keywords.get("extras_require"))
    made = make(
        path, lines(needed), python=python, project=name[0][0] if name else "",
        suggested=[line for part in extras for line in lines(reader.values(part))],
    )  # fmt: skip
    opened = [read_requirements(root, one) for one in dict.fromkeys(needed.opened) if (root / one).is_file()]
    problems = [*made.problems, *(item for below in opened for item in below.problems)]
    if not needed.complete or len(opened) < len(set(needed.opened)):
        problems.append(f"{path}: part of install_requires is computed and was not read")
    return replace(
        made,
        declared=(*made.declared, *(item for below in opened for item in below.declared)),
        unused=(*made.unused, *(item for below in opened for item in below.unused)),
        problems=tuple(problems),
    )


def _setup_keywords(tree: ast.Module) -> dict[str, ast.expr]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and _called(node) == "setup"
            and any(word.arg for word in node.keywords)
        ):
            return {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    return {}


class _Reader:
    """Follows names through the assignments and functions of a module."""

    def __init__(self, tree: ast.Module) -> None:
        self.names: dict[str, list[ast.expr]] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.extra_items: list[ast.expr] = []
        self.opened: dict[str, list[ast.expr]] = {}
        self.table: dict[str, tuple[str, int]] = {}
        for node in ast.walk(tree):
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    self.names[target.id] = [node.value]
                    if target.id.strip("_").lower() in _TABLES and isinstance(node.value, ast.List):
                        self._note_table(node.value)
                elif isinstance(target, ast.Subscript) and "extra" in ast.dump(target.value).lower():
                    self.extra_items.append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self.names.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.FunctionDef):
            self.functions[node.name] = node
        elif isinstance(node, ast.With):
            for item in node.items:
                if isinstance(item.optional_vars, ast.Name):
                    self.opened.setdefault(item.optional_vars.id, []).append(item.context_expr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            owner = node.func.value
            if isinstance(owner, ast.Name) and node.func.attr in ("append", "extend"):
                self.names.setdefault(owner.id, []).append(node.args[0])

    def _note_table(self, node: ast.List) -> None:
        """``_deps = ["torch>=2.0", …]``: the habit of transformers and of what is derived from it."""
        for item in node.elts:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                name = re.split(r"[\s!<>=~;\[@]", item.value.strip(), maxsplit=1)[0]
                self.table[name] = (item.value, item.lineno)

    def extras(self, node: ast.expr | None) -> list[ast.expr]:
        """Return the lists of ``extras_require``, also those assigned item by item."""
        if isinstance(node, ast.Name):
            node = self.names.get(node.id, [None])[0]
        return [*(node.values if isinstance(node, ast.Dict) else []), *self.extra_items]

    def values(self, node: ast.expr | None, depth: int = 0) -> _Values:
        """Return the strings of an expression: literal, or read from a requirements file."""
        if node is None or depth > _DEPTH:
            return _Values(complete=node is None)
        if isinstance(node, ast.Constant):
            texts = [(node.value, node.lineno)] if isinstance(node.value, str) else []
            return _Values(texts, complete=bool(texts) or node.value is None)
        parts: list[ast.expr] | None = None
        if isinstance(node, ast.Name) and node.id in self.names:
            parts = self.names[node.id]
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            parts = node.elts
        elif isinstance(node, ast.Starred):
            parts = [node.value]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call) and _called(node) in ("list", "sorted", "tuple", "set") and node.args:
            parts = node.args[:1]
        if parts is not None:
            joined = _Values()
            for part in parts:
                below = self.values(part, depth + 1)
                joined.texts += below.texts
                joined.opened += below.opened
                joined.complete = joined.complete and below.complete
            return joined
        if looked_up := self._looked_up(node):
            return _Values(looked_up)
        opened = list(dict.fromkeys(self._files(node, depth)))
        return _Values(opened=opened, complete=bool(opened))

    def _looked_up(self, node: ast.expr) -> list[tuple[str, int]]:
        """Requirements that are taken from a table by their names; [] when this is something else."""
        keys: list[ast.expr] = []
        if isinstance(node, ast.Subscript):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and "dep" in _called(node).lower():
            keys = list(node.args)
        found = [
            self.table[key.value] for key in keys if isinstance(key, ast.Constant) and key.value in self.table
        ]
        return found if len(found) == len(keys) else []

    def _files(self, node: ast.AST, depth: int) -> Iterator[str]:
        """Requirements files that are named anywhere in an expression, or in a function that it calls."""
        if depth > _DEPTH:
            return
        for below in ast.walk(node):
            if isinstance(below, ast.Constant) and isinstance(below.value, str):
                if _REQUIREMENTS.match(below.value) and not below.value.startswith("/"):
                    yield below.value.removeprefix("./")
            elif isinstance(below, ast.Name):
                for value in (*self.opened.get(below.id, ()), *self.names.get(below.id, ())):
                    if value is not node:
                        yield from self._files(value, depth + 5)
            elif isinstance(below, ast.Call) and _called(below) in self.functions:
                yield from self._files(self.functions[_called(below)], depth + 5)


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
