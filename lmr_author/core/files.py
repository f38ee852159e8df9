"""Reading and writing files so that a killed command leaves them as before or as after."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any

from lmr_author.core import owner
from lmr_author.core.errors import LmrError, UnsafePathError, UsageError
from lmr_author.core.parsing import NotParsed, json_data, yaml_data

CACHE_FOLDERS = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".eggs"}
)
"""Folders that any run makes again, and that nobody writes in by hand."""

LFS_HEADER = b"version https://git-lfs.github.com/spec/v1"
"""First line of a Git LFS pointer file (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md)."""


class HeldInterrupts:
    """Holds interrupts back during a ``with`` block, and raises KeyboardInterrupt after it if one came.

    Raised inside of ``Popen``, an interrupt would leave a running program that nobody knows of; raised while a
    temporary folder is made or removed, it would leave the folder.
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


def user_cache() -> Path:
    """Return the user's cache folder; the environment variable ``LMR_AUTHOR_CACHE`` names another."""
    chosen = os.environ.get("LMR_AUTHOR_CACHE")
    if chosen:
        return Path(chosen).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("lmr-author")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically: temporary file beside it, fsync, rename. Keeps an existing file's mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    beside = _beside(path)
    remove_abandoned(path.parent, beside)
    handle, temporary = tempfile.mkstemp(prefix=beside + _mine(), suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def require_writable(path: Path) -> None:
    """Raise at once the OSError that writing a file would raise after long work."""
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    with tempfile.NamedTemporaryFile(prefix=_beside(path) + _mine(), suffix=".tmp", dir=folder):
        pass


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, data: Any) -> None:
    """Write a JSON document atomically: two spaces, real characters, final newline."""
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises LmrError naming the line when it is not JSON."""
    try:
        return json_data(path.read_bytes())
    except NotParsed as error:
        raise LmrError(
            f"{path}{error.place}: invalid JSON ({error.reason})",
            "correct the file, or restore it from version control",
        ) from error


def read_text_or_empty(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def read_object_or_empty(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file that is only shown; empty for none, anything else, or a damaged file."""
    try:
        return read_object_to_change(path)
    except LmrError:
        return {}


