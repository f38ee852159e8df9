"""The new function's signature: names that a block needs from outside, and names that are needed of it afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lmr_author.authoring.extracting import events
from lmr_author.authoring.extracting.events import Event, Kind
from lmr_author.authoring.extracting.flow import END, NONE, Walk
from lmr_author.authoring.extracting.selection import Loop, SelectedBlock
from lmr_author.core.errors import TargetError

DEFINING = frozenset({ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


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
    scope, mentions = block.scope, Mentions(block)
    if isinstance(scope, ast.Module):
        mentions.refuse(dict(_shared_in_script(scope, mentions)))
        kinds = _binding_kinds(scope)
        constants = {name for name in kinds if name not in mentions.bound and _is_constant(name, kinds[name])}
        inputs, outputs, reaches_end = _passed(mentions, kinds.keys() - constants, NONE, frozenset(exported))
        # An except clause unbinds its name itself: other files could never import it.
        local = [name for name in mentions.bound if name not in outputs and set(kinds[name]) - {ast.Try}]
        return Names(inputs, outputs, tuple(local), reaches_end)
    assert isinstance(scope, events.Function)
    own = events.own_names(scope)
    mentions.refuse(dict(_shared_in_function(scope, mentions, own)))
    inputs, outputs, reaches_end = _passed(mentions, own, frozenset(events.parameters(scope)), NONE)
    return Names(inputs, outputs, reaches_end=reaches_end)


class Mentions:
    """The events of a scope, by where they are; a loop around the block comes before it as well as after it.

    Attributes:
        inside, outside: of the block.
        earlier, later: those that may happen before the block, and after it.
        bound: names that the block binds, in order.
    """

    def __init__(self, block: SelectedBlock) -> None:
        self.block = block
        self.inside: list[Event] = []
        self.outside: list[Event] = []
        self.earlier: list[Event] = []
        self.later: list[Event] = []
        moved, repeated = set(events.statements(block.statements)), set(_repeated(block))
        is_above = True
        for statement in events.statements(block.scope.body):
            happening = events.everything(statement)
            if statement in moved:
                is_above = False
                self.inside += happening
            else:
                self.outside += happening
                self.earlier += happening if is_above or statement in repeated else ()
            if statement in repeated or not (is_above or statement in moved):
                self.later += happening
        self.bound = list(dict.fromkeys(binding_names(self.inside)))

    def refuse(self, reasons: dict[str, str]) -> None:
        """Raise TargetError for the first name of the block that has a reason."""
        for event in self.inside:
            if event.name in reasons:
                raise TargetError(
                    f"the block uses {event.name}, which {reasons[event.name]} ({self.lines(event.name)})",
                    f"choose a range that does not use {event.name}",
                )

    def lines(self, name: str) -> str:
        """Return the lines of the block that mention a name, for a message."""
        lines = sorted({event.line for event in self.inside if event.name == name})
        shown = ", ".join(map(str, lines[:3])) + (", …" if len(lines) > 3 else "")
        return f"line {shown}" if len(lines) == 1 else f"lines {shown}"


def _repeated(block: SelectedBlock) -> Iterator[ast.stmt]:
    """Yield the statements of the outermost loop around a block, in its scope."""
    own = block.suite.owners[block.suite.owners.index(block.scope) :]
    loops = [owner for owner in own if isinstance(owner, Loop)]
    yield from events.statements(loops[:1])


def binding_names(happening: Iterable[Event]) -> Iterator[str]:
    """Yield the names that events bind."""
    return (event.name for event in happening if event.kind is Kind.BIND)


def _late_names(happening: Iterable[Event]) -> set[str]:
    return {event.name for event in happening if event.kind is Kind.LATE_READ}


def _shared_in_script(module: ast.Module, mentions: Mentions) -> Iterator[tuple[str, str]]:
    """Yield (name, why) for variables that functions see while the block runs: they would have to stay global."""
    for name in _late_names(mentions.outside).intersection(mentions.bound):
        yield name, "a function of the module may read"
    for name in events.shared_names(module):
        yield name, "a function of the module binds"


def _shared_in_function(
    scope: events.Function, mentions: Mentions, own: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Yield (name, why) for variables of functions around the block's own, and those shared with other functions."""
    for name in _late_names(mentions.earlier).intersection(mentions.bound):
        yield name, "a nested function may read in the meantime"
    for name in set(mentions.bound) - own:
        yield name, "is not the function's own"
    nested = events.shared_names(scope)
    for name in nested & own:
        yield name, "a nested function may bind"
    for outer in mentions.block.scopes[:-1]:
        if isinstance(outer, events.Function):  # it may be bound anew while the block runs
            for name in events.own_names(outer) - own - nested:
                yield name, f"is a variable of {outer.name}"


