"""Propose the files with a function's dependencies as its retrieval context, without running the repository."""

from __future__ import annotations

import ast
import builtins
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from lmr_author.core import code
from lmr_author.core.task import UNIT_TEST

MAX_REASONS = 4
"""Most reasons listed for one file."""
MAX_BYTES = 2 * 1024 * 1024
"""Larger files are data."""
MAX_DEPTH = 10
"""Limit of imports followed from file to file: imports can be circular."""
SOURCE_FOLDERS = ("", "src", "lib", "python")


# names


@dataclass(frozen=True)
class Use:
    """A dotted name that a function reads.

    Attributes:
        text: the name in the source.
        line: line in the file.
        imported: the full name, such as ``torch.nn.functional.relu``; "" if not imported.
        is_unknown: not bound in the file and not a builtin.
    """

    text: str
    line: int
    imported: str
    is_unknown: bool


def uses(module: code.Module, definition: code.Definition) -> list[Use]:
    """Return the names in a function's signature and body; decorators need not be implemented."""
    function = definition.function
    parts: list[ast.AST] = [function.args, *function.body]
    own = code.bindings(node for part in parts for node in ast.walk(part))
    if not definition.class_name:
        own.setdefault(definition.name, [function])  # for recursive calls
    around = code.bindings(own_nodes(module.tree))
    for outer in module.definitions:  # methods do not see the names of their class
        if outer.kind == "function" and definition.qualname.startswith(f"{outer.qualname}."):
            around |= code.bindings([*ast.walk(outer.function.args), *own_nodes(outer.function)])
    result = []
    for node in _dotted_names([*parts, *filter(None, [function.returns])]):
        text = ast.unparse(node)
        root, _, rest = text.partition(".")
        bound = own.get(root) or around.get(root) or []
        origin = _origin(bound, root)
        imported = f"{origin}.{rest}" if origin and rest else origin
        result.append(Use(text, node.lineno, imported, not bound and not hasattr(builtins, root)))
    return result


def _dotted_names(nodes: Iterable[ast.AST]) -> list[ast.Name | ast.Attribute]:
    names: list[ast.Name | ast.Attribute] = []
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.Name | ast.Attribute) or not _is_dotted(node):
            waiting += ast.iter_child_nodes(node)
        elif isinstance(node.ctx, ast.Load):
            names.append(node)
    return sorted(names, key=lambda name: (name.lineno, name.col_offset))


def _is_dotted(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def own_nodes(scope: ast.Module | code.FunctionNode) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, without descending into functions, classes and comprehensions."""
    waiting: list[ast.AST] = list(reversed(scope.body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, code.DefinitionNode | ast.Lambda | ast.comprehension):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _origin(bound: Iterable[ast.AST], name: str) -> str:
    for node in bound:
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                if name in (alias.asname, alias.name):
                    return module + alias.name if module.endswith(".") else f"{module}.{alias.name}"
        elif isinstance(node, ast.Import):
            renamed = {alias.asname: alias.name for alias in node.names}
            return renamed.get(name, name)
    return ""


# files


@dataclass(frozen=True)
class Proposal:
    path: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class _Definition:
    path: str
    name: str = ""


def propose(
    repository: Path, module: code.Module, definition: code.Definition, goal_file: str = ""
) -> tuple[Proposal, ...]:
    """Return the repository's files that define names a function uses, those with most reasons first.

    Args:
        module, definition: the function, not masked; its own file and ``unit_test/`` are never proposed.
        goal_file: its path in the repository, if the module is a golden.
    """
    goal_file = goal_file or module.name
    lookup = _Repository(repository)
    bases, attributes = _of_class(module, definition)
    reasons: dict[str, dict[str, str]] = defaultdict(dict)
    for name in bases:
        if base := lookup.named(name, goal_file):
            reasons[base.path][base.name] = f"defines the base class `{base.name}`"
    for use in uses(module, definition):
        root, _, rest = use.text.partition(".")
        needed = None
        if root in ("self", "cls"):
            made = attributes.get(rest.partition(".")[0])
            needed = lookup.named(made, goal_file) if made else None
        elif use.imported:
            needed = lookup.imported(use.imported, goal_file)
        elif use.is_unknown:  # perhaps bound by a star import
            needed = lookup.named(use.text, goal_file)
        if needed is not None:
            subject = f"defines `{needed.name}`" if needed.name else f"is the module `{use.text}`"
            reason = f"{subject}, used at line {use.line}"
            reasons[needed.path].setdefault(needed.name or use.text, reason)
    others = [path for path in reasons if path != goal_file and not path.startswith(f"{UNIT_TEST}/")]
    others.sort(key=lambda path: (-len(reasons[path]), path))
    return tuple(Proposal(path, tuple(reasons[path].values())[:MAX_REASONS]) for path in others)


def _of_class(module: code.Module, definition: code.Definition) -> tuple[list[str], dict[str, str]]:
    owner = module.owner(definition)
    if owner is None or not isinstance(owner.node, ast.ClassDef):
        return [], {}
    attributes: dict[str, str] = {}
    for node in code.each(owner.node, ast.Assign):
        target = node.targets[0]
        if isinstance(node.value, ast.Call) and isinstance(target, ast.Attribute):
            attributes.setdefault(target.attr, ast.unparse(node.value.func))
    return [ast.unparse(base) for base in owner.node.bases], attributes


class _Repository:
    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._bindings = cache(self._read_bindings)
        self._is_file = cache(self._has_file)

    def imported(self, dotted: str, path: str, depth: int = MAX_DEPTH) -> _Definition | None:
        level = len(dotted) - len(dotted.lstrip("."))
        parts = dotted[level:].split(".")
        for count in range(len(parts), -1, -1):
            file = self._module(parts[:count], level, path)
            if file is not None:
                rest = ".".join(parts[count:])
                return self.named(rest, file, depth - 1) if rest else _Definition(file)
        return None

    def named(self, dotted: str, path: str, depth: int = MAX_DEPTH) -> _Definition | None:
        if depth <= 0:
            return None
        root, _, rest = dotted.partition(".")
        bindings = self._bindings(path)
        if bound := bindings.get(root):
            origin = _origin(bound[:1], root)
            if not origin:
                return _Definition(path, root)
            return self.imported(f"{origin}.{rest}" if rest else origin, path, depth - 1)
        for star in bindings.get("*", []):
            module = _origin([star], "*").removesuffix("*")
            if defined := self.imported(module + dotted, path, depth - 1):
                return defined
        return None

    def _module(self, parts: list[str], level: int, path: str) -> str | None:
        above = list(PurePosixPath(path).parents)
        if level:
            return self._file(above[level - 1].joinpath(*parts)) if level <= len(above) else None
        if not parts or parts[0] in sys.stdlib_module_names:
            return None
        # Modules of a package have the package's name as prefix; a script imports from its own folder.
        roots = [folder for folder in above if not self._is_file(folder / "__init__.py")]
        for root in [*roots, *map(PurePosixPath, SOURCE_FOLDERS)]:
            if file := self._file(root.joinpath(*parts)):
                return file
        return None

    def _file(self, dotted: PurePosixPath) -> str | None:
        for file in (dotted / "__init__.py", dotted.parent / f"{dotted.name}.py"):
            if self._is_file(file):
                return file.as_posix()
        return None

    def _has_file(self, path: PurePosixPath) -> bool:
        file = self._root / path
        return file.is_file() and file.resolve() == file and file.stat().st_size <= MAX_BYTES

    def _read_bindings(self, path: str) -> dict[str, list[ast.AST]]:
        try:
            return code.bindings(own_nodes(code.parse((self._root / path).read_bytes())))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
