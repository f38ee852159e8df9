"""Find the names that a function uses, and propose the files that define them as retrieval context.

Names of the function mean what its file binds or imports; imports are followed, through re-exports, to the file of the
repository that defines them. Nothing of the repository is ever run.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from lmr_author.core import code
from lmr_author.core.task import UNIT_TEST

MAX_REASONS = 4
"""Reasons given for one file."""
WEIGHTS = {"called": 3, "read": 2, "signature": 1}
"""Weights of the roles of a name: files are proposed in the order of theirs."""
MAX_BYTES = 2 * 1024 * 1024
"""Larger files are data."""
MAX_DEPTH = 10
"""Imports followed from one file to the next."""
SOURCE_FOLDERS = ("", "src", "lib", "python")


@dataclass(frozen=True)
class Use:
    """A dotted name that a function uses.

    Attributes:
        text: as written.
        role: ``called``, ``read``, or ``signature``.
        line: in the file.
        imported: what it stands for, as in ``torch.nn.functional.relu``; "" for what is not imported.
        outer: the file, or a function around this one, binds it.
        unknown: nothing in the file binds it, and it is no builtin.
    """

    text: str
    role: str
    line: int
    imported: str
    outer: bool
    unknown: bool


@dataclass(frozen=True)
class Proposal:
    """A file for ``retrieval_context``, relative to the repository, and why, the strongest reason first."""

    path: str
    reasons: tuple[str, ...]


def uses(module: code.Module, definition: code.Definition) -> list[Use]:
    """Return the names of a function's signature and body; decorators are no part of what has to be implemented."""
    function = definition.function
    inside = [*ast.walk(function.args), *(node for item in function.body for node in ast.walk(item))]
    stated = {name for node in inside if isinstance(node, ast.Global) for name in node.names}
    own = {name: nodes for name, nodes in code.bindings(inside).items() if name not in stated}
    around = code.bindings(_own_nodes(module.tree))
    for item in module.definitions:  # the names of a class are not seen from its methods
        if item.kind == "function" and definition.qualname.startswith(f"{item.qualname}."):
            around |= code.bindings([*ast.walk(item.function.args), *_own_nodes(item.function)])
    around |= {name: [function] for name in stated if name not in around}
    if not definition.class_name or "." in definition.function_name:
        own.setdefault(definition.name, [function])
    found = []
    for node, role in _names(function):
        text = ast.unparse(node)
        root, _, rest = text.partition(".")
        bound = own.get(root) or around.get(root) or []
        imports = [_imported(item, root) for item in bound if isinstance(item, ast.Import | ast.ImportFrom)]
        imported = ".".join(filter(None, (imports[0], rest))) if imports else ""
        is_outer = bool(bound) and root not in own and not imports
        found.append(
            Use(text, role, node.lineno, imported, is_outer, not bound and not hasattr(builtins, root))
        )
    return found


def _names(function: code.FunctionNode) -> list[tuple[ast.expr, str]]:
    """Return the dotted names in a function in the order written, with their roles; not what is only assigned to."""
    found: list[tuple[ast.expr, str]] = []
    called: set[ast.AST] = set()
    signature = [function.args, *([function.returns] if function.returns else [])]
    waiting = [(node, "signature") for node in signature] + [(node, "read") for node in function.body]
    while waiting:
        node, role = waiting.pop()
        root: ast.AST = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(root, ast.Name):
            found.append((node, "called" if node in called and role == "read" else role))
            continue
        if isinstance(node, ast.Call):
            called.add(node.func)
        targets = node.targets if isinstance(node, ast.Assign) else []
        plain = [item for item in targets if isinstance(item, ast.Name | ast.Attribute)]
        waiting += [(child, role) for child in ast.iter_child_nodes(node) if child not in plain]
    return sorted(found, key=lambda item: (item[0].lineno, item[0].col_offset))


def _own_nodes(scope: ast.Module | code.FunctionNode) -> Iterator[ast.AST]:
    """Yield the nodes of a scope; of functions, classes and comprehensions in it only the nodes themselves."""
    waiting: deque[ast.AST] = deque(scope.body)
    while waiting:
        node = waiting.popleft()
        yield node
        if not isinstance(node, code.DefinitionNode | ast.Lambda | ast.comprehension):
            waiting.extend(ast.iter_child_nodes(node))


