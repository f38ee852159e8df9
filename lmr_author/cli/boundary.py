"""The one error boundary: every exception becomes an exit code, and only a bug leaves a log behind."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable

from lmr_author.cli import streams, ui
from lmr_author.core import owner
from lmr_author.core.errors import EXIT_BUG, EXIT_ERROR, EXIT_INTERRUPTED, LmrError


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
        streams.end()


def _interrupted() -> int:
    print("\ninterrupted: no file was left half-written, and what was complete is kept", file=sys.stderr)
    return EXIT_INTERRUPTED


def _operating_system_error(error: OSError) -> tuple[str, str] | None:
    if isinstance(error, shutil.Error):  # of a tree that was copied: a list of (source, target, reason)
        source, _, reason = error.args[0][0]
        return f"{source}: {str(reason).partition('] ')[2] or reason}", "check the permissions there"
    path = owner.final_path(str(error.filename)) if error.filename else "this file system"
    hints = {
        errno.ENOSPC: "free some space and run the command again; what was complete is kept",
        errno.EDQUOT: "free some of your quota and run the command again",
        errno.EFBIG: "raise the limit on the size of a file (ulimit -f) and run the command again",
        errno.EACCES: "check the permissions",
        errno.EPERM: "check the permissions",
        errno.EROFS: "choose a folder that can be written",
        errno.ENAMETOOLONG: "choose a shorter name",
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
