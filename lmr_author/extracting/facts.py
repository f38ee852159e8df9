"""What is bound and what is still needed at the nodes of a control flow graph: the two classic analyses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import and_, or_

from lmr_author.extracting.event import BINDS, Event, Kind
from lmr_author.extracting.flow import Flow


class Facts:
    """Which names are bound and which are still needed, at each node of a flow.

    Sets of names are integers while they are computed: one bit for each name.
    """

    def __init__(
        self,
        flow: Flow,
        bound: Iterable[str] = (),
        needed: Iterable[str] = (),
        ordinary: frozenset[str] = frozenset(),
    ) -> None:
        """Facts of a flow.

        Args:
            flow: of a module or function.
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
        """Names bound on every way to the block."""
        state = self._forward(range(len(self.flow.nodes)), {0: self._bound}, and_, sure=True)
        return self._names(reduce(and_, (state[number] for number in self.flow.enters), self._all))

    def maybe_bound(self) -> frozenset[str]:
        """Names bound on some way to the block."""
        state = self._forward(range(len(self.flow.nodes)), {0: self._bound}, or_, sure=False)
        return self._names(reduce(or_, (state[number] for number in self.flow.enters), 0))

    def surely_bound_by_block(self) -> frozenset[str]:
        """Names that the block has bound when its end is reached, on whatever way."""
        nodes, flow = self.flow.nodes, self.flow
        part = [number for number, node in enumerate(nodes) if node.inside]
        starts = dict.fromkeys(flow.enters, 0)
        state = self._forward([*flow.enters, *part, *flow.exits], starts, and_, sure=True)
        return self._names(reduce(and_, (state[number] for number in flow.exits), self._all))

    def needed_by_block(self, *, late: bool) -> frozenset[str]:
        """Names that the block may read before it binds them; ``late``: what functions made in it read."""
        part = {number for number, node in enumerate(self.flow.nodes) if node.inside}
        live = self._backward(part, late)
        starts = {to for number in self.flow.enters for to in self.flow.nodes[number].follows} & part
        return self._names(reduce(or_, (live[number] for number in starts), 0))

    def needed_after(self) -> frozenset[str]:
        """Names that may be read after the end of the block, before they are bound anew."""
        live = self._backward(set(range(len(self.flow.nodes))), True)
        return self._names(reduce(or_, (live[number] for number in self.flow.exits), 0))

    def needed_when_left(self) -> dict[str, int]:
        """Names that may be read when the block is left by an exception or a return, each with a line."""
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
        """A line that reads a name after a node."""
        for number in sorted(self.flow.reachable([start]), key=lambda item: (item < start, item)):
            for item in self.flow.nodes[number].events:
                if item.name == name and item.kind not in BINDS:
                    return item.line
        return 0

    def _forward(
        self, part: Iterable[int], starts: dict[int, int], join: Callable[[int, int], int], *, sure: bool
    ) -> dict[int, int]:
        """What is bound before each node of a part of the graph."""
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
        """What is needed before each node of a part of the graph; nothing is needed outside of it."""
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
