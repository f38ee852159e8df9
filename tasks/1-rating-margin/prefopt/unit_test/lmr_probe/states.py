"""What a call does to the objects that fixtures build: as much of their state as can be stored, before and after.

The recording holds such an object by its fixture's name. Where a call changes it, the outcome of a replay has a part
``@fixture NAME`` with its attributes after the call; what cannot be stored of them is left out, on both sides.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from .codec import Document, Fixtures, TooLarge, Unstorable, encode
from .compare import changed
from .document import combine
from .leaves import walk

STATE = "@fixture "
"""Begins the name of a part of the outcome: the state of a fixture's object."""
MOST_BYTES = 1 << 20
"""Larger objects, such as a vocabulary, are not looked into."""


class States:
    """The objects of a call's fixtures as they were before it."""

    def __init__(self, fixtures: Fixtures) -> None:
        self._fixtures = fixtures
        self._before = {name: self._state(name, value) for name, value in fixtures.objects().items()}

    def changed(self) -> List[Tuple[str, Document]]:
        """The objects that differ from before, as they are now."""
        found = []
        for name, value in self._fixtures.objects().items():
            before, after = self._before.get(name), self._state(name, value)
            if before is not None and after is not None and changed(before, after):
                found.append((STATE + name, after))
        return found

    def _state(self, name: str, value: Any) -> Optional[Document]:
        """What can be stored of an object; None when it is nothing, or too much."""
        known = self._fixtures.known
        try:
            return encode(
                {name: value}, MOST_BYTES, (), lambda item, _: None if item is value else known(item)
            )
        except (Unstorable, TooLarge):
            return None


def with_states(outcome: Document, states: List[Tuple[str, Document]]) -> Document:
    """An outcome with the states of objects as parts of it."""
    if not states:
        return outcome
    whole = combine([("", outcome), *states])
    (_, first), *others = whole.tree["v"]
    pairs = first["v"] + [[name, node["v"][0][1]] for name, node in others]
    return Document({"$": "dict", "v": pairs}, whole.buffers, whole.omitted)


def states_of(outcome: Document) -> List[Tuple[str, Document]]:
    """The states in an outcome, as :func:`with_states` takes them."""
    return [
        (name, without_unused(Document({"$": "dict", "v": [[name[len(STATE) :], node]]}, outcome.buffers)))
        for name, node in outcome.tree["v"]
        if name.startswith(STATE)
    ]


def without_unused(document: Document) -> Document:
    """A document without the buffers that its tree does not name."""
    used = {node["b"] for _, node in walk(document) if isinstance(node, dict) and "b" in node}
    buffers = {name: buffer for name, buffer in document.buffers.items() if name in used}
    return Document(document.tree, buffers, document.omitted)
