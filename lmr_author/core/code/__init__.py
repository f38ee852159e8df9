"""Read Python files with :mod:`ast`, edit their functions with libcst: nothing else of the project writes Python.

A function's *region* runs from behind the colon of its header to the end of its body, comments that belong to the
body included. The region is what masking replaces and unmasking puts back.
"""

from lmr_author.core.code.edit import (
    body_from,
    body_of,
    insert_above,
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
    indent_of,
    matching,
    meant,
    methods,
    number,
)
from lmr_author.core.code.tree import (
    arguments,
    behind_exits,
    bindings,
    block_end,
    bound_by,
    children,
    demanded,
    each,
    first_line,
    form,
    globals_read,
    gpu_lines,
    is_generator,
    is_main_guard,
    is_same,
    lines_on_gpu,
    parameters,
    parse,
    program_on_import,
    python_2_names,
    root_name,
    running,
    set_at_run_time,
    walk,
)
