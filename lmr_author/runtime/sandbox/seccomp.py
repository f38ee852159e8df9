"""The system calls that bubblewrap blocks: user namespaces, memory outside of any process, and keyrings.

In its own user namespace a program is root and can mount a tmpfs of any size, beyond all limits. bubblewrap's
``--disable-userns`` does not work if root creates the namespaces. Memory of ``memfd_create`` and ``shmget`` needs no
address space, so RLIMIT_AS does not limit it; libraries fall back if a kernel lacks these calls. bubblewrap does not
isolate the kernel's keyrings: the session keyring is inherited, so a program could read its keys, and leave some for
the next run.

The filter is classic BPF over ``struct seccomp_data`` (https://docs.kernel.org/userspace-api/seccomp_filter.html),
with Docker's answers: EPERM, and ENOSYS for clone3, whose flags a filter cannot see, so that libc uses clone.
"""

from __future__ import annotations

import errno
import platform
import struct
from typing import NamedTuple

_CLONE_NEWUSER = 0x10000000
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in ``struct seccomp_data``; of an argument, its lower half on a little-endian machine."""
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_X32 = 0x40000000
"""First number of x86_64's second table of system calls."""


class _Machine(NamedTuple):
    """A machine's constant in ``linux/audit.h``, and its numbers of system calls."""

    arch: int
    clone: int
    unshare: int
    absent: tuple[int, ...]
    """clone3, memfd_create, memfd_secret, shmget; add_key, request_key, keyctl."""


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 56, 272, (435, 319, 447, 29, 248, 249, 250)),
    "aarch64": _Machine(0xC00000B7, 220, 97, (435, 279, 447, 194, 217, 218, 219)),
}


def program() -> bytes | None:
    """Return the filter in bubblewrap's format; None if the machine's system call numbers are unknown."""
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        return None
    refused = _ERRNO | errno.EPERM
    steps = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, machine.arch),
        (_RETURN, 0, 0, refused),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, refused),
    ]
    for number in machine.absent:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    steps += [
        (_EQUAL, 1, 0, machine.unshare),
        (_EQUAL, 0, 3, machine.clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _CLONE_NEWUSER),
        (_RETURN, 0, 0, refused),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
