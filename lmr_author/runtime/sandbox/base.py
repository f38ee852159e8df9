"""The interface of a sandbox, and the parts of a run that both backends share.

A sandbox runs one command at a time, to its end or its time-out, and leaves nothing behind. A failure
*inside* is data (:class:`ExecResult`); a failure *of the sandbox itself* is a
:class:`~lmr_author.core.errors.SandboxError` and is never presented as the program's own failure.
"""

from __future__ import annotations

import errno
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import TracebackType

from lmr_author.core.errors import SandboxError
from lmr_author.core.files import HeldInterrupts

OnLine = Callable[[str], None]
"""Called with each line of a long operation's log, for progress."""

DEFAULT_ENV = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    # getpass.getuser() fails for a user id without a name; torch calls it.
    "USER": "nobody",
}
NOBODY = 65534
_RESERVED = ("/", "/proc", "/dev", "/sys", "/usr", "/etc", "/bin", "/lib")


@dataclass(frozen=True)
class Mount:
    """A host folder or file made visible inside. Read-only unless ``writable``."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Limits:
    """Resources that a run may use.

    Attributes:
        seconds: wall-clock time; at its end the whole process tree is killed.
        memory_mb: memory of all processes together (docker), of each process (local).
        processes: number of processes and threads.
        cpus: number of processor cores (docker only).
        output_bytes: of stdout and of stderr each; the rest is dropped and the result marked.
        file_mb: size of the private ``/tmp`` and of ``/dev/shm``, neither above ``memory_mb``, and of any one file
            written.
    """

    seconds: float = 120.0
    memory_mb: int = 8192
    processes: int = 256
    cpus: float = 2.0
    output_bytes: int = 256 * 1024 * 1024
    file_mb: int = 1024


@dataclass(frozen=True)
class Command:
    """A program to run, and everything that it sees.

    Attributes:
        argv: program and arguments; ``"python"`` as the program means the task's interpreter.
        mounts: what is visible besides the interpreter and the system's libraries.
        cwd: working folder inside.
        env: environment variables; nothing of the host's environment is passed.
        limits: see :class:`Limits`.
        network: whether the network is reachable (never for candidates).
        stop: asked twice a second while it runs, from the waiting thread; True ends the run (the disk fills
            up, the user pressed Ctrl-C elsewhere).
        on_line: called with each line of its stderr, from another thread (local only).
        on_output: called with each part of its stdout as it comes, from another thread.
    """

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    cwd: str = "/tmp"
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    network: bool = False
    stop: Callable[[], bool] | None = field(default=None, compare=False)
    on_line: OnLine | None = field(default=None, compare=False)
    on_output: Callable[[bytes], None] | None = field(default=None, compare=False)

    def check(self) -> None:
        """Raise SandboxError for a command that no sandbox can run."""
        if not self.argv:
            raise SandboxError("a command without a program cannot be run", "name the program to run")
        if any("\0" in text for text in (*self.argv, self.cwd, *self.env, *self.env.values())):
            raise SandboxError("a command may not contain a NUL character", "remove it")
        for mount in self.mounts:
            pure = PurePosixPath(mount.target)
            plain = pure.is_absolute() and ".." not in pure.parts and str(pure) == mount.target
            if not plain or mount.target in _RESERVED:
                raise SandboxError(
                    f"{mount.target!r} cannot be a mount's target", "use a plain absolute path"
                )
            if not mount.source.exists():
                raise SandboxError(
                    f"{mount.source} does not exist, so it cannot be mounted", "create it first"
                )

    def mounts_by_depth(self) -> list[Mount]:
        return sorted(self.mounts, key=lambda mount: len(PurePosixPath(mount.target).parts))


@dataclass(frozen=True)
class ExecResult:
    """The end of a run.

    Attributes:
        exit_code: the program's; negative for a signal (``-9``), also when an engine reports 128+n.
        stdout, stderr: at most ``Limits.output_bytes`` each.
        seconds: wall-clock time of the program.
        timed_out: killed at its time limit.
        out_of_memory: killed at its memory limit, where the backend can tell.
        truncated: output was dropped.
        stopped: killed because ``Command.stop`` said so.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False
    out_of_memory: bool = False
    truncated: bool = False
    stopped: bool = False

    def last_error(self) -> str:
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.exit_code}"


class Sandbox(ABC):
    """A place to run code that is not ours. Use as a context manager; leaving it cleans up.

    Attributes:
        name: ``"docker"`` or ``"local"``.
        isolating: whether code inside is kept from the host. When False, only the annotator's own
            golden and masked code may be run, never a candidate.
    """

    name: str
    isolating: bool

    @abstractmethod
    def prepare(self, on_line: OnLine | None = None) -> Mapping[str, str]:
        """Make it ready: build the image, or find the interpreter.

        Returns facts about the environment: at least ``python`` (version) and ``sandbox``. For Docker
        also ``image`` (its id). Raises SandboxError when it cannot be made ready; its message is the
        cause and its hint the fix.
        """

    @abstractmethod
    def run(self, command: Command) -> ExecResult:
        """Run a command to its end or its time-out. Raises SandboxError when it could not be run."""

    def close(self) -> None:  # noqa: B027  (a backend may have nothing to remove)
        """Remove everything that this sandbox left behind. Idempotent."""

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def signal_code(exit_code: int) -> int:
    """Return the exit code with a signal as a negative number, from the 128+n of a shell or an engine."""
    return 128 - exit_code if 128 < exit_code <= 128 + 64 else exit_code


@contextmanager
def accessible(mounts: Sequence[Mount], uid: int, gid: int) -> Iterator[None]:
    """Give the sandbox's user access to the mounts while the block runs. Does nothing unless we are root.

    Root's files are not the sandbox user's: a writable mount is given to it and taken back at the end.
    A read-only one is opened for reading if its top is not (a temporary folder is private); that stays.
    """
    if os.geteuid() != 0:
        yield
        return
    for mount in mounts:
        mode = mount.source.stat().st_mode
        wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
        if not mount.writable and mode & wanted != wanted:
            _open_for_reading(mount.source)
    owners = [(mount.source, mount.source.stat()) for mount in mounts if mount.writable]
    try:
        for path, _ in owners:
            _change_owner(path, uid, gid)
        yield
    finally:
        with HeldInterrupts():
            for path, before in owners:
                _change_owner(path, before.st_uid, before.st_gid)


def _open_for_reading(top: Path) -> None:
    for path in _tree(top):
        mode = path.lstat().st_mode
        runs = stat.S_ISDIR(mode) or mode & stat.S_IXUSR
        path.chmod(stat.S_IMODE(mode) | (0o055 if runs else 0o044))


def _change_owner(top: Path, uid: int, gid: int) -> None:
    for path in _tree(top):
        try:
            os.chown(path, uid, gid, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
                raise


def _tree(top: Path) -> Iterator[Path]:
    """Yield ``top`` (resolved) and every file and folder below it; no symbolic links, however deep it is.

    Not :func:`os.walk`, whose recursion a hostile program could exhaust with a deep folder.
    """
    waiting = [top.resolve()]
    while waiting:
        path = waiting.pop()
        yield path
        try:
            waiting += [Path(entry.path) for entry in os.scandir(path) if not entry.is_symlink()]
        except OSError:  # a file, or a path too long, which is then out of the sandbox's reach too
            continue
