"""One watched call of the target, from its arguments to its outcome."""

from __future__ import annotations

import inspect
import json
import time
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, List, Optional, Set, Tuple

from .calling import GRADIENTS, ITEM_LIMIT, ITEMS, MODE, RANDOM, bind, mode, random_states, type_name
from .compare import describe
from .document import Document, parts, walk
from .encoding import TooLarge, Unstorable, encode
from .outcome import RAISED, Inputs

if TYPE_CHECKING:
    from .recorder import Recorder

MOST_OF_SELF = 6
"""Parts of an object that a summary names."""


class Call:
    """One watched call. Nothing that goes wrong here reaches the driver."""

    def __init__(self, recorder: Recorder, function: Any, number: int) -> None:
        self.recorder, self.function, self.number = recorder, function, number
        self.hits: FrozenSet[int] = frozenset()
        self.items: List[Document] = []
        self._inputs: Optional[Inputs] = None
        self._shapes = ""
        self._random: Dict[str, Any] = {}
        self._mode: Dict[str, Any] = {}
        self._start = 0.0

    def look(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        """Copy the inputs."""

        def copy() -> None:
            try:
                arguments = bind(self.function, args, kwargs)
            except TypeError as error:  # the call is about to end in the same one
                self.recorder.refuse("misfit", str(error))
                return
            self._shapes = _shapes(arguments)
            self._inputs = self.recorder.take(self.function, arguments)
            self._inputs.gradients = self.recorder.gradients
            self._mode, self._random = mode(), random_states()

        self._guarded(copy)
        self._start = time.perf_counter()

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
            return
        except Unstorable as error:
            for path, kind, advice in error.problems[:5]:
                self.recorder.refuse("unstorable", "%s is a %s: %s" % (path, kind, advice))
        except TooLarge as error:
            self.recorder.refuse("too_large", "%s%s" % (error, self._shapes))
        except Exception as error:
            self.recorder.refuse("failed", "%s: %s" % (type(error).__name__, error))
        self._inputs = None

    def item(self, value: Any) -> None:
        """Note what a generator yielded."""
        inputs = self._inputs
        if inputs is not None and len(self.items) < ITEM_LIMIT:
            self._guarded(lambda: self.items.append(inputs.encode(value)))

    def sent(self) -> None:
        """Note that a value or an exception was sent into a generator, which replay does not do."""
        if self._inputs is not None:
            self.recorder.refuse(
                "unstorable", "values are sent into the generator: only plain iteration is replayed"
            )
            self._inputs = None

    def returned(self, value: Any) -> None:
        """The call returned."""
        self._end(lambda inputs: inputs.returned(self.function, value), None)

    def raised(self, error: BaseException) -> None:
        """The call raised."""
        self._end(lambda inputs: inputs.raised(self.function, error), error)

    def generated(self, exhausted: bool, value: Any = None) -> None:
        """A generator ended, or was left."""

        def outcome(inputs: Inputs) -> Document:
            complete = exhausted and len(self.items) < ITEM_LIMIT
            return inputs.generated(self.function, self.items, inputs.encode(value) if complete else None)

        self._end(outcome, None)

    def _end(self, outcome: Callable[[Inputs], Document], error: Optional[BaseException]) -> None:
        seconds = time.perf_counter() - self._start
        try:
            self.hits = frozenset(self.recorder.hook.hits)
            looked = self._inputs is not None
            self.recorder.noticed(self.hits, looked)
            if looked:
                start = time.perf_counter()
                self._guarded(lambda: self._keep(outcome, error, seconds))
                self.recorder.spent += time.perf_counter() - start
        finally:
            self._inputs = None
            self.recorder.done()

    def _keep(
        self, outcome: Callable[[Inputs], Document], error: Optional[BaseException], seconds: float
    ) -> None:
        inputs = self._inputs
        assert inputs is not None
        after = random_states()
        used = {name: state for name, state in self._random.items() if after.get(name) != state}
        expected = outcome(inputs)
        more: Dict[str, Any] = {MODE: self._mode, RANDOM: used, GRADIENTS: inputs.gradients}
        if expected.tree.get("@exhausted") is False:
            more[ITEMS] = len(self.items)
        inputs.document.tree.update(
            {name: encode(value).tree for name, value in more.items() if value not in ({}, False)}
        )
        meta = self._meta(inputs.document, expected)
        meta.update(call=self.number, hits=sorted(self.hits), seconds=round(seconds, 6))
        if error is not None:
            meta["error"] = {"type": type_name(error), "message": str(error)[:500]}
        self.recorder.keep(self, inputs.document, expected, meta)

    def _meta(self, inputs: Document, expected: Document) -> Dict[str, Any]:
        """Describe the call: the ``meta.json``, without what the recorder adds."""
        arguments = {key: node for key, node in inputs.tree.items() if key[:1] != "@"}
        ids = {
            node["id"]: node
            for _, node in walk(inputs.tree)
            if isinstance(node, dict) and "id" in node and node["$"] != "ref"
        }
        parameters = inspect.signature(self.function).parameters
        return {
            "summary": {name: summary_of(node, ids) for name, node in arguments.items()},
            "outcome": "raised" if RAISED in expected.tree else "returned",
            "mutated": [name for name in expected.tree if name in arguments or name == "@argument value"],
            "defaults": [name for name in parameters if name not in arguments],
            "omitted": [
                {"path": item.path, "type": item.type, "advice": item.advice} for item in inputs.omitted
            ],
            "bytes": sum(item.nbytes + len(json.dumps(item.tree)) for item in (inputs, expected)),
        }


def summary_of(node: Any, ids: Dict[int, Any]) -> str:
    """Describe a node as far as calls are alike: shapes and types, and the values of flags and short texts.

    Of an object that is so of its plain attributes too: two layers are not alike where one is merged.
    """
    if isinstance(node, dict) and node.get("$") == "ref":
        node = ids[node["id"]]
    if isinstance(node, (int, float)) and not isinstance(node, bool):
        return type(node).__name__
    text = describe(node)
    text = (
        text[text.index(" ") + 1 :] if isinstance(node, (dict, list)) and text[:2] in ("a ", "an") else text
    )
    if isinstance(node, dict) and node.get("$") in ("object", "namedtuple"):
        flags = [
            "%s=%s" % (step.lstrip("."), describe(item))
            for step, item in parts(node)
            if isinstance(item, (bool, int, float)) and step[:2] != "._"
        ]
        text += "(%s)" % ", ".join(flags[:MOST_OF_SELF]) if flags else ""
    return text


def _shapes(arguments: Dict[str, Any]) -> str:
    """Shapes of arguments, as in ``" (x: [512, 768])"``: what there is to slice where a call is too large."""
    found = []
    for name, value in arguments.items():
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and shape and all(isinstance(size, int) for size in shape):
            found.append("%s: %s" % (name, list(shape)))
    return " (%s)" % ", ".join(found) if found else ""


def names_used(function: Any, owner: Any) -> Set[str]:
    """Attribute names in a function's code and in the methods of its object that it calls, and they call."""
    names: Set[str] = set()
    waiting: List[types.CodeType] = [function.__code__]
    seen: Set[types.CodeType] = set()
    while waiting:
        code = waiting.pop()
        if code in seen:
            continue
        seen.add(code)
        waiting.extend(item for item in code.co_consts if isinstance(item, types.CodeType))
        for name in code.co_names + tuple(item for item in code.co_consts if isinstance(item, str)):
            names.add(name)
            method = getattr(type(owner), name, None) if name.isidentifier() else None
            method = getattr(method, "fget", None) or method
            if isinstance(method, types.FunctionType):
                waiting.append(method.__code__)
    return names
