"""Propose the files that an implementer would want to read: those that define what the target uses.

libcst resolves the names of the target to what its file imports; imports are then followed, through re-exports, to
the file of the repository that defines them. Nothing of the repository is ever run.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

import libcst as cst
from libcst.helpers import get_full_name_for_node
from libcst.metadata import (
    MetadataWrapper,
    PositionProvider,
    QualifiedName,
    QualifiedNameProvider,
    QualifiedNameSource,
)

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
class Proposal:
    """A file for ``retrieval_context``, relative to the repository, and why, the strongest reason first."""

    path: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """A definition of the repository: its file, its name ("" for the module), the statement that binds it."""

    path: str
    name: str = ""
    node: ast.stmt | None = None


@dataclass(frozen=True)
class Use:
    """A dotted name in a function: as written, what it stands for, and how it is used (called, read, type)."""

    text: str
    names: frozenset[QualifiedName]
    role: str
    line: int


def propose(
    repository: Path, module: code.Module, definition: code.Definition, *, exclude: Collection[str] = ()
) -> tuple[Proposal, ...]:
    """Return the repository's files that define what a function calls, instantiates, inherits, or reads.

    Args:
        repository: the task's repository.
        module, definition: the function, not masked; its own file and ``unit_test/`` are never proposed.
        exclude: further files to leave out.
    """
    files = _Files(repository)
    reasons: dict[str, dict[str, tuple[int, str]]] = {}

    def note(found: Found | None, weight: int, text: str) -> None:
        if found is None or found.path in {module.name, *exclude} or found.path.startswith(f"{UNIT_TEST}/"):
            return
        known = reasons.setdefault(found.path, {})
        if known.get(found.name or text, (0, ""))[0] < weight:
            known[found.name or text] = (weight, text)

    lineage = list(_lineage(files, module, definition))
    for found in lineage[1:]:
        if _method(found, definition.name):
            note(found, 4, f"defines `{found.name}.{definition.name}`, which it overrides")
            break
    for base in _bases(files, module.name, lineage[0].node) if lineage else ():
        note(base, 3, f"defines the base class `{base.name}`")
    for use in _uses(module, definition):
        root, _, rest = use.text.partition(".")
        if root in ("self", "cls") and lineage:
            _note_attribute(files, lineage, use, rest, note)
            continue
        for found in _meant(files, module, use):
            note(found, *_reason(found, use))
    order = sorted(reasons, key=lambda path: (-sum(weight for weight, _ in reasons[path].values()), path))
    return tuple(Proposal(path, _told(reasons[path].values())) for path in order)


def _told(reasons: Collection[tuple[int, str]]) -> tuple[str, ...]:
    texts = tuple(text for _, text in sorted(reasons, key=lambda item: -item[0]))
    more = len(texts) - MAX_REASONS
    return (*texts[:MAX_REASONS], f"{more} more names") if more > 1 else texts


def _reason(found: Found, use: Use) -> tuple[int, str]:
    if found.node is None:
        return 2, f"is the module `{use.text}`, used at line {use.line}"
    if use.role == "type":
        return 1, f"defines `{found.name}`, named in the signature"
    last = use.text.rpartition(".")[2]
    if isinstance(found.node, ast.ClassDef) and "." in use.text and found.name == use.text.split(".")[-2]:
        return 3, f"defines `{found.name}`, whose `{last}` is used (line {use.line})"
    verb = "instantiated" if isinstance(found.node, ast.ClassDef) else "called"
    if use.role == "called":
        return 3, f"defines `{found.name}`, {verb} at line {use.line}"
    return 2, f"defines `{found.name}`, read at line {use.line}"


def _note_attribute(files: _Files, lineage: list[Found], use: Use, rest: str, note: object) -> None:
    """Note what ``self.name`` is: a method of a base class, or what makes the object assigned to it."""
    assert callable(note)
    name = rest.partition(".")[0]
    for found in lineage:
        if _method(found, name):
            method = Found(found.path, name, found.node)
            note(method, 3, f"defines `{name}`, {use.role} at line {use.line}")
            return
        for made in _makers(found.node, name):
            for maker in files.find_names(made, found.path):
                if isinstance(maker.node, ast.ClassDef):
                    note(maker, 3, f"defines `{maker.name}`, the class of `self.{name}` (line {use.line})")
                elif maker.node is not None:
                    note(maker, 2, f"defines `{maker.name}`, which makes `self.{name}`")
                return


def _meant(files: _Files, module: code.Module, use: Use) -> Iterator[Found]:
    imported = [item.name for item in use.names if item.source is QualifiedNameSource.IMPORT]
    for name in imported:
        if found := files.find(name, module.name):
            yield found
    if not use.names:  # bound nowhere in the file: perhaps by a star import
        for star in files.stars(module.name):
            if found := files.find(f"{star}.{use.text}", module.name):
                yield found
                return


# classes


def _lineage(files: _Files, module: code.Module, definition: code.Definition) -> Iterator[Found]:
    """The class of a method and those it inherits from, as far as they are the repository's."""
    own = next(
        (
            item.node
            for item in module.definitions
            if item.qualname == definition.class_name and item.kind == "class"
        ),
        None,
    )
    waiting = [Found(module.name, definition.class_name, own)] if own is not None else []
    seen: set[tuple[str, str]] = set()
    while waiting:
        current = waiting.pop(0)
        if (current.path, current.name) not in seen:
            seen.add((current.path, current.name))
            yield current
            waiting += _bases(files, current.path, current.node)


