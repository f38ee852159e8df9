"""What both backends make of a :class:`~lmr_author.sandbox.base.Command`."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from lmr_author.errors import SandboxError
from lmr_author.sandbox.base import Command, ExecResult, Mount

DEFAULT_ENV = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    # getpass.getuser() fails for a user id without a name; torch calls it.
    "USER": "nobody",
}

_RESERVED = ("/", "/proc", "/dev", "/sys", "/usr", "/etc", "/bin", "/lib")


def check(command: Command) -> None:
    """Raise SandboxError for a command that no sandbox can run."""
    if not command.argv:
        raise SandboxError("a command without a program cannot be run", "name the program to run")
    for text in (*command.argv, command.cwd, *command.env, *command.env.values()):
        if "\0" in text:
            raise SandboxError("a command may not contain a NUL character", "remove it")
    for mount in command.mounts:
        pure = PurePosixPath(mount.target)
        plain = pure.is_absolute() and ".." not in pure.parts and str(pure) == mount.target
        if not plain or mount.target in _RESERVED:
            raise SandboxError(f"{mount.target!r} cannot be a mount's target", "use a plain absolute path")
        if not mount.source.exists():
            raise SandboxError(f"{mount.source} does not exist, so it cannot be mounted", "create it first")


def by_depth(mounts: Sequence[Mount]) -> list[Mount]:
    """Mounts with the outer ones first, so that an inner one is laid over them."""
    return sorted(mounts, key=lambda mount: len(PurePosixPath(mount.target).parts))


def signal_code(exit_code: int) -> int:
    """The exit code with a signal as a negative number, from the 128+n of a shell or an engine."""
    return 128 - exit_code if 128 < exit_code <= 128 + 64 else exit_code


def last_words(result: ExecResult) -> str:
    """The last line of a failed run's errors, or its exit code."""
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"exit code {result.exit_code}"


@contextmanager
def lent(mounts: Sequence[Mount], uid: int, gid: int) -> Iterator[None]:
    """While the user that the sandbox runs as may use the mounts. Does nothing unless we are root.

    Root's files are not the sandbox user's: what is writable is given to it and taken back at the
    end. What is read-only is opened for reading, if its top is not (a temporary folder is private);
    that stays.
    """
    if os.geteuid() != 0:
        yield
        return
    writable = [mount.source for mount in mounts if mount.writable]
    for mount in mounts:
        if not mount.writable and not _open_to_all(mount.source):
            _open(mount.source)
    owners = [(path, path.stat().st_uid, path.stat().st_gid) for path in writable]
    try:
        for path in writable:
            _give(path, uid, gid)
        yield
    finally:
        for path, owner, group in owners:
            _give(path, owner, group)


def _open_to_all(path: Path) -> bool:
    mode = path.stat().st_mode
    wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & wanted == wanted


def _open(top: Path) -> None:
    """Let others read a tree; follow no link."""
    for path in _tree(top):
        mode = path.lstat().st_mode
        runs = stat.S_ISDIR(mode) or mode & stat.S_IXUSR
        path.chmod(stat.S_IMODE(mode) | (0o055 if runs else 0o044))


def _give(top: Path, uid: int, gid: int) -> None:
    """Change a tree's owner; follow no link."""
    for path in _tree(top):
        try:
            os.chown(path, uid, gid, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
                raise


def _tree(top: Path) -> Iterator[Path]:
    """``top`` (resolved) and every file and folder below it; no symbolic links, however deep it is."""
    top = top.resolve()
    yield top
    waiting = [top]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:  # no folder, or a path too long: what lies there is out of the sandbox's reach too
            continue
        for entry in entries:
            if not entry.is_symlink():
                yield Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
