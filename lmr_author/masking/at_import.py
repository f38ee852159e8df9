"""What stands in the way of a test: a file that, while it is imported, calls the target or reads a command line.

Read from the source alone; what an ``if`` keeps from running is taken to run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author import source


def remarks(module: source.Module, definition: source.Definition) -> Iterator[str]:
    """What the annotator should know, each on a line."""
    name = definition.qualname
    direct = next(_calls(source.running(module.tree), name), None)
    if direct is not None:
        yield (
            f"{name} is called when the file is imported (line {direct}): the masked file cannot be imported, so no "
            "test can judge an answer; choose another function"
        )
    elif (found := _by_way_of(module.tree, name)) is not None:
        line, caller = found
        yield (
            f"{name} is called by {caller}, which is called when the file is imported (line {line}): the masked "
            "file may not be importable"
        )
    if demand := source.demanded(module.tree):
        yield f"the file {demand}: no test can import it; choose a function of another file"
    if gone := source.python_2_names(module.tree, definition.node):
        yield (
            f"{name}, or what it calls of its file, uses {', '.join(gone)}, which Python 3 does not have: it cannot "
            "run; choose another function"
        )


def _calls(nodes: Iterator[ast.AST], name: str) -> Iterator[int]:
    """Lines that call a top-level function; decorating is calling."""
    for node in nodes:
        called = [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", [])
        for item in called:
            if isinstance(item, ast.Name) and item.id == name:
                yield item.lineno


def _by_way_of(tree: ast.Module, name: str) -> tuple[int, str] | None:
    """A function that runs on import and calls the target: the line that calls it, and its name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and next(_calls(ast.walk(node), name), None) is not None:
            line = next(_calls(source.running(tree), node.name), None)
            if line is not None:
                return line, node.name
    return None
