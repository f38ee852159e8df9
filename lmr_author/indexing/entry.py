"""An entry of the index: what is known about a function or class."""

from __future__ import annotations

import hashlib
from typing import NamedTuple


class Entry(NamedTuple):
    """A function or class of a repository. A named tuple: there are tens of thousands of them.

    ``qualname``, ``class_name``, ``function_name``, ``line``, ``end_line``, ``nth`` and ``siblings`` are
    those of :class:`lmr_author.source.Definition`.

    Attributes:
        path: of its file, relative to the repository, with ``/``.
        kind: ``"function"``, ``"async"`` (a coroutine) or ``"class"``.
        first_line: of its first decorator, else ``line``.
        generator: whether it yields.
        decorators: dotted names, without arguments.
        parameters: as ``name``, ``*name``, ``**name``, each with ``: annotation`` when it has one; of a
            class its bases.
        statements: how many, nested ones included, a docstring not.
        branches: how many of them fork (if, for, while, try, match).
        shape: one letter per statement (see ``SHAPES``), sorted.
        bound: names that its statements bind, each once.
        docstring: not cleaned; "" when there is none.
        words: identifiers of its code, each once, in order, a called one with ``(`` behind it.
        comments: text of its comments.
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
    statements: int
    branches: int
    shape: str
    bound: str
    docstring: str
    words: str
    comments: str

    @property
    def name(self) -> str:
        """Last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @property
    def is_class(self) -> bool:
        """Whether it is a class, not a function."""
        return self.kind == "class"

    @property
    def is_overload(self) -> bool:
        """Whether it is a ``typing.overload`` stub, which is never what a target means."""
        return any(name.rpartition(".")[2] == "overload" for name in self.decorators)

    @property
    def node_id(self) -> str:
        """``path::qualname``, with ``#2`` where the name alone means another definition."""
        return f"{self.path}::{self.qualname}" + (f"#{self.nth}" if self.siblings > 1 else "")

    @property
    def fingerprint(self) -> str:
        """Equal for copies with other local names, comments, docstrings, constants or order of statements.

        A hash of the kinds of its statements and of the names that are not local, both sorted; names that only
        a comprehension or a lambda binds count as not local. "" for fewer than three statements.
        """
        if self.statements < 3:
            return ""
        local = {*self.bound.split(), *self.arguments}
        outer = sorted(word for word in self.words.split() if word.rstrip("(") not in local)
        form = f"{self.shape} {' '.join(outer)}"
        return hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def calls(self) -> tuple[str, ...]:
        """Last names of what it calls, in order, each once."""
        return tuple(word[:-1] for word in self.words.split() if word.endswith("("))

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Names in its code, in order, each once."""
        return tuple(dict.fromkeys(word.rstrip("(") for word in self.words.split()))

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of its parameters, without stars and annotations."""
        return tuple(item.partition(":")[0].lstrip("*") for item in self.parameters)
