"""Edit a function's source as people do who copy it. Source (dedented, starting with ``def``) -> source."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable


def same(source: str) -> str:
    """Unchanged, but under another name."""
    return re.sub(r"def \w+", "def helper_of_old_version", source, count=1)


def renamed(source: str) -> str:
    """Every local variable and parameter has another name."""
    tree = ast.parse(same(source))
    nodes = list(ast.walk(tree))
    names = {item.arg for item in nodes if isinstance(item, ast.arg)} - {"self", "cls"}
    names |= {item.id for item in nodes if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    new = {name: f"v{number}" for number, name in enumerate(sorted(names))}
    for item in nodes:
        if isinstance(item, ast.Name):
            item.id = new.get(item.id, item.id)
        elif isinstance(item, ast.arg):
            item.arg = new.get(item.arg, item.arg)
    return ast.unparse(tree) + "\n"


def reordered(source: str) -> str:
    """The statements of the longest block stand in reverse order."""
    tree = ast.parse(same(source))
    max((getattr(node, "body", []) for node in ast.walk(tree)), key=len).reverse()
    return ast.unparse(tree) + "\n"


def annotated(source: str) -> str:
    """With annotations, log lines and an import."""
    text = re.sub(r"(?m)^( +)(\w+) = ", r"\1logger.debug('here %s', 1)\n\1\2: Any = ", same(source))
    return re.sub(r"(?m)^(    \"\"\".*)$", r"\1\n    import os", text, count=1)


def one_line_changed(source: str) -> str:
    """One statement in the middle computes something else."""
    assignments = list(re.finditer(r"(?m)^( +)\w+ = .*$", source))
    middle = assignments[len(assignments) // 2]
    changed = f"{middle[1]}something_else = compute_it(1, 2)"
    return same(source[: middle.start()] + changed + source[middle.end() :])


EDITS: dict[str, Callable[[str], str]] = {
    "same": same,
    "renamed": renamed,
    "reordered": reordered,
    "annotated": annotated,
    "one line changed": one_line_changed,
}
