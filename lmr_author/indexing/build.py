"""Build the index of a repository: find its Python files, take known ones from the cache, read the others."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lmr_author.indexing import records, workers
from lmr_author.indexing.cache import Cache
from lmr_author.indexing.entry import Entry
from lmr_author.indexing.index import Index, Unread
from lmr_author.indexing.states import States

SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".ipynb_checkpoints", ".tox", ".venv", ".eggs", "node_modules"}
)
"""Folders of tools; nothing in them is the repository's own code."""

OUTLINE = "outline of "
"""What the cache's keys of records without words begin with."""

_FIELDS = len(Entry._fields) - 1  # of a row: all but the path


def build(
    repository: Path,
    *,
    jobs: int | None = None,
    cache: Cache | None = None,
    instead: Mapping[str, bytes] | None = None,
    without: Collection[str] = (),
    words: bool = True,
) -> Index:
    """Index every function and class of a folder. Never raises for what is in it.

    Args:
        repository: the folder; links in it are not followed.
        jobs: processes at most; by default as many as there are processors for this one.
        cache: by default the user's.
        instead: path in the repository → content to index in place of the file's own (a masked file's
            golden); lines stay those of the file itself.
        without: folders, relative to the repository, that are left out.
        words: whether to read words, comments and calls too; without them an index takes two thirds of the
            time, and is enough to find a function.
    """
    cache = Cache.of_user() if cache is None else cache
    jobs = _processors() if jobs is None else jobs
    with _collector_off():
        parsed, reused = _records(os.fspath(repository.absolute()), jobs, cache, without, words)
        for path in set(instead or ()) & set(parsed):
            golden = _parsed(records.record((instead or {})[path], words))
            parsed[path] = _under_lines_of(parsed[path], golden)
        return _index(parsed, reused)


@contextmanager
def _collector_off() -> Iterator[None]:
    """Records hold no cycles, but so many lists that looking for cycles among them takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _records(
    root: str, jobs: int, cache: Cache, without: Collection[str], words: bool
) -> tuple[dict[str, dict[str, Any]], int]:
    """The record of every file by its path, and how many of them the cache knew."""
    states = States(cache, root, list(python_files(root, without)), without)
    digests, parsed = _known(root, states, cache, words)
    reused = len(parsed)
    missing = {f"{root}/{path}": size for path, size in states.sizes.items() if path not in parsed}
    fresh: dict[str, bytes] = {}
    for full, digest, record in workers.read_all(missing, jobs, words):
        path = full[len(root) + 1 :]
        parsed[path] = _parsed(record)
        digests[path] = digest
        if digest:
            fresh[digest if words else OUTLINE + digest] = record
    cache.store(fresh)
    states.keep(digests)
    return parsed, reused


def _known(
    root: str, states: States, cache: Cache, words: bool
) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """The digests of files, where they were asked for, and the records that the cache has of them, by path."""
    digests = states.digests()
    changed = [path for path in states.sizes if path not in digests]
    if changed and not cache.is_empty():  # else reading every file here would tell nothing
        for path in changed:
            data, _ = records.content(f"{root}/{path}")
            if data is not None:
                digests[path] = records.digest(data)
    known = cache.load(digests.values())  # a whole record is an outline, too
    if not words:
        rest = cache.load(OUTLINE + key for key in set(digests.values()) - set(known))
        known |= {key.removeprefix(OUTLINE): record for key, record in rest.items()}
    parsed = {path: _parsed(known[key]) for path, key in digests.items() if key in known}
    return digests, {path: record for path, record in parsed.items() if record}  # {}: a damaged one


def python_files(root: str, without: Collection[str] = ()) -> Iterator[str]:
    """Paths of what is called ``*.py`` below a folder, with ``/``; links to folders are not followed."""
    stack = [""]
    while stack:
        folder = stack.pop()
        try:
            entries = sorted(os.scandir(f"{root}/{folder}"), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED_FOLDERS and folder + entry.name not in without:
                    stack.append(f"{folder}{entry.name}/")
            elif entry.name.endswith(".py"):
                yield folder + entry.name


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _parsed(record: bytes) -> dict[str, Any]:
    """A record; {} when it is none, for whatever reason."""
    try:
        value = json.loads(record)
        rows = value.get("definitions", [])
        whole = "reason" in value or (
            isinstance(value["calls"], dict) and {_FIELDS}.issuperset(map(len, rows))
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    return value if whole else {}


def _under_lines_of(own: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Another record with the lines of a file's own one; the own one when either cannot be read."""
    if "definitions" not in own or "definitions" not in other:
        return own
    names = Entry._fields[1:]
    name, nth = names.index("qualname"), names.index("nth")
    lines = [names.index(field) for field in ("line", "end_line", "first_line")]
    known = {(row[name], row[nth]): row for row in own["definitions"]}
    for row in other["definitions"]:
        for place in lines:
            row[place] = known.get((row[name], row[nth]), row)[place]
    return other


def _index(parsed: Mapping[str, Mapping[str, Any]], reused: int) -> Index:
    entries: list[Entry] = []
    unread: list[Unread] = []
    calls: dict[str, dict[str, int]] = {}
    for path in sorted(parsed):
        record = parsed[path]
        if "reason" in record:
            unread.append(Unread(path, record["reason"]))
            continue
        calls[path] = record["calls"]
        entries += [Entry._make((path, *row)) for row in record["definitions"]]
    return Index(tuple(calls), tuple(unread), tuple(entries), calls, reused)
