"""The new function's signature: names that a block needs from outside, and names that are needed of it afterwards."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from lmr_author.authoring.extracting import events
from lmr_author.authoring.extracting.events import BINDS, CHANGES, Event, Kind
from lmr_author.authoring.extracting.flow import Facts, Flow
from lmr_author.authoring.extracting.selection import SelectedBlock
from lmr_author.core.errors import TargetError

DEFINING = frozenset({ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
LATE = frozenset({Kind.LATE_READ, Kind.GLOBAL_READ, Kind.LATE_BIND, Kind.GLOBAL_BIND, Kind.READ_ALL})
_PLAIN = "definition"
"""Why a name stays global that nobody expects to be a parameter."""


@dataclass(frozen=True)
class Names:
    """The names of an extraction.

    Attributes:
        inputs: parameters, in the order of their first use in the block, then what is passed through.
        outputs: in the order in which the block first binds them.
        as_globals: module variables that the block binds and that functions of the module see.
        read_globals: module variables that stay global although the block is script code, with the reason.
        local: names of a script that were module variables and are now local to the function.
        reaches_end: some way through the block comes to its end.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    as_globals: tuple[str, ...] = ()
    read_globals: tuple[tuple[str, str], ...] = ()
    local: tuple[str, ...] = ()
    reaches_end: bool = True


def names(block: SelectedBlock, exported: Iterable[str] = ()) -> Names:
    """Return the inputs and outputs of a block.

    Args:
        block: statements that :func:`lmr_author.authoring.extracting.selection.check` has accepted.
        exported: module variables that other files import from this one.

    Raises TargetError: a name cannot be passed in or out without a change of behaviour.
    """
    scope = block.scope
    if isinstance(scope, ast.Module):
        return Script(block, scope, frozenset(exported)).names()
    assert isinstance(scope, events.Function)
    return LocalName(block, scope).names()


def bound_in_module(tree: ast.Module) -> frozenset[str]:
    """Return the names that a module binds, by its statements or through ``global`` in a function."""
    binding = CHANGES | {Kind.LATE_BIND, Kind.GLOBAL_BIND}
    return frozenset(item.name for item in events.scope(tree.body) if item.kind in binding)


class Scope:
    """The flow around a block, its events inside and outside, and the rules that scripts and functions share."""

    def __init__(
        self, block: SelectedBlock, body: list[ast.stmt], bound: Iterable[str], needed: Iterable[str]
    ) -> None:
        self.block = block
        self.flow = Flow(body, block.statements)
        module = block.scopes[0]
        assert isinstance(module, ast.Module)
        self.ordinary = bound_in_module(module)
        self.facts = Facts(self.flow, bound, needed, self.ordinary)
        nodes = self.flow.nodes
        self.inside = [item for node in nodes if node.inside for item in node.events]
        self.outside = [item for node in nodes if not node.inside for item in node.events]
        self.bound = in_order(item for item in self.inside if item.kind in CHANGES)
        self.bound_outside = {item.name for item in self.outside if item.kind in CHANGES} | set(bound)
        self.surely_bound = self.facts.surely_bound()
        after = self.flow.reachable(self.flow.exits)
        self.rebound_after = {
            item.name for number in after for item in nodes[number].events if item.kind in CHANGES
        }
        self.late_inside = {item.name for item in self.inside if item.kind is Kind.LATE_READ}
        now = self.facts.needed_by_block(late=False)
        late = {
            name
            for name in self.facts.needed_by_block(late=True) - now
            if name not in self.bound or name in self.bound_outside
        }
        self.needed = [name for name in in_order(self.inside) if name in now | late]

    def outputs(self, names: Iterable[str]) -> list[str]:
        """Return those of some names that the block binds and that are read after it."""
        live = self.facts.needed_after()
        return [name for name in self.bound if name in live and name in names]

    def check(
        self, needed: Sequence[str], outputs: Sequence[str], own: Iterable[str], sure: frozenset[str]
    ) -> tuple[str, ...]:
        """Refuse what would be unbound, seen by a handler, deleted or imported for others; return the inputs.

        Args:
            needed: names that the block reads before it binds them.
            own: names of the scope that the block binds.
            sure: names that are bound where the block begins.
        """
        self._check_imports()
        # An output that is bound on some ways only has to come in with its old value.
        through = [name for name in outputs if name not in self.facts.surely_bound_by_block()]
        inputs = tuple(dict.fromkeys([*needed, *through]))
        for name in inputs:
            if name not in sure and name in through and name not in needed:
                raise TargetError(
                    f"{name} is used after the block, which binds it on some ways only ({self._lines(name)})",
                    f"bind {name} before the block, or extend the range to where it is last used",
                )
            if name not in sure:
                raise TargetError(
                    f"{name} may be unbound where the block begins; it is read at {self._lines(name)}",
                    f"extend the range to where {name} is bound, or bind it on every way before",
                )
        seen = self.facts.needed_when_left()
        for name in own:
            if name in seen:
                raise TargetError(
                    f"the block binds {name}, which line {seen[name]} may read when the block is left early",
                    "extend the range over the whole try or with statement, or choose another",
                )
        for name in in_order(item for item in self.inside if item.kind is Kind.DELETE):
            if name in own and (name in self.facts.maybe_bound() or name in self.facts.needed_after()):
                raise TargetError(
                    f"the block deletes {name}, which is bound before it",
                    f"leave `del {name}` out of the range",
                )
        return inputs

    def _check_imports(self) -> None:
        elsewhere = {item.name for item in self.outside}
        for statement in events.statements(self.block.statements):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                for item in events.header(statement):
                    if item.name in elsewhere:
                        raise TargetError(
                            f"line {statement.lineno}: the block imports {item.name}, used outside of it too",
                            "leave the import out of the range",
                        )

    def _lines(self, name: str) -> str:
        lines = sorted({item.line for item in self.inside if item.name == name})
        shown = ", ".join(map(str, lines[:3])) + (", …" if len(lines) > 3 else "")
        return f"line {shown}" if len(lines) == 1 else f"lines {shown}"


