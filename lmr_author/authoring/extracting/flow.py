"""Names that are needed before and after a block: one walk over the statements of a scope, from its end to its begin.

A name is needed before a statement when the statement, or one that may come next, reads it before it is bound. Loops
are walked twice, which is enough: a second round adds what the body reads of the round before. Any statement may raise
before it has bound its names, so what an ``except`` clause needs is needed all along its ``try``. Scopes in which that
is not so (``finally``, ``suppress``), and ``match``, are refused before (``selection.check``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence, Set

from lmr_author.authoring.extracting import events
from lmr_author.authoring.extracting.events import Event, Kind

Names = frozenset[str]
NONE: Names = frozenset()
END = "the end"
"""No name of a program: given as needed behind some statements, it is needed before them if their end is reached."""


class Walk:
    """A walk over statements.

    Attributes:
        after_block: names that are needed after the block.
        when_raised: names that are needed where an exception of the block is caught.
    """

    def __init__(
        self, block: Sequence[ast.stmt] = (), *, counts_reads: bool = True, enter: Names = NONE
    ) -> None:
        """Prepare a walk.

        Args:
            block: whose needs are to be remembered.
            counts_reads: False to ask only which names may come through without being bound.
            enter: names that count as needed where the block begins.
        """
        self.after_block = self.when_raised = NONE
        self._first, self._last = block[:1], block[-1:]
        self._counts_reads, self._enter = counts_reads, enter
        self._raised = self._broken = self._continued = NONE

    def before(self, statements: Sequence[ast.stmt], after: Names) -> Names:
        """Return the names needed before some statements. ``after``: those needed after them."""
        for statement in reversed(statements):
            if statement in self._last:
                self.after_block, self.when_raised = after, self._raised
            after = self._before_one(statement, after) | self._raised
            if statement in self._first:
                after |= self._enter
        return after

    def _before_one(self, statement: ast.stmt, after: Names) -> Names:
        match statement:
            case ast.Try():
                return self._before_try(statement, after)
            case ast.While() | ast.For() | ast.AsyncFor():
                return self._before_loop(statement, after)
            case ast.If():
                after = self.before(statement.body, after) | self.before(statement.orelse, after)
            case ast.With() | ast.AsyncWith():
                after = self.before(statement.body, after)
            case ast.Break():
                after = self._broken
            case ast.Continue():
                after = self._continued
            case ast.Return() | ast.Raise():
                after = NONE
        return self._needed(events.header(statement), after)

    def _before_loop(self, loop: ast.While | ast.For | ast.AsyncFor, after: Names) -> Names:
        around = self._broken, self._continued
        is_endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and loop.test.value
        left = NONE if is_endless else self.before(loop.orelse, after)
        head = left
        for _ in range(2):
            self._broken, self._continued = after, head
            round_ = self.before(loop.body, head)
            if isinstance(loop, ast.While):
                head = self._needed(events.header(loop), left | round_)
            else:
                head = left | self._needed(events.expression(loop.target), round_)
        self._broken, self._continued = around
        return head if isinstance(loop, ast.While) else self._needed(events.header(loop), head)

    def _before_try(self, statement: ast.Try, after: Names) -> Names:
        outer = caught = self._raised
        for handler in statement.handlers:
            caught |= self._needed(events.caught(handler), self.before(handler.body, after))
        after = self.before(statement.orelse, after)
        self._raised = caught
        needed = self.before(statement.body, after)
        self._raised = outer
        return needed

    def _needed(self, happening: Iterable[Event], after: Set[str]) -> Names:
        needed = set(after)
        for event in reversed(list(happening)):
            if event.kind is Kind.BIND:
                needed.discard(event.name)
            elif self._counts_reads:
                needed.add(event.name)
        return frozenset(needed)
