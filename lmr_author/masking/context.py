"""Find the names that a function uses, and propose the files that define them as retrieval context.

libcst resolves the names of the function to what its file binds or imports; imports are then followed, through
re-exports, to the file of the repository that defines them. Nothing of the repository is ever run.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

import libcst as cst
from libcst.helpers import get_full_name_for_node
from libcst.metadata import MetadataWrapper, PositionProvider, QualifiedNameProvider, QualifiedNameSource

from lmr_author import code
from lmr_author.code.module import NEWLINE
from lmr_author.task import UNIT_TEST

MAX_REASONS = 4
"""Reasons given for one file."""
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
    """Return the names of a function's signature and body; none where libcst cannot read the file."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(_skeleton(module, definition)), unsafe_skip_copy=True)
        collector = _Collector(definition)
        wrapper.visit(collector)
    except (cst.ParserSyntaxError, RecursionError):
        return []
    return collector.found


def _skeleton(module: code.Module, definition: code.Definition) -> str:
    """Return the file with every other function and class empty, on the same lines: scopes cost their size."""
    lines = NEWLINE.split(module.text)
    waiting: list[ast.stmt] = list(module.tree.body)
    while waiting:
        node = waiting.pop()
        last = node.end_lineno or node.lineno
        if not isinstance(node, code.DefinitionNode):
            continue
        if not node.lineno <= definition.line <= last:
            first = code.first_line(node)
            stub = lines[first - 1][: node.col_offset] + f"{node.name} = None"
            lines[first - 1 : last] = [stub, *[""] * (last - first)]
        elif isinstance(node, ast.ClassDef):
            waiting += node.body
    return "\n".join(lines) + "\n"


class _Collector(cst.CSTVisitor):
    """Collects the names that a function uses; its decorators are no part of what has to be implemented."""

    METADATA_DEPENDENCIES = (QualifiedNameProvider, PositionProvider)

    def __init__(self, definition: code.Definition) -> None:
        self.found: list[Use] = []
        self._definition = definition
        self._name = ""
        self._inside = self._in_signature = False
        self._called: set[cst.CSTNode] = set()

    def _line(self, node: cst.CSTNode) -> int:
        return int(self.get_metadata(PositionProvider, node).start.line)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        if self._inside or self._line(node) != self._definition.line:
            return True
        self._name = next((item.name for item in self.get_metadata(QualifiedNameProvider, node)), "")
        self._inside = self._in_signature = True
        node.params.visit(self)
        if node.returns is not None:
            node.returns.visit(self)
        self._in_signature = False
        node.body.visit(self)
        self._inside = False
        return False

    def visit_Call(self, node: cst.Call) -> None:
        self._called.add(node.func)

    def visit_Arg(self, node: cst.Arg) -> bool:
        node.value.visit(self)  # a keyword is no name of this file
        return False

    def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:
        return not isinstance(node.target, cst.Name | cst.Attribute)

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        root: cst.BaseExpression = node
        while isinstance(root, cst.Attribute):
            root = root.value
        if isinstance(root, cst.Name):
            self._add(node, get_full_name_for_node(node) or "")
        else:
            node.value.visit(self)  # of `f(x).view` the attribute says nothing
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self._add(node, node.value)

    def _add(self, node: cst.Attribute | cst.Name, text: str) -> None:
        if not self._inside:
            return
        role = "signature" if self._in_signature else "called" if node in self._called else "read"
        names = self.get_metadata(QualifiedNameProvider, node, set())
        imported = next((item.name for item in names if item.source is QualifiedNameSource.IMPORT), "")
        bound = [item.name for item in names if item.source is QualifiedNameSource.LOCAL]
        outer = bool(bound) and not any(f"{item}.".startswith(f"{self._name}.") for item in bound)
        self.found.append(Use(text, role, self._line(node), imported, outer, not names))


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
    proposals = []
    for path in order:
        texts = [text for _, text in sorted(reasons[path].values(), key=lambda item: -item[0])]
        if len(texts) > MAX_REASONS + 1:
            texts = [*texts[:MAX_REASONS], f"{len(texts) - MAX_REASONS} more names"]
        proposals.append(Proposal(path, tuple(texts)))
    return tuple(proposals)


@dataclass(frozen=True)
class _Found:
    """A definition of the repository: its file, its name ("" for the module), the statement that binds it."""

    path: str
    name: str = ""
    node: ast.stmt | None = None


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
        if root in ("self", "cls") and lineage:
            yield from _attribute(files, lineage, rest.partition(".")[0], use)
        elif use.imported and (imported := files.find(use.imported, module.name)):
            yield imported, *_reason(imported, use)
        elif use.unknown:  # perhaps bound by a star import
            starred = (files.find(f"{star}.{use.text}", module.name) for star in files.stars(module.name))
            if known := next(filter(None, starred), None):
                yield known, *_reason(known, use)


def _reason(found: _Found, use: Use) -> tuple[int, str]:
    if found.node is None:
        return 2, f"is the module `{use.text}`, used at line {use.line}"
    if use.role == "signature":
        return 1, f"defines `{found.name}`, named in the signature"
    is_class, last = isinstance(found.node, ast.ClassDef), use.text.rpartition(".")[2]
    if is_class and "." in use.text and found.name == use.text.split(".")[-2]:
        return 3, f"defines `{found.name}`, whose `{last}` is used (line {use.line})"
    if use.role == "called":
        return 3, f"defines `{found.name}`, {'instantiated' if is_class else 'called'} at line {use.line}"
    return 2, f"defines `{found.name}`, read at line {use.line}"


def _attribute(
    files: _Files, lineage: list[_Found], name: str, use: Use
) -> Iterator[tuple[_Found, int, str]]:
    """Yield what ``self.name`` is: a method of a base class, or what makes the object assigned to it."""
    for found in lineage:
        if _defines(found, name):
            yield _Found(found.path, name, found.node), 3, f"defines `{name}`, {use.role} at line {use.line}"
            return
        for node in ast.walk(found.node) if found.node is not None else ():
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            if all(ast.unparse(target) != f"self.{name}" for target in node.targets):
                continue
            maker = files.named(ast.unparse(node.value.func), found.path)
            if maker and isinstance(maker.node, ast.ClassDef):
                yield maker, 3, f"defines `{maker.name}`, the class of `self.{name}` (line {use.line})"
            elif maker and maker.node is not None:
                yield maker, 2, f"defines `{maker.name}`, which makes `self.{name}`"
            if maker:
                return


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

    def _read(self, path: str) -> dict[str, list[ast.stmt]]:
        """Return the statements that bind each name of a file, ``*`` included, those under ``if`` too."""
        found: dict[str, list[ast.stmt]] = {}
        try:
            stack: list[ast.AST] = [code.parse((self._root / path).read_bytes())]
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return found
        while stack:
            for node in ast.iter_child_nodes(stack.pop(0)):
                for name in _bound(node):
                    found.setdefault(name, []).append(node)  # type: ignore[arg-type]
                if not isinstance(node, code.DefinitionNode | ast.expr):
                    stack.append(node)
        return found


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, code.DefinitionNode):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return code.bound_by(node)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)]
    return []


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