def in_order(found: Iterable[Event]) -> list[str]:
    """Return the names of events in the order of their first one."""
    return list(dict.fromkeys(item.name for item in found))


class LocalName(Scope):
    """A block of a function or method: its variables are locals of that function."""

    def __init__(self, block: SelectedBlock, scope: events.Function) -> None:
        super().__init__(block, scope.body, events.parameters(scope.args), ())
        self.own = events.own_names(scope)
        self.to_module = events.declared(scope.body, ast.Global)

    def names(self) -> Names:
        """Return the inputs and outputs of the block."""
        self._check_outer()
        outputs = self.outputs(self.own)
        needed = [name for name in self.needed if name in self.own]
        as_globals = [name for name in self.bound if name in self.to_module]
        self.bound = [name for name in self.bound if name in self.own]
        # The only binding of a name must not go where the function still mentions it.
        kept = self.bound_outside | set(outputs)
        for item in self.outside:
            if item.name in self.bound and item.name not in kept:
                raise TargetError(
                    f"{item.name} is bound in the block only, but mentioned at line {item.line}",
                    f"extend the range over line {item.line}",
                )
        self._check_closures()
        inputs = self.check(needed, outputs, self.bound, self.surely_bound)
        return Names(inputs, tuple(outputs), tuple(as_globals), reaches_end=bool(self.flow.exits))

    def _check_outer(self) -> None:
        """Refuse variables of functions around the block's own: they may be bound anew while the block runs."""
        for outer in (item for item in self.block.scopes[:-1] if isinstance(item, events.Function)):
            theirs = events.own_names(outer) - self.own - self.to_module
            if name := next((name for name in in_order(self.inside) if name in theirs), ""):
                raise TargetError(
                    f"the block uses {name}, a variable of {outer.name} ({self._lines(name)})",
                    f"choose a range that does not use {name}",
                )

    def _check_closures(self) -> None:
        """Refuse variables that a nested function shares with the block while both may run."""
        used = {item.name for item in self.inside}
        for number, node in enumerate(self.flow.nodes):
            late = [item for item in node.events if item.kind in (Kind.LATE_READ, Kind.LATE_BIND)]
            for item in (item for item in late if item.name in self.own):
                if item.kind is Kind.LATE_BIND and item.name in used:
                    if not node.inside or self._is_shared(item.name):
                        self._refuse_closure(item, "binds it too")
                    continue
                outside = not node.inside and item.name in self.bound
                if outside and self.flow.reachable([number]) & set(self.flow.enters):
                    self._refuse_closure(item, "reads it, and may run in the meantime")
        for item in self.inside:
            if item.kind is Kind.LATE_READ and item.name in self.own and item.name in self.rebound_after:
                raise TargetError(
                    f"line {item.line}: a function or generator made in the block uses {item.name}, "
                    "which is bound anew after the block",
                    f"leave it out of the range, or extend the range to where {item.name} is bound",
                )

    def _is_shared(self, name: str) -> bool:
        return name in {item.name for item in self.outside} or name in self.facts.needed_after()

    def _refuse_closure(self, item: Event, does: str) -> NoReturn:
        raise TargetError(
            f"{item.name} is bound or used in the block, and the nested function at line {item.line} {does}",
            f"choose lines that do not use {item.name}, or that lie before the nested function",
        )


