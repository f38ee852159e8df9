"""Ctrl-C and SIGTERM kept waiting while something is half done that nobody else would finish or undo."""

from __future__ import annotations

import signal
import threading
from types import TracebackType


class HeldInterrupts:
    """Interrupts wait from the making of this object until it is released, or for the time of a ``with`` block.

    Raised inside of ``Popen``, an interrupt would leave a running program that nobody knows of: a git that goes
    on writing into a folder that is being removed. Raised while a temporary folder is made or removed, it
    would leave the folder.
    """

    def __init__(self) -> None:
        self._came = False
        main = threading.current_thread() is threading.main_thread()
        # Handlers can be set in the main thread only, and only there an interrupt is raised.
        self._before = (
            {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)} if main else {}
        )
        for number, handler in self._before.items():
            if callable(handler):
                signal.signal(number, self._note)

    def _note(self, *_: object) -> None:
        self._came = True

    def release(self) -> None:
        """Put the handlers back; raises KeyboardInterrupt when one came meanwhile."""
        for number, handler in self._before.items():
            if callable(handler):
                signal.signal(number, handler)
        if self._came:
            raise KeyboardInterrupt

    def __enter__(self) -> HeldInterrupts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
