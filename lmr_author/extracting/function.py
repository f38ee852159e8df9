"""The names of a block of a function: its locals, those of functions around it, and what closures share."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from lmr_author.errors import TargetError
from lmr_author.extracting import events, expressions
from lmr_author.extracting.event import CHANGES, Event, Kind
from lmr_author.extracting.facts import Facts
from lmr_author.extracting.flow import Flow
from lmr_author.extracting.scope import Names, Scope, in_order
from lmr_author.extracting.selection import Block


class Function(Scope):
    """A block of a function or method: its variables are locals, or those of functions around it."""

    def __init__(self, block: Block, scope: events.Function) -> None:
        super().__init__(block, scope.body, expressions.parameters(scope.args), ())
        self.own = events.own_names(scope)
        self.to_module = events.declared(scope.body, ast.Global)
        self.to_outer = events.declared(scope.body, ast.Nonlocal)
        self.outer = _outer_functions(block)

    def names(self) -> Names:
        """Inputs and outputs of the block (:func:`lmr_author.extracting.names.names`)."""
        self._check_declarations()
        live = self.facts.needed_after()
        outputs = [name for name in self.bound if name in live and name in self.own]
        through = self.passed_through(outputs)
        free = {name: outer for name in in_order(self.inside) if (outer := self._owner(name)) is not None}
        needed = [name for name in self.needed if name in self.own or name in free]
        inputs = list(dict.fromkeys([*needed, *through]))
        as_globals = [name for name in self.bound if name in self.to_module]
        self.bound = [name for name in self.bound if name in self.own]
        self._check_lost(outputs)
        self._check_closures()
        for name, outer in free.items():
            self._check_free(name, outer)
        self.check(inputs, [name for name in through if name not in needed], self.surely_bound | set(free))
        self.check_deleted(self.own)
        moved = {name for item in self._declarations() for name in item.names}
        return Names(
            tuple(inputs),
            tuple(outputs),
            tuple(name for name in as_globals if name not in moved),
            reaches_end=bool(self.flow.exits),
        )

    def _owner(self, name: str) -> events.Function | None:
        """The function around this one that a name belongs to, or None: local, global, builtin."""
        if name in self.own or name in self.to_module:
            return None
        return next((item for item in reversed(self.outer) if name in events.own_names(item)), None)

    def _declarations(self) -> list[ast.Global]:
        return [item for item in events.statements(self.block.statements) if isinstance(item, ast.Global)]

    def _check_declarations(self) -> None:
        elsewhere = {item.name for item in self.outside}
        for item in self._declarations():
            for name in item.names:
                if name in elsewhere:
                    raise TargetError(
                        f"line {item.lineno}: `global {name}` is needed outside of the block too",
                        "leave the global statement out of the range",
                    )
        for name in self.bound:
            if name in self.to_outer:
                raise TargetError(
                    f"the block binds {name}, which is nonlocal ({self._lines(name)})",
                    f"leave what binds {name} out of the range",
                )

    def _check_lost(self, outputs: Sequence[str]) -> None:
        """Refuse to take away the only binding of a name that the function still mentions."""
        kept = self.bound_outside | set(outputs)
        for item in self.outside:
            if item.name in self.bound and item.name not in kept:
                raise TargetError(
                    f"{item.name} is bound in the block only, but mentioned at line {item.line}",
                    f"extend the range over line {item.line}",
                )

    def _check_closures(self) -> None:
        """Refuse variables that a nested function shares with the block while both may run."""
        nodes = self.flow.nodes
        used = {item.name for item in self.inside}
        for number, node in enumerate(nodes):
            shared = {
                item.name: item for item in node.events if item.kind in (Kind.LATE_READ, Kind.LATE_BIND)
            }
            for name, item in shared.items():
                if name not in self.own:
                    continue
                if (
                    item.kind is Kind.LATE_BIND
                    and name in used
                    and (not node.inside or self._is_shared(name))
                ):
                    raise self._closure_error(name, item, "binds it too")
                if node.inside or name not in self.bound:
                    continue
                if self.flow.reachable([number]) & set(self.flow.enters):
                    raise self._closure_error(name, item, "reads it, and may run in the meantime")
        for item in self.inside:
            if item.kind is Kind.LATE_READ and item.name in self.own and item.name in self.rebound_after:
                raise TargetError(
                    f"line {item.line}: a function or generator made in the block uses {item.name}, "
                    "which is bound anew after the block",
                    f"leave it out of the range, or extend the range to where {item.name} is bound",
                )

    def _is_shared(self, name: str) -> bool:
        return name in {item.name for item in self.outside} or name in self.facts.needed_after()

    def _closure_error(self, name: str, item: Event, does: str) -> TargetError:
        return TargetError(
            f"{name} is bound or used in the block, and the nested function at line {item.line} {does}",
            f"choose lines that do not use {name}, or that lie before the nested function",
        )

    def _check_free(self, name: str, outer: events.Function) -> None:
        """A variable of a function around this one can be passed when it is bound, and stays the same."""
        inner = self.block.suite.owners[self.block.suite.owners.index(outer) + 1 :]
        definition = next(item for item in inner if isinstance(item, events.Function | ast.ClassDef))
        flow = Flow(outer.body, [definition])
        if name not in Facts(flow, expressions.parameters(outer.args)).surely_bound():
            raise TargetError(
                f"{name}, a variable of {outer.name}, may be unbound where {definition.name} is defined",
                f"bind {name} before line {definition.lineno}, or choose a range that does not use it",
            )
        found = [item for node in flow.nodes for item in node.events if item.name == name]
        waits = name in self.late_inside or any(
            isinstance(node, ast.Yield | ast.YieldFrom | ast.Await)
            for item in self.block.statements
            for node in ast.walk(item)
        )
        after = flow.reachable([*flow.exits])
        anew = any(i.kind in CHANGES and i.name == name for n in after for i in flow.nodes[n].events)
        if any(item.kind is Kind.LATE_BIND for item in found) or (waits and anew):
            raise TargetError(
                f"{name}, a variable of {outer.name}, may be bound anew while the block runs",
                f"choose a range that does not use {name}",
            )


def _outer_functions(block: Block) -> list[events.Function]:
    return [item for item in block.scopes[:-1] if isinstance(item, events.Function)]
