"""One watched call of the target, from its arguments to its outcome."""

from __future__ import annotations

import time
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, List, Optional, Set, Tuple

from . import randomness, summary
from .codec import Document, TooLarge, Unstorable
from .outcome import (
    GRADIENTS,
    ITEM_LIMIT,
    ITEMS,
    MODE,
    PROJECT,
    RANDOM,
    STATES,
    Inputs,
    add_part,
    bind,
    mode,
    type_name,
)

if TYPE_CHECKING:
    from .recorder import Recorder


class Call:
    """One watched call, from arguments to outcome. Nothing that goes wrong here reaches the driver."""

    def __init__(self, recorder: Recorder, function: Any, number: int) -> None:
        self.recorder, self.function, self.number = recorder, function, number
        self.hits: FrozenSet[int] = frozenset()
        self.items: List[Document] = []
        self._inputs: Optional[Inputs] = None
        self._shapes = ""
        self._random: Dict[str, Any] = {}
        self._mode: Optional[Dict[str, Any]] = None
        self._start = 0.0

    def look(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        """Copy the inputs."""

        def copy() -> None:
            try:
                arguments = bind(self.function, args, kwargs)
            except TypeError as error:  # the call is about to end in the same one
                self.recorder.refuse("misfit", str(error))
                return
            self._shapes = summary.shapes(arguments)
            self._inputs = self.recorder.take(self.function, arguments)
            self._inputs.gradients = self.recorder.gradients
            self._inputs.project = self.recorder.project
            self._mode = mode()
            self._random = randomness.capture()

        self._guarded(copy)
        self._start = time.perf_counter()

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Unstorable as error:
            for path, kind, advice in error.problems[:5]:
                self.recorder.refuse("unstorable", "%s is a %s: %s" % (path, kind, advice))
            self._inputs = None
        except TooLarge as error:
            self.recorder.refuse("too_large", "%s%s" % (error, self._shapes))
            self._inputs = None
        except Exception as error:
            self.recorder.refuse("failed", "%s: %s" % (type(error).__name__, error))
            self._inputs = None

    def item(self, value: Any) -> None:
        """A generator yielded."""
        inputs = self._inputs
        if inputs is not None and len(self.items) < ITEM_LIMIT:
            self._guarded(lambda: self.items.append(inputs.encode(value)))

    def sent(self) -> None:
        """A value or an exception was sent into a generator, which replay does not do."""
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
                self.recorder.spend(time.perf_counter() - start)
        finally:
            self._inputs = None
            self.recorder.done()

    def _keep(
        self, outcome: Callable[[Inputs], Document], error: Optional[BaseException], seconds: float
    ) -> None:
        inputs = self._inputs
        assert inputs is not None
        used = randomness.consumed(self._random, randomness.capture())
        expected = outcome(inputs)
        if self._mode is not None:
            add_part(inputs.document, MODE, self._mode)
        if inputs.gradients:
            add_part(inputs.document, GRADIENTS, True)
        if inputs.project:
            add_part(inputs.document, PROJECT, list(inputs.project))
        if inputs.fixtures.objects():
            add_part(inputs.document, STATES, True)
        if used:
            add_part(inputs.document, RANDOM, used)
        if expected_open(expected):
            add_part(inputs.document, ITEMS, len(self.items))
        meta = summary.describe_call(inputs.document, expected, self.function)
        meta.update(
            call=self.number, hits=sorted(self.hits), consumed=sorted(used), seconds=round(seconds, 6)
        )
        if error is not None:
            meta["error"] = {"type": type_name(error), "message": str(error)[:500]}
        self.recorder.keep(self, inputs.document, expected, meta)


def expected_open(expected: Document) -> bool:
    """Whether a generator's outcome says that it was not exhausted."""
    return any(pair[0] == "@exhausted" and pair[1] is False for pair in expected.tree["v"])


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
