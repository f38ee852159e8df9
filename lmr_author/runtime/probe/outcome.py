"""The inputs and the outcome of a call as documents, the same when it is recorded and when it is replayed.

Inputs: arguments by parameter name, ``@closure NAME`` for free variables, ``@global NAME`` for globals that importing
the file does not set, and where they matter ``@random`` (states of the random generators that it used), ``@mode``
(torch's modes), ``@gradients``, ``@items`` (how many were taken of a generator). Outcome: ``value``, or ``@raised``
with the exception's class; each argument that the call changed, as it is afterwards, named ``@grad x`` where nothing
but ``.grad`` of tensors in it changed; ``@gradients``; ``@exhausted`` and ``@returned`` of a generator, whose
``value`` is the list of its items.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from .calling import (
    EXHAUSTED,
    GLOBAL,
    GRAD,
    GRADIENTS,
    RAISED,
    RETURNED,
    VALUE,
    closure,
    gradients,
    type_name,
)
from .compare import GRADS, changed
from .document import Buffer, Document, Omitted, walk
from .encoding import DEFAULT_LIMIT, TooLarge, Unstorable, encode
from .objects import load_helper

_LAST_STEP = re.compile(r"(?:^|\.|^@closure |^@global )([^\W\d]\w*)$")
"""An argument, a free variable, or an attribute; no item of a container."""
_CHILD = re.compile(r"\._(?:modules|parameters|buffers)\['([^\W\d]\w*)'\]")
"""An attribute of a torch module, where the module keeps it."""


VALUE_ARGUMENT = "@argument value"
"""The part of an outcome that is an argument named as the returned value is."""


def as_written(path: str) -> str:
    """Write a path as code has it: ``self.encoder`` for ``self._modules['encoder']``."""
    return _CHILD.sub(r".\1", path)


class Fixtures:
    """The fixtures of one call: objects that are built, not stored.

    A fixture is a function without arguments in ``unit_test/fixtures.py``, as in ``def tokenizer(): ...``. It stands
    for every argument and every attribute of its name. Only the name is recorded; the object is built where the
    recording is replayed, and nowhere else.

    Args:
        names: fixtures by which arguments and attributes are recorded.
        path: the file that builds them; None where nothing is built.
        kinds: fixture → type of the object that it builds, where that is known.
    """

    def __init__(
        self, names: Iterable[str] = (), path: Optional[str] = None, kinds: Optional[Dict[str, type]] = None
    ) -> None:
        self.path, self.kinds = path, kinds or {}
        self._names = frozenset(names)
        self._names_by_id: Dict[int, Tuple[str, Any]] = {}
        self._built: Dict[str, Any] = {}
        self._module: Any = None

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

    def named(self, value: Any, path: str) -> Optional[str]:
        """Return the fixture that an object was found or built for, or None. Of an outcome, only this counts."""
        fixture = self._names_by_id.get(id(value))
        return None if fixture is None else fixture[0]

    def build(self, name: str) -> Any:
        """Return the object of a fixture, one for all places. Raises LookupError, and what the function raises."""
        if name not in self._built:
            function = self.functions().get(name)
            if function is None:
                raise LookupError("unit_test/fixtures.py has no function %s" % name)
            self._built[name] = function()
            self._names_by_id[id(self._built[name])] = (name, self._built[name])
        return self._built[name]

    def functions(self) -> Dict[str, Any]:
        """Return the functions that build fixtures, by name. Raises what importing their file raises."""
        if self._module is None:
            if self.path is None:
                raise LookupError("it takes unit_test/fixtures.py to build a fixture")
            self._module = load_helper(self.path)
        return {name: value for name, value in vars(self._module).items() if inspect.isfunction(value)}


class Inputs:
    """The parts that a call may change, and their document from before it.

    Args:
        fixture_of: object and path → its fixture, or None.
        gradients: whether gradients belong to the outcome.
    """

    def __init__(
        self,
        parts: Dict[str, Any],
        document: Document,
        limit: int = DEFAULT_LIMIT,
        skip: Iterable[str] = (),
        fixture_of: Optional[Callable[[Any, str], Optional[str]]] = None,
        gradients: bool = False,
    ) -> None:
        self.parts, self.document, self.limit = parts, document, limit
        self.skip, self.fixture_of, self.gradients = tuple(skip), fixture_of, gradients

    def encode(self, value: Any) -> Document:
        """Encode a part of the outcome. Objects of fixtures are known by their identity."""
        return encode(value, self.limit, self.skip, self.fixture_of)

    def _after(self, function: Any) -> Dict[str, Any]:
        """Return the parts that differ from before, as they are now."""
        effects: Dict[str, Any] = {}
        now = dict(self.parts)
        now.update({name: value for name, value in closure(function).items() if name in now})
        later = self.encode(now)
        names = changed(self.document, later)
        more_than_grads = changed(self.document, later, {GRADS: {"kind": "ignore"}}) if names else []
        for name in names:
            if not name.startswith(GLOBAL):
                prefix = "" if name in more_than_grads else GRAD
                effects[VALUE_ARGUMENT if name == VALUE and not prefix else prefix + name] = now[name]
        return effects

    def ended(self, function: Any, value: Any, error: Optional[BaseException] = None) -> Document:
        """Return the outcome of a call that returned or raised. Raises Unstorable, TooLarge."""
        root: Dict[str, Any] = {VALUE: value} if error is None else {RAISED: type_name(error)}
        if self.gradients and error is None:
            root[GRADIENTS] = gradients(self.parts, value)
        return self.encode(dict(root, **self._after(function)))

    def generated(self, function: Any, yielded: List[Document], end: Optional[Document]) -> Document:
        """Return the outcome of a generator.

        Args:
            items: what it yielded, each taken when it was yielded.
            end: its return value when it was exhausted, else None.
        """
        after = self.encode(self._after(function))
        whole = _combine([*yielded, after, *([end] if end is not None else [])])
        tree: Dict[str, Any] = {VALUE: whole.tree[: len(yielded)], EXHAUSTED: end is not None}
        if end is not None:
            tree[RETURNED] = whole.tree[-1]
        return Document(dict(tree, **whole.tree[len(yielded)]), whole.buffers, whole.omitted)


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
