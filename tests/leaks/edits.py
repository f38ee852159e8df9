"""Edit a function's source as people do who copy it. Source (dedented, starting with ``def``) -> source."""

from __future__ import annotations

import ast
from collections.abc import Callable


def same(source: str) -> str:
    """Unchanged, but under another name."""
    tree = ast.parse(source)
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    node.name = "helper_of_old_version"
    return ast.unparse(tree) + "\n"


def renamed(source: str) -> str:
    """Every local variable and parameter has another name."""
    tree = ast.parse(source)
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    node.name = "other"
    names = {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)} - {"self", "cls"}
    names |= {
        item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }
    new = {name: f"v{number}" for number, name in enumerate(sorted(names))}
    for item in ast.walk(node):
        if isinstance(item, ast.Name) and item.id in new:
            item.id = new[item.id]
        elif isinstance(item, ast.arg) and item.arg in new:
            item.arg = new[item.arg]
    return ast.unparse(tree) + "\n"


def reordered(source: str) -> str:
    """The statements of the longest block stand in reverse order."""
    tree = ast.parse(source)
    blocks = [
        getattr(node, "body", [])
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.For | ast.If | ast.With | ast.While)
    ]
    max(blocks, key=len).reverse()
    return same(ast.unparse(tree))


def annotated(source: str) -> str:
    """With annotations, log lines, a docstring and an import."""
    tree = ast.parse(source)
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef)
    node.name = "typed"
    for argument in node.args.args:
        argument.annotation = ast.parse("Tensor | None", mode="eval").body
    for block in [
        item.body for item in ast.walk(node) if isinstance(item, ast.For | ast.If | ast.FunctionDef)
    ]:
        for place, item in enumerate(block):
            if (
                isinstance(item, ast.Assign)
                and len(item.targets) == 1
                and isinstance(item.targets[0], ast.Name)
            ):
                annotation = ast.parse("Any", mode="eval").body
                block[place] = ast.AnnAssign(item.targets[0], annotation, item.value, simple=1)
        block.insert(0, ast.parse("logger.debug('here %s', 1)").body[0])
    node.body.insert(0, ast.parse("'''A new docstring.'''").body[0])
    node.body.insert(1, ast.parse("import os").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def one_line_changed(source: str) -> str:
    """One statement in the middle computes something else."""
    tree = ast.parse(source)
    places = [
        (block, place)
        for block in (getattr(node, "body", None) for node in ast.walk(tree))
        if isinstance(block, list)
        for place, item in enumerate(block)
        if isinstance(item, ast.Assign | ast.Expr | ast.AugAssign)
        and not isinstance(item.value, ast.Constant)
    ]
    if places:
        block, place = places[len(places) // 2]
        block[place] = ast.parse("something_else = compute_it(1, 2)").body[0]
    return same(ast.unparse(tree))


EDITS: dict[str, Callable[[str], str]] = {
    "same": same,
    "renamed": renamed,
    "reordered": reordered,
    "annotated": annotated,
    "one line changed": one_line_changed,
}
