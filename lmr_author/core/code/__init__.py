"""Read Python files with :mod:`ast`, edit their functions with libcst: nothing else of the project writes Python.

A function's *region* runs from behind the colon of its header to the end of its body, comments that belong to the
body included. The region is what masking replaces and unmasking puts back.
"""

from __future__ import annotations

from lmr_author.core.code.demands import (
    demanded,
    gpu_lines,
    is_main_guard,
    python_2_names,
    running,
    set_at_run_time,
)
from lmr_author.core.code.edit import (
    body_from,
    body_of,
    insert_above,
    lines_inside_strings,
    matching,
    outside,
    region,
    region_bytes,
    splice,
    splice_regions,
    statement_text,
)
from lmr_author.core.code.module import (
    Definition,
    DefinitionNode,
    FunctionNode,
    Module,
    find,
    is_generator,
    methods,
    newline_after,
    number,
)
from lmr_author.core.code.tree import (
    behind_exits,
    bindings,
    block_end,
    bound_by,
    children,
    each,
    first_line,
    form,
    imported_as,
    is_same,
    parameters,
    parse,
    root_name,
    walk,
)

__all__ = [
    "Definition",
    "DefinitionNode",
    "FunctionNode",
    "Module",
    "behind_exits",
    "bindings",
    "block_end",
    "body_from",
    "body_of",
    "bound_by",
    "children",
    "demanded",
    "each",
    "find",
    "first_line",
    "form",
    "gpu_lines",
    "imported_as",
    "insert_above",
    "is_generator",
    "is_main_guard",
    "is_same",
    "lines_inside_strings",
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
    "set_at_run_time",
    "splice",
    "splice_regions",
    "statement_text",
    "walk",
]
