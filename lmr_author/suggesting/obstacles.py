"""Why a function of a repository cannot run in a test, read from its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from lmr_author import files, source
from lmr_author.errors import LmrError
from lmr_author.indexing import Entry


def reader(repository: Path, instead: Mapping[str, bytes]) -> Callable[[Entry], str]:
    """What says of a function why it cannot run, as a sentence; "" where nothing is known. Each file is read once.

    Args:
        instead: path → content of files that are not as they were, such as masked ones.
    """

    @cache
    def module(path: str) -> source.Module | None:
        try:
            data = instead.get(path) or files.inside(repository, path).read_bytes()
            return source.Module.parse(data, path)
        except (LmrError, OSError):
            return None

    @cache
    def demanded(path: str) -> str:
        parsed = module(path)
        demand = source.demanded(parsed.tree) if parsed else ""
        return f"no test can import it: the file {demand}" if demand else ""

    def obstacle(entry: Entry) -> str:
        parsed = module(entry.path)
        if parsed is None or demanded(entry.path):
            return demanded(entry.path)
        own = (
            item for item in parsed.definitions if (item.qualname, item.nth) == (entry.qualname, entry.nth)
        )
        found = next(own, None)
        gone = source.python_2_names(parsed.tree, found.node) if found else ()
        if not gone:
            return ""
        return f"it, or what it calls of its file, uses {', '.join(gone)}, which Python 3 does not have"

    return obstacle