def _bases(files: _Files, path: str, node: ast.stmt | None) -> list[Found]:
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    found = [item for base in bases for item in files.find_names(ast.unparse(base), path)]
    return [item for item in found if isinstance(item.node, ast.ClassDef)]


def _method(found: Found, name: str) -> bool:
    body = found.node.body if isinstance(found.node, ast.ClassDef) else []
    return any(isinstance(item, code.FunctionNode) and item.name == name for item in body)


def _makers(node: ast.stmt | None, name: str) -> Iterator[str]:
    """``Encoder`` of ``self.name = Encoder(…)`` anywhere in a class."""
    made = [item for item in ast.walk(node) if isinstance(item, ast.Assign)] if node is not None else []
    for item in made:
        if isinstance(item.value, ast.Call) and any(ast.unparse(at) == f"self.{name}" for at in item.targets):
            yield ast.unparse(item.value.func)


# names of the target


def _uses(module: code.Module, definition: code.Definition) -> list[Use]:
    """Names of a function's signature and body; none where libcst cannot read the file."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(_skeleton(module, definition)), unsafe_skip_copy=True)
        collector = _Collector(definition)
        wrapper.visit(collector)
    except (cst.ParserSyntaxError, RecursionError):
        return []
    return collector.found


def _skeleton(module: code.Module, definition: code.Definition) -> str:
    """The file with every other function and class empty, on the same lines: scopes cost their size."""
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
    """The dotted names that a function uses; decorators are no part of what has to be implemented."""

    METADATA_DEPENDENCIES = (QualifiedNameProvider, PositionProvider)

    def __init__(self, definition: code.Definition) -> None:
        self.found: list[Use] = []
        self._definition = definition
        self._inside = False
        self._types = 0
        self._called: set[cst.CSTNode] = set()

    def _line(self, node: cst.CSTNode) -> int:
        return int(self.get_metadata(PositionProvider, node).start.line)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        if self._inside or self._line(node) != self._definition.line:
            return True
        self._inside = True
        for part in (node.params, node.returns, node.body):
            if part is not None:
                part.visit(self)
        self._inside = False
        return False

    def visit_Decorator(self, node: cst.Decorator) -> bool:
        return not self._inside

    def visit_Annotation(self, node: cst.Annotation) -> None:
        self._types += 1

    def leave_Annotation(self, original_node: cst.Annotation) -> None:
        self._types -= 1

    def visit_Call(self, node: cst.Call) -> None:
        self._called.add(node.func)

    def visit_Arg(self, node: cst.Arg) -> bool:
        node.value.visit(self)  # a keyword is no name of this file
        return False

    def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:
        return not isinstance(node.target, cst.Name | cst.Attribute)

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        text = get_full_name_for_node(node) if _is_dotted(node) else None
        if text is None:
            node.value.visit(self)  # of `f(x).view` the attribute says nothing
        else:
            self._add(node, text)
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self._add(node, node.value)

    def _add(self, node: cst.Attribute | cst.Name, text: str) -> None:
        if not self._inside:
            return
        role = "type" if self._types else "called" if node in self._called else "read"
        names = frozenset(self.get_metadata(QualifiedNameProvider, node, set()))
        self.found.append(Use(text, names, role, self._line(node)))


def _is_dotted(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


# files of the repository


class _Files:
    """A repository as imports see it."""

    def __init__(self, repository: Path) -> None:
        self._root = repository
        self._bindings = cache(self._read)

    def find(self, dotted: str, path: str, depth: int = MAX_DEPTH) -> Found | None:
        """The definition that an absolute (``a.b.c``) or relative (``.b.c``) name means in a file."""
        level = len(dotted) - len(dotted.lstrip("."))
        parts = [part for part in dotted.lstrip(".").split(".") if part]
        for count in range(len(parts), -1, -1):
            file = self._file(parts[:count], level, path) if count or level else None
            if file is None:
                continue
            if count == len(parts):
                return Found(file)
            return self._member(file, parts[count], depth - 1) if depth else None
        return None

    def find_names(self, dotted: str, path: str) -> list[Found]:
        """The definition that a name written in a file means, as far as it is the repository's."""
        root, _, rest = dotted.partition(".")
        found = self._member(path, root, MAX_DEPTH) if dotted.replace(".", "").isidentifier() else None
        if found is not None and found.node is None and rest:
            found = self._member(found.path, rest.partition(".")[0], MAX_DEPTH)
        return [found] if found is not None else []

    def stars(self, path: str) -> list[str]:
        """The modules of which a file imports everything."""
        return [
            "." * node.level + (node.module or "")
            for node in self._bindings(path).get("*", [])
            if isinstance(node, ast.ImportFrom)
        ]

    def _member(self, path: str, name: str, depth: int) -> Found | None:
        """What ``module.name`` is: a definition, followed through re-exports, or a submodule."""
        for node in self._bindings(path).get(name, [])[:1]:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                return Found(path, name, node)
            if depth and (found := self.find(_imported(node, name), path, depth - 1)):
                return found
        for star in self.stars(path) if depth else ():
            if found := self.find(f"{star}.{name}", path, depth - 1):
                return found
        if path.endswith("__init__.py"):
            file = self._at(PurePosixPath(path).parent, [name])
            return Found(file) if file else None
        return None

    def _file(self, parts: list[str], level: int, path: str) -> str | None:
        """The file of a module that ``path`` imports; None for the standard library, third-party, missing."""
        above = list(PurePosixPath(path).parents)
        if level:
            return self._at(above[level - 1], parts) if level <= len(above) else None
        packages = [item for item in above if str(item) != "." and self._is_file(item / "__init__.py")]
        standard = parts[0] in sys.stdlib_module_names
        roots = [item for item in above if item not in packages] + [
            PurePosixPath(at) for at in SOURCE_FOLDERS
        ]
        # Only a script that is run by its path imports from the folder of a package.
        for root in dict.fromkeys([*roots, *([] if standard else packages)]):
            if found := self._at(root, parts):
                return found
        return None

    def _at(self, root: PurePosixPath, parts: list[str]) -> str | None:
        place = root.joinpath(*parts)
        for candidate in [place.parent / f"{place.name}.py"] * bool(parts) + [place / "__init__.py"]:
            if self._is_file(candidate):
                return candidate.as_posix()
        return None

    def _is_file(self, path: PurePosixPath) -> bool:
        file = self._root / path
        links = any((self._root / item).is_symlink() for item in (path, *path.parents) if str(item) != ".")
        return file.is_file() and not links and file.stat().st_size <= MAX_BYTES

    def _read(self, path: str) -> dict[str, list[ast.stmt]]:
        """The statements that bind each name at a file's top level, under ``if`` and ``try`` too."""
        found: dict[str, list[ast.stmt]] = {}
        try:
            stack: list[ast.AST] = [code.parse((self._root / path).read_bytes())]
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return found
        while stack:
            for node in ast.iter_child_nodes(stack.pop(0)):
                if isinstance(node, ast.stmt):
                    for name in _bound(node):
                        found.setdefault(name, []).append(node)
                if not isinstance(node, code.DefinitionNode | ast.expr):
                    stack.append(node)
        return found


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, code.DefinitionNode):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return code.bound_by(node)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)]
    return []


def _imported(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """The dotted name that an import binds to a name."""
    for alias in node.names:
        if name == (
            alias.asname or alias.name.partition(".")[0]
            if isinstance(node, ast.Import)
            else alias.asname or alias.name
        ):
            if isinstance(node, ast.ImportFrom):
                start = "." * node.level + (node.module or "")
                return f"{start}{'' if start.endswith('.') or not start else '.'}{alias.name}"
            return alias.name if alias.asname else name
    return name
