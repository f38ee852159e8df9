"""Lambdas and closures of the repository, identified by the names around them; masking moves their lines."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .objects import recorded_module, resolve

HIT = "__lmr_hit__"
"""Name of the function with which an instrumented target reports an executed block."""
is_of_repository: Callable[[str], bool] = lambda home: True  # noqa: E731 (another takes its place)
"""Tells whether a module lies in the repository; a recorder replaces it (:mod:`.lasting`)."""


def place_of(function: types.FunctionType) -> Optional[str]:
    """Return ``module:Layer.__init__.<lambda>(x)[scale]#0``, or None for a function of no module's code.

    In brackets: its parameters and the names that it uses; at the end its number among functions alike.
    """
    home = str(function.__globals__.get("__name__"))
    for place, codes in _places(home).items() if home in sys.modules and is_of_repository(home) else ():
        if function.__code__ in codes:
            return "%s:%s#%d" % (recorded_module(home), place, codes.index(function.__code__))
    return None


def closure_of(function: types.FunctionType) -> List[Any]:
    """Return a function's defaults and the values of its free variables. Raises ValueError where it calls itself."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    if any(value is function for value in values):
        raise ValueError("it calls itself")
    return [function.__defaults__, function.__kwdefaults__, *values]


def function_at(place: str, defaults: Any, keyword_defaults: Any, *values: Any) -> types.FunctionType:
    """Return the function at a place of :func:`place_of`. Raises LookupError."""
    home, _, rest = place.partition(":")
    inside, _, number = rest.rpartition("#")
    module = resolve(home + ":")
    codes = _places(module.__name__).get(inside, [])[int(number) :]
    if not codes or len(codes[0].co_freevars) != len(values):
        raise LookupError("there is no function %s" % place)
    cells = tuple(map(_cell, values))
    function = types.FunctionType(codes[0], vars(module), codes[0].co_name, defaults, cells)
    function.__kwdefaults__ = keyword_defaults
    return function


def _cell(value: Any) -> Any:  # Python 3.7 has no constructor for it
    return (lambda: value).__closure__[0]  # type: ignore[index]


@functools.lru_cache(maxsize=None)
def _places(home: str) -> Dict[str, List[types.CodeType]]:
    """Return the functions in a module's code, without those in the target, which other versions lack."""
    module = sys.modules[home]
    try:
        whole = module.__loader__.get_code(home)  # type: ignore[union-attr]
    except Exception:  # not from a file
        return {}
    found: Dict[str, List[types.CodeType]] = {}
    for names, code in _inside(whole, ()):
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        key = "%s(%s)[%s]" % (".".join(names), ", ".join(parameters), ", ".join(code.co_names))
        found.setdefault(key, []).append(code)
    return found


def _inside(code: types.CodeType, names: Tuple[str, ...]) -> Iterator[Tuple[Tuple[str, ...], types.CodeType]]:
    for part in code.co_consts if HIT not in code.co_names else ():
        if isinstance(part, types.CodeType):
            yield (*names, part.co_name), part
            yield from _inside(part, (*names, part.co_name))
