"""The names of a block of script code: variables of the module, which functions and other files may see."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence

from lmr_author.errors import TargetError
from lmr_author.extracting import events
from lmr_author.extracting.event import BINDS, Event, Kind
from lmr_author.extracting.scope import Names, Scope, in_order
from lmr_author.extracting.selection import Block

DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LATE = frozenset({Kind.LATE_READ, Kind.GLOBAL_READ, Kind.LATE_BIND, Kind.GLOBAL_BIND, Kind.READ_ALL})
_PLAIN = "definition"
"""Why a name stays global that nobody expects to be a parameter."""


class Script(Scope):
    """A block of statements of the module: its variables are globals until now."""

    def __init__(self, block: Block, module: ast.Module, exported: frozenset[str]) -> None:
        exported |= _exported(module)
        super().__init__(block, module.body, (), exported)
        self.module = module
        sites = list(_bindings(module.body))
        self.kinds = {name: {kind for other, kind in sites if other == name} for name, _ in sites}
        self.count = Counter(name for name, _ in sites)
        self.seen = {item.name for item in self.outside if item.kind in LATE}
        self.seen_all = any(
            item.kind is Kind.READ_ALL and item.name not in self.ordinary
            for item in _functions_of(module, block)
        )
        self.changed = {
            item.name
            for item in (*self.inside, *self.outside)
            if item.kind in (Kind.GLOBAL_BIND, Kind.LATE_BIND)
        }

    def names(self) -> Names:
        """Inputs and outputs of the block (:func:`lmr_author.extracting.names.names`)."""
        kept = {name: reason for name in self._used() if (reason := self._stays_global(name))}
        as_globals = [name for name in self.bound if name in kept]
        self._check_annotations(as_globals)
        live = self.facts.needed_after()
        outputs = [name for name in self.bound if name in live and name not in kept]
        through = self.passed_through(outputs)
        needed = [name for name in self.needed if self._is_variable(name) and name not in kept]
        inputs = list(dict.fromkeys([*needed, *through]))
        own = [name for name in self.bound if name not in kept]
        self.bound = own
        self.check(inputs, [name for name in through if name not in needed], self.surely_bound)
        self.check_deleted(own)
        return Names(
            tuple(inputs),
            tuple(outputs),
            tuple(as_globals),
            tuple(
                (name, reason) for name, reason in kept.items() if name not in as_globals and reason != _PLAIN
            ),
            tuple(
                name
                for name in own
                if name not in outputs and self.kinds.get(name, set()) - {ast.Try, ast.TryStar}
            ),
            bool(self.flow.exits),
        )

    def _used(self) -> list[str]:
        return [name for name in in_order(self.inside) if name in self.kinds or name in self.changed]

    def _is_variable(self, name: str) -> bool:
        return name in self.kinds

    def _stays_global(self, name: str) -> str:
        """Why a name of the module is not made a parameter or a result, or ""."""
        if name in self.changed:
            return "a function of the module binds it with `global`"
        if name in self.late_inside and name in self.rebound_after:
            return "a lambda or generator of the block may run when it is bound anew"
        if name in self.bound:
            seen = name in self.seen or self.seen_all
            return "functions of the module read it" if seen else ""
        if any(kind in DEFINING for kind in self.kinds.get(name, ())) or self._is_constant(name):
            return _PLAIN
        return ""

    def _is_constant(self, name: str) -> bool:
        """Whether a name is written like a constant and bound once, by a plain assignment at top level."""
        top = {item for statement in self.module.body for item in _plain_names(statement)}
        return name.isupper() and self.count[name] == 1 and name in top

    def _check_annotations(self, as_globals: Sequence[str]) -> None:
        for statement in events.statements(self.block.statements):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                name = statement.target.id
                if name in as_globals or (statement.value is None and name not in self.bound):
                    raise TargetError(
                        f"line {statement.lineno}: {name} stays global and cannot be annotated there",
                        "leave the annotated assignment out of the range",
                    )


def _bindings(body: list[ast.stmt]) -> Iterable[tuple[str, type[ast.stmt]]]:
    """Names that the statements of a scope bind, with the kind of statement."""
    for statement in events.statements(body):
        found = events.header(statement)
        if isinstance(statement, ast.For | ast.AsyncFor):
            found = found + events.target(statement.target)
        for handler in getattr(statement, "handlers", ()):
            found = found + events.caught(handler)
        for case in getattr(statement, "cases", ()):
            found = found + events.pattern(case)
        yield from ((item.name, type(statement)) for item in found if item.kind in BINDS)


def _plain_names(statement: ast.stmt) -> Iterable[str]:
    """Names that a statement binds by ``name = value``."""
    if isinstance(statement, ast.Assign):
        return [item.id for item in statement.targets if isinstance(item, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def _functions_of(module: ast.Module, block: Block) -> Iterable[Event]:
    """What the functions of a module do to its names, those in the block left out."""
    inside = {id(item) for item in events.statements(block.statements)}
    for statement in events.statements(module.body):
        if isinstance(statement, events.Function | ast.ClassDef) and id(statement) not in inside:
            yield from events.header(statement)


def _exported(module: ast.Module) -> frozenset[str]:
    """The strings in ``__all__``."""
    found: set[str] = set()
    for statement in module.body:
        names = [item.id for item in getattr(statement, "targets", ()) if isinstance(item, ast.Name)]
        if "__all__" in names or ast.unparse(getattr(statement, "target", ast.Name("_"))) == "__all__":
            found |= {
                node.value
                for node in ast.walk(statement)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
    return frozenset(found)
