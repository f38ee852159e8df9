"""The interface of a sandbox, and code shared by both backends.

A sandbox runs one command at a time, to its end or its timeout, and leaves nothing behind. A failure
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
        seconds: wall-clock time, after which the whole process tree is killed.
        memory_mb: memory of all processes together (docker), of each process (local).
        processes: number of processes and threads.
        cpus: number of processor cores (docker only).
        output_bytes: limit of stdout and stderr each; the rest is dropped and the result marked.
        file_mb: size of the private ``/tmp`` and of ``/dev/shm``, neither above ``memory_mb``, and of any written
            file.
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
        mounts: visible folders and files besides the interpreter and the system's libraries.
        cwd: working folder inside.
        env: environment variables; the host's are not passed on.
        limits: see :class:`Limits`.
        network: whether the network is reachable (never for candidates).
        stop: polled twice a second by the waiting thread; True ends the run (the disk fills up, the user pressed
            Ctrl-C elsewhere).
        on_line: called with each line of its stderr, from another thread (local only).
        on_output: called with each chunk of its stdout as it arrives, from another thread.
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
            raise SandboxError("the command has no program", "name the program to run")
        if any("\0" in text for text in (*self.argv, self.cwd, *self.env, *self.env.values())):
            raise SandboxError("the command contains a NUL character", "remove it")
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
        exit_code: the program's; negative for a signal (``-9``), also if an engine reports 128+n.
        stdout, stderr: at most ``Limits.output_bytes`` each.
        seconds: wall-clock time of the program.
        timed_out: killed at its time limit.
        out_of_memory: killed at its memory limit, if the backend can detect it.
        truncated: output was dropped.
        stopped: killed because ``Command.stop`` returned True.
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
    """Runs untrusted code. Use as a context manager; leaving it cleans up.

    Attributes:
        name: ``"docker"`` or ``"local"``.
        isolating: code inside cannot access the host. If False, only the annotator's own golden and masked code may
            run, never a candidate.
    """

    name: str
    isolating: bool

    @abstractmethod
    def prepare(self, on_line: OnLine | None = None) -> Mapping[str, str]:
        """Build the image, or find the interpreter.

        Returns facts about the environment: at least ``python`` (version) and ``sandbox``, for Docker also ``image``
        (its id). Raises SandboxError with the cause as message and the fix as hint.
        """

    @abstractmethod
    def run(self, command: Command) -> ExecResult:
        """Run a command to its end or its timeout. Raises SandboxError if it could not run."""

    def close(self) -> None:  # noqa: B027  (a backend may have nothing to remove)
        """Remove all remains of this sandbox. Idempotent."""

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def signal_code(exit_code: int) -> int:
    """Convert an exit code 128+n of a shell or an engine to the negative number of the signal."""
    return 128 - exit_code if 128 < exit_code <= 128 + 64 else exit_code


@contextmanager
def accessible(mounts: Sequence[Mount], uid: int, gid: int) -> Iterator[None]:
    """Give the sandbox's user access to the mounts within the block; does nothing unless we are root.

    Writable mounts change their owner to the sandbox's user and back at the end. A read-only one is made readable if
    its top is not (a temporary folder is private); that stays.
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
    """Yield ``top`` (resolved) and every file and folder below it at any depth, except symbolic links.

    Unlike :func:`os.walk`, it does not recurse: a hostile program could exhaust the recursion with deep folders.
    """
    waiting = [top.resolve()]
    while waiting:
        path = waiting.pop()
        yield path
        try:
            waiting += [Path(entry.path) for entry in os.scandir(path) if not entry.is_symlink()]
        except OSError:  # a file, or a path that is too long, also for the sandbox
            continue
