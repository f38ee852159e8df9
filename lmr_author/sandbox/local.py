"""Commands on this machine: in bubblewrap where it works, else without isolation."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lmr_author import processes
from lmr_author.errors import SandboxError
from lmr_author.sandbox import bubblewrap, interpreter, owner, plain
from lmr_author.sandbox.base import (
    DEFAULT_ENV,
    Command,
    ExecResult,
    OnLine,
    Sandbox,
    accessible,
    signal_code,
)


class LocalSandbox(Sandbox):
    """Runs commands with an interpreter of this machine.

    Args:
        python: the interpreter; None is the one that runs this. That of a virtual environment is not resolved.
        use_bubblewrap: False never uses it, so nothing is isolated.
    """

    name = "local"

    def __init__(self, python: Path | None = None, *, use_bubblewrap: bool = True) -> None:
        self._python = python
        self._tools = bubblewrap.tools() if use_bubblewrap else None
        self.isolating = self._tools is not None
        self._interpreter: interpreter.Interpreter | None = None

    def prepare(self, on_line: OnLine | None = None) -> Mapping[str, str]:
        """Find the interpreter and check that it runs inside. Kills what killed owners left running."""
        owner.kill(owner.orphans())
        owner.remove_folders_of_the_gone(plain.FOLDER_PREFIX)
        result = self.run(Command(("python", "-c", "print('ok')")))
        found = self._found()
        if result.stdout.strip() != b"ok":
            raise SandboxError(
                f"{found.path} does not run in the sandbox: {result.last_error()}",
                "use an interpreter of a virtual environment of its own, or --sandbox docker",
            )
        return {
            "sandbox": self.name,
            "isolation": "bubblewrap" if self.isolating else "none",
            "python": found.version,
            "interpreter": str(found.path),
        }

    def run(self, command: Command) -> ExecResult:
        """Run a command. See the base class; ``out_of_memory`` cannot be told here."""
        command.check()
        if self._tools is not None:
            return _run_isolated(self._tools, self._found(), command)
        return _run_plain(self._found(), command)

    def _found(self) -> interpreter.Interpreter:
        if self._interpreter is None:
            self._interpreter = interpreter.find(self._python)
        return self._interpreter


def _run_isolated(tools: bubblewrap.Tools, found: interpreter.Interpreter, command: Command) -> ExecResult:
    uid = bubblewrap.sandbox_uid(tools)
    own = bubblewrap.own_files(tools, uid)
    with (
        accessible(command.mounts if tools.as_root else (), uid, uid),
        _pipes(own.values()) as (status, status_inside, *fds),
    ):
        argv = bubblewrap.command_line(
            tools, uid, command, found, status=status_inside, pipes=dict(zip(own, fds, strict=True)),
            variables={**_variables(found), **command.env},
        )  # fmt: skip
        result = _run(command, argv, pass_fds=(status_inside, *fds))
        if not (result.timed_out or result.stopped) and not _began(status):
            reason = result.stderr.decode("utf-8", "replace").strip()
            raise SandboxError(
                f"bubblewrap could not set the sandbox up: {reason}", "check the paths of the command"
            )
    return result


def _run_plain(found: interpreter.Interpreter, command: Command) -> ExecResult:
    with plain.laid_out(command) as real:
        program = str(found.path) if real.argv[0] == "python" else real.argv[0]
        argv = [*plain.limiter(command.limits), program, *real.argv[1:]]
        return _run(real, argv, env={**_variables(found), **real.env}, cwd=Path(real.cwd))


def _run(
    command: Command,
    argv: list[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> ExecResult:
    """Run an argv with the command's limits, its processes marked so that none can hide."""
    mark = f"{owner.me()}.{uuid.uuid4().hex}"
    limits = command.limits
    try:
        done = processes.run(
            argv, env={**(env or {}), owner.MARKER: mark}, cwd=cwd, seconds=limits.seconds, stop=command.stop,
            output_bytes=limits.output_bytes, pass_fds=pass_fds, sweep=lambda: owner.kill_marked(mark),
        )  # fmt: skip
    except OSError as error:
        message = f"{command.argv[0]} could not be started: {error}"
        raise SandboxError(message, "check its working folder") from error
    return ExecResult(
        exit_code=signal_code(done.exit_code),
        stdout=done.stdout,
        stderr=done.stderr_bytes,
        seconds=done.seconds,
        timed_out=done.timed_out,
        truncated=done.truncated,
        stopped=done.stopped,
    )


def _variables(found: interpreter.Interpreter) -> dict[str, str]:
    return {**DEFAULT_ENV, "PATH": f"{found.path.parent}:/usr/local/bin:/usr/bin:/bin"}


@contextmanager
def _pipes(contents: Iterable[bytes]) -> Iterator[list[int]]:
    """Yield (status to read, status to write, then one to read for each of the contents); closed at the end."""
    fds: list[int] = []
    try:
        fds += os.pipe()
        for data in contents:
            reading, writing = os.pipe()
            fds.append(reading)
            with os.fdopen(writing, "wb") as file:
                file.write(data)
        yield fds
    finally:
        for fd in fds:
            os.close(fd)


def _began(status: int) -> bool:
    """Return whether bubblewrap started the program: only then does it report an exit code.

    The program cannot write there; its output decides nothing.
    """
    os.set_blocking(status, False)
    try:
        lines = os.read(status, 1 << 16).splitlines()
    except BlockingIOError:
        return False
    with suppress(ValueError):
        return any("exit-code" in json.loads(line) for line in lines)
    return False
