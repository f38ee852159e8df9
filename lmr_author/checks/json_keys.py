"""Which keys a test takes from its JSON fixtures, and whether they are there."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

from lmr_author.checks.path_texts import HOME
from lmr_author.checks.reading import Reading
from lmr_author.checks.syntax import dotted
from lmr_author.checks.view import TaskView
from lmr_author.source import each


def missing_keys(view: TaskView, test: Reading) -> Iterator[tuple[int, str, str]]:
    """(line, key, file) of each key that the test needs from a JSON file of its own and that is not in it.

    ``data["cases"]`` would stop even the golden; ``data.get("cases", [])`` lets a loop run over nothing.
    """
    loaded = _loaded(view, test)
    said: set[tuple[str, str]] = set()
    for node in each(test.module.tree, ast.Subscript, ast.Call):
        key: object = None
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.slice, ast.Constant)
        ):
            owner, key = dotted(node.value), node.slice.value
        elif isinstance(node, ast.Call) and dotted(node.func).endswith(".get") and node.args:
            owner = dotted(node.func).removesuffix(".get")
            empty = [
                item for item in node.args[1:] if isinstance(item, ast.List | ast.Dict) and not _full(item)
            ]
            key = node.args[0].value if empty and isinstance(node.args[0], ast.Constant) else None
        else:
            continue
        if not isinstance(key, str) or owner.replace("cls.", "self.", 1) not in loaded:
            continue
        keys, name = loaded[owner.replace("cls.", "self.", 1)]
        if key not in keys and (key, name) not in said:
            said.add((key, name))
            yield node.lineno, key, name


def _full(node: ast.List | ast.Dict) -> bool:
    return bool(node.elts if isinstance(node, ast.List) else node.values)


def _loaded(view: TaskView, test: Reading) -> dict[str, tuple[frozenset[str], str]]:
    """Variables that hold an object of a JSON file of the task → (its keys, the file's name)."""
    assert view.repository is not None
    opened: dict[str, set[str]] = {}
    found: dict[str, list[tuple[frozenset[str], str] | None]] = {}
    for item in each(test.module.tree, ast.withitem):
        if isinstance(item.optional_vars, ast.Name) and not _writes(item.context_expr):
            text = _opened(test, item.context_expr)
            opened.setdefault(item.optional_vars.id, set()).add(text or "")
    for node in each(test.module.tree, *_STORES):
        for target, value in _stores(node):
            name = dotted(target).replace("cls.", "self.", 1)
            paths = {""}
            if isinstance(value, ast.Call) and dotted(value.func) == "json.load" and value.args:
                source = value.args[0]
                paths = (
                    opened.get(source.id, {""}) if isinstance(source, ast.Name) else {_opened(test, source)}
                )
            found.setdefault(name, []).append(_keys(view, paths))
    return {name: seen[0] for name, seen in found.items() if name and len(seen) == 1 and seen[0] is not None}


_STORES = (ast.Assign, ast.AugAssign, ast.For, ast.AnnAssign, ast.arg, ast.Subscript)


def _stores(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """(target, value) of an assignment; value None where it is not a plain one."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AugAssign | ast.For | ast.AnnAssign):
        yield node.target, None
    elif isinstance(node, ast.arg):
        yield ast.Name(node.arg), None
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        yield node.value, None  # a key is added later


def _opened(test: Reading, node: ast.expr) -> str:
    """The path that an expression opens for reading; "" when it does not, or when it cannot be told."""
    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "open":
        method = isinstance(node.func, ast.Attribute) and dotted(node.func) not in ("io.open", "codecs.open")
        argument = (
            node.func.value
            if method and isinstance(node.func, ast.Attribute)
            else next(iter(node.args), None)
        )
        return test.path_of(argument) or ""
    return ""


def _writes(node: ast.expr) -> bool:
    """Whether an expression opens a file for writing: a log that goes by the name of the fixture's handle."""
    modes = [*node.args[1:2], *(item.value for item in node.keywords)] if isinstance(node, ast.Call) else []
    return any(isinstance(mode, ast.Constant) and str(mode.value)[:1] in "wax" for mode in modes)


def _keys(view: TaskView, paths: set[str]) -> tuple[frozenset[str], str] | None:
    """The keys of the one JSON object of the repository that is meant, with its name."""
    path = next(iter(paths)) if len(paths) == 1 else ""
    if view.repository is None or not path.startswith(f"{HOME}/"):
        return None
    file = view.inside(view.repository, path.removeprefix(f"{HOME}/"))
    data = view.read_bytes(file) if file is not None and view.is_file(file) else None
    try:
        value = json.loads(data) if data else None
    except (ValueError, RecursionError):
        return None
    return (frozenset(value), path.rpartition("/")[2]) if isinstance(value, dict) else None
