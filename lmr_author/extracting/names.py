"""What a block needs from outside and what is needed of it afterwards: the new function's signature."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from lmr_author.extracting import events
from lmr_author.extracting.function import Function
from lmr_author.extracting.scope import Names
from lmr_author.extracting.script import Script
from lmr_author.extracting.selection import Block


def names(block: Block, exported: Iterable[str] = ()) -> Names:
    """Inputs and outputs of a block.

    Args:
        block: statements that :func:`lmr_author.extracting.rules.check` has accepted.
        exported: module variables that other files import from this one.

    Raises TargetError: a name cannot be passed in or out without a change of behaviour.
    """
    scope = block.scope
    if isinstance(scope, ast.Module):
        return Script(block, scope, frozenset(exported)).names()
    assert isinstance(scope, events.Function)
    return Function(block, scope).names()
