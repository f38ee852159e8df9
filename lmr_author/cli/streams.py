"""Make stdin, stdout and stderr usable, whatever the caller left of them: closed, full, or not UTF-8."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

ERRORS = "lmr-author"
"""Name of the error handler of stdout and stderr."""

_ASCII = {
    "…": "...", "·": "-", "–": "-", "→": "->", "×": "x", "✓": "+", "✗": "x", "○": "o",
    "≤": "<=", "≥": ">=", "∈": "in", "\u00a0": " ",
}  # fmt: skip
"""Our own symbols on a terminal that has none."""


def prepare() -> None:
    """Open closed streams on the null device, and let stdout and stderr take any text."""
    codecs.register_error(ERRORS, _encodable)
    # A file that is opened later would get the free number, and what is printed would go into it.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=ERRORS)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _stderr(sys.stderr.encoding if sys.stderr else "utf-8")


def end() -> None:
    """Write what is kept back of stdout; what it cannot take is dropped, or the end of Python would try again."""
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


class _Stderr(io.FileIO):
    """Stderr that loses a message rather than ending the command that it is about."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def _stderr(encoding: str) -> TextIO:
    raw = io.BufferedWriter(_Stderr(2, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding, ERRORS, line_buffering=True)


def _encodable(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace what an encoding lacks: bytes of file names by themselves, symbols by ASCII, others by an escape."""
    assert isinstance(error, UnicodeEncodeError)
    char = error.object[error.start]
    end = error.start + 1
    if "\udc80" <= char <= "\udcff":
        return bytes([ord(char) - 0xDC00]), end
    return _ASCII.get(char) or char.encode("ascii", "backslashreplace").decode("ascii"), end
