"""What the two kinds of scope have in common: names in, names out, and what must not be cut in two."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lmr_author.errors import TargetError
from lmr_author.extracting import events
from lmr_author.extracting.event import CHANGES, Event, Kind
from lmr_author.extracting.facts import Facts
from lmr_author.extracting.flow import Flow
from lmr_author.extracting.selection import Block


@dataclass(frozen=True)
class Names:
    """The names of an extraction.

    Attributes:
        inputs: parameters, in the order of their first use in the block, then what is passed through.
        outputs: in the order in which the block first binds them.
        as_globals: module variables that the block binds and that functions of the module see.
        read_globals: module variables that stay global although the block is script code, with the reason.
        local: names of a script that were module variables and are now local to the function.
        reaches_end: whether some way through the block comes to its end.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    as_globals: tuple[str, ...] = ()
    read_globals: tuple[tuple[str, str], ...] = ()
    local: tuple[str, ...] = ()
    reaches_end: bool = True


def bound_in_module(tree: ast.Module) -> frozenset[str]:
    """Names that a module binds, by its statements or through ``global`` in a function."""
    binding = CHANGES | {Kind.LATE_BIND, Kind.GLOBAL_BIND}
    return frozenset(item.name for item in events.scope(tree.body) if item.kind in binding)


class Scope:
    """What both kinds of scope have in common: the flow, and the events in and outside of the block."""

    def __init__(
        self, block: Block, body: list[ast.stmt], bound: Iterable[str], needed: Iterable[str]
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
        self.deleted = in_order(item for item in self.inside if item.kind is Kind.DELETE)
        self.surely_bound = self.facts.surely_bound()
        after = self.flow.reachable(self.flow.exits)
        self.rebound_after = {
            item.name for number in after for item in nodes[number].events if item.kind in CHANGES
        }
        self.late_inside = {item.name for item in self.inside if item.kind is Kind.LATE_READ}

    @property
    def needed(self) -> list[str]:
        """Names that the block reads before it binds them, in the order of their first use."""
        now = self.facts.needed_by_block(late=False)
        late = {
            name
            for name in self.facts.needed_by_block(late=True) - now
            if name not in self.bound or name in self.bound_outside
        }
        return [name for name in in_order(self.inside) if name in now | late]

    def passed_through(self, outputs: Sequence[str]) -> list[str]:
        """Outputs that the block binds on some ways only: their old value has to come in."""
        sure = self.facts.surely_bound_by_block()
        return [name for name in outputs if name not in sure]

    def check(self, inputs: Sequence[str], through: Sequence[str], sure: frozenset[str]) -> None:
        """Refuse inputs that may be unbound, names that a handler sees, and definitions used elsewhere."""
        self._check_imports()
        for name in inputs:
            if name not in sure and name in through:
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
        for name in self.bound:
            if name in seen:
                raise TargetError(
                    f"the block binds {name}, which line {seen[name]} may read when the block is left early",
                    "extend the range over the whole try or with statement, or choose another",
                )

    def check_deleted(self, names: Iterable[str]) -> None:
        """Refuse to delete what is not only the block's."""
        maybe = self.facts.maybe_bound() if self.deleted else frozenset()
        for name in self.deleted:
            if name in names and (name in maybe or name in self.facts.needed_after()):
                raise TargetError(
                    f"the block deletes {name}, which is bound before it",
                    f"leave `del {name}` out of the range",
                )

    def _check_imports(self) -> None:
        """An import in the block is fine as long as nobody else uses what it binds."""
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
    return list(dict.fromkeys(item.name for item in found))
