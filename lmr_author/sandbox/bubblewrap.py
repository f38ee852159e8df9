"""The arguments of bubblewrap: a root file system of only what is needed, and no way out of it.

https://github.com/containers/bubblewrap, 0.5 or newer. Two ways to be nobody inside:

- Called by a user, bubblewrap makes a user namespace. The number of processes is counted per namespace.
- Called by root, a user namespace would leave the processes root's own outside, for whom the kernel does
  not limit their number. So the namespaces are made as root, and ``setpriv`` then becomes a user id that
  nobody else has, without any capability.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from lmr_author.errors import SandboxError
from lmr_author.sandbox.base import Command, Limits
from lmr_author.sandbox.commands import by_depth
from lmr_author.sandbox.interpreter import Interpreter
from lmr_author.sandbox.rlimits import counted_per_namespace, options, running_already

NOBODY = 65534
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


@dataclass(frozen=True)
class Tools:
    """The programs of this machine that are used, by their paths, and the options bubblewrap knows."""

    bwrap: str
    prlimit: str
    setpriv: str | None
    options: frozenset[str]

    @property
    def as_root(self) -> bool:
        """Whether to become another user with setpriv rather than in a user namespace."""
        return os.geteuid() == 0 and self.setpriv is not None and "--perms" in self.options


@cache
def tools() -> Tools | None:
    """Bubblewrap and its companions, or None where it is missing or does not work.

    Some containers have the program and forbid namespaces, so it is tried.
    """
    bwrap, prlimit = shutil.which("bwrap"), shutil.which("prlimit")
    if bwrap is None or prlimit is None:
        return None
    text = _output([bwrap, "--help"])
    known = frozenset(word for word in (text or "").split() if word.startswith("--"))
    candidates = (Tools(bwrap, prlimit, setpriv, known) for setpriv in (shutil.which("setpriv"), None))
    return next((each for each in candidates if _works(each)), None)


def _works(found: Tools) -> bool:
    command = Command(("true",))
    start = inner(found, sandbox_uid(found), command.limits)
    argv = [
        *isolation(found, network=False),
        *file_systems(found, command, None),
        "--",
        *start,
        *command.argv,
    ]
    return _output(argv) is not None


def _output(argv: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(
            argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=20, check=False, encoding="utf-8"
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def sandbox_uid(found: Tools) -> int:
    """The user (and group) id outside that the next run's processes have."""
    if not found.as_root:
        return os.geteuid()
    # Its own for each run: the kernel counts processes by user id, and parallel runs must not share.
    return _OWN_IDS + (os.getpid() & 0x3FFFFF) * 64 + next(_RUNS) % 64


def isolation(found: Tools, *, network: bool) -> list[str]:
    """Bubblewrap with its namespaces and privileges."""
    argv = [found.bwrap, "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    if found.as_root:
        argv += ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
        argv += [] if network else ["--unshare-net"]
        # Only for setpriv, which gives them up.
        argv += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
    else:
        argv += [
            "--unshare-all",
            *(["--share-net"] if network else []),
            "--unshare-user",
            "--uid",
            str(NOBODY),
            "--gid",
            str(NOBODY),
        ]
        if "--disable-userns" in found.options:
            argv += ["--disable-userns"]
    return [*argv, "--hostname", "sandbox"]


def file_systems(found: Tools, command: Command, interpreter: Interpreter | None) -> list[str]:
    """Everything that is mounted. What is not named here does not exist inside."""
    argv = ["--proc", "/proc", "--dev", "/dev", *_tmpfs(found, "/dev/shm", command.limits)]
    argv += ["--remount-ro", "/dev", *_tmpfs(found, "/tmp", command.limits)]
    for name in _SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            argv += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            argv += ["--ro-bind", str(path), str(path)]
    etc = [Path("/etc", name) for name in (*_ETC, *(_ETC_NETWORK if command.network else ()))]
    for path in (*etc, *Path("/etc").glob("python3*")):
        argv += ["--ro-bind-try", str(path), str(path)]
    parts = [part for part in (interpreter.parts if interpreter else ()) if not part.is_relative_to("/usr")]
    _refuse_hiding(parts, command)
    argv += _folders(found, [*map(str, parts), *(mount.target for mount in command.mounts)])
    for part in parts:
        argv += ["--ro-bind", str(part), str(part)]
    for mount in by_depth(command.mounts):
        argv += ["--bind" if mount.writable else "--ro-bind", str(mount.source.resolve()), mount.target]
    return [*argv, "--remount-ro", "/", "--chdir", command.cwd]


def _refuse_hiding(parts: Sequence[Path], command: Command) -> None:
    for mount in command.mounts:
        if any(part.is_relative_to(mount.target) for part in parts):
            raise SandboxError(
                f"the interpreter lies in {mount.target}, where the sandbox shows something else",
                "use an interpreter in another folder",
            )


def _folders(found: Tools, targets: Sequence[str]) -> list[str]:
    """The folders above what is mounted, open to all: bubblewrap would make them private to itself."""
    above = {parent for target in targets for parent in PurePosixPath(target).parents}
    argv = []
    for folder in sorted(above - {PurePosixPath("/"), PurePosixPath("/tmp")}):
        if not any(folder.is_relative_to(target) for target in targets):
            argv += [*(("--perms", "0755") if "--perms" in found.options else ()), "--dir", str(folder)]
    return argv


def _tmpfs(found: Tools, target: str, limits: Limits) -> list[str]:
    argv = []
    if "--perms" in found.options:
        argv += ["--perms", "1777"]
    if "--size" in found.options:
        argv += ["--size", str(limits.file_mb << 20)]
    return [*argv, "--tmpfs", target]


def environment(variables: Mapping[str, str]) -> list[str]:
    """The variables inside."""
    return [part for name, value in variables.items() for part in ("--setenv", name, value)]


def inner(found: Tools, uid: int, limits: Limits) -> list[str]:
    """What runs first inside: become nobody, take on the limits. The program's arguments follow."""
    counted_alone = found.as_root or counted_per_namespace()
    processes = limits.processes + (0 if counted_alone else running_already())
    argv = [found.prlimit, *options(limits, processes), "--"]
    if not found.as_root:
        return argv
    assert found.setpriv is not None
    become = [found.setpriv, f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"]
    return [*become, "--inh-caps=-all", "--bounding-set=-all", *argv]


def accounts(uid: int, home: str) -> tuple[bytes, bytes]:
    """Contents of /etc/passwd and /etc/group that give the user inside a name."""
    passwd = f"root:x:0:0:root:/:/bin/false\nnobody:x:{uid}:{uid}:nobody:{home}:/bin/false\n"
    return passwd.encode(), f"root:x:0:\nnogroup:x:{uid}:\n".encode()


HOSTS = b"127.0.0.1 localhost sandbox\n::1 localhost sandbox\n"
"""/etc/hosts without a network: launchers such as torchrun talk to themselves by name."""


def own_files(found: Tools, passwd: int, group: int, hosts: int, *, network: bool) -> list[str]:
    """Make /etc/passwd, /etc/group and, without a network, /etc/hosts from open pipes."""
    readable = ["--perms", "0644"] if "--perms" in found.options else []
    made = [(passwd, "/etc/passwd"), (group, "/etc/group"), *([] if network else [(hosts, "/etc/hosts")])]
    return [word for pipe, path in made for word in (*readable, "--ro-bind-data", str(pipe), path)]
