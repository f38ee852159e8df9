"""Find a function in a Python file and exchange its body, byte for byte: the only splice.

Targets are located with :mod:`ast`, the interpreter's own parser, and cut out of the file's bytes;
everything outside the body is never decoded and encoded again, let alone reformatted
(``docs/decisions/0002-splice-by-bytes.md`` says why this is not a libcst edit).

A function's *region* runs from behind the colon of its header to the end of its body, comments that
belong to the body included. The region is what masking exchanges and unmasking puts back.
"""

from __future__ import annotations

from lmr_author.source.importing import demanded, python_2_names, running
from lmr_author.source.module import Definition, DefinitionNode, FunctionNode, Module
from lmr_author.source.names import bound_by, imported_as, root_name
from lmr_author.source.regions import (
    Region,
    newline_after,
    outside,
    region,
    region_bytes,
    splice,
    splice_regions,
)
from lmr_author.source.targets import find, is_generator, matching, methods, number, suggestion
from lmr_author.source.tree import (
    block_end,
    children,
    each,
    first_line,
    form,
    is_main_guard,
    is_same,
    parameters,
    parse,
    walk,
)

__all__ = [
    "Definition",
    "DefinitionNode",
    "FunctionNode",
    "Module",
    "Region",
    "block_end",
    "bound_by",
    "children",
    "demanded",
    "each",
    "find",
    "first_line",
    "form",
    "imported_as",
    "is_generator",
    "is_main_guard",
    "is_same",
    "matching",
    "methods",
    "newline_after",
    "number",
    "outside",
    "parameters",
    "parse",
    "python_2_names",
    "region",
    "region_bytes",
    "root_name",
    "running",
    "splice",
    "splice_regions",
    "suggestion",
    "walk",
]
