"""Propose the files that define what a function uses as its retrieval context. Nothing of the repository is run."""

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

Bindings = dict[str, list[ast.AST]]
"""Name → the nodes that bind it."""


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


def uses(module: code.Module, definition: code.Definition) -> list[Use]:
    """Return the names of a function's signature and body; decorators are no part of what has to be implemented."""
    own, around = _bindings(module, definition)
    result = []
    for node, role in _names(definition.function):
        text = ast.unparse(node)
        root, _, rest = text.partition(".")
        bound = own.get(root) or around.get(root) or []
        origin = ""
        for binding in bound:
            if isinstance(binding, ast.Import | ast.ImportFrom):
                origin = imported_name(binding, root)
                break
        imported = f"{origin}.{rest}" if origin and rest else origin
        outer = bool(bound) and root not in own and not imported
        unknown = not bound and not hasattr(builtins, root)
        result.append(Use(text, role, node.lineno, imported, outer, unknown))
    return result


def _bindings(module: code.Module, definition: code.Definition) -> tuple[Bindings, Bindings]:
    """Return what binds the names of a function in itself, and in the functions and the file around it."""
    function = definition.function
    inside = list(ast.walk(function.args))
    for statement in function.body:
        inside += ast.walk(statement)
    own = code.bindings(inside)
    around = code.bindings(own_nodes(module.tree))
    for outer in module.definitions:  # the names of a class are not seen from its methods
        if outer.kind == "function" and definition.qualname.startswith(f"{outer.qualname}."):
            around |= code.bindings([*ast.walk(outer.function.args), *own_nodes(outer.function)])
    for node in inside:
        if isinstance(node, ast.Global):
            for name in node.names:
                own.pop(name, None)
                around.setdefault(name, [function])
    is_method = definition.class_name and "." not in definition.function_name
    if not is_method:
        own.setdefault(definition.name, [function])
    return own, around


def _names(function: code.FunctionNode) -> list[tuple[ast.expr, str]]:
    """Return the dotted names in a function in the order written, with their roles; not what is only assigned to."""
    names: list[tuple[ast.expr, str]] = []
    called: set[ast.AST] = set()
    waiting: list[tuple[ast.AST, str]] = [(function.args, "signature")]
    if function.returns is not None:
        waiting.append((function.returns, "signature"))
    waiting += [(statement, "read") for statement in function.body]
    while waiting:
        node, role = waiting.pop()
        if isinstance(node, ast.Name | ast.Attribute) and _is_dotted(node):
            names.append((node, "called" if node in called and role == "read" else role))
            continue
        if isinstance(node, ast.Call):
            called.add(node.func)
        assigned = node.targets if isinstance(node, ast.Assign) else []
        for child in ast.iter_child_nodes(node):
            if not (child in assigned and isinstance(child, ast.Name | ast.Attribute)):
                waiting.append((child, role))
    return sorted(names, key=lambda name: (name[0].lineno, name[0].col_offset))


def _is_dotted(node: ast.AST) -> bool:
    """Tell ``a.b.c`` from ``a().b``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def own_nodes(scope: ast.Module | code.FunctionNode) -> Iterator[ast.AST]:
    """Yield the nodes of a scope; of functions, classes and comprehensions in it only the nodes themselves."""
    waiting: deque[ast.AST] = deque(scope.body)
    while waiting:
        node = waiting.popleft()
        yield node
        if not isinstance(node, code.DefinitionNode | ast.Lambda | ast.comprehension):
            waiting.extend(ast.iter_child_nodes(node))


def imported_name(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """Return the dotted name that an import binds to a name."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom) and name == (alias.asname or alias.name):
            module = source_module(node)
            return module + alias.name if module.endswith(".") else f"{module}.{alias.name}"
        if isinstance(node, ast.Import) and name == alias.asname:
            return alias.name
    return name


def source_module(node: ast.ImportFrom) -> str:
    """Return the module that a ``from`` names, with its leading dots."""
    return "." * node.level + (node.module or "")


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
class Proposal:
    """A file for ``retrieval_context``, relative to the repository, and why, the strongest reason first."""

    path: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class _Defined:
    """A definition of the repository: its file, its name ("" for the module), the node that binds it."""

    path: str
    name: str = ""
    node: ast.AST | None = None

    def has_method(self, name: str) -> bool:
        body = self.node.body if isinstance(self.node, ast.ClassDef) else []
        return any(isinstance(member, code.FunctionNode) and member.name == name for member in body)


@dataclass(frozen=True)
class _Reason:
    """Why a function needs a definition."""

    definition: _Defined
    weight: int
    text: str


def propose(repository: Path, module: code.Module, definition: code.Definition) -> tuple[Proposal, ...]:
    """Return the repository's files that define what a function calls, instantiates, inherits, or reads.

    Args:
        repository: the task's repository.
        module, definition: the function, not masked; its own file and ``unit_test/`` are never proposed.
    """
    reasons = sorted(_reasons(_Repository(repository), module, definition), key=lambda reason: -reason.weight)
    by_path: dict[str, dict[str, _Reason]] = defaultdict(dict)
    for reason in reasons:
        path = reason.definition.path
        if path != module.name and not path.startswith(f"{UNIT_TEST}/"):
            by_path[path].setdefault(reason.definition.name or reason.text, reason)

    def order(path: str) -> tuple[int, str]:
        return -sum(reason.weight for reason in by_path[path].values()), path

    return tuple(
        Proposal(path, tuple(reason.text for reason in list(by_path[path].values())[:MAX_REASONS]))
        for path in sorted(by_path, key=order)
    )


