"""The edge to the system: streams made usable, and every exception made an exit code; only a bug leaves a log."""

from __future__ import annotations

import codecs
import errno
import io
import os
import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from lmr_author.cli import ui
from lmr_author.core.errors import EXIT_BUG, EXIT_ERROR, EXIT_INTERRUPTED, LmrError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_ERRORS = "lmr-author"

_ASCII = {
    "…": "...", "·": "-", "–": "-", "→": "->", "×": "x", "✓": "+", "✗": "x", "○": "o",
    "≤": "<=", "≥": ">=", "∈": "in", "\u00a0": " ",
}  # fmt: skip
"""Our own symbols on a terminal that has none."""


def guarded(run: Callable[[], int]) -> int:
    """Run a command and turn what it raises into its exit code and a message on stderr."""
    try:
        code = run()
        sys.stdout.flush()  # what cannot be written is an error here, with a hint; at the end of Python it has none
        return code
    except LmrError as error:
        _say(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        # The reader went away (`lmr-author validate | head`): not an error of ours, and not worth a word.
        return EXIT_ERROR
    except OSError as error:
        known = _operating_system_error(error)
        if known is None:
            return _bug()
        _say(*known)
        return EXIT_ERROR
    except UnicodeEncodeError as error:
        # Bytes of a file name or an argument that are not UTF-8 are surrogates here, and all that we write is UTF-8.
        if not "\ud800" <= error.object[error.start] <= "\udfff":
            return _bug()
        line = error.object[error.object.rfind("\n", 0, error.start) + 1 :].partition("\n")[0]
        hint = "rename the file, or type the text where LC_ALL is C.UTF-8"
        _say(f"this is not UTF-8 text: {line.strip()[:200]}", hint)
        return EXIT_ERROR
    except Exception as error:
        # Python 3.11 wraps what is raised while a class is being made, here of a library that is being imported.
        return _interrupted() if isinstance(error.__cause__, KeyboardInterrupt) else _bug()
    finally:
        _end_streams()


def _interrupted() -> int:
    print("\ninterrupted: no file was left half-written, and what was complete is kept", file=sys.stderr)
    return EXIT_INTERRUPTED


def _operating_system_error(error: OSError) -> tuple[str, str] | None:
    if isinstance(error, shutil.Error):  # of a tree that was copied: a list of (source, target, reason)
        source, _, reason = error.args[0][0]
        return f"{source}: {str(reason).partition('] ')[2] or reason}", "check the permissions there"
    from lmr_author.core import owner

    path = owner.final_path(str(error.filename)) if error.filename else "this file system"
    hints = {
        errno.ENOSPC: "free some space and run the command again; what was complete is kept",
        errno.EDQUOT: "free some of your quota and run the command again",
        errno.EFBIG: "raise the limit on the size of a file (ulimit -f) and run the command again",
        errno.EACCES: "check the permissions",
        errno.EPERM: "check the permissions",
        errno.EROFS: "choose a folder that can be written",
        errno.ENAMETOOLONG: "choose a shorter name: a file system takes 255 bytes, and an emoji is four or more",
        errno.ENOTDIR: "check the path",
        errno.EISDIR: "name a file, not a folder",
        errno.ENOENT: "check the path",
        errno.ELOOP: "replace the link by the file itself",
        errno.EIO: "check the disk or the terminal",
        errno.EMFILE: "raise the number of open files (ulimit -n) and run the command again",
        errno.EEXIST: "move it away, or choose another place",
    }
    hint = hints.get(error.errno or 0)
    return (f"{path}: {error.strerror}", hint) if hint else None


def _bug() -> int:
    import tempfile
    import traceback

    error = sys.exc_info()[1]
    handle, path = tempfile.mkstemp(prefix="lmr-author-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(" ".join(sys.argv) + "\n\n")
        traceback.print_exc(file=file)
    _say(
        f"this is a bug in lmr-author: {type(error).__name__}: {error}",
        f"please report it with the log {path}",
    )
    return EXIT_BUG


def _say(message: str, hint: str) -> None:
    # What another program said, and an error quotes, may have several lines.
    ui.say(" ".join(line.strip() for line in message.splitlines()), "error:", "bold red")
    ui.hint(" ".join(line.strip() for line in hint.splitlines()))


# Streams: whatever the caller left of them, closed, full, or not UTF-8


def prepare_streams() -> None:
    """Open closed streams on the null device, and let stdout and stderr take any text of a width above 0."""
    codecs.register_error(_ERRORS, _encodable)
    for name in ("COLUMNS", "LINES"):
        if (
            os.environ.get(name, "").strip("0") == ""
        ):  # of a terminal that has no size: rich would print nothing
            os.environ.pop(name, None)
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
        sys.stdout.reconfigure(errors=_ERRORS)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _stderr(sys.stderr.encoding if sys.stderr else "utf-8")


def _end_streams() -> None:
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
    return io.TextIOWrapper(raw, encoding, _ERRORS, line_buffering=True)


def _encodable(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace what an encoding lacks: bytes of file names by themselves, symbols by ASCII, others by an escape."""
    assert isinstance(error, UnicodeEncodeError)
    char = error.object[error.start]
    end = error.start + 1
    if "\udc80" <= char <= "\udcff":
        return bytes([ord(char) - 0xDC00]), end
    return _ASCII.get(char) or char.encode("ascii", "backslashreplace").decode("ascii"), end
