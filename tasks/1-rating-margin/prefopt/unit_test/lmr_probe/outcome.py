"""One call of the target: what goes in, how it is made, and what came of it. Shared by recorder and replayer.

The inputs document is a dictionary of the arguments by parameter name, plus what the call depended on
beside them, under names that no parameter can have (``@closure x``, ``@mode``, ``@random``, ``@items``).
The outcome document has ``@outcome`` (``returned``, ``generator`` or ``raised``), ``value`` or
``@raised``, and the state after the call of each argument that the call changed. That of an object which a
fixture builds is ``@fixture NAME``.
"""

from __future__ import annotations

import inspect
import sys
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from . import gradients
from .codec import DEFAULT_LIMIT, Document, Fixtures, encode
from .compare import changed
from .document import combine
from .states import States, with_states

VALUE = "value"
OUTCOME = "@outcome"
RAISED = "@raised"
CLOSURE = "@closure "
MODE = "@mode"
RANDOM = "@random"
GRADIENTS = "@gradients"
PROJECT = "@project"
STATES = "@states"
ITEMS = "@items"
ITEM_LIMIT = 1000
"""So many items of a generator are kept at most."""


def bind(function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
    """Arguments by parameter name, in order; no defaults. Raises TypeError as the call would."""
    return dict(inspect.signature(function).bind(*args, **kwargs).arguments)


def unbind(function: Callable[..., Any], arguments: Dict[str, Any]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """The reverse of :func:`bind`. Raises TypeError when the function has no such parameters."""
    signature = inspect.signature(function)
    unknown = [name for name in arguments if name not in signature.parameters]
    if unknown:
        raise TypeError("the function has no parameter %s" % ", ".join(unknown))
    bound = signature.bind_partial()
    for name in signature.parameters:
        if name in arguments:
            bound.arguments[name] = arguments[name]
    return bound.args, bound.kwargs


def closure(function: Any) -> Dict[str, Any]:
    """Free variables of a function as ``{"@closure x": value}``, without those not bound yet and itself."""
    function = inspect.unwrap(function)
    names = function.__code__.co_freevars
    found = {}
    for name, cell in zip(names, function.__closure__ or ()):
        if name in ("__class__", function.__name__):
            continue
        try:
            found[CLOSURE + name] = cell.cell_contents
        except ValueError:
            continue
    return found


def mode() -> Optional[Dict[str, Any]]:
    """torch's modes that change what a call does; None when torch is not loaded."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_default_dtype"):
        return None
    cast = getattr(torch, "is_autocast_cpu_enabled", lambda: False)()
    return {
        "grad": torch.is_grad_enabled(),
        "inference": getattr(torch, "is_inference_mode_enabled", lambda: False)(),
        "dtype": str(torch.get_default_dtype()).rpartition(".")[2],
        "autocast": str(torch.get_autocast_cpu_dtype()).rpartition(".")[2] if cast else None,
    }


@contextmanager
def applied(modes: Optional[Dict[str, Any]]) -> Iterator[None]:
    """Run in the modes that :func:`mode` saw."""
    if not modes:
        yield
        return
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, modes["dtype"]))
    grad = torch.is_grad_enabled()
    torch.set_grad_enabled(modes["grad"])
    contexts = []
    if modes["inference"]:
        contexts.append(torch.inference_mode())
    if modes["autocast"]:
        contexts.append(torch.autocast("cpu", dtype=getattr(torch, modes["autocast"])))
    for context in contexts:
        context.__enter__()
    try:
        yield
    finally:
        for context in reversed(contexts):
            context.__exit__(None, None, None)
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(before)


def type_name(error: BaseException) -> str:
    """The class of an exception: ``ValueError``, or ``module.Class`` for one that is not built in."""
    cls = type(error)
    return cls.__qualname__ if cls.__module__ == "builtins" else "%s.%s" % (cls.__module__, cls.__qualname__)


class Inputs:
    """The parts that a call may change, and their document from before it.

    With ``gradients``, those of what is returned belong to the outcome; of the parts at the paths in ``project``, only
    a projection does; with ``states``, what the call does to objects of fixtures.
    """

    def __init__(
        self,
        parts: Dict[str, Any],
        document: Document,
        limit: int,
        skip: Iterable[str] = (),
        fixtures: Optional[Fixtures] = None,
    ) -> None:
        self.parts = parts
        self.document = document
        self.limit, self.skip = limit, tuple(skip)
        self.fixtures = fixtures or Fixtures()
        self.gradients = False
        self.project: Tuple[str, ...] = ()
        self.states: Optional[States] = None

    def encode(self, value: Any, project: Iterable[str] = ()) -> Document:
        """A part of the outcome. Objects of fixtures are known by their identity."""
        known = self.fixtures.known
        stands_in = (lambda item, _: known(item)) if self.fixtures.used else None
        return encode(value, self.limit, self.skip, stands_in, project)

    def _after(self, function: Any) -> Dict[str, Any]:
        """The parts that differ from before, as they are now."""
        now = dict(self.parts)
        now.update({name: value for name, value in closure(function).items() if name in now})
        parts = {name: now[name] for name in self.parts}
        if not parts:
            return {}
        later = self.encode(parts)
        names = changed(self.document, later)
        return {("@argument value" if name == VALUE else name): parts[name] for name in names}

    def returned(self, function: Any, value: Any) -> Document:
        """The outcome of a call that returned. Raises Unstorable, TooLarge."""
        root = {OUTCOME: "returned", VALUE: value}
        if self.gradients:
            root[GRADIENTS] = gradients.of(self.parts, value)
        root.update(self._after(function))
        return self._whole(self.encode(root, self.project))

    def raised(self, function: Any, error: BaseException) -> Document:
        """The outcome of a call that raised: the exception's class. Raises Unstorable, TooLarge."""
        root: Dict[str, Any] = {OUTCOME: "raised", RAISED: type_name(error)}
        root.update(self._after(function))
        return self._whole(self.encode(root))

    def generated(self, function: Any, items: List[Document], end: Optional[Document]) -> Document:
        """The outcome of a generator.

        Args:
            items: what it yielded, each taken when it was yielded.
            end: its return value when it was exhausted, else None.
        """
        parts: List[Tuple[str, Any]] = [(OUTCOME, encode("generator")), (VALUE, items)]
        parts.append(("@exhausted", encode(end is not None)))
        if end is not None:
            parts.append(("@returned", end))
        after = self._after(function)
        parts.extend((name, self.encode({name: value})) for name, value in after.items())
        return self._whole(_unnested(combine(parts), set(after)))

    def _whole(self, outcome: Document) -> Document:
        return outcome if self.states is None else with_states(outcome, self.states.changed())


def _unnested(document: Document, names: Iterable[str]) -> Document:
    """Parts that were encoded under their name (for their paths), without that layer."""
    for pair in document.tree["v"]:
        if pair[0] in names:
            pair[1] = pair[1]["v"][0][1]
    return document


def add_part(document: Document, name: str, value: Any) -> None:
    """Add a part that has no arrays to a dictionary document."""
    document.tree["v"].append([name, encode(value).tree])


def take(
    function: Any,
    arguments: Dict[str, Any],
    limit: int = DEFAULT_LIMIT,
    skip: Iterable[str] = (),
    names: Iterable[str] = (),
) -> Inputs:
    """The inputs of a call that is about to be made; ``names`` are those of fixtures. Raises Unstorable, TooLarge."""
    parts = dict(arguments)
    parts.update(closure(function))
    fixtures = Fixtures(names)
    stands_in = fixtures.find if fixtures.used else None
    return Inputs(parts, encode(parts, limit, skip, stands_in), limit, skip, fixtures)
