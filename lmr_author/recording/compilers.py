"""Decorators that compile a function: compiled code cannot be watched, and each compiler has a switch to leave it be.

Only the recorded run turns them off; a replay calls the function as plain Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from lmr_author.code import each, imported_as

SWITCHES = {
    "numba": ("NUMBA_DISABLE_JIT", "1"),
    "torch.jit": ("PYTORCH_JIT", "0"),
    "torch.compile": ("TORCHDYNAMO_DISABLE", "1"),
    "jax.jit": ("JAX_DISABLE_JIT", "1"),
    "equinox.filter_jit": ("JAX_DISABLE_JIT", "1"),
    "flax.linen.jit": ("JAX_DISABLE_JIT", "1"),
}
"""What compiles (a function, or all of a module) → the environment variable that keeps it from doing so."""

_MARKS = re.compile(
    r"torch\.jit\.(export|unused|ignore|interface|is_scripting|is_tracing|annotate|isinstance)"
)
"""What only says what is to become of a function when something else compiles what it belongs to."""

_SAID = {
    r"numba\.core\.errors|nopython": "numba",
    r"torch\._dynamo|torch\._inductor": "torch.compile",
    r"torch\.jit\.frontend|TorchScript|torch/jit/_": "torch.jit",
}
"""What an error of each compiler has in it."""


def switches(module: ast.Module, function: ast.stmt) -> dict[str, str]:
    """The environment variables without which a function would be compiled, by its decorators or by ``g = jit(f)``."""
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return {}
    names = imported_as(module)
    calls = [node for node in each(module, ast.Call) if _takes(node, function.name)]
    compiling = [*function.decorator_list, *(call.func for call in calls)]
    found = (_switch(full) for item in compiling for full in _full_names(item, names))
    return dict(item for item in found if item)


def advice(said: str) -> str:
    """How to run a command that ended in a compiler's error; "" for another error."""
    for pattern, compiler in _SAID.items():
        if re.search(pattern, said):
            name, value = SWITCHES[compiler]
            return (
                f"{compiler} compiles the target or what calls it: run the command as {name}={value} python …"
            )
    return ""


def _takes(call: ast.Call, name: str) -> bool:
    return any(isinstance(item, ast.Name) and item.id == name for item in call.args)


def _switch(full: str) -> tuple[str, str] | None:
    return next((switch for name, switch in SWITCHES.items() if f"{full}.".startswith(f"{name}.")), None)


def _full_names(expression: ast.expr, names: Mapping[str, str]) -> Iterator[str]:
    """Every name in an expression, with what its first part was imported as: ``partial(jax.jit, …)`` has two."""
    stack: list[ast.AST] = [expression]
    while stack:
        node = stack.pop()
        full = ""
        if isinstance(node, ast.Name | ast.Attribute):
            first, _, rest = ast.unparse(node).partition(".")
            full = f"{names.get(first, first)}.{rest}".rstrip(".")
        if not _MARKS.fullmatch(full):
            stack.extend(ast.iter_child_nodes(node))
            if full:
                yield full
