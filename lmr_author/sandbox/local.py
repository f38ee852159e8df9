"""Commands on this machine: in bubblewrap where it works, else without isolation."""

from __future__ import annotations

import json
import os
import signal
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lmr_author.errors import SandboxError
from lmr_author.sandbox import bubblewrap, interpreter, owner, plain
from lmr_author.sandbox.base import Command, ExecResult, OnLine, Sandbox
from lmr_author.sandbox.bounded import Outcome, run_process
from lmr_author.sandbox.commands import DEFAULT_ENV, check, last_words, lent, signal_code

_STATUS_BYTES = 1 << 16


class LocalSandbox(Sandbox):
    """Runs commands with an interpreter of this machine.

    Args:
        python: the interpreter; None is the one that runs this. A virtual environment's is meant as it is.
        use_bubblewrap: False never uses it, so nothing is isolated.
    """

    name = "local"

    def __init__(self, python: Path | None = None, *, use_bubblewrap: bool = True) -> None:
        self._python = python
        self._tools = bubblewrap.tools() if use_bubblewrap else None
        self.isolating = self._tools is not None
        self._interpreter: interpreter.Interpreter | None = None

    def prepare(self, on_line: OnLine | None = None) -> Mapping[str, str]:
        """Look the interpreter up, and check that it runs inside. Ends what killed owners left running."""
        _remove_orphans()
        found = self._found()
        result = self.run(Command(("python", "-c", "print('ok')")))
        if result.stdout.strip() != b"ok":
            raise SandboxError(
                f"{found.path} does not run in the sandbox: {last_words(result)}",
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
        check(command)
        found = self._found()
        if self._tools is not None:
            return _run_isolated(self._tools, found, command)
        return _run_plain(found, command)

    def _found(self) -> interpreter.Interpreter:
        if self._interpreter is None:
            self._interpreter = interpreter.find(self._python)
        return self._interpreter


def _run_isolated(tools: bubblewrap.Tools, found: interpreter.Interpreter, command: Command) -> ExecResult:
    uid = bubblewrap.sandbox_uid(tools)
    inside = uid if tools.as_root else bubblewrap.NOBODY
    passwd, group = bubblewrap.accounts(inside, DEFAULT_ENV["HOME"])
    files = (passwd, group, bubblewrap.HOSTS)
    with lent(command.mounts if tools.as_root else (), uid, uid), _pipes(*files) as (status, *fds):
        argv = [*bubblewrap.isolation(tools, network=command.network), "--json-status-fd", str(fds[0])]
        argv += bubblewrap.own_files(tools, fds[1], fds[2], fds[3], network=command.network)
        argv += bubblewrap.file_systems(tools, command, found)
        argv += bubblewrap.environment({**_variables(found), **command.env})
        argv += ["--", *bubblewrap.inner(tools, uid, command.limits), *_with_python(command.argv, found)]
        with _marker() as (marker, sweep):
            outcome = _started(argv, env=marker, command=command, pass_fds=fds, sweep=sweep)
        if not (outcome.timed_out or outcome.stopped) and not _began(status):
            said = outcome.stderr.decode("utf-8", "replace").strip()
            raise SandboxError(
                f"bubblewrap could not set the sandbox up: {said}", "check the paths of the command"
            )
    return _result(outcome, signal_code(outcome.exit_code))


def _run_plain(found: interpreter.Interpreter, command: Command) -> ExecResult:
    with plain.laid_out(command) as layout, _marker() as (marker, sweep):
        rewritten = layout.command
        argv = [*plain.limiter(command.limits), *_with_python(rewritten.argv, found)]
        env = {**plain.environment(layout, _variables(found)), **marker}
        outcome = _started(argv, env=env, command=command, cwd=Path(rewritten.cwd), sweep=sweep)
    return _result(outcome, outcome.exit_code)


def _started(
    argv: list[str],
    *,
    env: Mapping[str, str],
    command: Command,
    cwd: Path | None = None,
    pass_fds: Sequence[int] = (),
    sweep: owner.Sweep,
) -> Outcome:
    limits = command.limits
    try:
        return run_process(
            argv, env=env, cwd=cwd, seconds=limits.seconds, output_bytes=limits.output_bytes,
            pass_fds=pass_fds, sweep=sweep, stop=command.stop,
        )  # fmt: skip
    except OSError as error:
        message = f"{command.argv[0]} could not be started: {error}"
        raise SandboxError(message, "check its working folder") from error


def _result(outcome: Outcome, exit_code: int) -> ExecResult:
    return ExecResult(
        exit_code=exit_code,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        seconds=outcome.seconds,
        timed_out=outcome.timed_out,
        truncated=outcome.truncated,
        stopped=outcome.stopped,
    )


def _with_python(argv: tuple[str, ...], found: interpreter.Interpreter) -> list[str]:
    return [str(found.path) if argv[0] == "python" else argv[0], *argv[1:]]


def _variables(found: interpreter.Interpreter) -> dict[str, str]:
    return {**DEFAULT_ENV, "PATH": f"{found.path.parent}:/usr/local/bin:/usr/bin:/bin"}


@contextmanager
def _pipes(*contents: bytes) -> Iterator[list[int]]:
    """(status to read, status to write, then one to read for each of the contents); closed at the end."""
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
    """Whether bubblewrap started the program: only then does it report an exit code.

    The program cannot write there; what it prints decides nothing.
    """
    os.set_blocking(status, False)
    try:
        lines = os.read(status, _STATUS_BYTES).splitlines()
    except BlockingIOError:
        return False
    with suppress(ValueError):
        return any("exit-code" in json.loads(line) for line in lines)
    return False


@contextmanager
def _marker() -> Iterator[tuple[dict[str, str], owner.Sweep]]:
    """Mark a run's processes through their environment, and what kills all that bear the mark."""
    value = f"{owner.me()}.{uuid.uuid4().hex}"

    def sweep() -> None:
        _kill_marked(value)

    yield {owner.MARKER: value}, sweep


def _kill_marked(value: str) -> None:
    # Again until none is found: one may have forked while we looked.
    for _ in range(100):
        left = owner.marked(value)
        if not left:
            return
        _kill(left)


def _remove_orphans() -> None:
    _kill(owner.orphans())
    plain.remove_stale_folders()


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
