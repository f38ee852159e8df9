"""Records of files by their content, in one SQLite file in the user's cache folder.

The cache is never needed: whatever is wrong with it (damaged, of another version, locked, in a folder that
cannot be written), the files are read again.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from lmr_author import files
from lmr_author.indexing.records import FORMAT

APPLICATION = 0x4C4D5249  # "LMRI": tells our file from any other SQLite file
MAX_BYTES = 256 * 1024 * 1024
"""When the file is larger, what was not used for longest is dropped until half of it is left."""

DAY = 24 * 60 * 60
TABLE = "CREATE TABLE records (key TEXT PRIMARY KEY, used INTEGER NOT NULL, record BLOB NOT NULL)"
PATIENCE = 2.0
"""Seconds to wait for another process that writes."""
_MANY = 500  # SQLite's smallest limit on the variables of a statement is 999


class Cache:
    """Records of files, by the digest of their content.

    Args:
        path: the SQLite file; None for no cache at all.
        limit: bytes that it may grow to.
    """

    def __init__(self, path: Path | None, limit: int = MAX_BYTES) -> None:
        self._path = path
        self._limit = limit

    @classmethod
    def of_user(cls, name: str = "index") -> Cache:
        """The one of a name in the user's cache folder."""
        return cls(files.user_cache() / f"{name}.sqlite3")

    def is_empty(self) -> bool:
        """Whether there is nothing in it, or it cannot be had."""
        if self._path is None or not self._path.exists():
            return True  # and is not made before there is something to keep
        with self._open() as database:
            if database is not None:
                return database.execute("SELECT 1 FROM records LIMIT 1").fetchone() is None
        return True

    def load(self, digests: Iterable[str]) -> dict[str, bytes]:
        """The records that are known, by digest."""
        wanted = [_key(digest) for digest in set(digests)]
        found: dict[str, bytes] = {}
        with self._open() as database:
            if database is None:
                return {}
            old: list[str] = []
            today = int(time.time() // DAY)
            for start in range(0, len(wanted), _MANY):
                part = wanted[start : start + _MANY]
                rows = database.execute(
                    f"SELECT key, used, record FROM records WHERE key IN ({','.join('?' * len(part))})", part
                )
                for key, used, record in rows:
                    found[key.rpartition(":")[2]] = record
                    if used != today:
                        old.append(key)
            with database:
                database.executemany(
                    "UPDATE records SET used = ? WHERE key = ?", ((today, key) for key in old)
                )
        return found

    def store(self, records: Mapping[str, bytes]) -> None:
        """Keep records, all or none of them."""
        today = int(time.time() // DAY)
        with self._open() as database:
            if database is None or not records:
                return
            with database:
                rows = ((_key(digest), today, record) for digest, record in records.items())
                database.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", rows)
            self._shrink(database)

    def _shrink(self, database: sqlite3.Connection) -> None:
        size = _pragma(database, "page_count") * _pragma(database, "page_size")
        if size <= self._limit:
            return
        with database:
            kept = 0
            rows = database.execute(
                "SELECT key, length(record) FROM records ORDER BY used DESC, rowid DESC"
            ).fetchall()
            dropped = []
            for key, length in rows:
                kept += length
                if kept > self._limit // 2:
                    dropped.append((key,))
            database.executemany("DELETE FROM records WHERE key = ?", dropped)
        database.execute("VACUUM")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        """The database, made anew when it is none of ours; None when it cannot be had."""
        database = None
        try:
            with suppress(sqlite3.Error, OSError):
                database = self._connect()
            yield database
        except sqlite3.OperationalError:
            pass  # locked, read-only, a full disk: it may be right, and somebody else's
        except sqlite3.Error:
            self._discard()
        finally:
            if database is not None:
                database.close()

    def _connect(self) -> sqlite3.Connection | None:
        if self._path is None:
            return None
        self._path.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(2):
            database = sqlite3.connect(self._path, timeout=PATIENCE)
            try:
                database.execute("PRAGMA synchronous = OFF")  # what a power failure damages is made anew
                if _is_ours(database):
                    return database
            except sqlite3.OperationalError:
                database.close()
                raise
            except sqlite3.DatabaseError:
                pass  # not a database at all, or a damaged one
            database.close()
            self._discard()
        return None

    def _discard(self) -> None:
        if self._path is not None:
            for suffix in ("", "-journal"):
                with suppress(OSError):
                    Path(f"{self._path}{suffix}").unlink(missing_ok=True)


def _is_ours(database: sqlite3.Connection) -> bool:
    """Whether a database is the cache; an empty one becomes it."""
    if _pragma(database, "page_count") == 0:
        with database:
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {FORMAT}")
            database.execute(TABLE)
        return True
    return _pragma(database, "application_id") == APPLICATION and _pragma(database, "user_version") == FORMAT


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])


def _key(digest: str) -> str:
    """What a record depends on: Python's grammar and the file; the file's format is the database's."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}:{digest}"
