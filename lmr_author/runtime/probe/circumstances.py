"""What a call depends on, as it is recorded: arguments, globals, modes of PyTorch, random generators."""

from __future__ import annotations

import inspect
import random
import warnings
from typing import Any, Callable, Dict, Iterable, Tuple

from .calling import GLOBAL
from .objects import library


def globals_of(function: Any, names: Iterable[str]) -> Dict[str, Any]:
    """Return those of some globals that are set, as ``{"@global args": value}``."""
    space = inspect.unwrap(function).__globals__
    return {GLOBAL + name: space[name] for name in names if name in space}


def bind(function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
    """Return arguments by parameter name, in order; no defaults. Raises TypeError as the call would."""
    return dict(inspect.signature(function).bind(*args, **kwargs).arguments)


def mode() -> Dict[str, Any]:
    """Return torch's modes that change what a call does, where they are not the usual ones."""
    torch = library("torch")
    if torch is None:
        return {}
    modes = {
        "grad": torch.is_grad_enabled(),
        "dtype": str(torch.get_default_dtype()).rpartition(".")[2],
        "group": _in_group_of_one(torch),
        "autocast": _autocast(torch),
    }
    usual = {"grad": True, "dtype": "float32", "group": False, "autocast": ""}
    return {name: value for name, value in modes.items() if value != usual[name]}


def _autocast(torch: Any) -> str:
    """Return the element type that autocast computes in on the CPU; "" where it is off."""
    enabled = getattr(torch, "is_autocast_cpu_enabled", lambda: False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions have both for all devices
        if not enabled():
            return ""
        return str(torch.get_autocast_cpu_dtype()).rpartition(".")[2]


def _in_group_of_one(torch: Any) -> bool:
    """Tell whether this process is a group of its own, as a script for several is when it runs alone."""
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return False
    return bool(distributed.get_world_size() == 1)


def random_states() -> Dict[str, Any]:
    """Return the state of each random generator that is loaded, comparable with ``==``. CUDA's are left out."""
    states: Dict[str, Any] = {"python": random.getstate()}
    numpy, torch = library("numpy"), library("torch")
    if numpy is not None:
        kind, keys, position, has_gauss, gauss = numpy.random.get_state()
        states["numpy"] = (kind, keys.tobytes(), int(position), int(has_gauss), float(gauss))
    if torch is not None:
        state = torch.get_rng_state()
        states["torch"] = bytes(state.numpy().tobytes()) if numpy is not None else bytes(state.tolist())
    return states