def propose(repository: Path, module: code.Module, definition: code.Definition) -> tuple[Proposal, ...]:
    """Return the repository's files that define what a function calls, instantiates, inherits, or reads.

    Args:
        repository: the task's repository.
        module, definition: the function, not masked; its own file and ``unit_test/`` are never proposed.
    """
    reasons: dict[str, dict[str, tuple[int, str]]] = defaultdict(dict)
    for found, weight, text in _reasons(_Files(repository), module, definition):
        if found.path == module.name or found.path.startswith(f"{UNIT_TEST}/"):
            continue
        known = reasons[found.path]
        if known.get(found.name or text, (0, ""))[0] < weight:
            known[found.name or text] = (weight, text)
    order = sorted(reasons, key=lambda path: (-sum(weight for weight, _ in reasons[path].values()), path))
    best = {path: sorted(reasons[path].values(), key=lambda item: -item[0])[:MAX_REASONS] for path in order}
    return tuple(Proposal(path, tuple(text for _, text in found)) for path, found in best.items())


@dataclass(frozen=True)
class _Found:
    """A definition of the repository: its file, its name ("" for the module), the node that binds it."""

    path: str
    name: str = ""
    node: ast.AST | None = None


def _reasons(
    files: _Files, module: code.Module, definition: code.Definition
) -> Iterator[tuple[_Found, int, str]]:
    """Yield definitions that a function needs, each with a weight and a reason."""
    lineage = list(_lineage(files, module, definition))
    for found in lineage[1:]:
        if _defines(found, definition.name):
            yield found, 4, f"defines `{found.name}.{definition.name}`, which it overrides"
            break
    for base in files.bases(lineage[0]) if lineage else ():
        yield base, 3, f"defines the base class `{base.name}`"
    for use in uses(module, definition):
        root, _, rest = use.text.partition(".")
        needed: _Found | None = None
        if root in ("self", "cls") and lineage:
            needed = _attribute(files, lineage, rest.partition(".")[0])
        elif use.imported:
            needed = files.find(use.imported, module.name)
        elif use.unknown:  # perhaps bound by a star import
            starred = (files.find(f"{star}.{use.text}", module.name) for star in files.stars(module.name))
            needed = next(filter(None, starred), None)
        if needed is not None:
            text = f"defines `{needed.name}`" if needed.name else f"is the module `{use.text}`"
            verb = "named" if use.role == "signature" else use.role
            yield needed, WEIGHTS[use.role], f"{text}, {verb} at line {use.line}"


def _attribute(files: _Files, lineage: list[_Found], name: str) -> _Found | None:
    """Return what ``self.name`` is: a method of a base class, or what makes the object assigned to it."""
    for found in lineage:
        if _defines(found, name):
            return _Found(found.path, name, found.node)
        for node in ast.walk(found.node) if found.node is not None else ():
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            if any(ast.unparse(target) == f"self.{name}" for target in node.targets):
                maker = files.named(ast.unparse(node.value.func), found.path)
                if maker is not None and maker.node is not None:
                    return maker
    return None


def _lineage(files: _Files, module: code.Module, definition: code.Definition) -> Iterator[_Found]:
    """Yield the class of a method and those it inherits from, as far as they are the repository's."""
    own = [item for item in module.definitions if item.qualname == definition.class_name]
    waiting = [_Found(module.name, item.qualname, item.node) for item in own if item.kind == "class"][:1]
    seen: set[tuple[str, str]] = set()
    while waiting:
        current = waiting.pop(0)
        if (current.path, current.name) not in seen:
            seen.add((current.path, current.name))
            yield current
            waiting += files.bases(current)


def lineage(repository: Path, module: code.Module, definition: code.Definition) -> list[ast.ClassDef]:
    """Return the class of a method and those that it inherits from, as far as they are the repository's."""
    found = _lineage(_Files(repository), module, definition)
    return [item.node for item in found if isinstance(item.node, ast.ClassDef)]


def _defines(found: _Found, name: str) -> bool:
    body = found.node.body if isinstance(found.node, ast.ClassDef) else []
    return any(isinstance(item, code.FunctionNode) and item.name == name for item in body)


