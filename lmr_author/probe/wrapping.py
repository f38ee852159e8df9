"""Wrapping a function so that its calls are watched, and it stays the kind of function it is."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

Begin = Callable[[Any, Any, Any], Any]
"""Called with function, positional and keyword arguments; returns a watched call, or None."""


def wrap(function: Any, begin: Begin) -> Any:
    """A wrapper: plain, generator, coroutine or async generator function, as ``function`` is."""
    if inspect.isasyncgenfunction(function):
        wrapper = _async_generator(function, begin)
    elif inspect.iscoroutinefunction(function):
        wrapper = _coroutine(function, begin)
    elif inspect.isgeneratorfunction(function):
        wrapper = _generator(function, begin)
    else:
        wrapper = _plain(function, begin)
    functools.update_wrapper(wrapper, function)
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
        step: Callable[[], Any] = lambda: next(generator)  # noqa: E731
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
                call.sent()
                step = functools.partial(generator.throw, error)
            else:
                step = functools.partial(generator.send, sent)
                if sent is not None:
                    call.sent()
            call.recorder.pause(True)

    return wrapper


def _async_generator(function: Any, begin: Begin) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = begin(function, args, kwargs)
        generator = function(*args, **kwargs)
        if call is None:
            async for item in generator:
                yield item
            return
        try:
            async for item in generator:
                call.item(item)
                call.recorder.pause(False)
                sent = yield item
                call.recorder.pause(True)
                if sent is not None:
                    call.sent()
        except GeneratorExit:
            await generator.aclose()
            call.generated(False)
            raise
        except BaseException as error:
            call.raised(error)
            raise
        call.generated(True)

    return wrapper
