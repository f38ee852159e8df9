"""What a block needs from outside and what is needed of it afterwards: the new function's signature."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lmr_author.errors import TargetError
from lmr_author.extracting import events
from lmr_author.extracting.events import Event, Kind
from lmr_author.extracting.flow import Facts, Flow
from lmr_author.extracting.selection import Block

DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LATE = frozenset({Kind.LATE_READ, Kind.GLOBAL_READ, Kind.LATE_BIND, Kind.GLOBAL_BIND, Kind.READ_ALL})


@dataclass(frozen=True)
class Names:
    """The names of an extraction.

    Attributes:
        inputs: parameters, in the order of their first use in the block; what has to be passed through follows.
        outputs: in the order in which the block first binds them.
        as_globals: module variables that the block binds and that functions of the module see: they stay such.
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
    binding = events.CHANGES | {Kind.LATE_BIND, Kind.GLOBAL_BIND}
    return frozenset(item.name for item in events.scope(tree.body) if item.kind in binding)


def names(block: Block, exported: Iterable[str] = ()) -> Names:
    """Inputs and outputs of a block.

    Args:
        block: statements that :func:`lmr_author.extracting.rules.check` has accepted.
        exported: module variables that other files import from this one.

    Raises TargetError: a name cannot be passed in or out without a change of behaviour.
    """
    scope = block.scope
    if isinstance(scope, ast.Module):
        return _Script(block, scope, frozenset(exported)).names()
    assert isinstance(scope, events.Function)
    return _Function(block, scope).names()


class _Scope:
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
        self.bound = _in_order(item for item in self.inside if item.kind in events.CHANGES)
        self.bound_outside = {item.name for item in self.outside if item.kind in events.CHANGES} | set(bound)
        self.deleted = _in_order(item for item in self.inside if item.kind is Kind.DELETE)
        self.surely_bound = self.facts.surely_bound()
        after = self.flow.reachable(self.flow.exits)
        self.rebound_after = {
            item.name for number in after for item in nodes[number].events if item.kind in events.CHANGES
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
        return [name for name in _in_order(self.inside) if name in now | late]

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
                    f"{name} is bound in the block and may be read at line {seen[name]} when the block is left early",
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
                            f"line {statement.lineno}: the block imports {item.name}, which is used outside of it",
                            "leave the import out of the range",
                        )

    def _lines(self, name: str) -> str:
        lines = sorted({item.line for item in self.inside if item.name == name})
        shown = ", ".join(map(str, lines[:3])) + (", …" if len(lines) > 3 else "")
        return f"line {shown}" if len(lines) == 1 else f"lines {shown}"


class _Script(_Scope):
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
        """See :func:`names`."""
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
        return [name for name in _in_order(self.inside) if name in self.kinds or name in self.changed]

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
                        f"line {statement.lineno}: {name} has to stay global, and cannot be annotated in a function",
                        "leave the annotated assignment out of the range",
                    )


class _Function(_Scope):
    """A block of a function or method: its variables are locals, or those of functions around it."""

    def __init__(self, block: Block, scope: events.Function) -> None:
        super().__init__(block, scope.body, events.parameters(scope.args), ())
        self.own = events.own_names(scope)
        self.to_module = events.declared(scope.body, ast.Global)
        self.to_outer = events.declared(scope.body, ast.Nonlocal)
        self.outer = _outer_functions(block)

    def names(self) -> Names:
        """See :func:`names`."""
        self._check_declarations()
        live = self.facts.needed_after()
        outputs = [name for name in self.bound if name in live and name in self.own]
        through = self.passed_through(outputs)
        free = {name: outer for name in _in_order(self.inside) if (outer := self._owner(name)) is not None}
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
                    f"the block binds {name}, a variable of the function around this one ({self._lines(name)})",
                    f"leave what binds {name} out of the range",
                )

    def _check_lost(self, outputs: Sequence[str]) -> None:
        """Refuse to take away the only binding of a name that the function still mentions."""
        kept = self.bound_outside | set(outputs)
        for item in self.outside:
            if item.name in self.bound and item.name not in kept:
                raise TargetError(
                    f"{item.name} is bound in the block only, and mentioned at line {item.line}, outside of it",
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
        if name not in Facts(flow, events.parameters(outer.args)).surely_bound():
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
        anew = any(i.kind in events.CHANGES and i.name == name for n in after for i in flow.nodes[n].events)
        if any(item.kind is Kind.LATE_BIND for item in found) or (waits and anew):
            raise TargetError(
                f"{name}, a variable of {outer.name}, may be bound anew while the block runs",
                f"choose a range that does not use {name}",
            )


_PLAIN = "definition"


def _in_order(found: Iterable[Event]) -> list[str]:
    return list(dict.fromkeys(item.name for item in found))


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
        yield from ((item.name, type(statement)) for item in found if item.kind in events.BINDS)


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


def _outer_functions(block: Block) -> list[events.Function]:
    return [item for item in block.scopes[:-1] if isinstance(item, events.Function)]
