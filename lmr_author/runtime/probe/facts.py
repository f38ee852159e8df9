"""Facts about an environment: versions, packages, isolation."""

from __future__ import annotations

import os
import platform
import socket
import sys
import time
from typing import Any, Dict

WAITING = 25
"""A process that computes for a smaller part of its time than one in so many is waiting."""
LIBRARIES = ("numpy", "torch", "pandas", "scipy", "transformers", "tensorflow", "jax", "sklearn")


def packages() -> Dict[str, str]:
    """Return installed distributions and their versions."""
    try:
        from importlib import metadata  # novm
    except ImportError:
        return _packages_by_folder()
    installed = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"] if distribution.metadata is not None else None
        if name:
            installed[str(name)] = str(distribution.version)
    return dict(sorted(installed.items()))


def _packages_by_folder() -> Dict[str, str]:
    """Read the folders ``NAME-VERSION.dist-info``: Python 3.7 cannot read what is in them."""
    installed = {}
    for folder in filter(os.path.isdir, sys.path):
        for entry in os.listdir(folder):
            name, dash, version = entry.rpartition(".dist-info")[0].rpartition("-")
            if dash:
                installed[name] = version
    return dict(sorted(installed.items()))


def versions(load: bool = False) -> Dict[str, Any]:
    """Return versions of Python and of the loaded known libraries; ``load`` imports numpy and torch first."""
    result: Dict[str, Any] = {"python": platform.python_version(), "platform": platform.platform()}
    for name in LIBRARIES:
        module = sys.modules.get(name)
        if module is None and load and name in ("numpy", "torch"):
            try:
                module = __import__(name)
            except Exception:
                continue
        version = getattr(module, "__version__", None)
        if version is not None:
            result[name] = str(version)
    torch = sys.modules.get("torch")
    if torch is not None:
        result["cuda"] = str(getattr(getattr(torch, "version", None), "cuda", None) or "")
    return result


def isolation(tree: str) -> Dict[str, Any]:
    """Report whether this process can write or reach a network, and as which user it runs."""
    return {
        "uid": os.getuid(),
        "root_writable": _can_write("/"),
        "tree_writable": _can_write(tree),
        "network": _connects(),
    }


def peak_memory() -> int:
    """Return the largest resident size so far of this process and its finished children, in bytes."""
    import resource

    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return int(max(own, children)) * 1024


class Stopwatch:
    """Measures the processor time of this process and of its children that have ended: no other program adds to it.

    A call that hardly computes waits for something, a process of its own say: then the time on the wall counts.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self._wall, self._processor = time.perf_counter(), _processor_time()

    def seconds(self) -> float:
        wall = time.perf_counter() - self._wall
        processor = _processor_time() - self._processor
        return wall if processor < wall / WAITING else min(wall, processor)


def _processor_time() -> float:
    import resource

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _can_write(folder: str) -> bool:
    path = os.path.join(folder, ".lmr-probe-%d" % os.getpid())
    try:
        with open(path, "xb"):
            pass
        os.unlink(path)
    except OSError:
        return False
    return True


def _connects() -> bool:
    """Tell whether there is a way out: a route to an address of TEST-NET-1 (RFC 5737). Sends nothing.

    Connecting a datagram socket only looks the route up.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return False
    return True
