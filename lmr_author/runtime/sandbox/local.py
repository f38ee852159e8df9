"""Run commands on this machine: in bubblewrap if it works, else without isolation."""

from __future__ import annotations

import os
import re
import shutil
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from lmr_author.core import files, owner, processes
from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.core.parsing import json_data
from lmr_author.runtime.sandbox import bubblewrap
from lmr_author.runtime.sandbox.base import (
    DEFAULT_ENV,
    Command,
    ExecResult,
    Mount,
    OnLine,
    Sandbox,
    accessible,
    signal_code,
)
from lmr_author.runtime.sandbox.bubblewrap import MountedInterpreter

_QUERY = (
    "import json, platform, sys; "
    "print(json.dumps([platform.python_version(), sys.executable, sys.prefix, sys.base_prefix]))"
)
_PREFIX_PARTS = ("bin", "lib", "lib64", "libexec", "include", "share", "etc", "ssl", "pyvenv.cfg")
"""The parts of a prefix to mount: a virtual environment may be inside a project."""

_LIMITER = """
import os, resource, sys
for option in sys.argv[1:sys.argv.index("--")]:
    name, value = option[2:].split("=")
    try:
        resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), (int(value), int(value)))
    except (AttributeError, OSError, ValueError):
        pass
argv = sys.argv[sys.argv.index("--") + 1:]
try:
    os.execvp(argv[0], argv)
except OSError as error:
    print(argv[0], error, file=sys.stderr)
    sys.exit(127)
"""
"""A replacement of prlimit for systems without it (macOS)."""


def find_interpreter(python: Path | None) -> MountedInterpreter:
    """Find an interpreter's version and folders by running it without packages. None is the current interpreter.

    Raises SandboxError if it does not exist or is not Python.
    """
    wanted = str(python) if python is not None else sys.executable
    program = shutil.which(wanted)
    if program is None:
        raise SandboxError(
            f"no Python interpreter at {wanted}",
            "pass the path of one, such as .venv/bin/python, with --python",
        )
    hint = "check that it starts by hand, or choose another with --python"
    try:
        # -I: ignore the caller's variables and folder. -S: import no package, as the .pth files of an environment
        # would.
        done = processes.run([str(Path(program).absolute()), "-I", "-S", "-c", _QUERY], cwd=None, seconds=60)
    except (OSError, LmrError) as error:
        raise SandboxError(f"{program} does not run: {error}", hint) from error
    try:
        version, executable, *prefixes = map(str, json_data(done.stdout))
    except (ValueError, TypeError) as error:
        lines = done.stderr.strip().splitlines() or ["it printed nothing"]
        raise SandboxError(f"{program} is not a working Python interpreter: {lines[-1]}", hint) from error
    path = Path(executable).absolute()
    parts = {path}
    for prefix in {*map(Path, prefixes), *_prefixes_of_links(path)} - {Path("/"), Path("/usr")}:
        if (prefix / "pyvenv.cfg").is_file() or any(prefix.glob("lib*/python3*")):
            parts.update(prefix / name for name in _PREFIX_PARTS if (prefix / name).exists())
    outer = (part for part in sorted(parts) if parts.isdisjoint(part.parents))
    return MountedInterpreter(path, version, tuple(outer))


def _prefixes_of_links(path: Path) -> list[Path]:
    """Return the folder above ``bin`` of each symbolic link from ``path`` to the real program, and of that."""
    prefixes = [path.resolve().parent.parent]
    for _ in range(40):
        prefixes.append(path.parent.parent)
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    return prefixes


