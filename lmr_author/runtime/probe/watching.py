"""Watching calls of the target: arguments, globals, modes of PyTorch and random states, then the outcome."""

from __future__ import annotations

import functools
import inspect
import random
import warnings
from typing import Any, Callable, Dict, Iterable, Tuple

from .calling import GLOBAL
from .objects import library

SENT = "values are sent into the generator: only plain iteration is replayed"

Begin = Callable[[Any, Any, Any], Any]
"""Called with function, positional and keyword arguments; returns a watched call, or None."""


def wrap(function: Any, begin: Begin) -> Any:
    """Return a wrapper: plain, generator or coroutine function, as ``function`` is."""
    if inspect.iscoroutinefunction(function):
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
            call.ended(None, error)
            raise
        call.ended(value)
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
            call.ended(None, error)
            raise
        call.ended(value)
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
                yielded = step()
            except StopIteration as stop:
                call.generated(True, stop.value)
                return stop.value
            except BaseException as error:
                call.ended(None, error)
                raise
            call.item(yielded)
            call.pause(True)
            try:
                sent = yield yielded
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
            call.pause(False)

    return wrapper


def globals_of(function: Any, names: Iterable[str]) -> Dict[str, Any]:
    """Return those of some globals that are set, as ``{"@global args": value}``."""
    space = inspect.unwrap(function).__globals__
    return {GLOBAL + name: space[name] for name in names if name in space}


def bind(function: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, Any]:
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
