"""The command line of bubblewrap: a minimal root file system without a way out.

https://github.com/containers/bubblewrap, 0.6 or newer. There are two ways to drop privileges:

- Run by a user, bubblewrap creates a user namespace. The kernel counts processes per namespace.
- Run by root, a user namespace would leave the processes root's own outside, and the kernel does not limit root's
  processes. So root creates the namespaces, and ``setpriv`` then switches to an unused user id without any
  capability.

In both cases, a filter of system calls (:mod:`.seccomp`) keeps programs from becoming root in their own namespace.
"""

from __future__ import annotations

import itertools
import os
import resource
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from lmr_author.core import processes
from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.runtime.sandbox import seccomp
from lmr_author.runtime.sandbox.base import NOBODY, Command, Limits

_FILTER = "--seccomp"

_OWN_IDS = 0x60000000
"""First of the user ids used for root's runs: above those of users and their subordinate ids."""
_RUNS = itertools.count()

_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix/store")
_ETC = (
    "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "os-release",
)  # fmt: skip
_ETC_NETWORK = (
    "ca-certificates", "hosts", "nsswitch.conf", "pki/ca-trust", "pki/tls/certs", "protocols", "resolv.conf",
    "services", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
_HOSTS = b"127.0.0.1 localhost sandbox\n::1 localhost sandbox\n"
"""/etc/hosts without a network: launchers such as torchrun connect to localhost by name."""


@dataclass(frozen=True)
class MountedInterpreter:
    """A Python interpreter.

    Attributes:
        path: not resolved: a virtual environment is identified by its own path.
        version: such as ``3.11.7``.
        parts: its files and folders, except the system's.
    """

    path: Path
    version: str
    parts: tuple[Path, ...]


@dataclass(frozen=True)
class SandboxTools:
    """Paths of the required programs on this machine."""

    bwrap: str
    prlimit: str
    setpriv: str | None

    @property
    def as_root(self) -> bool:
        """Return whether to change the user with setpriv, not with a user namespace."""
        return os.geteuid() == 0 and self.setpriv is not None


@cache
def tools() -> SandboxTools | None:
    """Find bubblewrap and its helper programs; None if they are missing or do not work.

    Some containers have the program but forbid namespaces, so it is tried.
    """
    bwrap, prlimit = shutil.which("bwrap"), shutil.which("prlimit")
    if bwrap is None or prlimit is None or seccomp.program() is None:
        return None
    for setpriv in (shutil.which("setpriv"), None):
        programs = SandboxTools(bwrap, prlimit, setpriv)
        if _works(programs):
            return programs
    return None


def _works(programs: SandboxTools) -> bool:
    uid = sandbox_uid(programs)
    with piped(own_data(programs, uid)) as pipes:
        argv = command_line(programs, uid, Command(("true",)), pipes=pipes)
        try:
            done = processes.run(argv, cwd=None, seconds=20, pass_fds=tuple(pipes.values()))
        except (OSError, LmrError):
            return False
    return done.exit_code == 0


def sandbox_uid(programs: SandboxTools) -> int:
    """Return the user (and group) id of the next run's processes on the host."""
    if not programs.as_root:
        return os.geteuid()
    # A separate one for each run: the kernel counts processes by user id, and parallel runs must not share the limit.
    return _OWN_IDS + (os.getpid() & 0x3FFFFF) * 64 + next(_RUNS) % 64


def own_data(programs: SandboxTools, uid: int) -> dict[str, bytes]:
    """Return the data passed through pipes: contents of files in /etc by path, and the system call filter."""
    inside = uid if programs.as_root else NOBODY
    passwd = f"root:x:0:0:root:/:/bin/false\nnobody:x:{inside}:{inside}:nobody:/tmp:/bin/false\n"
    group = f"root:x:0:\nnogroup:x:{inside}:\n"
    files = {"/etc/passwd": passwd.encode(), "/etc/group": group.encode(), "/etc/hosts": _HOSTS}
    return {**files, _FILTER: seccomp.program() or b""}


@contextmanager
def piped(data: Mapping[str, bytes]) -> Iterator[dict[str, int]]:
    """Yield name → descriptor to read its data from; close them at the end."""
    pipes: dict[str, int] = {}
    try:
        for name, content in data.items():
            pipes[name], writing = os.pipe()
            with os.fdopen(writing, "wb") as file:
                file.write(content)
        yield pipes
    finally:
        for pipe in pipes.values():
            os.close(pipe)


def command_line(
    programs: SandboxTools,
    uid: int,
    command: Command,
    interpreter: MountedInterpreter | None = None,
    *,
    pipes: Mapping[str, int],
    variables: Mapping[str, str] | None = None,
    status: int | None = None,
) -> list[str]:
    """Return the arguments that run a command in bubblewrap.

    Args:
        uid: from :func:`sandbox_uid`.
        pipes: descriptors with :func:`own_data`.
        variables: the environment inside.
        status: descriptor to which bubblewrap reports, as JSON, that the program began and ended.
    """
    argv = [programs.bwrap, "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    argv += _namespaces(programs, command.network)
    if status is not None:
        argv += ["--json-status-fd", str(status)]
    for name, pipe in pipes.items():
        if name == _FILTER:
            argv += [_FILTER, str(pipe)]
        elif name != "/etc/hosts" or not command.network:
            argv += ["--perms", "0644", "--ro-bind-data", str(pipe), name]
    argv += _file_systems(command, interpreter)
    for name, value in (variables or {}).items():
        argv += ["--setenv", name, value]
    if programs.as_root:
        argv += ["--", str(programs.setpriv), f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
        argv += ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
    else:
        argv += ["--"]
    counted_alone = programs.as_root or _counted_per_namespace()
    number = command.limits.processes + (0 if counted_alone else running_already())
    argv += [programs.prlimit, *limit_options(command.limits, number), "--"]
    program = str(interpreter.path) if interpreter and command.argv[0] == "python" else command.argv[0]
    return [*argv, program, *command.argv[1:]]


def _namespaces(programs: SandboxTools, network: bool) -> list[str]:
    argv = ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
    argv += ["--hostname", "sandbox", *([] if network else ["--unshare-net"])]
    if not programs.as_root:
        return [*argv, "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    # Only for setpriv, which drops them; the last one is to enter a private working folder of that user.
    for capability in ("SETUID", "SETGID", "SETPCAP", "DAC_READ_SEARCH"):
        argv += ["--cap-add", f"CAP_{capability}"]
    return argv


def _file_systems(command: Command, interpreter: MountedInterpreter | None) -> list[str]:
    """Return all mounts: no other path exists inside."""
    size = min(command.limits.file_mb, command.limits.memory_mb) << 20  # a tmpfs counts for no process
    tmpfs = ["--perms", "1777", "--size", str(size), "--tmpfs"]
    argv = ["--proc", "/proc", "--dev", "/dev", *tmpfs, "/dev/shm", "--remount-ro", "/dev", *tmpfs, "/tmp"]
    for path in (Path("/", name) for name in _SYSTEM):
        if path.is_symlink():
            argv += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            argv += ["--ro-bind", str(path), str(path)]
    parts = [part for part in (interpreter.parts if interpreter else ()) if not part.is_relative_to("/usr")]
    for mount in command.mounts:
        if any(part.is_relative_to(mount.target) for part in parts):
            raise SandboxError(
                f"the interpreter is in {mount.target}, which the sandbox mounts over",
                "use an interpreter in another folder",
            )
    etc = [Path("/etc", name) for name in (*_ETC, *(_ETC_NETWORK if command.network else ()))]
    own = [*(path for path in (*etc, *Path("/etc").glob("python3*")) if path.exists()), *parts]
    argv += _folders_above([*map(str, own), *(mount.target for mount in command.mounts)])
    for path in own:
        argv += ["--ro-bind", str(path), str(path)]
    for mount in command.mounts_by_depth():
        argv += ["--bind" if mount.writable else "--ro-bind", str(mount.source.resolve()), mount.target]
    return [*argv, "--remount-ro", "/", "--chdir", command.cwd]


def _folders_above(targets: Iterable[str]) -> list[str]:
    """Create the parent folders of the mounts, accessible to all: bubblewrap's own would be private."""
    targets = list(targets)
    above = {parent for target in targets for parent in PurePosixPath(target).parents}
    argv = []
    for folder in sorted(above - {PurePosixPath("/"), PurePosixPath("/tmp")}):
        if not any(folder.is_relative_to(target) for target in targets):
            argv += ["--perms", "0755", "--dir", str(folder)]
    return argv


def limit_options(limits: Limits, processes: int) -> list[str]:
    """Return ``--as=… --fsize=… --nproc=… --core=0`` for prlimit, capped at this process's own limits."""
    wanted = (
        ("as", resource.RLIMIT_AS, limits.memory_mb << 20),
        ("fsize", resource.RLIMIT_FSIZE, limits.file_mb << 20),
        ("nproc", resource.RLIMIT_NPROC, processes),
        ("core", resource.RLIMIT_CORE, 0),
    )
    options = []
    for name, number, value in wanted:
        hard = resource.getrlimit(number)[1]
        options.append(f"--{name}={value if hard == resource.RLIM_INFINITY else min(value, hard)}")
    return options


def running_already() -> int:
    """Count this user's threads; 0 for root, whom the kernel does not limit, or if unknown.

    If the kernel counts all processes of a user together, these are added to a run's limit.
    """
    if os.geteuid() == 0:
        return 0
    total = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == os.geteuid():
                total += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue
    return total


def _counted_per_namespace() -> bool:
    """Return whether the kernel counts processes per user namespace (5.14 and newer)."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor[:3])) or 0)) >= (5, 14)
