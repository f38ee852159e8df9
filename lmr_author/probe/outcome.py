"""The inputs and the outcome of a call as documents, the same when it is recorded and when it is replayed.

Inputs: arguments by parameter name, ``@closure NAME`` for free variables, and where they matter ``@random`` (states of
the random generators that it used), ``@mode`` (torch's modes), ``@gradients``, ``@items`` (how many were taken of a
generator). Outcome: ``value``, or ``@raised`` with the exception's class; each argument that the call changed, as it is
afterwards; ``@gradients``; ``@exhausted`` and ``@returned`` of a generator, whose ``value`` is what it yielded.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Iterable, List, Optional

from .calling import GRADIENTS, closure, type_name
from .compare import changed
from .document import Buffer, Document, Omitted, walk
from .encoding import DEFAULT_LIMIT, encode
from .gradients import gradients

VALUE, RAISED = "value", "@raised"


class Inputs:
    """The parts that a call may change, and their document from before it."""

    def __init__(
        self,
        parts: Dict[str, Any],
        document: Document,
        limit: int = DEFAULT_LIMIT,
        skip: Iterable[str] = (),
        known: Callable[[Any, str], Optional[str]] = lambda value, path: None,
    ) -> None:
        self.parts, self.document, self.limit, self.skip, self.known = (
            parts,
            document,
            limit,
            tuple(skip),
            known,
        )
        self.gradients = False

    def encode(self, value: Any) -> Document:
        """Encode a part of the outcome. Objects of fixtures are known by their identity."""
        return encode(value, self.limit, self.skip, self.known)

    def _after(self, function: Any) -> Dict[str, Any]:
        """The parts that differ from before, as they are now."""
        now = dict(self.parts)
        now.update({name: value for name, value in closure(function).items() if name in now})
        names = changed(self.document, self.encode(now)) if now else []
        return {("@argument value" if name == VALUE else name): now[name] for name in names}

    def returned(self, function: Any, value: Any) -> Document:
        """Return the outcome of a call that returned. Raises Unstorable, TooLarge."""
        root = {VALUE: value}
        if self.gradients:
            root[GRADIENTS] = gradients(self.parts, value)
        return self.encode(dict(root, **self._after(function)))

    def raised(self, function: Any, error: BaseException) -> Document:
        """Return the outcome of a call that raised: the exception's class. Raises Unstorable, TooLarge."""
        return self.encode(dict({RAISED: type_name(error)}, **self._after(function)))

    def generated(self, function: Any, items: List[Document], end: Optional[Document]) -> Document:
        """Return the outcome of a generator.

        Args:
            items: what it yielded, each taken when it was yielded.
            end: its return value when it was exhausted, else None.
        """
        after = self.encode(self._after(function))
        whole = combine([*items, after, *([end] if end is not None else [])])
        tree: Dict[str, Any] = {VALUE: whole.tree[: len(items)], "@exhausted": end is not None}
        if end is not None:
            tree["@returned"] = whole.tree[-1]
        return Document(dict(tree, **whole.tree[len(items)]), whole.buffers, whole.omitted)


def combine(items: List[Document]) -> Document:
    """Make one list document of several documents that keep nothing shared."""
    buffers: Dict[str, Buffer] = {}
    omitted: List[Omitted] = []
    trees, first = [], 0
    for document in items:
        tree = json.loads(json.dumps(document.tree))
        names = {name: str(len(buffers) + place) for place, name in enumerate(document.buffers)}
        buffers.update((names[name], buffer) for name, buffer in document.buffers.items())
        last = first
        for _, node in list(walk(tree)):
            if isinstance(node, dict) and "$" in node:
                if "file" in node:
                    node["file"] = names[node["file"]]
                if "id" in node:
                    node["id"] += first
                    last = max(last, node["id"] + 1)
        first = last
        omitted.extend(document.omitted)
        trees.append(tree)
    return Document(trees, buffers, tuple(omitted))


def take(
    function: Any,
    arguments: Dict[str, Any],
    limit: int = DEFAULT_LIMIT,
    skip: Iterable[str] = (),
    fixtures: Any = None,
) -> Inputs:
    """Take the inputs of a call that is about to be made. Raises Unstorable, TooLarge."""
    parts = dict(arguments)
    parts.update(closure(function))
    if fixtures is None:
        return Inputs(parts, encode(parts, limit, skip), limit, skip)
    return Inputs(parts, encode(parts, limit, skip, fixtures.find), limit, skip, fixtures.known)
