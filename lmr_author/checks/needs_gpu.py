"""Whether a test, or what it calls, needs a GPU."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from lmr_author.checks.reading import Reading
from lmr_author.checks.syntax import dotted
from lmr_author.source import FunctionNode, children, each, is_main_guard, parameters, walk

_CUDA = re.compile(r"^cuda(:\d+)?$")


def cuda_line(tree: ast.Module | FunctionNode, names: dict[str, ast.expr]) -> int:
    """The line at which something is moved to a GPU whatever the arguments are; 0 if nothing is.

    Args:
        names: names with the one value that each of them has.
    """
    calls = (node for node in unconditional(tree) if isinstance(node, ast.Call))
    return next((node.lineno for node in calls if _moves(node, names)), 0)


def _moves(call: ast.Call, names: Mapping[str, ast.expr]) -> bool:
    """Whether a call moves something to a GPU, or makes it there."""
    last = dotted(call.func).rpartition(".")[2]
    if last == "cuda":
        return True
    named = [item.value for item in call.keywords if item.arg == "device"]
    if not named and last not in ("to", "device", "set_device", "set_default_device"):
        return False
    values = [
        names.get(item.id, item) if isinstance(item, ast.Name) else item for item in (*call.args, *named)
    ]
    return any(map(_names_gpu, values))


def _names_gpu(node: ast.expr) -> bool:
    """Whether an expression is ``"cuda"``, or ``"cuda:0"``."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_CUDA.match(node.value))


def moves_by_default(function: FunctionNode, test: Reading) -> bool:
    """Whether a function moves something to the GPU that a parameter names by default, as a test leaves it to."""
    gpus = {name: value for name, value in _left_to_defaults(function, test).items() if _names_gpu(value)}
    return bool(gpus) and any(_moves(node, gpus) for node in walk(function) if isinstance(node, ast.Call))


def _left_to_defaults(function: FunctionNode, test: Reading) -> dict[str, ast.expr]:
    """The parameters of a function that a test leaves to their defaults in one of its calls, with these defaults."""
    places = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    own = places[:1] in (["self"], ["cls"])
    defaults = {item.arg: value for item, value in parameters(function.args) if value is not None}
    found: set[str] = set()
    for _, call, name in test.calls:
        given = [item.arg for item in call.keywords]
        if name.rpartition(".")[2] != function.name or None in given:
            continue
        if not any(isinstance(item, ast.Starred) for item in call.args):
            found |= defaults.keys() - given - set(places[: len(call.args) + own])
    return {name: value for name, value in defaults.items() if name in found}


def unconditional(tree: ast.AST) -> Iterator[ast.AST]:
    """What runs whatever the arguments are: nothing below an `if`, but for `__name__ == "__main__"`."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.If | ast.IfExp) and not is_main_guard(node):
            stack.append(node.test)
        else:
            stack.extend(reversed(list(children(node))))


_NO_GPU = re.compile(r"not [\w.]*cuda\.is_available\(\)$")


def demanded(tree: ast.Module) -> int:
    """The line at which a test ends where there is no GPU; 0 if it does not."""
    for node in each(tree, ast.Assert, ast.If):
        asked = ast.unparse(node.test)
        if isinstance(node, ast.Assert):
            if asked.endswith("cuda.is_available()"):
                return node.lineno
        elif _NO_GPU.match(asked) and any(
            isinstance(item, ast.Raise) or "exit(" in ast.unparse(item) for item in node.body
        ):
            return node.lineno
    return 0


def skipped(tree: ast.Module) -> int:
    """The line at which tests are skipped where there is no GPU; 0 if none are."""
    for node in each(tree, ast.Call, ast.If):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call):
            asked = node.args if "skip" in dotted(node.func).lower() else []
        elif any("skip" in ast.unparse(item).lower() for item in node.body):
            asked = [node.test]
        if any("cuda" in ast.unparse(item) for item in asked):
            return node.lineno
    return 0


def cuda_default(test: Reading) -> int:
    """The line of a command-line option whose default is the GPU; 0 if there is none."""
    for _, node, name in test.calls:
        named = name.rpartition(".")[2] == "add_argument"
        if named and any(item.arg == "default" and _names_gpu(item.value) for item in node.keywords):
            return node.lineno
    return 0
