"""The control flow graph of one scope.

Every statement may raise, before or after it has bound its names. A ``with`` lets exceptions pass unless it
is one of :data:`SUPPRESSING`. The suite of a ``finally`` is there once for each way into it, so that its end
after an exception is not mixed up with its normal end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lmr_author.extracting import events
from lmr_author.extracting.event import Event, Kind

SUPPRESSING = frozenset(
    {"suppress", "raises", "assertRaises", "assertRaisesRegex", "ExitStack", "AsyncExitStack"}
)
"""Last names of context managers after which a program goes on in spite of an exception."""


@dataclass(slots=True)
class Node:
    """Events that happen one after another, and where it goes on.

    Attributes:
        events: in order.
        inside: whether it belongs to the block.
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
            case ast.Try() | ast.TryStar():
                return self._try(statement, ends)
            case ast.While() | ast.For() | ast.AsyncFor():
                return self._loop(statement, ends)
            case ast.With() | ast.AsyncWith():
                return self._with(statement, ends)
            case ast.Match():
                return self._match(statement, ends)
        node = self._node(events.header(statement), ends)
        match statement:
            case ast.If():
                begin = self._node(events.when_true(statement.test), [node])
                otherwise = self._suite(statement.orelse, [node])
                return [*self._suite(statement.body, [begin]), *otherwise]
            case ast.Return() | ast.Break() | ast.Continue():
                self._jump(statement, [node])
                return []
            case ast.Raise():
                return []
        return [node]

    def _loop(self, statement: ast.While | ast.For | ast.AsyncFor, ends: list[int]) -> list[int]:
        node = self._node(events.header(statement), ends)
        if isinstance(statement, ast.While):
            head = node
            begin = self._node(events.when_true(statement.test), [node])
        else:
            head = self._node((), [node])
            begin = self._node(events.target(statement.target), [head])
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

    def _match(self, statement: ast.Match, ends: list[int]) -> list[int]:
        pending, done = [self._node(events.header(statement), ends)], []
        for case in statement.cases:
            found = events.pattern(case)
            maybe = [
                Event(Kind.MAYBE_BIND, item.name, item.line) if item.kind is Kind.BIND else item
                for item in found
            ]
            tried = self._node(maybe, pending)
            begin = self._node(found, [tried])
            pending = [] if _irrefutable(case.pattern) else [tried]
            if case.guard is not None:
                begin = self._node(events.expression(case.guard), [begin])
                pending = [tried, begin]
            done += self._suite(case.body, [begin])
        return [*done, *pending]

    def _try(self, statement: ast.Try | ast.TryStar, ends: list[int]) -> list[int]:
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
        for number, (entry, item) in enumerate(zip(entries, statement.handlers, strict=True), 1):
            handled = self._handler(item, entry)
            if isinstance(statement, ast.TryStar):
                for later in entries[number:]:
                    self._connect(handled, later)
            ends = [*ends, *handled]
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
        """Nodes that can be reached from some nodes, these included."""
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


def _irrefutable(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None
