"""Replace function bodies: libcst edits the text of one function, the rest of the file is copied byte for byte.

A whole file that libcst writes back is not the same file (lone CR, mixed line ends, form feeds). So only the lines of
the function, which :mod:`ast` names, go through it; a check of the result is the caller's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lmr_author.core.code.module import Definition, Module, Region
from lmr_author.core.errors import TargetError

if TYPE_CHECKING:
    from lmr_author.core.code.function_text import FunctionText


def region(module: Module, definition: Definition) -> Region:
    """Find the body of a function. Raises TargetError for a class, SourceError for what libcst cannot read."""
    return _read(module, definition).region


def region_bytes(module: Module, definition: Definition) -> bytes:
    """Return the bytes of a function's region."""
    where = region(module, definition)
    return module.data[module.byte_offset(where.start) : module.byte_offset(where.end)]


def splice(module: Module, bodies: Mapping[Definition, Sequence[str]]) -> bytes:
    """Return the file with the bodies of some functions replaced, everything else byte for byte.

    Args:
        module: the file.
        bodies: for each function the lines of its new body, not indented; its docstring is kept.

    Raises SourceError for lines that are not Python.
    """
    functions = {definition: _read(module, definition) for definition in bodies}
    return _replaced(
        module,
        [
            (one.region.start, one.region.end, module.encode(one.with_body(bodies[definition])), definition)
            for definition, one in functions.items()
        ],
    )


def splice_regions(module: Module, regions: Mapping[Definition, bytes]) -> bytes:
    """Return the file with the regions of some functions replaced by raw bytes (of another version of it)."""
    places = {definition: region(module, definition) for definition in regions}
    return _replaced(
        module, [(places[item].start, places[item].end, new, item) for item, new in regions.items()]
    )


def outside(module: Module, definitions: Iterable[Definition]) -> bytes:
    """Return the file's bytes without the regions of some functions: equal in a golden and its masked copy."""
    return splice_regions(module, dict.fromkeys(definitions, b""))


def _replaced(module: Module, cuts: list[tuple[int, int, bytes, Definition]]) -> bytes:
    cuts.sort(key=lambda cut: cut[0])
    for (_, end, _, one), (start, _, _, other) in itertools.pairwise(cuts):
        if start < end:
            raise TargetError(
                f"{other.qualname} lies inside {one.qualname} ({module.name})",
                "mask the outer function alone",
            )
    data = module.data
    for start, end, new, _ in reversed(cuts):
        data = data[: module.byte_offset(start)] + new + data[module.byte_offset(end) :]
    return data


def _read(module: Module, definition: Definition) -> FunctionText:
    # libcst takes 0.2 s to import, and the index's processes, which only read, run without installed packages.
    from lmr_author.core.code.function_text import FunctionText

    return FunctionText(module, definition)
