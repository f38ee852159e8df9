"""What a call depends on beside its code: arguments, free variables, random generators, modes of PyTorch."""

from __future__ import annotations

import inspect
import random
import sys
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

CLOSURE, MODE, RANDOM, GRADIENTS, ITEMS = "@closure ", "@mode", "@random", "@gradients", "@items"
"""Parts of the inputs beside the arguments; the first begins the name of a free variable."""
ITEM_LIMIT = 1000
"""So many items of a generator are kept at most."""


def bind(function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
    """Return arguments by parameter name, in order; no defaults. Raises TypeError as the call would."""
    return dict(inspect.signature(function).bind(*args, **kwargs).arguments)


def unbind(function: Callable[..., Any], arguments: Dict[str, Any]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """Reverse :func:`bind`. Raises TypeError when the function has no such parameters."""
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
    """Return free variables of a function as ``{"@closure x": value}``, without itself and those not bound yet."""
    function = inspect.unwrap(function)
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            if name not in ("__class__", function.__name__):
                found[CLOSURE + name] = cell.cell_contents
        except ValueError:
            continue
    return found


def mode() -> Dict[str, Any]:
    """Return torch's modes that change what a call does, where they are not the usual ones."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_default_dtype"):
        return {}
    cast = getattr(torch, "is_autocast_cpu_enabled", lambda: False)()
    found = {
        "grad": torch.is_grad_enabled(),
        "inference": getattr(torch, "is_inference_mode_enabled", lambda: False)(),
        "dtype": str(torch.get_default_dtype()).rpartition(".")[2],
        "autocast": str(torch.get_autocast_cpu_dtype()).rpartition(".")[2] if cast else None,
    }
    usual = {"grad": True, "inference": False, "dtype": "float32", "autocast": None}
    return {name: value for name, value in found.items() if value != usual[name]}


@contextmanager
def applied(modes: Optional[Dict[str, Any]]) -> Iterator[None]:
    """Run in the modes that :func:`mode` saw."""
    if not modes:
        yield
        return
    import torch

    before = torch.get_default_dtype(), torch.is_grad_enabled()
    torch.set_default_dtype(getattr(torch, modes.get("dtype", "float32")))
    torch.set_grad_enabled(modes.get("grad", True))
    contexts = [torch.inference_mode()] if modes.get("inference") else []
    if modes.get("autocast"):
        contexts.append(torch.autocast("cpu", dtype=getattr(torch, modes["autocast"])))
    for context in contexts:
        context.__enter__()
    try:
        yield
    finally:
        for context in reversed(contexts):
            context.__exit__(None, None, None)
        torch.set_grad_enabled(before[1])
        torch.set_default_dtype(before[0])


def random_states() -> Dict[str, Any]:
    """Return the state of each random generator that is loaded, comparable with ``==``. Not of CUDA's."""
    states: Dict[str, Any] = {"python": random.getstate()}
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and hasattr(numpy, "random"):
        kind, keys, position, has_gauss, gauss = numpy.random.get_state()
        states["numpy"] = (kind, keys.tobytes(), int(position), int(has_gauss), float(gauss))
    if torch is not None and hasattr(torch, "get_rng_state"):
        state = torch.get_rng_state()
        states["torch"] = bytes(state.numpy().tobytes()) if numpy is not None else bytes(state.tolist())
    return states


def restore_random(states: Dict[str, Any]) -> None:
    """Put states back, and seed the generators that have none."""
    random.seed(0)
    if "python" in states:
        random.setstate(states["python"])
    if "numpy" in states or "numpy" in sys.modules:
        import numpy

        numpy.random.seed(0)
        if "numpy" in states:
            kind, keys, position, has_gauss, gauss = states["numpy"]
            array = numpy.frombuffer(keys, dtype=numpy.uint32)
            numpy.random.set_state((kind, array, position, has_gauss, gauss))
    if "torch" in states:
        import torch as loaded

        loaded.set_rng_state(loaded.tensor(list(states["torch"]), dtype=loaded.uint8))
    elif "torch" in sys.modules:
        # torch.manual_seed would queue seeds for every device, with a stack trace each: slow, and not needed.
        torch = sys.modules["torch"]
        getattr(torch, "default_generator", torch).manual_seed(0)


def type_name(error: BaseException) -> str:
    """Return the class of an exception: ``ValueError``, or ``module.Class`` for one that is not built in."""
    cls = type(error)
    return cls.__qualname__ if cls.__module__ == "builtins" else "%s.%s" % (cls.__module__, cls.__qualname__)
