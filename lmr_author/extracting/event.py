"""What happens to a name: the alphabet of the data flow analysis."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """What happens to a name."""

    READ = auto()
    BIND = auto()
    MAYBE_BIND = auto()  # in a part of an expression that may be passed over
    DELETE = auto()
    UNBIND = auto()  # what Python does with the name of an `except` clause at its end
    LATE_READ = auto()  # by a function, lambda or generator that is made here and may run at any later time
    LATE_BIND = auto()  # likewise, through `nonlocal`
    GLOBAL_READ = auto()  # likewise, of the module's variable
    GLOBAL_BIND = auto()
    READ_LOCALS = auto()  # every variable of this scope: locals(), vars(), dir()
    READ_ALL = auto()  # likewise, and every variable of the module: eval, exec, globals()


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happens to one name; of what reads every name, ``name`` is the function called."""

    kind: Kind
    name: str
    line: int


BINDS = frozenset({Kind.BIND, Kind.MAYBE_BIND})
CHANGES = BINDS | {Kind.DELETE, Kind.UNBIND}


def event(kind: Kind, name: str, node: ast.AST) -> Event:
    """What happens to a name at a node."""
    return Event(kind, name, getattr(node, "lineno", 0))