class LocalSandbox(Sandbox):
    """Runs commands with an interpreter of this machine.

    Args:
        python: the interpreter; None for the current one. That of a virtual environment is not resolved.
        use_bubblewrap: False disables isolation.
        variables: added to each command's environment.
    """

    name = "local"

    def __init__(
        self,
        python: Path | None = None,
        *,
        use_bubblewrap: bool = True,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._python = python
        self._variables = dict(variables or {})
        self._tools = bubblewrap.tools() if use_bubblewrap else None
        self.isolating = self._tools is not None
        self._interpreter: MountedInterpreter | None = None

    def prepare(self, on_line: OnLine | None = None) -> Mapping[str, str]:
        """Find the interpreter and check that it runs inside. Kills processes left by killed owners."""
        owner.kill(owner.orphans())
        files.remove_abandoned_temporaries()
        result = self.run(Command(("python", "-c", "print('ok')")))
        interpreter = self._mounted()
        if result.stdout.strip() != b"ok":
            raise SandboxError(
                f"{interpreter.path} does not run in the sandbox: {result.last_error()}",
                "use an interpreter in its own virtual environment, or --sandbox docker",
            )
        return {
            "sandbox": self.name,
            "isolation": "bubblewrap" if self.isolating else "none",
            "python": interpreter.version,
            "interpreter": str(interpreter.path),
        }

    def run(self, command: Command) -> ExecResult:
        """Run a command. See the base class; ``out_of_memory`` cannot be detected here."""
        command = replace(command, env={**self._variables, **command.env})
        command.check()
        if self._tools is not None:
            return _run_isolated(self._tools, self._mounted(), command)
        return _run_plain(self._mounted(), command)

    def _mounted(self) -> MountedInterpreter:
        if self._interpreter is None:
            self._interpreter = find_interpreter(self._python)
        return self._interpreter


def _run_isolated(
    tools: bubblewrap.SandboxTools, interpreter: MountedInterpreter, command: Command
) -> ExecResult:
    uid = bubblewrap.sandbox_uid(tools)
    with (
        accessible(command.mounts if tools.as_root else (), uid, uid),
        _status_pipe() as (status, status_inside),
        bubblewrap.piped(bubblewrap.own_data(tools, uid)) as pipes,
    ):
        variables = {**_variables(interpreter), **command.env}
        argv = bubblewrap.command_line(
            tools, uid, command, interpreter, pipes=pipes, variables=variables, status=status_inside
        )
        result = _run(command, argv, pass_fds=(status_inside, *pipes.values()))
        if not (result.timed_out or result.stopped) and not _began(status):
            reason = result.stderr.decode("utf-8", "replace").strip()
            raise SandboxError(
                f"bubblewrap could not set up the sandbox: {reason}", "check the paths of the command"
            )
    return result


def _run_plain(interpreter: MountedInterpreter, command: Command) -> ExecResult:
    with laid_out(command) as real:
        program = str(interpreter.path) if real.argv[0] == "python" else real.argv[0]
        options = bubblewrap.limit_options(
            command.limits, command.limits.processes + bubblewrap.running_already()
        )
        limiter = [sys.executable, "-I", "-S", "-c", _LIMITER, *options, "--"]
        argv = [*limiter, program, *real.argv[1:]]
        return _run(real, argv, env={**_variables(interpreter), **real.env}, cwd=Path(real.cwd))


def _run(
    command: Command,
    argv: list[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> ExecResult:
    """Run an argv with the command's limits, marking its processes so that none can escape the kill."""
    mark = f"{owner.me()}.{uuid.uuid4().hex}"
    limits = command.limits
    try:
        done = processes.run(
            argv, env={**(env or {}), owner.MARKER: mark}, cwd=cwd, seconds=limits.seconds, stop=command.stop,
            on_line=command.on_line, on_output=command.on_output, output_bytes=limits.output_bytes, pass_fds=pass_fds,
            sweep=lambda: owner.kill_marked(mark),
        )  # fmt: skip
    except OSError as error:
        message = f"{command.argv[0]} did not start: {error}"
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


def _variables(interpreter: MountedInterpreter) -> dict[str, str]:
    return {**DEFAULT_ENV, "PATH": f"{interpreter.path.parent}:/usr/local/bin:/usr/bin:/bin"}


@contextmanager
def _status_pipe() -> Iterator[tuple[int, int]]:
    """Yield a pipe's read and write ends; close them at the end."""
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


def _began(status: int) -> bool:
    """Return whether bubblewrap started the program, which it shows by reporting an exit code.

    The program cannot write to this pipe.
    """
    os.set_blocking(status, False)
    try:
        lines = os.read(status, 1 << 16).splitlines()
    except BlockingIOError:
        return False
    with suppress(ValueError):
        return any("exit-code" in json_data(line) for line in lines)
    return False


@contextmanager
def laid_out(command: Command) -> Iterator[Command]:
    """Yield the command with paths of the host; its mounts are in a private folder, removed at the end.

    A writable mount is its source itself; a read-only one is a copy, which protects the source. A mount's target, a
    parent folder of it, or /tmp is rewritten at the start of the working folder, an argument or a variable, and after
    one of ``= : , ;``.
    """
    with files.temporary_folder("lmr-author-run-") as folder:
        real = {"/tmp": folder / "tmp"}
        try:
            real["/tmp"].mkdir()
            for mount in command.mounts_by_depth():
                real[mount.target] = _realise(mount, command.mounts, folder / "root")
                for parent in PurePosixPath(mount.target).parents[:-1]:
                    real.setdefault(str(parent), folder / "root" / str(parent).lstrip("/"))
        except (shutil.Error, OSError) as error:
            raise SandboxError(
                f"copying the run's files failed: {error}", "check whether the disk is full"
            ) from error
        cwd = _rewrite(command.cwd, real)
        env = {name: _rewrite(value, real) for name, value in command.env.items()}
        own = {"HOME": str(real["/tmp"]), "TMPDIR": str(real["/tmp"]), **env, "PWD": os.path.normpath(cwd)}
        argv = tuple(_rewrite(text, real) for text in command.argv)
        yield replace(command, argv=argv, env=own, cwd=cwd)


def _realise(mount: Mount, mounts: tuple[Mount, ...], root: Path) -> Path:
    for outer in mounts:
        if outer.writable and outer is not mount and PurePosixPath(mount.target).is_relative_to(outer.target):
            raise SandboxError(
                f"mounts inside the writable {outer.target} need bubblewrap",
                "install bubblewrap (apt-get install bubblewrap), or use --sandbox docker",
            )
    copy = root / mount.target.lstrip("/")
    if copy.is_dir() and not copy.is_symlink():
        shutil.rmtree(copy)
    else:
        copy.unlink(missing_ok=True)
    copy.parent.mkdir(parents=True, exist_ok=True)
    source = mount.source.resolve()
    if mount.writable:
        copy.symlink_to(source)
        return source
    if source.is_dir():
        shutil.copytree(source, copy, symlinks=True)
    else:
        shutil.copy2(source, copy)
    return copy


def _rewrite(text: str, real: Mapping[str, Path]) -> str:
    targets = "|".join(re.escape(target) for target in sorted(real, key=len, reverse=True))
    return re.sub(rf"(?<![^=:,;])({targets})(?=[/=:,;]|$)", lambda match: str(real[match[1]]), text)