class Script(Scope):
    """A block of statements of the module: its variables are globals, which functions and other files may see."""

    def __init__(self, block: SelectedBlock, module: ast.Module, exported: frozenset[str]) -> None:
        super().__init__(block, module.body, (), exported | _dunder_all(module))
        self.module = module
        sites = [
            (item.name, type(statement))
            for statement in events.statements(module.body)
            for item in events.everything(statement)
            if item.kind in BINDS
        ]
        self.kinds: dict[str, set[type[ast.stmt]]] = {}
        for name, kind in sites:
            self.kinds.setdefault(name, set()).add(kind)
        self.count = Counter(name for name, _ in sites)
        self.seen = {item.name for item in self.outside if item.kind in LATE}
        moved = set(map(id, events.statements(block.statements)))
        self.seen_all = any(
            item.kind is Kind.READ_ALL and item.name not in self.ordinary
            for statement in events.statements(module.body)
            if isinstance(statement, events.Function | ast.ClassDef) and id(statement) not in moved
            for item in events.header(statement)
        )
        changing = (Kind.GLOBAL_BIND, Kind.LATE_BIND)
        self.changed = {item.name for item in (*self.inside, *self.outside) if item.kind in changing}

    def names(self) -> Names:
        """Return the inputs and outputs of the block."""
        used = [name for name in in_order(self.inside) if name in self.kinds or name in self.changed]
        kept = {name: reason for name in used if (reason := self._stays_global(name))}
        as_globals = [name for name in self.bound if name in kept]
        self._check_annotations(as_globals)
        own = [name for name in self.bound if name not in kept]
        outputs = self.outputs(own)
        needed = [name for name in self.needed if name in self.kinds and name not in kept]
        inputs = self.check(needed, outputs, own, self.surely_bound)
        return Names(
            inputs,
            tuple(outputs),
            tuple(as_globals),
            tuple(
                (name, reason) for name, reason in kept.items() if name not in as_globals and reason != _PLAIN
            ),
            tuple(name for name in own if name not in outputs and self.kinds.get(name, set()) - {ast.Try}),
            bool(self.flow.exits),
        )

    def _stays_global(self, name: str) -> str:
        """Return why a name of the module does not become a parameter or a result, or ""."""
        if name in self.changed:
            return "a function of the module binds it with `global`"
        if name in self.late_inside and name in self.rebound_after:
            return "a lambda or generator of the block may run when it is bound anew"
        if name in self.bound:
            return "functions of the module read it" if name in self.seen or self.seen_all else ""
        constant = name.isupper() and self.count[name] == 1 and name in _assigned(self.module.body)
        return _PLAIN if constant or DEFINING & self.kinds.get(name, set()) else ""

    def _check_annotations(self, as_globals: Sequence[str]) -> None:
        for statement in events.statements(self.block.statements):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                name = statement.target.id
                if name in as_globals or (statement.value is None and name not in self.bound):
                    raise TargetError(
                        f"line {statement.lineno}: {name} stays global and cannot be annotated there",
                        "leave the annotated assignment out of the range",
                    )


def _assigned(body: Iterable[ast.stmt]) -> dict[str, ast.stmt]:
    """Return the names that statements bind by ``name = value``, with the statement."""
    return {
        target.id: item
        for item in body
        for target in [*getattr(item, "targets", ()), getattr(item, "target", None)]
        if isinstance(item, ast.Assign | ast.AnnAssign | ast.AugAssign) and isinstance(target, ast.Name)
    }


def _dunder_all(module: ast.Module) -> frozenset[str]:
    """Return the strings in ``__all__``."""
    constants = [
        node.value
        for item in module.body
        if "__all__" in _assigned([item])
        for node in ast.walk(item)
        if isinstance(node, ast.Constant)
    ]
    return frozenset(value for value in constants if isinstance(value, str))
