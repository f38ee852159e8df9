"""Making a recorded call again, in the replayer and in a shipped test."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, NamedTuple, Optional

from .calling import (
    CLOSURE,
    GLOBAL,
    GRADIENTS,
    ITEM_LIMIT,
    ITEMS,
    MODE,
    RAISED,
    RANDOM,
    applied,
    call,
    restore_random,
    type_name,
    unbind,
    with_prefix,
)
from .decoding import decode
from .document import Document, Refused
from .effects import Fixtures, Outcome


class Repeated(NamedTuple):
    """The result of a call: its status and, if it returned or raised, its outcome."""

    status: str
    """``returned``, ``raised``, ``unstorable`` or ``bad-inputs``."""
    document: Optional[Document] = None
    error: Optional[BaseException] = None
    function: Any = None


def repeat(
    find: Callable[[Dict[str, Any]], Any],
    inputs: Document,
    take: Callable[..., Outcome],
    fixtures: Optional[str] = None,
    begin: Callable[[], Any] = lambda: None,
) -> Repeated:
    """Call a function with recorded inputs. Whatever it does is a result.

    Args:
        find: free variables by name → the function.
        take: constructor of the :class:`.effects.Outcome`.
        fixtures: ``unit_test/fixtures.py``, where the inputs need it.
        begin: called just before the call.
    """
    built = Fixtures(fixtures)
    try:
        if fixtures:
            built.functions()  # the inputs may need no more than a class of the file
            restore_random({})  # fixtures build the same objects each time
        values = decode(inputs, built.build)
        modes, states = values.pop(MODE, None), values.pop(RANDOM, {})
        gradients, most = values.pop(GRADIENTS, False) is True, values.pop(ITEMS, ITEM_LIMIT)
        function = find(with_prefix(values, CLOSURE))
        args, kwargs = unbind(function, values)
        inspect.unwrap(function).__globals__.update(with_prefix(values, GLOBAL))
    except Exception as error:
        return Repeated("bad-inputs", error=error)
    before = {name: node for name, node in inputs.tree.items() if name in values}
    with applied(modes):
        document = Document(before, inputs.buffers)
        taken = take(values, document, fixture_of=built.named, gradients=gradients)
        restore_random(states)
        begin()
        made = _outcome(function, args, kwargs, most, taken)
    return made._replace(function=function)


def _outcome(function: Any, args: Any, kwargs: Any, most: int, taken: Outcome) -> Repeated:
    try:
        try:
            return Repeated("returned", taken.ended(function, call(function, args, kwargs, most, taken.item)))
        except Refused:
            raise
        except BaseException as error:  # a SystemExit is an outcome, too
            return Repeated("raised", taken.ended(function, {RAISED: type_name(error)}), error)
    except Refused as refusal:
        return Repeated("unstorable", error=refusal)
