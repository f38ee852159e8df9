"""The new function's signature: names that a block needs from outside, and names that are needed of it afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from lmr_author.authoring.extracting import events
from lmr_author.authoring.extracting.events import CHANGES, Event, Kind
from lmr_author.authoring.extracting.flow import Facts, Flow
from lmr_author.authoring.extracting.selection import SelectedBlock
from lmr_author.core.errors import TargetError

DEFINING = frozenset({ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_PERHAPS = (
    ast.BoolOp,
    ast.IfExp,
    ast.Compare,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
"""Expressions that may leave a part of them out."""


@dataclass(frozen=True)
class Names:
    """The names of an extraction.

    Attributes:
        inputs: parameters, in the order of their first use in the block, then what is passed through.
        outputs: in the order in which the block first binds them.
        local: names of a script that were module variables and are now local to the function.
        reaches_end: some way through the block comes to its end.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
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
    return FunctionBody(block, scope).names()


def _surely_read(statement: ast.stmt) -> set[str]:
    """Return names that a simple statement reads whenever it runs to its end."""
    if (
        not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return)
        or statement.value is None
    ):
        return set()
    names: set[str] = set()
    waiting: list[ast.AST] = [statement.value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        if not isinstance(node, _PERHAPS):
            waiting += ast.iter_child_nodes(node)
    return names


class Scope:
    """The flow around a block, its events inside and outside, and the rules that scripts and functions share."""

    def __init__(self, block: SelectedBlock, body: list[ast.stmt], bound: Set[str], needed: Set[str]) -> None:
        self.block = block
        self.flow = Flow(body, block.statements)
        self.facts = Facts(self.flow, bound, needed)
        self.inside: list[Event] = []
        self.outside: list[Event] = []
        for node in self.flow.nodes:
            (self.inside if node.inside else self.outside).extend(node.events)
        self.bound = in_order(event for event in self.inside if event.kind in CHANGES)
        self.bound_outside = {event.name for event in self.outside if event.kind in CHANGES} | set(bound)
        # Functions made in the block may read a name that only the block binds: that is no input.
        now = self.facts.needed_by_block(late=False)
        late = self.facts.needed_by_block(late=True)
        local = set(self.bound) - self.bound_outside
        self.needed = [name for name in in_order(self.inside) if name in now or name in late - local]

    def outputs(self, names: Iterable[str]) -> list[str]:
        """Return those of some names that the block binds and that are read after it."""
        live = self.facts.needed_after()
        return [name for name in self.bound if name in live and name in names]

    def inputs(self, needed: Sequence[str], outputs: Sequence[str], own: Sequence[str]) -> tuple[str, ...]:
        """Return the inputs; refuse what would be unbound, seen by a handler, or deleted.

        Args:
            needed: names that the block reads before it binds them.
            own: names of the scope that the block binds.
        """
        handlers = [node for node in ast.walk(self.block.scope) if isinstance(node, ast.ExceptHandler)]
        caught = {handler.name for handler in handlers if handler not in self.block.suite.owners}
        for name in (*needed, *outputs):
            if name in caught:
                raise TargetError(
                    f"the block shares {name} with the code around it, and an except clause unbinds it",
                    "rename the variable of the except clause, or choose another range",
                )
        sure = self.facts.bound_before(surely=True)
        # Unbound, it raises in the first statement; as an argument of the call, it raises there just as well.
        read_first = self.facts.bound_before(surely=False) & _surely_read(self.block.statements[0])
        for name in needed:
            if name not in sure | read_first:
                raise TargetError(
                    f"{name} may be unbound where the block begins; it is read at {self.lines(name)}",
                    f"extend the range to where {name} is bound, or bind it on every way before",
                )
        # An output that is bound on some ways only has to come in with its old value.
        through = [name for name in outputs if name not in self.facts.surely_bound_by_block()]
        for name in through:
            if name not in sure:
                raise TargetError(
                    f"{name} is used after the block, which binds it on some ways only ({self.lines(name)})",
                    f"bind {name} before the block, or extend the range to where it is last used",
                )
        self._refuse_early_ends(own)
        self._refuse_late_readers()
        return tuple(dict.fromkeys([*needed, *through]))

    def _refuse_early_ends(self, own: Sequence[str]) -> None:
        needed = self.facts.needed_when_left()
        for name in own:
            if name in needed:
                raise TargetError(
                    f"the block binds {name}, which may be read when the block is left early ({self.lines(name)})",
                    "extend the range over the whole try statement, or choose another",
                )
        for statement in events.statements(self.block.statements):
            for target in statement.targets if isinstance(statement, ast.Delete) else ():
                if isinstance(target, ast.Name) and target.id in self.bound_outside.intersection(own):
                    raise TargetError(
                        f"the block deletes {target.id}, which is bound outside of it as well",
                        f"leave `del {target.id}` out of the range",
                    )

    def _refuse_late_readers(self) -> None:
        """Refuse a function made in the block that would read a parameter, and not what is bound after the block."""
        rebound = set()
        for number in self.flow.reachable(self.flow.exit) if self.flow.exit is not None else ():
            rebound |= {event.name for event in self.flow.nodes[number].events if event.kind in CHANGES}
        for event in self.inside:
            if event.kind is Kind.LATE_READ and event.name in rebound:
                raise TargetError(
                    f"line {event.line}: a function or generator made in the block uses {event.name}, "
                    "which is bound anew after the block",
                    f"leave it out of the range, or extend the range to where {event.name} is bound",
                )

    def _refuse_imports(self) -> None:
        elsewhere = {event.name for event in self.outside}
        for statement in events.statements(self.block.statements):
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                continue
            for event in events.header(statement):
                if event.name in elsewhere:
                    raise TargetError(
                        f"line {statement.lineno}: the block imports {event.name}, used outside of it too",
                        "leave the import out of the range",
                    )

    def lines(self, name: str) -> str:
        """Return the lines of the block that mention a name, for a message."""
        lines = sorted({event.line for event in self.inside if event.name == name})
        shown = ", ".join(map(str, lines[:3])) + (", …" if len(lines) > 3 else "")
        return f"line {shown}" if len(lines) == 1 else f"lines {shown}"


def in_order(mentioned: Iterable[Event]) -> list[str]:
    """Return the names of events in the order of their first one."""
    return list(dict.fromkeys(event.name for event in mentioned))


class FunctionBody(Scope):
    """A block of a function or method: its variables are locals of that function."""

    def __init__(self, block: SelectedBlock, scope: events.Function) -> None:
        super().__init__(block, scope.body, set(events.parameters(scope.args)), set())
        self.scope = scope
        self.own = events.own_names(scope)

    def names(self) -> Names:
        """Return the inputs and outputs of the block."""
        self._refuse_imports()
        self._refuse_foreign_names()
        outputs = self.outputs(self.own)
        # The only binding of a name must not go where the function still mentions it.
        moved = set(self.bound) - self.bound_outside - set(outputs)
        for event in self.outside:
            if event.name in moved:
                raise TargetError(
                    f"{event.name} is bound in the block only, but mentioned at line {event.line}",
                    f"extend the range over line {event.line}",
                )
        self._refuse_closures()
        needed = [name for name in self.needed if name in self.own]
        inputs = self.inputs(needed, outputs, self.bound)
        return Names(inputs, tuple(outputs), reaches_end=self.flow.exit is not None)

    def _refuse_foreign_names(self) -> None:
        """Refuse variables of functions around the block's own, and those that it shares with other functions."""
        foreign: dict[str, str] = {}
        for name in self.bound:
            if name not in self.own:
                foreign[name] = "is not the function's own"
        for name in events.shared_names(self.scope) & self.own:
            foreign[name] = "a nested function may bind"
        for outer in self.block.scopes[:-1]:
            if isinstance(outer, events.Function):  # it may be bound anew while the block runs
                names = events.own_names(outer) - self.own - events.shared_names(self.scope)
                foreign |= dict.fromkeys(names, f"is a variable of {outer.name}")
        for name in in_order(self.inside):
            if name in foreign:
                raise TargetError(
                    f"the block uses {name}, which {foreign[name]} ({self.lines(name)})",
                    f"choose a range that does not use {name}",
                )

    def _refuse_closures(self) -> None:
        """Refuse variables that a nested function reads while the block may bind them."""
        for number, node in enumerate(self.flow.nodes):
            for event in () if node.inside else node.events:
                is_shared = event.kind is Kind.LATE_READ and event.name in self.bound
                if is_shared and self.flow.enter in self.flow.reachable(number):
                    raise TargetError(
                        f"the block binds {event.name}, which the nested function at line {event.line} may read in "
                        "the meantime",
                        f"choose lines that do not use {event.name}, or that lie before the nested function",
                    )


class Script(Scope):
    """A block of statements of the module: its variables are globals, which functions and other files may see."""

    def __init__(self, block: SelectedBlock, module: ast.Module, exported: frozenset[str]) -> None:
        super().__init__(block, module.body, set(), exported)
        self.module = module
        self.kinds: dict[str, list[type[ast.stmt]]] = {}
        """By variable: the kinds of the statements that bind it."""
        for statement in events.statements(module.body):
            for event in events.everything(statement):
                if event.kind is Kind.BIND:
                    self.kinds.setdefault(event.name, []).append(type(statement))

    def names(self) -> Names:
        """Return the inputs and outputs of the block."""
        self._refuse_imports()
        self._refuse_shared()
        constants = self._constants()
        outputs = self.outputs(self.bound)
        needed = [name for name in self.needed if name in self.kinds and name not in constants]
        inputs = self.inputs(needed, outputs, self.bound)
        local = []
        for name in self.bound:
            if name not in outputs and set(self.kinds.get(name, ())) - {ast.Try}:
                local.append(name)
        return Names(inputs, tuple(outputs), tuple(local), self.flow.exit is not None)

    def _refuse_shared(self) -> None:
        """Refuse variables that functions of the module see while the block runs: they would have to stay global."""
        changed = events.shared_names(self.module)
        read = {event.name for event in self.outside if event.kind is Kind.LATE_READ}
        for name in in_order(self.inside):
            does = "binds" if name in changed else ""
            if name in self.bound and name in read:
                does = "may read"
            if does:
                raise TargetError(
                    f"the block uses {name}, which a function of the module {does} ({self.lines(name)})",
                    f"choose a range that does not use {name}",
                )

    def _constants(self) -> set[str]:
        """Return imports, definitions and constants, which nobody expects to be parameters."""
        constants = set()
        for name, kinds in self.kinds.items():
            is_constant = name.isupper() and kinds in ([ast.Assign], [ast.AnnAssign])
            if name not in self.bound and (is_constant or DEFINING.intersection(kinds)):
                constants.add(name)
        return constants
