"""Modules of flax.linen in a document: how they were made, and the variables that they are bound to.

A module that runs holds its variables in a scope, which leads to the whole model and to what only that run has. It is
stored as its class, its fields and the variables, random keys and counters of its own scope; binding these to a new
module of the same fields gives the same module again, whatever it was a part of. Flax is only looked at where it is
loaded already.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import sys
from typing import Any, Dict, List, Optional, Tuple

NAME = "flax.module"
_GIVEN_BY_FLAX = ("parent", "name")


def describe(value: Any) -> Optional[Tuple[str, List[Any]]]:
    """The class of a module, its fields, and what it is bound to; None when it is none.

    Raises ValueError while its parameters are made: there is nothing yet to be stored.
    """
    kind: Any = getattr(sys.modules.get("flax.linen"), "Module", None)
    if kind is None or not isinstance(value, kind):
        return None
    fields = {
        field.name: getattr(value, field.name)
        for field in dataclasses.fields(value)
        if field.init and field.name not in _GIVEN_BY_FLAX
    }
    return NAME, [type(value), fields, None if value.scope is None else _bound(value)]


def _bound(value: Any) -> Dict[str, Any]:
    scope = value.scope
    if getattr(value, "is_initializing", bool)():
        raise ValueError(
            "its parameters are being made (init); record a call by apply, with parameters that are there"
        )
    mutable = scope.mutable
    return {
        "variables": _plain(value.variables),
        "rngs": {name: [rng.rng, list(rng.suffix)] for name, rng in scope.rngs.items()},
        # Among them are also those of parts, under keys that only this process has.
        "counters": {
            name: count for name, count in getattr(scope, "rng_counters", {}).items() if isinstance(name, str)
        },
        "mutable": mutable if isinstance(mutable, (bool, str)) else _collections(mutable),
    }


def _collections(mutable: Any) -> Any:
    """Names of collections; all of them where some are only excepted."""
    return sorted(mutable) if hasattr(mutable, "__iter__") else True


def _plain(tree: Any) -> Any:
    """Nested mappings as dictionaries: flax had its own kind of them once."""
    if not hasattr(tree, "items"):
        return tree
    return {name: _plain(item) for name, item in tree.items()}


def make(cls: Any, fields: Dict[str, Any], bound: Optional[Dict[str, Any]]) -> Any:
    """The module again."""
    module = cls(**fields)
    if bound is None:
        return module
    lazy: Any = importlib.import_module("flax.core.scope").LazyRng
    rngs = {name: lazy(key, tuple(suffix)) for name, (key, suffix) in bound["rngs"].items()}
    made = module.bind(bound["variables"], rngs=rngs or None, mutable=bound["mutable"])
    if bound["counters"]:
        made.scope.rng_counters.update(bound["counters"])
    return made


def entered(function: Any, arguments: Any) -> Any:
    """A function that is called as flax calls a module's method: parts that it makes belong to the module.

    Any other function, and a method of a module that is not bound, as it is.
    """
    kind: Any = getattr(sys.modules.get("flax.linen"), "Module", None)
    module = arguments[0] if kind is not None and arguments else None
    if kind is None or not isinstance(module, kind) or module.scope is None:
        return function

    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._call_wrapped_method(function, args, kwargs)

    return method
