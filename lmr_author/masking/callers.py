"""Who calls a function with what: read off the repository's files, which stay as they are for an agent."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lmr_author import source
from lmr_author.errors import LmrError
from lmr_author.masking import locate
from lmr_author.taskdir import UNIT_TEST

MAX_FILES = 200
"""Files that are parsed at most: those that hold the name, the goal file first."""

MAX_TEXT = 60
"""Longest argument that is shown, in characters."""


@dataclass(frozen=True)
class Call:
    """One call of a function.

    Attributes:
        path: of the file.
        caller: qualified name of the function it stands in; "" for a module's top level.
        arguments: by parameter, the expression as written; long ones are left out.
        results: names that the result is unpacked into, as in ``losses, rewards = f(x)``.
    """

    path: str
    caller: str
    arguments: dict[str, str]
    results: tuple[str, ...]


def calls_of(repository: Path, module: source.Module, definition: source.Definition) -> tuple[Call, ...]:
    """Calls of a function in the files of its repository, its own file first; by name, where that is sure.

    A method is looked for under its own class, and elsewhere only when no other function has its name.
    """
    name = definition.class_name.rpartition(".")[2] if definition.name == "__init__" else definition.name
    if not name or (name.startswith("__") and name.endswith("__")):
        return ()
    modules = list(_modules(repository, module, name))
    same = sum(item.name == name for one in modules for item in one.definitions)
    found: list[Call] = []
    for one in modules:
        if one is module or same == 1 or not definition.class_name:
            found += _calls_in(one, definition, name, sure=same == 1, own=one is module)
    return tuple(found)


def _modules(repository: Path, module: source.Module, name: str) -> Iterator[source.Module]:
    """The goal file, and the files that hold the name; what cannot be read or parsed is passed over."""
    yield module
    left = MAX_FILES
    for path in locate.python_files(repository):
        relative = path.relative_to(repository).as_posix()
        if relative == module.name or relative.startswith(f"{UNIT_TEST}/") or not left:
            continue
        try:
            data = path.read_bytes()
            if name.encode() in data:
                left -= 1
                yield source.Module.parse(data, relative)
        except (LmrError, OSError):
            continue


def _calls_in(
    module: source.Module, definition: source.Definition, name: str, *, sure: bool, own: bool
) -> Iterator[Call]:
    assigned = {
        id(node.value): tuple(item.id for item in node.targets[0].elts if isinstance(item, ast.Name))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)
    }
    known = own or sure or name in _imported(module)
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or not _means(node.func, definition, name, known=known, sure=sure):
            continue
        caller = _around(module, node.lineno)
        if not (own and (caller + ".").startswith(definition.qualname + ".")):  # not from within itself
            arguments = dict(_bound(node, definition))
            yield Call(module.name, caller, arguments, assigned.get(id(node), ()))


def _means(func: ast.expr, definition: source.Definition, name: str, *, known: bool, sure: bool) -> bool:
    """Whether an expression that is called is the function, judged by its name."""
    if isinstance(func, ast.Name):
        return known and func.id == name and (not definition.class_name or definition.name == "__init__")
    if not isinstance(func, ast.Attribute) or func.attr != name:
        return False
    if not isinstance(func.value, ast.Name):
        return sure
    receiver = func.value.id
    if definition.class_name and definition.name != "__init__":
        return sure or receiver in ("self", "cls", definition.class_name.rpartition(".")[2])
    return sure


def _imported(module: source.Module) -> set[str]:
    return {
        name
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom)
        for name in source.bound_by(node)
    }


def _bound(call: ast.Call, definition: source.Definition) -> Iterator[tuple[str, str]]:
    """(parameter, expression) of each argument that says something: short, and no plain repetition."""
    node = definition.node
    assert not isinstance(node, ast.ClassDef)
    names = [item.arg for item in [*node.args.posonlyargs, *node.args.args]]
    static = any(ast.unparse(item) == "staticmethod" for item in node.decorator_list)
    if definition.class_name and names and not static:
        names = names[1:]
    pairs: list[tuple[str | None, ast.expr]] = []
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        pairs.append((name, value))
    pairs += [(keyword.arg, keyword.value) for keyword in call.keywords]
    for parameter, value in pairs:
        text = ast.unparse(value)
        if parameter is not None and len(text) <= MAX_TEXT and "\n" not in text and text != parameter:
            yield parameter, text


def _around(module: source.Module, line: int) -> str:
    inside = [
        item for item in module.definitions if item.kind == "function" and item.line <= line <= item.end_line
    ]
    return inside[-1].qualname if inside else ""
