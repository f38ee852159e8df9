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


class _Unwatched:
    """In the place of a call that is not recorded: it notes nothing."""

    def note(self, *_: Any) -> None:
        """Nothing."""

    item = sent = generated = raised = pause = note

    @property
    def recorder(self) -> Any:
        """What is paused in vain."""
        return self


def _async_generator(function: Any, begin: Begin) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call: Any = begin(function, args, kwargs) or _Unwatched()
        generator = function(*args, **kwargs)
        step: Callable[[], Any] = generator.__anext__
        while True:
            try:
                item = await step()
            except StopAsyncIteration:
                call.generated(True)
                return
            except BaseException as error:
                call.raised(error)
                raise
            call.item(item)
            call.recorder.pause(False)
            try:
                sent = yield item
            except GeneratorExit:
                await generator.aclose()
                call.generated(False)
                raise
            except BaseException as error:
                call.sent()
                step = functools.partial(generator.athrow, error)
            else:
                step = functools.partial(generator.asend, sent)
                if sent is not None:
                    call.sent()
            call.recorder.pause(True)

    return wrapper
