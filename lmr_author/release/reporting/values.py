"""Recorded values for people: type, shape, range and first numbers of each.

Recordings are read as data: JSON and numbers. Nothing is imported, constructed or run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core.texts import shortened
from lmr_author.runtime.probe.arrays import dtype_of, numbers
from lmr_author.runtime.probe.checking import load
from lmr_author.runtime.probe.compare import describe
from lmr_author.runtime.probe.document import BadDocument, Document, tagged, walk
from lmr_author.runtime.probe.outcome import as_written

MOST_ROWS = 120
"""Values shown of one document."""
MOST_NUMBERS = 2_000_000
"""Largest array (elements) whose range is computed."""
MOST_BYTES = 256 * 1024**2
"""Size of a document (bytes) above which it is not read."""
FIRST = 6
LONGEST = 160

_CONTAINERS = ("list", "tuple", "set", "frozenset", "dict")


@dataclass(frozen=True)
class ValueRow:
    path: str
    kind: str
    shape: str = ""
    range: str = ""
    first: str = ""


@dataclass(frozen=True)
class Values:
    rows: tuple[ValueRow, ...]
    note: str = ""


def read(folder: Path, stem: str) -> Values:
    """Read the values of ``inputs`` or ``expected`` in a case's folder; a damaged document gives a note instead."""
    size = sum(path.stat().st_size for path in folder.glob(f"{stem}.*") if path.is_file())
    if size > MOST_BYTES:
        return Values((), f"{size / 2**20:.0f} MB: too large to show")
    try:
        document = load(str(folder), stem)
        nodes = _without_modes_of_parts({as_written(path): node for path, node in walk(document.tree)})
        rows = [row for path, node in nodes.items() if (row := _row(document, path, node))]
    except BadDocument as error:
        return Values((), f"cannot be read: {error}")
    omitted = [f"{value.path} ({value.type}) was not stored" for value in document.omitted]
    more = [f"and {len(rows) - MOST_ROWS} more values"] if len(rows) > MOST_ROWS else []
    return Values(tuple(rows[:MOST_ROWS]), "; ".join([*more, *omitted[:5]]))


def _without_modes_of_parts(nodes: dict[str, Any]) -> dict[str, Any]:
    """Drop whether parts of a module are in training where they agree with the whole."""
    rows = {}
    for path, node in nodes.items():
        part, _, name = path.rpartition(".")
        whole = f"{part.rpartition('.')[0]}.training"
        if name != "training" or nodes.get(whole, ...) != node:
            rows[path] = node
    return rows


def _row(document: Document, path: str, node: Any) -> ValueRow | None:
    """Return a row for a value; None for a container, whose parts have rows."""
    node = tagged(node)
    if dtype_of(node):
        return _numbers(document, path, node)
    if not isinstance(node, dict):
        kind = "None" if node is None else type(node).__name__
        return ValueRow(path, kind, first=shortened(repr(node), LONGEST))
    tag = str(node["$"])
    if tag in _CONTAINERS:
        return None if node["v"] else ValueRow(path or "(all)", tag, first="0 items")
    if tag == "ref":
        return ValueRow(path, "same object", first="as one above")
    return ValueRow(path, describe(node).removeprefix("a "))


def _numbers(document: Document, path: str, node: Any) -> ValueRow:
    dtype = dtype_of(node)
    shape = list(node["shape"]) if isinstance(node, dict) and "shape" in node else []
    array = isinstance(node, dict) and node["$"] in ("tensor", "array")
    kind = f"{node['$']} {dtype}" if array else "float" if isinstance(node, float) else dtype
    total = math.prod(shape)
    if total > MOST_NUMBERS:
        return ValueRow(path, kind, str(shape), first=f"{total:,} elements")
    flat = numbers(document, node).reshape(-1).tolist()
    first = [_number(value) for value in flat[:FIRST]]
    shown = str(shape) if array else ""
    return ValueRow(path, kind, shown, _range(flat) if array else "", _listed(first, total))


def _range(values: Sequence[Any]) -> str:
    plain = [value for value in values if isinstance(value, (int, float))]
    finite = [value for value in plain if math.isfinite(value)]
    if not finite:
        return "" if not plain else "no finite number"
    odd = f", {len(plain) - len(finite)} not finite" if len(finite) < len(plain) else ""
    return f"{_number(min(finite))} … {_number(max(finite))}{odd}"


def _number(value: Any) -> str:
    if isinstance(value, bytes):
        return shortened(repr(value.rstrip(b"\0")), LONGEST)
    if isinstance(value, complex):
        return f"{value:.4g}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _listed(first: list[str], total: int) -> str:
    return ", ".join(first) + (", …" if total > len(first) else "")
