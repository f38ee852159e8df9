"""The control flow graph of one scope, and the two classic analyses on it: bound names and names still needed.

Every statement may raise, before or after it has bound its names. A ``with`` lets exceptions pass unless it
is one of :data:`SUPPRESSING`. The suite of a ``finally`` is there once for each way into it, so that its end
after an exception is not mixed up with its normal end.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_

from lmr_author.authoring.extracting import events
from lmr_author.authoring.extracting.events import BINDS, Event, Kind

SUPPRESSING = frozenset(
    {"suppress", "raises", "assertRaises", "assertRaisesRegex", "ExitStack", "AsyncExitStack"}
)
"""Last names of context managers after which a program goes on in spite of an exception."""


@dataclass(slots=True)
class Node:
    """Events in order, and the nodes that come next.

    Attributes:
        inside: it belongs to the block.
        follows: nodes that come next.
        raises: nodes that come next after an exception.
    """

    events: Sequence[Event]
    inside: bool
    raises: tuple[int, ...]
    follows: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class _Loop:
    head: int
    breaks: list[int]


@dataclass(frozen=True)
class _Finally:
    body: list[ast.stmt]
    raises: tuple[int, ...]
    inside: bool


@dataclass(frozen=True)
class _Caught:
    name: str
    inside: bool


class Flow:
    """The graph of a scope in which a block is marked.

    Attributes:
        nodes: node 0 is where the scope begins.
        enters, exits: nodes just before and just after the block; several in a ``finally``, no exit when the
            block is never left at its end.
    """

    def __init__(self, body: list[ast.stmt], block: Sequence[ast.stmt]) -> None:
        self.nodes: list[Node] = [Node((), False, ())]
        self.enters: list[int] = []
        self.exits: list[int] = []
        self._block = block
        self._frames: list[_Loop | _Finally | _Caught] = []
        self._raises: tuple[int, ...] = ()
        self._inside = False
        self._suite(body, [0])

    def _node(self, found: Sequence[Event] = (), ends: Iterable[int] = ()) -> int:
        number = len(self.nodes)
        self.nodes.append(Node(found, self._inside, self._raises))
        self._connect(ends, number)
        return number

    def _connect(self, ends: Iterable[int], to: int) -> None:
        for end in ends:
            self.nodes[end].follows.append(to)

    def _suite(self, statements: list[ast.stmt], ends: list[int]) -> list[int]:
        for statement in statements:
            if statement is self._block[0]:
                ends = [self._node(ends=ends)]
                self.enters += ends
                self._inside = True
            ends = self._statement(statement, ends)
            if statement is self._block[-1]:
                self._inside = False
                if ends:
                    ends = [self._node(ends=ends)]
                    self.exits += ends
        return ends

    def _statement(self, statement: ast.stmt, ends: list[int]) -> list[int]:
        match statement:
            case ast.Try():
                return self._try(statement, ends)
            case ast.While() | ast.For() | ast.AsyncFor():
                return self._loop(statement, ends)
            case ast.With() | ast.AsyncWith():
                return self._with(statement, ends)
        node = self._node(events.header(statement), ends)
        match statement:
            case ast.If():
                otherwise = self._suite(statement.orelse, [node])
                return [*self._suite(statement.body, [node]), *otherwise]
            case ast.Return() | ast.Break() | ast.Continue():
                self._jump(statement, [node])
                return []
            case ast.Raise():
                return []
        return [node]

    def _loop(self, statement: ast.While | ast.For | ast.AsyncFor, ends: list[int]) -> list[int]:
        node = self._node(events.header(statement), ends)
        head = begin = node
        if not isinstance(statement, ast.While):
            head = self._node((), [node])
            begin = self._node(list(events.expression(statement.target)), [head])
        forever = isinstance(statement, ast.While) and _always(statement.test)
        loop = _Loop(head, [])
        self._frames.append(loop)
        self._connect(self._suite(statement.body, [begin]), head)
        self._frames.pop()
        after = [] if forever else self._suite(statement.orelse, [head])
        return [*after, *loop.breaks]

    def _with(self, statement: ast.With | ast.AsyncWith, ends: list[int]) -> list[int]:
        node = self._node(events.header(statement), ends)
        if not any(_suppresses(item.context_expr) for item in statement.items):
            return self._suite(statement.body, [node])
        after = self._node()
        outer, self._raises = self._raises, (*self._raises, after)
        self._connect(self._suite(statement.body, [node]), after)
        self._raises = outer
        return [after]

    def _try(self, statement: ast.Try, ends: list[int]) -> list[int]:
        outer = unhandled = self._raises
        final = statement.finalbody
        if final:
            unhandled = (self._node(),)
            self._node((), self._suite(final, [*unhandled]))
            self._frames.append(_Finally(final, outer, self._inside))
        self._raises = unhandled
        entries = [self._node(events.caught(item)) for item in statement.handlers]
        everything = any(item.type is None for item in statement.handlers)
        self._raises = (*entries, *(() if everything else unhandled))
        ends = self._suite(statement.body, ends)
        self._raises = unhandled
        ends = self._suite(statement.orelse, ends)
        for entry, item in zip(entries, statement.handlers, strict=True):
            ends = [*ends, *self._handler(item, entry)]
        self._raises = outer
        if final:
            self._frames.pop()
            ends = self._suite(final, ends)
        return ends

    def _handler(self, handler: ast.ExceptHandler, entry: int) -> list[int]:
        if not handler.name:
            return self._suite(handler.body, [entry])
        self._frames.append(_Caught(handler.name, self._inside))
        ends = self._suite(handler.body, [entry])
        self._frames.pop()
        return [self._node([Event(Kind.UNBIND, handler.name, handler.lineno)], ends)] if ends else []

    def _jump(self, statement: ast.Return | ast.Break | ast.Continue, ends: list[int]) -> None:
        """Go to the end of the scope or of a loop, through every ``finally`` on the way."""
        kept = self._frames, self._raises, self._inside
        for depth in reversed(range(len(kept[0]))):
            frame = kept[0][depth]
            if isinstance(frame, _Loop):
                if isinstance(statement, ast.Break):
                    frame.breaks.extend(ends)
                elif isinstance(statement, ast.Continue):
                    self._connect(ends, frame.head)
                if not isinstance(statement, ast.Return):
                    break
                continue
            self._inside = frame.inside
            if isinstance(frame, _Caught):
                ends = [self._node([Event(Kind.UNBIND, frame.name, statement.lineno)], ends)]
            else:
                self._frames, self._raises = kept[0][:depth], frame.raises
                ends = self._suite(frame.body, ends)
        self._frames, self._raises, self._inside = kept

    def reachable(self, starts: Iterable[int]) -> set[int]:
        """Return the nodes that can be reached from some nodes, these included."""
        found, stack = set(), list(starts)
        while stack:
            number = stack.pop()
            if number not in found:
                found.add(number)
                stack += [*self.nodes[number].follows, *self.nodes[number].raises]
        return found


def _always(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _suppresses(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in SUPPRESSING


class Facts:
    """The names that are bound, and those that are still needed, at each node of a flow.

    Sets of names are integers while they are computed: one bit for each name.
    """

    def __init__(
        self,
        flow: Flow,
        bound: Iterable[str] = (),
        needed: Iterable[str] = (),
        ordinary: frozenset[str] = frozenset(),
    ) -> None:
        """Prepare the analyses.

        Args:
            bound: names bound when the scope begins.
            needed: names that somebody reads when it has ended.
            ordinary: names that mean what the module binds them to, be it ``eval`` or ``vars``.
        """
        self.flow = flow
        self._ordinary = ordinary
        names = {item.name for node in flow.nodes for item in node.events} | set(bound) | set(needed)
        self._bit = {name: 1 << number for number, name in enumerate(sorted(names))}
        self._all = (1 << len(self._bit)) - 1
        self._bound, self._needed = self._pack(bound), self._pack(needed)

    def surely_bound(self) -> frozenset[str]:
        """Return names bound on every way to the block."""
        state = self._forward(range(len(self.flow.nodes)), {0: self._bound}, and_, sure=True)
        return self._names(reduce(and_, (state[number] for number in self.flow.enters), self._all))

    def maybe_bound(self) -> frozenset[str]:
        """Return names bound on some way to the block."""
        state = self._forward(range(len(self.flow.nodes)), {0: self._bound}, or_, sure=False)
        return self._names(reduce(or_, (state[number] for number in self.flow.enters), 0))

    def surely_bound_by_block(self) -> frozenset[str]:
        """Return names that the block has bound when its end is reached, on whatever way."""
        nodes, flow = self.flow.nodes, self.flow
        part = [number for number, node in enumerate(nodes) if node.inside]
        starts = dict.fromkeys(flow.enters, 0)
        state = self._forward([*flow.enters, *part, *flow.exits], starts, and_, sure=True)
        return self._names(reduce(and_, (state[number] for number in flow.exits), self._all))

    def needed_by_block(self, *, late: bool) -> frozenset[str]:
        """Return names that the block may read before it binds them; ``late``: what functions made in it read."""
        part = {number for number, node in enumerate(self.flow.nodes) if node.inside}
        live = self._backward(part, late)
        starts = {to for number in self.flow.enters for to in self.flow.nodes[number].follows} & part
        return self._names(reduce(or_, (live[number] for number in starts), 0))

    def needed_after(self) -> frozenset[str]:
        """Return names that may be read after the end of the block, before they are bound anew."""
        live = self._backward(set(range(len(self.flow.nodes))), True)
        return self._names(reduce(or_, (live[number] for number in self.flow.exits), 0))

    def needed_when_left(self) -> dict[str, int]:
        """Return names that may be read when the block is left by an exception or a return, each with a line."""
        nodes = self.flow.nodes
        live = self._backward(set(range(len(nodes))), True)
        found: dict[str, int] = {}
        for node in nodes:
            if node.inside:
                ways = [to for to in (*node.raises, *node.follows) if not nodes[to].inside]
                for to in ways:
                    if to not in self.flow.exits:
                        for name in self._names(live[to]):
                            found.setdefault(name, self._line_of(to, name))
        return found

    def _line_of(self, start: int, name: str) -> int:
        """Return a line that reads a name after a node."""
        for number in sorted(self.flow.reachable([start]), key=lambda item: (item < start, item)):
            for item in self.flow.nodes[number].events:
                if item.name == name and item.kind not in BINDS:
                    return item.line
        return 0

    def _forward(
        self, part: Iterable[int], starts: dict[int, int], join: Callable[[int, int], int], *, sure: bool
    ) -> dict[int, int]:
        """Return the names bound before each node of a part of the graph."""
        before = dict.fromkeys(part, self._all if sure else 0) | starts
        waiting = sorted(before, reverse=True)
        while waiting:
            number = waiting.pop()
            node = self.flow.nodes[number]
            after = self._bind(node.events, before[number], sure)
            states = [(to, after) for to in node.follows]
            states += [(to, join(before[number], after)) for to in node.raises]
            for to, state in states:
                if to in before and to not in starts and join(before[to], state) != before[to]:
                    before[to] = join(before[to], state)
                    waiting.append(to)
        return before

    def _backward(self, part: set[int], late: bool) -> dict[int, int]:
        """Return the names needed before each node of a part of the graph; nothing is needed outside of it."""
        nodes = self.flow.nodes
        ends = self._needed if len(part) == len(nodes) else 0
        needed = dict.fromkeys(part, 0)
        order = sorted(part, reverse=True)
        changed = True
        while changed:
            changed = False
            for number in order:
                node = nodes[number]
                after = reduce(or_, (needed.get(to, 0) for to in node.follows), 0 if node.follows else ends)
                new = self._need(node.events, after, late)
                new |= reduce(or_, (needed.get(to, 0) for to in node.raises), 0)
                if new != needed[number]:
                    needed[number] = new
                    changed = True
        return needed

    def _bind(self, found: Sequence[Event], state: int, sure: bool) -> int:
        for item in found:
            if item.kind is Kind.BIND or (item.kind is Kind.MAYBE_BIND and not sure):
                state |= self._bit[item.name]
            elif item.kind in (Kind.DELETE, Kind.UNBIND):
                state &= ~self._bit[item.name]
        return state

    def _need(self, found: Sequence[Event], state: int, late: bool) -> int:
        for item in reversed(found):
            if item.kind in (Kind.BIND, Kind.UNBIND):
                state &= ~self._bit[item.name]
            elif item.kind in (Kind.READ, Kind.DELETE) or (late and item.kind is Kind.LATE_READ):
                state |= self._bit[item.name]
            elif item.kind in (Kind.READ_LOCALS, Kind.READ_ALL) and item.name not in self._ordinary:
                state = self._all
        return state

    def _pack(self, names: Iterable[str]) -> int:
        return reduce(or_, (self._bit[name] for name in names), 0)

    def _names(self, state: int) -> frozenset[str]:
        return frozenset(name for name, bit in self._bit.items() if state & bit)
