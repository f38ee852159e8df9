"""Watching calls of the target, each from its arguments to its outcome."""

from __future__ import annotations

import functools
import inspect
import json
import time
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, Iterator, List, Optional, Set, Tuple

from .calling import (
    EXHAUSTED,
    GLOBAL,
    GRADIENTS,
    ITEM_LIMIT,
    ITEMS,
    MODE,
    RAISED,
    RANDOM,
    VALUE,
    bind,
    mode,
    random_states,
)
from .compare import describe
from .document import Document, parts, tagged, walk
from .encoding import TooLarge, Unstorable, encode
from .outcome import Inputs, changed_parts

if TYPE_CHECKING:
    from .recorder import Recorder

MOST_DESCRIBED, DEEPEST, LONG_TEXT = 40, 3, 40
"""Parts of a call that are described, how deep they lie, and the length of a text that is no option."""
SENT = "values are sent into the generator: only plain iteration is replayed"

Begin = Callable[[Any, Any, Any], Any]
"""Called with function, positional and keyword arguments; returns a watched call, or None."""


def wrap(function: Any, begin: Begin) -> Any:
    """Return a wrapper: plain, generator or coroutine function, as ``function`` is."""
    if inspect.isasyncgenfunction(function):
        wrapper = _refusing(function, begin)
    elif inspect.iscoroutinefunction(function):
        wrapper = _coroutine(function, begin)
    elif inspect.isgeneratorfunction(function):
        wrapper = _generator(function, begin)
    else:
        wrapper = _plain(function, begin)
    functools.update_wrapper(wrapper, function)
    wrapper.__lmr_watched__ = True
    return wrapper


def _plain(function: Any, begin: Begin) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(function, args, kwargs)
        if call is None:
            return function(*args, **kwargs)
        try:
            value = function(*args, **kwargs)
        except BaseException as error:
            call.raised(error)
            raise
        call.returned(value)
        return value

    return wrapper


def _coroutine(function: Any, begin: Begin) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(function, args, kwargs)
        if call is None:
            return await function(*args, **kwargs)
        try:
            value = await function(*args, **kwargs)
        except BaseException as error:
            call.raised(error)
            raise
        call.returned(value)
        return value

    return wrapper


def _generator(function: Any, begin: Begin) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(function, args, kwargs)
        if call is None:
            return (yield from function(*args, **kwargs))
        generator = function(*args, **kwargs)
        step: Callable[[], Any] = functools.partial(next, generator)
        while True:
            try:
                item = step()
            except StopIteration as stop:
                call.generated(True, stop.value)
                return stop.value
            except BaseException as error:
                call.raised(error)
                raise
            call.item(item)
            call.recorder.pause(False)
            try:
                sent = yield item
            except GeneratorExit:
                generator.close()
                call.generated(False)
                raise
            except BaseException as error:
                call.refuse(SENT)
                step = functools.partial(generator.throw, error)
            else:
                step = functools.partial(generator.send, sent)
                if sent is not None:
                    call.refuse(SENT)
            call.recorder.pause(True)

    return wrapper


def _refusing(function: Any, begin: Begin) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(function, args, kwargs)
        if call is not None:
            call.refuse("asynchronous generators are not recorded")
            call.recorder.pause(False)
        return function(*args, **kwargs)

    return wrapper


