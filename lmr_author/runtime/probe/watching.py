"""Watching calls of the target, each from its arguments to its outcome."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

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
