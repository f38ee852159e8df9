"""The output of a container: one connection that carries stdout and stderr in frames."""

from __future__ import annotations

import select
from typing import Any

from lmr_author.sandbox.bounded import Bounded, Patience

_HEADER_BYTES = 8
_READ_BYTES = 1 << 16
_STDERR = 2


class Demultiplexer:
    """Splits the engine's stream: a header (stream, three zeros, big-endian length), then the payload.

    https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
    """

    def __init__(self, stdout: Bounded, stderr: Bounded) -> None:
        self._sinks = {_STDERR: stderr}
        self._stdout = stdout
        self._sink = stdout
        self._left = 0
        self._header = b""

    def feed(self, data: bytes) -> None:
        """Take in the next piece, of any size."""
        view = memoryview(data)
        while view:
            if self._left == 0:
                need = _HEADER_BYTES - len(self._header)
                self._header += bytes(view[:need])
                view = view[need:]
                if len(self._header) == _HEADER_BYTES:
                    self._sink = self._sinks.get(self._header[0], self._stdout)
                    self._left = int.from_bytes(self._header[4:], "big")
                    self._header = b""
                continue
            self._sink.add(bytes(view[: self._left]))
            taken = min(self._left, len(view))
            self._left -= taken
            view = view[taken:]


def drain(connection: Any, into: Demultiplexer, patience: Patience) -> str:
    """Read until the container closes its output: "closed"; or what :class:`Patience` says first."""
    raw = getattr(connection, "_sock", connection)
    while not (over := patience.over()):
        if not select.select([raw], [], [], patience.seconds())[0]:
            continue
        try:
            data = raw.recv(_READ_BYTES)
        except ConnectionResetError:
            return "closed"
        if not data:
            return "closed"
        into.feed(data)
    return over


def disconnect(connection: Any) -> None:
    """Close an attached connection: the response that it came with, its file, and the socket below both."""
    raw = getattr(connection, "_sock", connection)
    response = getattr(connection, "_response", None)
    for each in (response, connection, raw):
        if each is not None:
            each.close()
