"""The interface of a sandbox, and what a run in one is described by.

A sandbox runs one command at a time, to its end or its time-out, and leaves nothing behind. What
fails *inside* is data (:class:`ExecResult`); what fails *of the sandbox itself* is a
:class:`~lmr_author.errors.SandboxError` and is never presented as the program's own failure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

OnLine = Callable[[str], None]
"""Called with each line of a long operation's log, for progress."""


@dataclass(frozen=True)
class Mount:
    """A host folder or file made visible inside. Read-only unless ``writable``."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Limits:
    """What a run may use.

    Attributes:
        seconds: wall-clock time; at its end the whole process tree is killed.
        memory_mb: memory of all processes together (docker), of each process (local).
        processes: number of processes and threads.
        cpus: number of processor cores (docker only).
        output_bytes: of stdout and of stderr each; what exceeds it is dropped and marked.
        file_mb: size of the private ``/tmp``, and of any one file written.
    """

    seconds: float = 120.0
    memory_mb: int = 8192
    processes: int = 256
    cpus: float = 2.0
    output_bytes: int = 256 * 1024 * 1024
    file_mb: int = 1024


@dataclass(frozen=True)
class Command:
    """What to run.

    Attributes:
        argv: program and arguments; ``"python"`` as the program means the task's interpreter.
        mounts: what is visible besides the interpreter and the system's libraries.
        cwd: working folder inside.
        env: environment variables; nothing of the host's environment is passed.
        limits: see :class:`Limits`.
        network: whether the network is reachable (never for candidates).
        stop: asked twice a second while it runs, from the thread that waits; True ends the run (the disk fills
            up, the user pressed Ctrl-C elsewhere).
    """

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    cwd: str = "/tmp"
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()
    network: bool = False
    stop: Callable[[], bool] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ExecResult:
    """How a run ended.

    Attributes:
        exit_code: the program's; negative for a signal (``-9``), also when an engine reports 128+n.
        stdout, stderr: what it wrote, at most ``Limits.output_bytes`` each.
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


STOP_SECONDS = 0.5
"""How often ``Command.stop`` is asked."""


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
        """Make it ready (build the image, look the interpreter up).

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
