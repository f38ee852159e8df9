"""The control flow graph of one scope, and the two classic analyses on it: bound names and names still needed.

Every statement may raise, before or after it has bound its names; a ``with`` lets exceptions pass. Scopes in which that
is not so (``finally``, ``suppress``), and ``match``, are refused before (``selection.check``). The name of an
``except`` clause is not unbound at its end here: ``names`` refuses blocks that share it with the code around them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from lmr_author.authoring.extracting import events
from lmr_author.authoring.extracting.events import Event, Kind


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


class Flow:
    """The graph of a scope in which a block is marked.

    Attributes:
        nodes: node 0 is where the scope begins.
        enter: the node just before the block.
        exit: the node just after it; None when the block is never left at its end.
    """

    def __init__(self, body: list[ast.stmt], block: Sequence[ast.stmt]) -> None:
        self.nodes: list[Node] = [Node((), False, ())]
        self.enter = 0
        self.exit: int | None = None
        self._block = block
        self._loops: list[_Loop] = []
        self._raises: tuple[int, ...] = ()
        self._inside = False
        self._suite(body, [0])

    def _node(self, happening: Sequence[Event] = (), ends: Iterable[int] = ()) -> int:
        number = len(self.nodes)
        self.nodes.append(Node(happening, self._inside, self._raises))
        self._connect(ends, number)
        return number

    def _connect(self, ends: Iterable[int], to: int) -> None:
        for end in ends:
            self.nodes[end].follows.append(to)

    def _suite(self, statements: list[ast.stmt], ends: list[int]) -> list[int]:
        """Add statements behind the nodes ``ends``; return the nodes from which their end is left."""
        for statement in statements:
            if statement is self._block[0]:
                self.enter = self._node(ends=ends)
                ends = [self.enter]
                self._inside = True
            ends = self._statement(statement, ends)
            if statement is self._block[-1]:
                self._inside = False
                if ends:
                    self.exit = self._node(ends=ends)
                    ends = [self.exit]
        return ends

    def _statement(self, statement: ast.stmt, ends: list[int]) -> list[int]:
        match statement:
            case ast.Try():
                return self._try(statement, ends)
            case ast.While() | ast.For() | ast.AsyncFor():
                return self._loop(statement, ends)
        node = self._node(events.header(statement), ends)
        match statement:
            case ast.With() | ast.AsyncWith():
                return self._suite(statement.body, [node])
            case ast.If():
                otherwise = self._suite(statement.orelse, [node])
                return [*self._suite(statement.body, [node]), *otherwise]
            case ast.Break():
                self._loops[-1].breaks.append(node)
                return []
            case ast.Continue():
                self._connect([node], self._loops[-1].head)
                return []
            case ast.Return() | ast.Raise():
                return []
        return [node]

    def _loop(self, statement: ast.While | ast.For | ast.AsyncFor, ends: list[int]) -> list[int]:
        head = begin = self._node(events.header(statement), ends)
        if not isinstance(statement, ast.While):
            head = self._node((), [head])
            begin = self._node(list(events.expression(statement.target)), [head])
        loop = _Loop(head, [])
        self._loops.append(loop)
        self._connect(self._suite(statement.body, [begin]), head)
        self._loops.pop()
        if isinstance(statement, ast.While) and _is_always_true(statement.test):
            return loop.breaks
        return [*self._suite(statement.orelse, [head]), *loop.breaks]

    def _try(self, statement: ast.Try, ends: list[int]) -> list[int]:
        outer = self._raises
        entries = tuple(self._node(events.caught(handler)) for handler in statement.handlers)
        catches_all = any(handler.type is None for handler in statement.handlers)
        self._raises = entries if catches_all else (*entries, *outer)
        ends = self._suite(statement.body, ends)
        self._raises = outer
        ends = self._suite(statement.orelse, ends)
        for entry, handler in zip(entries, statement.handlers, strict=True):
            ends = [*ends, *self._suite(handler.body, [entry])]
        return ends

    def reachable(self, start: int) -> set[int]:
        """Return the nodes that can be reached from a node, itself included."""
        reached, waiting = set[int](), [start]
        while waiting:
            number = waiting.pop()
            if number not in reached:
                reached.add(number)
                waiting += [*self.nodes[number].follows, *self.nodes[number].raises]
        return reached


def _is_always_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


class Facts:
    """The names that are bound, and those that are still needed, at each node of a flow."""

    def __init__(self, flow: Flow, bound: Set[str], needed: Set[str]) -> None:
        """Prepare the analyses.

        Args:
            bound: names bound when the scope begins.
            needed: names that somebody reads when it has ended.
        """
        self.flow = flow
        self._bound, self._needed = frozenset(bound), frozenset(needed)
        mentioned = {event.name for node in flow.nodes for event in node.events}
        self._every = frozenset(mentioned) | self._bound | self._needed
        self._whole = frozenset(range(len(flow.nodes)))
        self._inside = frozenset(number for number, node in enumerate(flow.nodes) if node.inside)

    def bound_before(self, *, surely: bool) -> frozenset[str]:
        """Return names bound on every way to the block, or on some."""
        return self._forward(self._whole, 0, self._bound, surely)[self.flow.enter]

    def surely_bound_by_block(self) -> frozenset[str]:
        """Return names that the block has bound when its end is reached, on whatever way."""
        if self.flow.exit is None:
            return self._every
        part = self._inside | {self.flow.enter, self.flow.exit}
        return self._forward(part, self.flow.enter, frozenset(), True)[self.flow.exit]

    def needed_by_block(self, *, late: bool) -> frozenset[str]:
        """Return names that the block may read before it binds them; ``late``: what functions made in it read."""
        needed = self._backward(self._inside, late)
        starts = self._inside.intersection(self.flow.nodes[self.flow.enter].follows)
        return frozenset().union(*(needed[number] for number in starts))

    def needed_after(self) -> frozenset[str]:
        """Return names that may be read after the end of the block, before they are bound anew."""
        if self.flow.exit is None:
            return frozenset()
        return self._backward(self._whole, True)[self.flow.exit]

    def needed_when_left(self) -> frozenset[str]:
        """Return names that may be read when the block is left by an exception or a jump."""
        needed = self._backward(self._whole, True)
        names: set[str] = set()
        for number in self._inside:
            node = self.flow.nodes[number]
            for to in (*node.raises, *node.follows):
                if to not in self._inside and to != self.flow.exit:
                    names |= needed[to]
        return frozenset(names)

    def _forward(
        self, part: Set[int], start: int, bound: frozenset[str], surely: bool
    ) -> dict[int, frozenset[str]]:
        """Return the names bound before each node of a part of the graph, on every way or on some."""
        before = dict.fromkeys(part, self._every if surely else frozenset[str]())
        before[start] = bound
        waiting = sorted(before, reverse=True)
        while waiting:
            number = waiting.pop()
            node = self.flow.nodes[number]
            after = _bind(node.events, before[number])
            # An exception comes before or after the names are bound.
            raised = before[number] & after if surely else before[number] | after
            ways = [*((to, after) for to in node.follows), *((to, raised) for to in node.raises)]
            for to, state in ways:
                if to not in before or to == start:
                    continue
                joined = before[to] & state if surely else before[to] | state
                if joined != before[to]:
                    before[to] = joined
                    waiting.append(to)
        return before

    def _backward(self, part: Set[int], late: bool) -> dict[int, frozenset[str]]:
        """Return the names needed before each node of a part of the graph; nothing is needed outside of it."""
        at_end = self._needed if part == self._whole else frozenset[str]()
        needed = dict.fromkeys(part, frozenset[str]())
        order = sorted(part, reverse=True)
        changed = True
        while changed:
            changed = False
            for number in order:
                node = self.flow.nodes[number]
                after = set() if node.follows else set(at_end)
                for to in node.follows:
                    after |= needed.get(to, frozenset())
                now = _need(node.events, after, late)
                for to in node.raises:
                    now |= needed.get(to, frozenset())
                if now != needed[number]:
                    needed[number] = frozenset(now)
                    changed = True
        return needed


def _bind(happening: Sequence[Event], before: frozenset[str]) -> frozenset[str]:
    bound = set(before)
    for event in happening:
        if event.kind is Kind.BIND:
            bound.add(event.name)
        elif event.kind is Kind.UNBIND:
            bound.discard(event.name)
    return frozenset(bound)


def _need(happening: Sequence[Event], after: set[str], late: bool) -> set[str]:
    needed = set(after)
    for event in reversed(happening):
        if event.kind is Kind.READ or (late and event.kind is Kind.LATE_READ):
            needed.add(event.name)
        elif event.kind is not Kind.LATE_READ:
            needed.discard(event.name)
    return needed