class _Files:
    """A repository as imports see it."""

    def __init__(self, repository: Path) -> None:
        self._root = repository.resolve()
        self._bindings = cache(self._read)

    def find(self, dotted: str, path: str, depth: int = MAX_DEPTH) -> _Found | None:
        """Return the definition that an absolute (``a.b.c``) or relative (``.b.c``) name means in a file."""
        level = len(dotted) - len(dotted.lstrip("."))
        parts = [part for part in dotted.lstrip(".").split(".") if part]
        for count in range(len(parts), -1, -1):
            file = self._file(parts[:count], level, path) if count or level else None
            if file is None:
                continue
            if count == len(parts):
                return _Found(file)
            return self._member(file, parts[count], depth - 1) if depth else None
        return None

    def named(self, dotted: str, path: str) -> _Found | None:
        """Return the definition that a name written in a file means, as far as it is the repository's."""
        if not dotted.replace(".", "").isidentifier():
            return None
        root, _, rest = dotted.partition(".")
        found = self._member(path, root, MAX_DEPTH)
        if found is not None and found.node is None and rest:
            found = self._member(found.path, rest.partition(".")[0], MAX_DEPTH)
        return found

    def bases(self, found: _Found) -> list[_Found]:
        """Return the base classes of a class that the repository defines."""
        nodes = found.node.bases if isinstance(found.node, ast.ClassDef) else []
        bases = [self.named(ast.unparse(node), found.path) for node in nodes]
        return [base for base in bases if base is not None and isinstance(base.node, ast.ClassDef)]

    def stars(self, path: str) -> list[str]:
        """Return the modules of which a file imports everything."""
        nodes = self._bindings(path).get("*", [])
        return [_module_of(node) for node in nodes if isinstance(node, ast.ImportFrom)]

    def _member(self, path: str, name: str, depth: int) -> _Found | None:
        """Return what ``module.name`` is: a definition, followed through re-exports, or a submodule."""
        for node in self._bindings(path).get(name, [])[:1]:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                return _Found(path, name, node)
            if depth and (found := self.find(_imported(node, name), path, depth - 1)):
                return found
        for star in self.stars(path) if depth else ():
            if found := self.find(f"{star}.{name}", path, depth - 1):
                return found
        file = self._at(PurePosixPath(path).parent / name) if path.endswith("__init__.py") else None
        return _Found(file) if file else None

    def _file(self, parts: list[str], level: int, path: str) -> str | None:
        """Return the file of a module that a file imports; None for one that is not the repository's."""
        above = list(PurePosixPath(path).parents)
        if level:
            return self._at(above[level - 1].joinpath(*parts)) if level <= len(above) else None
        packages = [item for item in above if str(item) != "." and self._is_file(item / "__init__.py")]
        roots = [item for item in above if item not in packages]
        roots += [PurePosixPath(folder) for folder in SOURCE_FOLDERS]
        if parts[0] not in sys.stdlib_module_names:
            roots += packages  # only a script that is run by its path imports from the folder of a package
        found = (self._at(root.joinpath(*parts)) for root in dict.fromkeys(roots))
        return next(filter(None, found), None)

    def _at(self, place: PurePosixPath) -> str | None:
        module = [place.with_name(f"{place.name}.py")] if place.name else []
        found = (one.as_posix() for one in (place / "__init__.py", *module) if self._is_file(one))
        return next(found, None)

    def _is_file(self, path: PurePosixPath) -> bool:
        place = self._root / path
        is_link = place.resolve() != self._root / path
        return place.is_file() and not is_link and place.stat().st_size <= MAX_BYTES

    def _read(self, path: str) -> dict[str, list[ast.AST]]:
        """Return the nodes that bind each name of a file, those under ``if`` too."""
        try:
            return code.bindings(_own_nodes(code.parse((self._root / path).read_bytes())))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return {}


def _imported(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """Return the dotted name that an import binds to a name."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom) and name == (alias.asname or alias.name):
            start = _module_of(node)
            return start + alias.name if start.endswith(".") else f"{start}.{alias.name}"
        if isinstance(node, ast.Import) and name == alias.asname:
            return alias.name
    return name


def _module_of(node: ast.ImportFrom) -> str:
    return "." * node.level + (node.module or "")
