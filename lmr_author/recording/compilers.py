"""Decorators that compile a function: compiled code cannot be watched, so each compiler is turned off by its switch.

Only the recorded run turns them off; a replay calls the function as plain Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.code import each, imported_as

SWITCHES = {
    "numba": ("NUMBA_DISABLE_JIT", "1"),
    "torch.jit": ("PYTORCH_JIT", "0"),
    "torch.compile": ("TORCHDYNAMO_DISABLE", "1"),
    "jax.jit": ("JAX_DISABLE_JIT", "1"),
    "equinox.filter_jit": ("JAX_DISABLE_JIT", "1"),
    "flax.linen.jit": ("JAX_DISABLE_JIT", "1"),
}
"""Compiler (a function, or all of a module) → the environment variable that turns it off."""
MARKS = re.compile(
    r"torch\.jit\.(export|unused|ignore|interface|is_scripting|is_tracing|annotate|isinstance)"
)
"""Functions of a compiler's module that compile nothing: they mark code for when something else is compiled."""
ERRORS = {
    r"numba\.core\.errors|nopython": "numba",
    r"torch\._dynamo|torch\._inductor": "torch.compile",
    r"torch\.jit\.frontend|TorchScript|torch/jit/_": "torch.jit",
}
"""Text in an error of a compiler → the compiler."""


def switches(module: ast.Module, function: ast.stmt) -> dict[str, str]:
    """Return the environment variables without which a function is compiled, by its decorators or by ``g = jit(f)``."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return {}
    calls = [
        call
        for call in each(module, ast.Call)
        if any(isinstance(item, ast.Name) and item.id == function.name for item in call.args)
    ]
    imported = imported_as(module)
    found: dict[str, str] = {}
    for expression in (*function.decorator_list, *(call.func for call in calls)):
        for name in _dotted_names(expression):
            first, _, rest = name.partition(".")
            full = f"{imported.get(first, first)}.{rest}".rstrip(".")
            if not MARKS.fullmatch(full):
                found.update(switch for key, switch in SWITCHES.items() if f"{full}.".startswith(f"{key}."))
    return found


def advice(output: str) -> str:
    """Return how to run a command that ended in a compiler's error; "" for another error."""
    for pattern, compiler in ERRORS.items():
        if re.search(pattern, output):
            name, value = SWITCHES[compiler]
            return (
                f"{compiler} compiles the target or what calls it: run the command as {name}={value} python …"
            )
    return ""


def _dotted_names(expression: ast.expr) -> Iterator[str]:
    """Yield every name in an expression as a whole: ``partial(jax.jit, …)`` has two."""
    stack: list[ast.AST] = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name | ast.Attribute):
            yield ast.unparse(node)
        else:
            stack.extend(ast.iter_child_nodes(node))
