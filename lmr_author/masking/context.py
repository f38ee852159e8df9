"""Which files an implementer would want to read: where what the target calls, inherits or reads is defined.

Imports and classes are followed by reading (:mod:`~lmr_author.masking.imports`); what only the type of an
object tells is asked of jedi (:mod:`~lmr_author.masking.objects`). Without its answers the proposals are
fewer, not others. Nothing of the repository is ever run.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from lmr_author import source
from lmr_author.checks.scopes import bound_names
from lmr_author.masking.dotted import Role, Use, parts, uses
from lmr_author.masking.imports import Found, Imports, bindings
from lmr_author.masking.objects import ask_jedi
from lmr_author.taskdir import UNIT_TEST

MAX_REASONS = 4
"""Reasons that are told for one file."""


@dataclass(frozen=True)
class Proposal:
    """A file for ``retrieval_context``, relative to the repository, and why, the strongest reason first."""

    path: str
    reasons: tuple[str, ...]


def propose(
    repository: Path,
    module: source.Module,
    definition: source.Definition,
    *,
    exclude: Collection[str] = (),
    use_jedi: bool = True,
) -> tuple[Proposal, ...]:
    """The repository's files that define what a function calls, instantiates, inherits, or reads.

    Standard library and third-party packages are none of its files, and never proposed.

    Args:
        repository: the task's repository.
        module, definition: the function, not masked; its own file and ``unit_test/`` are never proposed.
        exclude: further files to leave out, such as those with a copy of the target.
        use_jedi: also look up attributes of objects, which takes seconds where reading takes milliseconds.
    """
    reasons = _Reasons({module.name, *exclude})
    reader = _Reader(repository, module, definition, reasons)
    reader.note_bases()
    unresolved = reader.note_names()
    for use, found in ask_jedi(repository, module, unresolved) if use_jedi else ():
        reasons.add_use(use, found)
    return reasons.proposals()


class _Reasons:
    """Reasons by file: one for each name, the stronger one where there are two."""

    def __init__(self, left_out: set[str]) -> None:
        self._left_out = left_out
        self._found: dict[str, dict[str, tuple[int, str]]] = {}

    def add(self, path: str, name: str, weight: int, reason: str) -> None:
        """Note why a file matters, unless it is one that is never proposed."""
        if path in self._left_out or path.startswith(f"{UNIT_TEST}/") or not path.endswith(".py"):
            return
        known = self._found.setdefault(path, {})
        if known.get(name, (0, ""))[0] < weight:
            known[name] = (weight, reason)

    def add_use(self, use: Use, found: Found) -> None:
        """The reason that a use gives whose definition is known."""
        name, line = found.name, use.node.lineno
        if found.kind == "module":
            self.add(found.path, use.text, 2, f"is the module `{use.text}`, used at line {line}")
        elif use.role is Role.TYPE:
            self.add(found.path, name, 1, f"defines `{name}`, named in the signature")
        elif found.kind == "class" and name != use.parts[-1]:
            owner = ".".join(use.parts[:2]) if use.root in ("self", "cls") else name
            of = f", the class of `{owner}`" if owner != name else f", whose `{use.parts[-1]}` is used"
            self.add(found.path, name, 3, f"defines `{name}`{of} (line {line})")
        elif found.kind == "function" and use.root in ("self", "cls") and name != use.parts[-1]:
            self.add(found.path, name, 2, f"defines `{name}`, which makes `{'.'.join(use.parts[:2])}`")
        elif use.role is Role.CALLED:
            verb = "instantiated" if found.kind == "class" else "called"
            self.add(found.path, name, 3, f"defines `{name}`, {verb} at line {line}")
        else:
            self.add(found.path, name, 2, f"defines `{name}`, read at line {line}")

    def proposals(self) -> tuple[Proposal, ...]:
        """All files, those with the most and strongest reasons first."""

        def weight(path: str) -> int:
            return sum(number for number, _ in self._found[path].values())

        order = sorted(self._found, key=lambda path: (-weight(path), path))
        return tuple(Proposal(path, self._told(path)) for path in order)

    def _told(self, path: str) -> tuple[str, ...]:
        ordered = sorted(self._found[path].values(), key=lambda item: -item[0])
        texts = tuple(text for _, text in ordered)
        more = len(texts) - MAX_REASONS
        return (*texts[:MAX_REASONS], f"{more} more names") if more > 1 else texts


class _Reader:
    """What is found by reading alone."""

    def __init__(
        self, repository: Path, module: source.Module, definition: source.Definition, reasons: _Reasons
    ) -> None:
        self._imports = Imports(repository)
        self._path = module.name
        self._definition = definition
        self._reasons = reasons
        self._top = bindings(module.tree)
        self._bound = dict(self._top)
        self._local: set[str] = set()
        self._own_class: ast.ClassDef | None = None
        for item in module.definitions:
            if not f"{definition.qualname}.".startswith(f"{item.qualname}."):
                continue
            imported = {name: node for name, node in bindings(item.node).items() if _is_import(node)}
            self._bound.update(imported)
            if item == definition and not isinstance(item.node, ast.ClassDef):
                self._local = bound_names(item.node) - imported.keys()
            if item.qualname == definition.class_name and isinstance(item.node, ast.ClassDef):
                self._own_class = item.node

    def note_bases(self) -> None:
        """Note the base classes that are defined elsewhere, and the method that the target overrides."""
        if self._own_class is None:
            return
        direct = {parts(base)[-1] for base in self._own_class.bases if parts(base)}
        method, overridden = self._definition.name, False
        for where, node in self._lineage(self._path, self._own_class):
            if node is self._own_class:
                continue
            if not overridden and _method(node, method):
                overridden = True
                text = f"defines `{node.name}.{method}`, which it overrides"
                self._reasons.add(where, method, 4, text)
            elif node.name in direct:
                self._reasons.add(where, node.name, 3, f"defines the base class `{node.name}`")

    def note_names(self) -> list[Use]:
        """Note what imports and classes tell about each name; returns those that they do not resolve."""
        unresolved = []
        for use in uses(self._definition):
            hidden = use.root in self._local
            if not hidden and self._imports.is_foreign(use.root, self._path, self._bound):
                continue
            found = self._resolve(use)
            if found is None:
                unresolved.append(use)
            elif len(use.parts) > 1 or found.kind != "module":
                self._reasons.add_use(use, found)
        return unresolved

    def _resolve(self, use: Use) -> Found | None:
        if use.root in ("self", "cls") and self._own_class is not None:
            return self._attribute(use.parts[1], len(use.parts) > 2) if len(use.parts) > 1 else None
        if use.root in self._local:
            return None
        return self._imports.chain(use.parts, self._path, self._bound)

    def _attribute(self, name: str, deeper: bool) -> Found | None:
        """What ``self.name`` is: a method of the class or a base, or what makes the object assigned to it.

        For ``self.name.more`` (deeper) a method tells nothing.
        """
        assert self._own_class is not None
        for path, node in self._lineage(self._path, self._own_class):
            method = _method(node, name)
            if method is not None:
                return None if deeper else Found(path, name, method)
            for made in _made(node, name):
                bound = self._bound if path == self._path else self._imports.bindings(path)
                found = self._imports.chain(made, path, bound)
                if found is not None and found.kind in ("class", "function"):
                    return found
        return None

    def _lineage(self, path: str, node: ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef]]:
        """A class and those it inherits from, with their files, as far as they are the repository's."""
        waiting, seen = [(path, node)], {(path, node.lineno)}
        while waiting:
            where, current = waiting.pop(0)
            yield where, current
            bound = self._top if where == self._path else self._imports.bindings(where)
            for base in filter(None, map(parts, current.bases)):
                found = self._imports.chain(base, where, bound)
                if found is None or not isinstance(found.node, ast.ClassDef):
                    continue
                if (found.path, found.node.lineno) not in seen:
                    seen.add((found.path, found.node.lineno))
                    waiting.append((found.path, found.node))


def _is_import(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _method(node: ast.ClassDef, name: str) -> ast.stmt | None:
    for item in node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == name:
            return item
    return None


def _made(node: ast.ClassDef, name: str) -> Iterator[tuple[str, ...]]:
    """``Encoder`` of ``self.name = Encoder(…)`` anywhere in a class."""
    for item in ast.walk(node):
        if not (isinstance(item, ast.Assign) and isinstance(item.value, ast.Call)):
            continue
        if any(parts(target) == ("self", name) for target in item.targets):
            yield parts(item.value.func)