class Call:
    """One watched call. Nothing that goes wrong here reaches the driver."""

    def __init__(self, recorder: Recorder, function: Any, number: int) -> None:
        self.recorder, self.function, self.number = recorder, function, number
        self.hits: FrozenSet[int] = frozenset()
        self.items: List[Document] = []
        self._inputs: Optional[Inputs] = None
        self._shapes = ""
        self._names: Set[str] = set()
        self._random: Dict[str, Any] = {}
        self._mode: Dict[str, Any] = {}
        self._start = 0.0

    def look(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        """Copy the inputs."""
        try:
            arguments = bind(self.function, args, kwargs)
        except TypeError as error:  # the call is about to end in the same one
            self.recorder.refuse("misfit", str(error))
            return

        def copy() -> None:
            self._shapes = _shapes(arguments)
            self._inputs = self.recorder.take(self.function, arguments)
            self._names = names_used(self.function, next(iter(arguments.values()), None))
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
        """Note an item that a generator yielded."""
        inputs = self._inputs
        if inputs is not None and len(self.items) < ITEM_LIMIT:
            self._guarded(lambda: self.items.append(inputs.encode(value)))

    def refuse(self, reason: str) -> None:
        """Do not store this call."""
        if self._inputs is not None:
            self.recorder.refuse("unstorable", reason)
            self._inputs = None

    def returned(self, value: Any) -> None:
        """End a call that returned."""
        self._end(lambda inputs: inputs.returned(self.function, value))

    def raised(self, error: BaseException) -> None:
        """End a call that raised."""
        self._end(lambda inputs: inputs.raised(self.function, error))

    def generated(self, exhausted: bool, value: Any = None) -> None:
        """End a generator, exhausted or left."""

        def outcome(inputs: Inputs) -> Document:
            complete = exhausted and len(self.items) < ITEM_LIMIT
            return inputs.generated(self.function, self.items, inputs.encode(value) if complete else None)

        self._end(outcome)

    def _end(self, outcome: Callable[[Inputs], Document]) -> None:
        seconds = time.perf_counter() - self._start
        try:
            self.hits = frozenset(self.recorder.hook.hits)
            inputs = self._inputs
            self.recorder.ended(self.hits, inputs is not None)
            if inputs is not None:
                start = time.perf_counter()
                self._guarded(lambda: self._keep(inputs, outcome, seconds))
                self.recorder.spent += time.perf_counter() - start
        finally:
            self._inputs = None
            self.recorder.pause(False)

    def _keep(self, inputs: Inputs, outcome: Callable[[Inputs], Document], seconds: float) -> None:
        after = random_states()
        used = {name: state for name, state in self._random.items() if after.get(name) != state}
        expected = outcome(inputs)
        more: Dict[str, Any] = {MODE: self._mode, RANDOM: used, GRADIENTS: inputs.gradients}
        if expected.tree.get(EXHAUSTED) is False:
            more[ITEMS] = len(self.items)
        inputs.document.tree.update(
            {name: encode(value).tree for name, value in more.items() if value not in ({}, False)}
        )
        self.recorder.keep(self, inputs.document, expected, self._meta(inputs.document, expected, seconds))

    def _meta(self, inputs: Document, expected: Document, seconds: float) -> Dict[str, Any]:
        """Return the content of ``meta.json``."""
        named = {key.replace(GLOBAL, ""): node for key, node in inputs.tree.items()}
        arguments = {name: node for name, node in named.items() if name[:1] != "@"}
        return {
            "call": self.number,
            "hits": sorted(self.hits),
            "seconds": round(seconds, 6),
            "summary": summarize(arguments, self._names),
            "outcome": "raised" if RAISED in expected.tree else "returned",
            "changed": changed_parts(inputs, expected),
            "nothing": expected.tree.get(VALUE, 0) is None,
            "omitted": [dict(item._asdict()) for item in inputs.omitted],
            "bytes": sum(item.nbytes + len(json.dumps(item.tree)) for item in (inputs, expected)),
        }


def summarize(arguments: Dict[str, Any], names: Set[str]) -> Dict[str, str]:
    """Describe arguments, and the attributes of objects that the target names: path → shape and type, or the value.

    Two layers are not alike where one is merged. A path is written as in code: ``self.config.beta``.
    """
    nodes = [node for _, node in walk(arguments) if isinstance(node, dict) and "id" in node]
    ids = {node["id"]: node for node in nodes if node.get("$", "ref") != "ref"}
    found: Dict[str, str] = {}
    waiting = [(name, node, 0) for name, node in reversed(list(arguments.items()))]
    while waiting and len(found) < MOST_DESCRIBED:
        path, node, depth = waiting.pop()
        if isinstance(node, dict) and node.get("$") == "ref":
            node = ids[node["id"]]
        found[path] = _in_words(node)
        if depth < DEEPEST:
            waiting.extend(reversed([(path + step, item, depth + 1) for step, item in _named(node, names)]))
    return found


def _named(node: Any, names: Set[str]) -> Iterator[Tuple[str, Any]]:
    """Yield the parts of a node by which calls differ: named attributes, items of dictionaries, one of a list."""
    node = tagged(node)
    tag = node["$"] if isinstance(node, dict) else ""
    if tag in ("list", "tuple"):
        yield from (("[0]", item) for item in node["v"][:1] if isinstance(item, (dict, list)))
    elif tag == "dict":
        yield from ((step, item) for step, item in parts(node) if step[:1] == "[")
    elif tag == "object":
        for name, item in node["state"].items():
            if name in ("_modules", "_parameters", "_buffers"):
                yield from (("." + step[2:-2], inner) for step, inner in parts(item) if step[2:-2] in names)
            elif name in names or name == "training":
                yield "." + name, item


def _in_words(node: Any) -> str:
    """Describe a node by its shape and type, or as the value that it is."""
    if isinstance(node, str) and len(node) > LONG_TEXT:
        return "text of %d characters" % len(node)
    if isinstance(node, float):
        text = "%.6g" % node
        return text if set(text) & set(".en") else text + ".0"
    text = describe(node)
    if isinstance(node, (dict, list)) and text[:2] in ("a ", "an"):
        text = text[text.index(" ") + 1 :]
    return text + (", requires grad" if isinstance(node, dict) and node.get("requires_grad") else "")


def _shapes(arguments: Dict[str, Any]) -> str:
    """Write the shapes of arguments, as in ``" (x: [512, 768])"``: these can be sliced where a call is too large."""
    found = []
    for name, value in arguments.items():
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and shape and all(isinstance(size, int) for size in shape):
            found.append("%s: %s" % (name, list(shape)))
    return " (%s)" % ", ".join(found) if found else ""


def names_used(function: Any, owner: Any) -> Set[str]:
    """Return attribute names in a function's code and in the methods of its object that it calls, and they call."""
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
