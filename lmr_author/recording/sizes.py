"""Recorded calls that are too large, and what to do about them."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping

from lmr_author.recording.choose import Call

MOST_BYTES = 32 * 2**20
"""Size of all cases of one implementation together: what a repository of tasks can carry."""

_SHAPE = re.compile(r"(?P<name>\w+): [\w ]*\[(?P<shape>\d+(?:, \d+)*)\]")
"""An argument in words, as in ``x: tensor float32[512, 768]``."""
_REFUSED = re.compile(r"^(?P<path>.*?): (?P<size>\d+) bytes, more than the limit of (?P<most>\d+)")


def too_much(call: Call, most_bytes: int) -> str:
    """Why a call has no place beside others, and what to do."""
    shapes = _shapes(", ".join(f"{name}: {text}" for name, text in call.summary.items()))
    told = advice(call.size, most_bytes // 3, shapes).partition("; or raise")[0]
    return f"{megabytes(call.size)} beside the others, {megabytes(most_bytes)} in all; {told}, or raise --max-total-mb"


def megabytes(size: int) -> str:
    """A size in words."""
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{size / 1024:.1f} kB"


def of_refused(reason: str) -> str:
    """What to do about calls that were larger than the limit, from what the recorder says of them."""
    found = _REFUSED.match(reason)
    if found is None:
        return "raise --max-mb, or drive it with less data"
    path, size, most = found["path"], int(found["size"]), int(found["most"])
    if path == "value" or path.startswith(("value.", "value[")):
        return f"keep a sample and sums of that part only: --project {shlex.quote(path)}; or " + advice(
            size, most, _shapes(reason)
        )
    return advice(size, most, _shapes(reason))


def advice(size: int, most: int, shapes: Mapping[str, list[int]]) -> str:
    """What to do about a call of some size: a smaller batch, by how many rows, or a higher limit."""
    larger = f"or raise the limit: --max-mb {math.ceil(size / 2**20)}"
    if shapes:
        name = max(shapes, key=lambda item: math.prod(shapes[item]))
        rows = shapes[name][0]
        fewer = max(1, int(rows * most / size * 0.9))
        if fewer < rows:
            return f"slice the batch in the driver, {name}[:{fewer}] instead of all {rows} rows; {larger}"
    return f"drive it with less data, {larger}"


def _shapes(text: str) -> dict[str, list[int]]:
    return {
        match["name"]: [int(word) for word in match["shape"].split(", ")] for match in _SHAPE.finditer(text)
    }
