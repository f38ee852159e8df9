"""One entry of the index: a function or class and the facts that rank it."""

from __future__ import annotations

import hashlib
from typing import NamedTuple


class Entry(NamedTuple):
    """A function or class of a repository. A named tuple: there are tens of thousands of them.

    ``qualname``, ``class_name``, ``function_name``, ``line``, ``end_line``, ``nth`` and ``siblings`` are
    those of :class:`lmr_author.source.Definition`.

    Attributes:
        path: its file, relative to the repository, with ``/``.
        kind: ``"function"``, ``"async"`` (a coroutine) or ``"class"``.
        first_line: the line of its first decorator, else ``line``.
        decorators: dotted names, without arguments.
        parameters: ``name``, ``*name``, ``**name``, each with ``: annotation`` when it has one; for a class its bases.
        shape: one letter per statement (see ``read.SHAPES``), nested ones included, a docstring not; sorted.
        branches: the number of statements that fork (if, for, while, try, match).
        bound: names that its code binds.
        docstring: not cleaned; "" when there is none.
        names: names that its code uses other than by calling them, in file order.
        calls: last names of the functions that it calls, in file order.
        comments: the text of its comments.
    """

    path: str
    qualname: str
    kind: str
    class_name: str
    function_name: str
    line: int
    end_line: int
    first_line: int
    nth: int
    siblings: int
    generator: bool
    decorators: tuple[str, ...]
    parameters: tuple[str, ...]
    shape: str
    branches: int
    bound: frozenset[str]
    docstring: str
    names: tuple[str, ...]
    calls: tuple[str, ...]
    comments: str

    @property
    def name(self) -> str:
        """Last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @property
    def is_class(self) -> bool:
        """Tell a class from a function."""
        return self.kind == "class"

    @property
    def is_overload(self) -> bool:
        """Recognize a ``typing.overload`` stub, which is never what a target means."""
        return any(name.rpartition(".")[2] == "overload" for name in self.decorators)

    @property
    def node_id(self) -> str:
        """``path::qualname``, with ``#2`` where the name alone means another definition."""
        return f"{self.path}::{self.qualname}" + (f"#{self.nth}" if self.siblings > 1 else "")

    @property
    def statements(self) -> int:
        """The number of its statements, nested ones included, a docstring not."""
        return len(self.shape)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """All names in its code, each once."""
        return tuple(dict.fromkeys((*self.names, *self.calls)))

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of its parameters, without stars and annotations."""
        return tuple(item.partition(":")[0].lstrip("*") for item in self.parameters)

    @property
    def fingerprint(self) -> str:
        """Hash the kinds of its statements and the names that are not local, both sorted; "" below three statements.

        Copies with other local names, comments, docstrings, constants or order of statements have the same hash.
        """
        if self.statements < 3:
            return ""
        local = {*self.bound, *self.arguments}
        used = sorted(name for name in self.names if name not in local)
        called = sorted(name for name in self.calls if name not in local)
        form = f"{self.shape} {' '.join(used)} ({' '.join(called)})"
        return hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()[:16]
