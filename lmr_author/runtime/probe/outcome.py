"""Inputs and outcomes as documents: what is recorded, and what a replay sends out; see :mod:`.effects`."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Iterable, List, Optional

from .calling import EXHAUSTED, GRADIENTS, VALUE
from .document import Buffer, Document, walk
from .effects import VALUE_ARGUMENT, Fixtures, Outcome
from .encoding import encode
from .storing import DEFAULT_LIMIT, Omitted, TooLarge, Unstorable

_LAST_STEP = re.compile(r"(?:^|\.|^@closure |^@global )([^\W\d]\w*)$")
"""An argument, a free variable, or an attribute; no item of a container."""
_CHILD = re.compile(r"\._(?:modules|parameters|buffers)\['([^\W\d]\w*)'\]")
"""An attribute of a torch module, where the module keeps it."""


def as_written(path: str) -> str:
    """Write a path as code has it: ``self.encoder`` for ``self._modules['encoder']``."""
    return _CHILD.sub(r".\1", path)


class RecordedFixtures(Fixtures):
    """Fixtures that are found in the inputs of a call.

    Args:
        names: fixtures by which arguments and attributes are recorded.
        kinds: fixture → type of the object that it builds, where that is known.
    """

    def __init__(self, names: Iterable[str], kinds: Optional[Dict[str, type]] = None) -> None:
        super().__init__()
        self.kinds, self._names = kinds or {}, frozenset(names)

    def find(self, value: Any, path: str) -> Optional[str]:
        """Return the fixture that stands for an object of the inputs, by where it is, or None."""
        match = _LAST_STEP.search(as_written(path))
        if match is None or match.group(1) not in self._names or not self._stands_for(match.group(1), value):
            return self.named(value, path)
        self._names_by_id[id(value)] = (match.group(1), value)
        return match.group(1)

    def _stands_for(self, name: str, value: Any) -> bool:
        """Tell whether a fixture is such an object, or the object could not be stored without it.

        A layer without dropout may have a lambda where another one has a module, which is no such object.
        """
        if self.kinds.get(name, type(value)) is type(value):
            return True
        try:
            return bool(encode(value).omitted)
        except (Unstorable, TooLarge):
            return True


class Inputs(Outcome):
    """The parts that a call may change, and their document from before it; outcomes become documents.

    Args:
        skip: attributes that are left out.
    """

    def __init__(
        self,
        parts: Dict[str, Any],
        document: Document,
        limit: int = DEFAULT_LIMIT,
        skip: Iterable[str] = (),
        **more: Any,
    ) -> None:
        super().__init__(parts, document, **more)
        self.limit, self.skip = limit, tuple(skip)

    def item(self, value: Any) -> Document:
        """Encode a part of the outcome. Objects of fixtures are known by their identity."""
        return encode(value, self.limit, self.skip, self.fixture_of)

    def ended(self, function: Any, result: Dict[str, Any]) -> Document:
        """Return the outcome. Raises Unstorable, TooLarge."""
        root = self.whole(function, result)
        if EXHAUSTED not in root:
            return self.item(root)
        yielded = root.pop(VALUE)
        whole = _combine([*yielded, self.item(root)])
        tree = dict({VALUE: whole.tree[:-1]}, **whole.tree[-1])
        return Document(tree, whole.buffers, whole.omitted)


def changed_parts(inputs: Document, expected: Document) -> List[str]:
    """Return the names under which an outcome has arguments and free variables that the call changed."""
    names = [VALUE_ARGUMENT if name == VALUE else name for name in inputs.tree if name != GRADIENTS]
    return [name for name in names if name in expected.tree]


def _combine(documents: List[Document]) -> Document:
    """Make one list document of several documents that share nothing."""
    buffers: Dict[str, Buffer] = {}
    omitted: List[Omitted] = []
    trees, next_id = [], 0
    for document in documents:
        tree = json.loads(json.dumps(document.tree))
        first_id, first_file = next_id, len(buffers)
        buffers.update((str(first_file + int(name)), buffer) for name, buffer in document.buffers.items())
        for _, node in list(walk(tree)):
            if isinstance(node, dict) and "$" in node:
                if "file" in node:
                    node["file"] = str(first_file + int(node["file"]))
                if "id" in node:
                    node["id"] += first_id
                    next_id = max(next_id, node["id"] + 1)
        omitted.extend(document.omitted)
        trees.append(tree)
    return Document(trees, buffers, tuple(omitted))
