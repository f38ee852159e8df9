"""The cache: it saves reading what did not change, and is never in the way."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from lmr_author.indexing import Cache, build, cache, records, states


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Five small files, and one that does not parse."""
    folder = tmp_path / "repo"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.py").write_text(f"def f{number // 4}(): return {number % 4}\n")
    (folder / "bad.py").write_text("def (")
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the cache is."""
    return tmp_path / "cache" / "index.sqlite3"


def test_what_did_not_change_is_not_read_again(repository: Path, path: Path) -> None:
    cold = build(repository, cache=Cache(path))
    assert cold.reused == 0
    warm = build(repository, cache=Cache(path))
    assert warm.reused == 6
    assert (warm.entries, warm.unread, warm.calls) == (cold.entries, cold.unread, cold.calls)
    (repository / "1.py").write_text("def new(): pass\n")
    os.utime(repository / "2.py", (1, 1))
    changed = build(repository, cache=Cache(path))
    assert changed.reused == 5
    assert [item.path for item in changed.named("new")] == ["1.py"]


def test_it_goes_by_content_not_by_path(repository: Path, path: Path) -> None:
    build(repository, cache=Cache(path))
    moved = repository.rename(repository.with_name("moved"))
    (moved / "0.py").rename(moved / "again.py")
    index = build(moved, cache=Cache(path))
    assert index.reused == 6
    assert "again.py" in index.files


def test_a_file_whose_state_is_known_is_not_even_opened(
    repository: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "SETTLED", 0.0)
    build(repository, cache=Cache(path))
    opened = []
    monkeypatch.setattr(records, "content", lambda path: opened.append(path) or (None, "no"))
    assert build(repository, cache=Cache(path)).reused == 6
    assert opened == []


@pytest.mark.parametrize("settled", [0.0, 3600.0], ids=["by state", "by content"])
def test_what_changed_is_seen_though_its_size_and_time_did_not(
    settled: float, repository: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "SETTLED", settled)
    file = repository / "0.py"
    build(repository, cache=Cache(path))
    before = file.stat()
    file.write_text("def g0(): return 0\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    changed = build(repository, cache=Cache(path))
    assert (changed.named("g0")[0].path, changed.reused) == ("0.py", 5)
    file.unlink()
    file.symlink_to("1.py")
    assert [item.path for item in build(repository, cache=Cache(path)).unread] == ["0.py", "bad.py"]


def test_what_changed_just_now_is_read_again(repository: Path, path: Path) -> None:
    build(repository, cache=Cache(path))
    known = states.States(Cache(path), str(repository), ["0.py", "no.py"], ())
    assert (known.digests(), known.sizes["no.py"]) == ({}, 0)


def garbage(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def scribbled(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    path.write_bytes(data)


def foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE records (id INTEGER)")
    database.close()


def older(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 0")
    database.close()


def damaged_records(path: Path) -> None:
    values = [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"definitions": [[1]], "calls": {}}',
        b'{"definitions": 1, "calls": {}}',
    ]
    with sqlite3.connect(path) as database:
        keys = database.execute("SELECT key FROM records").fetchall()
        for (key,), value in zip(keys, values, strict=True):
            database.execute("UPDATE records SET record = ? WHERE key = ?", (value, key))
    database.close()


@pytest.mark.parametrize("harm", [garbage, cut, scribbled, foreign, older, damaged_records])
def test_a_cache_that_is_none_is_made_anew(
    repository: Path, path: Path, harm: Callable[[Path], None]
) -> None:
    wanted = build(repository, cache=Cache(None))
    build(repository, cache=Cache(path))
    harm(path)
    first = build(repository, cache=Cache(path))
    assert (first.entries, first.unread, first.reused) == (wanted.entries, wanted.unread, 0)
    assert build(repository, cache=Cache(path)).reused == 6


def test_another_python_reads_anew(repository: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(repository, cache=Cache(path))
    monkeypatch.setattr(cache.sys, "version_info", (3, 99))
    assert build(repository, cache=Cache(path)).reused == 0


def test_without_a_place_to_write_it_does_without(repository: Path, tmp_path: Path) -> None:
    wanted = build(repository, cache=Cache(None))
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "file" / "index.sqlite3", tmp_path / "folder", Path("/proc/no/index.sqlite3")):
        assert build(repository, cache=Cache(place)).entries == wanted.entries
    assert (tmp_path / "file").read_text() == ""
    assert (tmp_path / "folder").is_dir()


def test_a_locked_cache_is_left_alone(repository: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(repository, cache=Cache(path))
    monkeypatch.setattr(cache, "PATIENCE", 0.01)
    holder = sqlite3.connect(path)
    holder.execute("BEGIN EXCLUSIVE")
    assert build(repository, cache=Cache(path)).reused == 0
    holder.rollback()
    holder.close()
    assert build(repository, cache=Cache(path)).reused == 6


def test_it_does_not_grow_beyond_its_limit(path: Path) -> None:
    limit = 200_000
    for round_ in range(20):
        Cache(path, limit).store({f"{round_}-{number}": b"x" * 5000 for number in range(10)})
        assert path.stat().st_size <= limit
    last = [f"19-{number}" for number in range(10)]
    assert set(Cache(path).load(last)) == set(last)
    assert Cache(path).load(["0-0"]) == {}


def test_what_is_used_outlives_what_is_not(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = cache.time.time()
    store = Cache(path, 100_000)
    store.store({"used": b"x" * 20_000})
    store.store({"unused": b"x" * 20_000})
    monkeypatch.setattr(cache.time, "time", lambda: now + 3 * cache.DAY)
    assert "used" in store.load(["used"])
    store.store({str(number): b"x" * 10_000 for number in range(6)})
    kept = store.load(["used", "unused"])
    assert "unused" not in kept


def test_the_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "mine"))
    Cache.of_user().store({"a": b"1"})
    assert (tmp_path / "mine" / "index.sqlite3").is_file()
    assert Cache.of_user().load(["a", "b"]) == {"a": b"1"}