def read_object_to_change(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file that will be written again; empty for none. Raises LmrError if damaged."""
    data = read_json(path) if path.is_file() else {}
    if not isinstance(data, dict):
        raise LmrError(f"{path}: not a JSON object", "correct the file by hand, or move it away")
    return data


def read_answers(path: Path, option: str, hint: str = "see the command's --help") -> dict[str, Any]:
    """Read a YAML or JSON file that ``option`` names, with answers to prompts. Raises UsageError for other data."""
    if not path.is_file():
        raise UsageError(f"{option} {path}: no such file", hint)
    try:
        data = yaml_data(path.read_bytes())
    except NotParsed as error:
        message = f"{option} {path}{error.place}: neither YAML nor JSON ({error.reason})"
        raise UsageError(message, "correct the file") from error
    if not isinstance(data, dict):
        raise UsageError(f"{option} {path}: not an object with names", hint)
    return data


def inside(root: Path, relative: str) -> Path:
    """Return ``root / relative``, existing or not. Raises UnsafePathError if it leaves ``root``, even by a link."""
    pure = PurePosixPath(relative)
    if not relative or pure.is_absolute() or ".." in pure.parts or "\0" in relative:
        raise UnsafePathError(
            f"path {relative!r} does not stay inside {root.name}/", "use a relative path without '..'"
        )
    path = root / pure
    try:
        stays = path.resolve().is_relative_to(root.resolve())
    except RuntimeError:  # links in a circle, until Python 3.12
        stays = False
    if not stays:
        raise UnsafePathError(
            f"path {relative!r} leaves {root.name}/ through a symbolic link",
            "replace the link by the file itself",
        )
    return path


def is_file_inside(root: Path, relative: str) -> bool:
    try:
        return inside(root, relative).is_file()
    except (UnsafePathError, OSError, ValueError):
        return False


def walk(root: Path) -> Iterator[Path]:
    """Yield every regular file below ``root``, sorted, never following a symbolic link."""
    stack = [root]
    while stack:
        folder = stack.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                stack.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def suffix(name: str) -> str:
    """Return the ending of a file's name with its dot, lower case; "" when there is none, as for ``.bashrc``."""
    stem, dot, ending = name.rpartition(".")
    return f".{ending.lower()}" if dot and stem else ""


def sha256_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_lfs_pointer(path: Path) -> bool:
    try:
        if path.stat().st_size > 1024:
            return False
        with path.open("rb") as file:
            return file.read(len(LFS_HEADER)) == LFS_HEADER
    except OSError:
        return False


# Temporary files and folders carry their owner in their names (:mod:`lmr_author.core.owner`). What a killed process has
# left is removed when another one makes the same, or opens the same task for writing.

TEMPORARY = "lmr-author-"
"""Start of the names of our folders in TMPDIR."""


def _beside(final: Path) -> str:
    start = os.fsencode(final.name)[:60].decode("utf-8", "ignore")  # a file system counts bytes
    return f".{start}."


def _mine() -> str:
    return f"{owner.me()}."


def remove_abandoned(folder: Path, start: str, *, below: bool = False) -> None:
    """Remove temporary files and folders whose names begin with ``start`` and whose owner was killed."""
    waiting = [folder]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            whose = owner.of_name(entry.name) if entry.name.startswith(start) else ""
            if whose and owner.is_gone(whose):
                with suppress(FileNotFoundError):  # another process of ours was faster
                    if entry.stat(follow_symlinks=False).st_uid == os.geteuid():  # else it cannot be removed
                        remove(Path(entry.path))
            elif below and entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))


def remove_abandoned_temporaries() -> None:
    """Remove what killed processes of ours left in TMPDIR."""
    remove_abandoned(Path(tempfile.gettempdir()), TEMPORARY)


@contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Yield a private folder for the time of the block; an interrupt leaves nothing of it.

    Args:
        prefix: start of its name; in TMPDIR, one that begins with :data:`TEMPORARY`.
        parent: None for TMPDIR.
    """
    if parent is None:
        remove_abandoned_temporaries()
    else:
        remove_abandoned(parent, prefix)
    folder: Path | None = None
    try:
        with HeldInterrupts():
            folder = Path(tempfile.mkdtemp(prefix=prefix + _mine(), dir=parent))
        yield folder
    finally:
        if folder is not None:
            with HeldInterrupts():
                remove(folder)


@contextmanager
def staged_folder(final: Path, named: Callable[[], Path] | None = None) -> Iterator[Path]:
    """Yield a temporary folder beside ``final`` that becomes ``final`` when the block ends well.

    ``named`` returns the final name where that is known only at the end. On any exception, Ctrl-C included, neither
    ``final`` nor those of its parents that had to be made exist.
    """
    made = [folder for folder in final.parents if not folder.exists()]
    staging: Path | None = None
    try:
        with HeldInterrupts():
            final.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(final.parent, _beside(final))
            staging = Path(
                tempfile.mkdtemp(prefix=_beside(final) + _mine(), suffix=".partial", dir=final.parent)
            )
        staging.chmod(0o777 & ~_umask())
        yield staging
        os.rename(staging, named() if named else final)
    except BaseException:
        with HeldInterrupts(), suppress(OSError):  # somebody else may have put something there
            if staging is not None:
                remove(staging)
            for folder in made:
                folder.rmdir()
        raise


def remove(folder: Path) -> None:
    """Remove a folder in which a program that was just killed may still be creating files."""
    for _ in range(40):
        # Not shutil.rmtree, which calls itself for each level: a program may nest folders by the thousand.
        try:
            subprocess.run(["/bin/rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