def lineage(repository: Path, module: code.Module, definition: code.Definition) -> list[ast.ClassDef]:
    """Return the class of a method and those that it inherits from, as far as they are the repository's."""
    classes = _lineage(_Repository(repository), module, definition)
    return [defined.node for defined in classes if isinstance(defined.node, ast.ClassDef)]


def _reasons(repository: _Repository, module: code.Module, definition: code.Definition) -> Iterator[_Reason]:
    """Yield the definitions that a function needs, with the reasons."""
    classes = _lineage(repository, module, definition)
    for ancestor in classes[1:]:
        if ancestor.has_method(definition.name):
            text = f"defines `{ancestor.name}.{definition.name}`, which it overrides"
            yield _Reason(ancestor, 4, text)
            break
    for base in repository.bases(classes[0]) if classes else ():
        yield _Reason(base, 3, f"defines the base class `{base.name}`")
    for use in uses(module, definition):
        root, _, rest = use.text.partition(".")
        needed: _Defined | None = None
        if root in ("self", "cls") and classes:
            needed = _attribute(repository, classes, rest.partition(".")[0])
        elif use.imported:
            needed = repository.imported(use.imported, module.name)
        elif use.unknown:  # perhaps bound by a star import
            needed = repository.named(use.text, module.name)
        if needed is not None:
            text = f"defines `{needed.name}`" if needed.name else f"is the module `{use.text}`"
            verb = "named" if use.role == "signature" else use.role
            yield _Reason(needed, WEIGHTS[use.role], f"{text}, {verb} at line {use.line}")


def _lineage(repository: _Repository, module: code.Module, definition: code.Definition) -> list[_Defined]:
    """Return the class of a method and those that it inherits from, as far as they are the repository's."""
    classes: list[_Defined] = []
    for owner in module.definitions:
        if owner.qualname == definition.class_name and owner.kind == "class":
            classes.append(_Defined(module.name, owner.qualname, owner.node))
            break
    for current in classes:  # which grows while it is read
        for base in repository.bases(current):
            if (base.path, base.name) not in {(known.path, known.name) for known in classes}:
                classes.append(base)
    return classes


def _attribute(repository: _Repository, classes: list[_Defined], name: str) -> _Defined | None:
    """Return what ``self.name`` is: a method of a class, or what makes the object assigned to it."""
    for owner in classes:
        if owner.has_method(name):
            return _Defined(owner.path, name, owner.node)
        for node in code.each(owner.node, ast.Assign) if owner.node else ():
            if isinstance(node.value, ast.Call) and f"self.{name}" in map(ast.unparse, node.targets):
                maker = repository.named(ast.unparse(node.value.func), owner.path)
                if maker is not None and maker.node is not None:
                    return maker
    return None


class _Repository:
    """A repository as imports see it."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._bindings = cache(self._read_bindings)

    def imported(self, dotted: str, path: str, depth: int = MAX_DEPTH) -> _Defined | None:
        """Return the definition that an import of ``a.b.c``, or of ``.b.c``, in a file means."""
        level = len(dotted) - len(dotted.lstrip("."))
        parts = dotted[level:].split(".")
        for count in range(len(parts), -1, -1):
            file = self._module(parts[:count], level, path)
            if file is not None:
                rest = ".".join(parts[count:])
                return self.named(rest, file, depth - 1) if rest else _Defined(file)
        return None

    def named(self, dotted: str, path: str, depth: int = MAX_DEPTH) -> _Defined | None:
        """Return the definition that a name written in a file means, through imports and re-exports."""
        if depth <= 0:
            return None
        root, _, rest = dotted.partition(".")
        bindings = self._bindings(path)
        for node in bindings.get(root, ())[:1]:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                return _Defined(path, root, node)
            origin = imported_name(node, root)
            return self.imported(f"{origin}.{rest}" if rest else origin, path, depth - 1)
        for node in bindings.get("*", ()):
            assert isinstance(node, ast.ImportFrom)
            if defined := self.imported(f"{source_module(node)}.{dotted}", path, depth - 1):
                return defined
        return None

    def bases(self, defined: _Defined) -> list[_Defined]:
        """Return the base classes of a class that the repository defines."""
        nodes = defined.node.bases if isinstance(defined.node, ast.ClassDef) else []
        bases = [self.named(ast.unparse(node), defined.path) for node in nodes]
        return [base for base in bases if base is not None and isinstance(base.node, ast.ClassDef)]

    def _module(self, parts: list[str], level: int, path: str) -> str | None:
        """Return the file of a module that a file imports; None for one that is not the repository's."""
        above = list(PurePosixPath(path).parents)
        if level:
            return self._file(above[level - 1].joinpath(*parts)) if level <= len(above) else None
        if not parts or parts[0] in sys.stdlib_module_names:
            return None
        # A file of a package is imported with its package's name; a script sees its own folder.
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

    def _is_file(self, path: PurePosixPath) -> bool:
        file = self._root / path
        return file.is_file() and file.resolve() == file and file.stat().st_size <= MAX_BYTES

    def _read_bindings(self, path: str) -> Bindings:
        """Return the nodes that bind each name of a file, those under ``if`` too."""
        try:
            return code.bindings(own_nodes(code.parse((self._root / path).read_bytes())))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
