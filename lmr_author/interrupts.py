"""Ctrl-C and SIGTERM held back during a step that nobody else would finish or undo."""

from __future__ import annotations

import signal
import threading
from types import TracebackType


class HeldInterrupts:
    """Holds interrupts back for the time of a ``with`` block, and raises KeyboardInterrupt after it if one came.

    Raised inside of ``Popen``, an interrupt would leave a running program that nobody knows of: a git that goes
    on writing into a folder that is being removed. Raised while a temporary folder is made or removed, it
    would leave the folder.
    """

    def __enter__(self) -> HeldInterrupts:
        self._came = False
        # Handlers can be set in the main thread only, and only there an interrupt is raised.
        main = threading.current_thread() is threading.main_thread()
        numbers = (signal.SIGINT, signal.SIGTERM) if main else ()
        handlers = {number: signal.getsignal(number) for number in numbers}
        self._before = {number: handler for number, handler in handlers.items() if callable(handler)}
        for number in self._before:
            signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._came:
            raise KeyboardInterrupt

    def _note(self, *_: object) -> None:
        self._came = True
