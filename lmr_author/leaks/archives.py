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
from typing import IO, cast

MAX_ARCHIVE = 64 * 1024 * 1024
"""Archives larger than this are not opened (bytes)."""
MAX_UNPACKED = 96 * 1024 * 1024
"""The most that is unpacked of one archive (bytes)."""
MAX_MEMBER = 2 * 1024 * 1024
"""Members larger than this are skipped (bytes)."""
MAX_MEMBERS = 5_000

_ZIP = (".zip", ".whl", ".egg", ".jar", ".pyz")
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz", ".tbz2", ".tar.xz", ".txz", ".tar.lzma")
SUFFIXES = frozenset(f".{name.rpartition('.')[2]}" for name in (*_ZIP, *_TAR))
"""The last endings of archives' names."""
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    LookupError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
    MemoryError,
    OverflowError,
)


def is_archive(name: str) -> bool:
    """Recognize an archive that can be looked into by its name."""
    return name.lower().endswith((*_ZIP, *_TAR))


def members(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of each file in an archive; of a damaged one, those before the damage."""
    room = MAX_UNPACKED
    try:
        found = _zip(data) if name.lower().endswith(_ZIP) else _tar(data)
        for number, (inner, content) in enumerate(found if len(data) <= MAX_ARCHIVE else ()):
            room -= len(content)
            if room < 0 or number == MAX_MEMBERS:
                return
            yield inner, content
    except _BROKEN:
        return


def _zip(data: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            if info.is_dir() or info.file_size > MAX_MEMBER or info.flag_bits & 1:  # the last: encrypted
                continue
            with archive.open(info) as file:  # a header may lie about the size
                yield info.filename, file.read(MAX_MEMBER)


def _tar(data: bytes) -> Iterator[tuple[str, bytes]]:
    source = cast("IO[bytes]", _Limited(_decompressed(data)))
    with tarfile.open(fileobj=source, mode="r|") as archive:
        for info in archive:
            file = archive.extractfile(info) if info.isreg() and info.size <= MAX_MEMBER else None
            if file is not None:
                yield info.name, file.read()


def _decompressed(data: bytes) -> IO[bytes]:
    raw = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if data.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.BZ2File(raw))
    if data.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return cast("IO[bytes]", lzma.LZMAFile(raw))
    return raw


class _Limited:
    """A stream that ends with an error when more than MAX_UNPACKED is read: skipping a member unpacks it too."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.room = MAX_UNPACKED

    def read(self, size: int = -1) -> bytes:
        piece = self.file.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self.room -= len(piece)
        if self.room < 0:
            raise ValueError("too much to unpack")
        return piece
