"""Look into archives without unpacking them to disk, within limits that a bomb cannot pass."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, cast

MAX_ARCHIVE = 64 * 1024 * 1024
"""Archives larger than this are not opened (bytes)."""
MAX_UNPACKED = 96 * 1024 * 1024
"""What is unpacked of one archive at most, archives inside it included (bytes)."""
MAX_MEMBER = 2 * 1024 * 1024
"""Members larger than this are skipped (bytes)."""
MAX_MEMBERS = 5_000
MAX_DEPTH = 2
"""An archive inside an archive is opened, one inside that is not."""

_ZIP = (".zip", ".whl", ".egg", ".jar", ".pyz")
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz", ".tbz2", ".tar.xz", ".txz", ".tar.lzma")
_SINGLE = (".gz", ".bz2", ".xz")
_ALL = (*_ZIP, *_TAR, *_SINGLE)
SUFFIXES = frozenset(f".{name.rpartition('.')[2]}" for name in _ALL)
"""The last endings of archives' names."""
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    LookupError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
    MemoryError,
    OverflowError,
)


class _TooMuch(ValueError):
    """The limit of what is unpacked is reached."""


@dataclass
class _Budget:
    """What may still be unpacked."""

    size: int = MAX_UNPACKED
    members: int = MAX_MEMBERS

    def take(self, size: int) -> None:
        self.size -= size
        if self.size < 0:
            raise _TooMuch


def is_archive(name: str) -> bool:
    """Whether a file's name is that of an archive that can be looked into."""
    return name.lower().endswith(_ALL)


def members(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """(path inside, content) of the files of an archive; what is broken, encrypted or too large is left out.

    The path of a file in an inner archive is ``inner.zip!/file.py``.
    """
    yield from _members(name.lower(), data, _Budget(), 1)


def _members(name: str, data: bytes, budget: _Budget, depth: int) -> Iterator[tuple[str, bytes]]:
    opened = _zip if name.endswith(_ZIP) else _tar if name.endswith(_TAR) else _single
    try:
        for inner, content in opened(name, data, budget):
            budget.members -= 1
            if budget.members < 0:
                return
            if not is_archive(inner):
                yield inner, content
            elif depth < MAX_DEPTH:
                below = _members(inner.lower(), content, budget, depth + 1)
                yield from ((f"{inner}!/{path}", found) for path, found in below)
    except _BROKEN:
        return


def _zip(name: str, data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist()[:MAX_MEMBERS]:
            if info.is_dir() or info.file_size > MAX_MEMBER or info.flag_bits & 1:
                continue
            try:
                with archive.open(info) as file:
                    content = file.read(MAX_MEMBER + 1)
            except _BROKEN:
                continue  # one damaged member hides no other
            budget.take(len(content))
            yield info.filename, content


def _tar(name: str, data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    source = _Limited(_decompressed(name, data), budget)
    with tarfile.open(fileobj=cast("IO[bytes]", source), mode="r|") as archive:
        for info in archive:
            if not info.isreg() or info.size > MAX_MEMBER:
                continue
            file = archive.extractfile(info)
            if file is not None:
                yield info.name, file.read()


def _single(name: str, data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    content = _decompressed(name, data).read(MAX_MEMBER + 1)
    if len(content) <= MAX_MEMBER:
        budget.take(len(content))
        yield name.rpartition("/")[2].rpartition(".")[0], content


def _decompressed(name: str, data: bytes) -> IO[bytes]:
    raw = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if data.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.BZ2File(raw))
    if data.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return cast("IO[bytes]", lzma.LZMAFile(raw))
    return raw


class _Limited:
    """A stream that ends with an error when more is read than the budget allows."""

    def __init__(self, file: IO[bytes], budget: _Budget) -> None:
        self.file = file
        self.budget = budget

    def read(self, size: int = -1) -> bytes:
        """As a file's ``read``."""
        piece = self.file.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self.budget.take(len(piece))
        return piece
