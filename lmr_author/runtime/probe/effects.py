"""The outcome of a call, recorded and replayed alike.

Inputs: arguments by parameter name; ``@closure NAME``, a free variable; ``@global NAME``, a global that importing the
file does not set; ``@random``, states of the random generators; ``@mode``, PyTorch's modes; ``@gradients``, a flag;
``@items``, how many a generator yielded. Outcome: ``value``, or ``@raised``, the exception's class; each argument that
the call changed, named ``@grad x`` if only the ``.grad`` of its tensors changed; ``@added``, the attributes (with
commas) that objects lacked before, or their argument where nothing else changed; ``@gradients``; ``@exhausted`` and
``@returned`` of a generator, whose ``value`` is the list of its items.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional, Tuple

from .calling import ADDED, EXHAUSTED, GLOBAL, GRAD, GRADIENTS, VALUE, closure, gradients
from .comparison import GRADS, Comparison
from .document import Document
from .objects import load_helper
from .sides import Live, Stored

VALUE_ARGUMENT = "@argument value"
"""The part of an outcome that is a changed argument named ``value``."""


class Fixtures:
    """The fixtures of one call: objects that a replay builds, recorded by name only.

    A fixture is a function without arguments in ``unit_test/fixtures.py``, which builds the arguments and attributes of
    its name. ``path``: that file; None where nothing is built.
    """

    def __init__(self, path: Optional[str] = None) -> None:
        self.path = path
        self._names_by_id: Dict[int, Tuple[Any, ...]] = {}
        self._built: Dict[str, Any] = {}
        self._module: Any = None

    def named(self, value: Any, path: str = "") -> Optional[str]:
        """Return the fixture that an object was found or built for, or None."""
        name: Optional[str] = self._names_by_id.get(id(value), (None,))[0]
        return name

    def build(self, name: str) -> Any:
        """Return the one object of a fixture. Raises LookupError, and what the function raises."""
        if name not in self._built:
            function = self.functions().get(name)
            if function is None:
                raise LookupError("unit_test/fixtures.py has no function %s" % name)
            self._built[name] = function()
            self._names_by_id[id(self._built[name])] = (name, self._built[name])
        return self._built[name]

    def functions(self) -> Dict[str, Any]:
        if self.path is None:
            raise LookupError("it takes unit_test/fixtures.py to build a fixture")
        self._module = self._module or load_helper(self.path)
        return {name: value for name, value in vars(self._module).items() if inspect.isfunction(value)}


class Outcome:
    """The outcome of a call: what it returned or raised, and what it changed.

    Args:
        parts: what the call may change.
        document: the same before the call.
        fixture_of: object and path → its fixture, or None.
        gradients: whether gradients belong to the outcome.
    """

    def __init__(
        self,
        parts: Dict[str, Any],
        document: Document,
        fixture_of: Callable[..., Optional[str]] = lambda value, path="": None,
        gradients: bool = False,
    ) -> None:
        self.parts, self.document, self.fixture_of = parts, document, fixture_of
        self.gradients = gradients

    def changes(self, function: Any, value: Any = None) -> Dict[str, Any]:
        """Return the parts that the call changed. ``value``: what it returned, which may be one of them."""
        effects: Dict[str, Any] = {}
        added: List[str] = []
        now = dict(self.parts)
        now.update({name: value for name, value in closure(function).items() if name in now})
        before, live = Stored(self.document), Live(self.fixture_of)
        exactly = Comparison(before, live)
        but_grads = Comparison(before, live, {GRADS: {"kind": "ignore"}})
        but_new = Comparison(before, live, {GRADS: {"kind": "ignore"}}, may_add=True)
        for name, node in self.document.tree.items():
            if name in now and not name.startswith(GLOBAL) and exactly.run(node, now[name]):
                changed = VALUE_ARGUMENT if name == VALUE else name
                if not but_grads.run(node, now[name]):
                    changed = GRAD + name
                else:
                    but_new.additions = []
                    is_more = not but_new.run(node, now[name], changed)
                    added += [changed] if is_more else but_new.additions
                    if value is now[name]:
                        added += [VALUE + path[len(changed) :] for path in but_new.additions]
                effects[changed] = now[name]
        return dict(effects, **{ADDED: ",".join(added)}) if added else effects

    def whole(self, function: Any, result: Dict[str, Any]) -> Dict[str, Any]:
        """Return the outcome as live values. ``result``: that of :func:`.calling.call`, or what was raised."""
        root = dict(result)
        if self.gradients and VALUE in result and EXHAUSTED not in result:
            root[GRADIENTS] = gradients(self.parts, result[VALUE])
        return dict(root, **self.changes(function, result.get(VALUE)))

    def item(self, value: Any) -> Any:
        """Take an item of a generator before it resumes."""
        raise NotImplementedError

    def ended(self, function: Any, result: Dict[str, Any]) -> Optional[Document]:
        """Take the outcome; the items of a generator are what :meth:`item` returned."""
        raise NotImplementedError