def _binding_kinds(module: ast.Module) -> dict[str, list[type[ast.stmt]]]:
    kinds: dict[str, list[type[ast.stmt]]] = {}
    for statement in events.statements(module.body):
        for name in binding_names(events.everything(statement)):
            kinds.setdefault(name, []).append(type(statement))
    return kinds


def _is_constant(name: str, kinds: list[type[ast.stmt]]) -> bool:
    """Return True for imports, definitions and constants, which nobody expects to be parameters."""
    is_constant = name.isupper() and kinds in ([ast.Assign], [ast.AnnAssign])
    return is_constant or not DEFINING.isdisjoint(kinds)


def _passed(
    mentions: Mentions, own: Iterable[str], bound: frozenset[str], exported: frozenset[str]
) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Return inputs, outputs, and whether the end of the block can be reached.

    Args:
        own: variables of the scope that may be parameters.
        bound: names bound when the scope begins.
        exported: names that somebody reads when it has ended.
    """
    block, body = mentions.block, mentions.block.scope.body
    walk = Walk(block.statements)
    walk.before(body, exported)
    bound_outside = bound.union(binding_names(mentions.outside))
    # A variable that the block alone binds stays one of the scope if the scope mentions it at all.
    moved_away = {event.name for event in mentions.outside} - bound_outside
    through = Walk(counts_reads=False).before(block.statements, frozenset({END, *mentions.bound}))
    reaches_end = END in through
    needed_after = moved_away | (walk.after_block if reaches_end else NONE)
    outputs = tuple(name for name in mentions.bound if name in needed_after)
    needed = Walk().before(block.statements, NONE)
    # Of what is bound in the block only, a read that comes too early fails in the new function just as well.
    inputs = [
        event.name
        for event in mentions.inside
        if event.name in needed and event.name in own and event.name in bound_outside.union(outputs)
    ]
    # An output that is bound on some ways only has to come in with its old value.
    inputs += [name for name in outputs if name in through]
    unsure = Walk(block.statements, counts_reads=False, enter=frozenset(inputs)).before(body, NONE) - bound
    _refuse_unbound(mentions, [*inputs, *outputs], unsure)
    _refuse_imports(block, outputs)
    _refuse_early_ends(mentions, walk.when_raised)
    _refuse_late_readers(mentions)
    return tuple(dict.fromkeys(inputs)), outputs, reaches_end


def _refuse_unbound(mentions: Mentions, passed: Iterable[str], unsure: frozenset[str]) -> None:
    """Refuse names that are perhaps not bound where the block begins, or that the scope unbinds."""
    unbound = set()
    for node in ast.walk(mentions.block.scope):
        if isinstance(node, ast.ExceptHandler) and node.name and node not in mentions.block.suite.owners:
            unbound.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            unbound.add(node.id)
    for name in passed:
        if name in unsure:
            raise TargetError(
                f"{name} may be unbound where the block begins ({mentions.lines(name)})",
                f"bind {name} on every way before the block, or extend the range to where it is bound or last used",
            )
        if name in unbound:
            raise TargetError(
                f"the block shares {name} with the code around it, and an except clause or `del` unbinds it",
                f"choose another range, or use another name than {name} there",
            )


def _refuse_imports(block: SelectedBlock, outputs: tuple[str, ...]) -> None:
    for statement in events.statements(block.statements):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for name in binding_names(events.header(statement)):
                if name in outputs:
                    raise TargetError(
                        f"line {statement.lineno}: the block imports {name}, used outside of it too",
                        "leave the import out of the range",
                    )


def _refuse_early_ends(mentions: Mentions, needed: frozenset[str]) -> None:
    for name in mentions.bound:
        if name in needed:
            raise TargetError(
                f"the block binds {name}, which may be read when the block is left early ({mentions.lines(name)})",
                "extend the range over the whole try statement, or choose another",
            )


def _refuse_late_readers(mentions: Mentions) -> None:
    """Refuse a function made in the block that would read a parameter, and not what is bound after the block."""
    rebound = set(binding_names(mentions.later))
    for event in mentions.inside:
        if event.kind is Kind.LATE_READ and event.name in rebound:
            raise TargetError(
                f"line {event.line}: a function or generator made in the block uses {event.name}, "
                "which is bound anew after the block",
                f"leave it out of the range, or extend the range to where {event.name} is bound",
            )
