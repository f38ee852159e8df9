"""Shapes of a function's parameters, where its source says them: comments, unpacking, einops patterns."""

from __future__ import annotations

import ast
import re

from lmr_author import source
from lmr_author.checks import bodies
from lmr_author.masking.documented import shape_in

EINOPS = frozenset({"rearrange", "reduce", "repeat", "pack", "unpack", "parse_shape", "asnumpy"})


def shapes_of(module: source.Module, definition: source.Definition) -> dict[str, str]:
    """By parameter, its shape as the source has it, as in ``(B, T, C)`` or ``b n (h d)``.

    Read from a comment beside the parameter, from ``b, n, _ = x.shape`` and from the left side of an einops
    pattern, as long as the parameter has not been assigned to before. The golden's other lines are not read.
    """
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    found = {item.arg: shape for item in arguments if (shape := _beside(module, item, arguments))}
    open_names = {item.arg for item in arguments} - found.keys()
    for statement in _in_order(bodies.statements(node)):
        for name, shape in _said_by(module, statement, open_names):
            found.setdefault(name, shape)
        stored = {
            item.id
            for item in ast.walk(statement)
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
        }
        open_names -= stored | found.keys()
    return found


def _beside(module: source.Module, parameter: ast.arg, others: list[ast.arg]) -> str:
    """A shape in the comment behind a parameter that stands on a line of its own."""
    if sum(item.lineno == parameter.lineno for item in others) != 1:
        return ""
    return shape_in(_comment(module.line_text(parameter.end_lineno or parameter.lineno)))


def _comment(line: str) -> str:
    return line.partition("#")[2] if line.count('"') + line.count("'") == 0 else ""


def _in_order(nodes: list[ast.stmt]) -> list[ast.stmt]:
    """Simple statements in the order written, those in blocks too; inner functions are left out."""
    result: list[ast.stmt] = []
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        if not any(blocks):
            result.append(node)
        for block in blocks:
            result += _in_order(block)
    return result


def _said_by(module: source.Module, statement: ast.stmt, names: set[str]) -> list[tuple[str, str]]:
    found = []
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
        name, sizes = _measured(statement.value), [_size(item) for item in statement.targets[0].elts]
        if name in names and all(sizes):
            comment = _comment(module.line_text(statement.end_lineno or statement.lineno)).strip()
            shape = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
            found.append((name, f"{shape}: {comment}" if comment else shape))
    for call in ast.walk(statement):
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in EINOPS:
            pattern = call.args[1] if len(call.args) > 1 else None
            name = call.args[0].id if call.args and isinstance(call.args[0], ast.Name) else ""
            if name in names and isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
                left = re.sub(r"\s+", " ", pattern.value.partition("->")[0]).strip()
                found.append((name, f"`{left}`"))
    return found


def _measured(value: ast.expr) -> str:
    """``x`` of ``x.shape`` and ``x.size()``; "" for anything else."""
    if isinstance(value, ast.Call) and not value.args and isinstance(value.func, ast.Attribute):
        value = value.func if value.func.attr == "size" else value
    if (
        isinstance(value, ast.Attribute)
        and value.attr in ("shape", "size")
        and isinstance(value.value, ast.Name)
    ):
        return value.value.id
    return ""


def _size(item: ast.expr) -> str:
    if isinstance(item, ast.Starred):
        return "…"
    if not isinstance(item, ast.Name):
        return ""
    return "…" if set(item.id) == {"_"} else item.id
