"""Whether a test may run the target: by the names that it uses, and those that the code behind them does."""

from __future__ import annotations

import ast
from collections.abc import Set

from lmr_author.checks.follow import every_file
from lmr_author.checks.hidden import hidden
from lmr_author.checks.pairing import pair
from lmr_author.checks.reading import Reading
from lmr_author.checks.syntax import last_name
from lmr_author.checks.view import TaskView
from lmr_author.model import Implementation
from lmr_author.source import FunctionNode, each, walk


def mentions(view: TaskView, test: Reading, implementation: Implementation) -> bool:
    """Whether the target may be run, directly or through what the test uses: by names alone, generously."""
    one = pair(view, implementation)
    wanted = {target.qualname.rpartition(".")[2] for target in one.targets} | {
        implementation.goal_function.strip().rpartition(".")[2]
    }
    implicit = {name for name in wanted if name.startswith("__") or name in ("forward", "training_step")}
    owners = {target.qualname.rpartition(".")[0].rpartition(".")[2] for target in one.targets} - {""}
    if implicit or not wanted - {""}:
        wanted |= owners
    named = named_in(test, never_run(test))
    if wanted & named or not every_file(view, implementation):
        return True
    return bool(wanted & _reached(view, test, implementation, named))


def own_version(view: TaskView, test: Reading, implementation: Implementation) -> ast.ClassDef | None:
    """A class of the test whose method replaces the target, where the test has no object of the real class.

    None where it may have one: it names the class elsewhere, or something that does, or calls what it replaced.
    """
    targets = pair(view, implementation).targets
    owner, _, name = targets[0].qualname.rpartition(".") if len(targets) == 1 else ("", "", "")
    owner, aliases = owner.rpartition(".")[2], aliases_in(test.module.tree)
    own: list[ast.ClassDef] = []
    without = never_run(test)
    for node in each(test.module.tree, ast.ClassDef, ast.Call) if owner else ():
        if isinstance(node, ast.Call):
            asks = last_name(node.func) in ("isinstance", "issubclass", "assertIsInstance")
            without |= {id(item) for part in node.args[1:2] if asks for item in walk(part)}
            continue
        bases = [base for base in node.bases if aliases.get(last_name(base), last_name(base)) == owner]
        if bases and _replaces(node, name):
            own.append(node)
            without |= {id(item) for base in bases for item in walk(base)}
    if not own or not every_file(view, implementation) or _listed(view, test, implementation, owner):
        return None
    reached = _reached(view, test, implementation, named_in(test, without))
    return None if reached & {owner, *_BY_NAME} else own[0]


_BY_NAME = frozenset({"getattr", "globals", "locals", "vars", "eval", "__subclasses__", "__init_subclass__"})
"""What finds a class that nothing names."""


def _listed(view: TaskView, test: Reading, implementation: Implementation, owner: str) -> bool:
    """Whether a class is kept elsewhere than under its name: in a table of its module, or by a decorator."""
    files = [path for path in every_file(view, implementation) if path != test.path]
    for module in filter(None, map(view.module, files)):
        for line in module.tree.body:
            if isinstance(line, ast.ClassDef) and line.name == owner:
                if line.decorator_list or line.keywords:
                    return True
            elif not isinstance(line, FunctionNode | ast.ClassDef) and owner in used_in(line):
                return True
    return False


def _replaces(node: ast.ClassDef, name: str) -> bool:
    """Whether a class has a method of a name, and calls none that it replaces."""
    calls = (item.func for item in walk(node) if isinstance(item, ast.Call))
    called = any(
        isinstance(item, ast.Attribute) and item.attr == name and isinstance(item.value, ast.Call)
        for item in calls
    )
    return not called and any(isinstance(item, FunctionNode) and item.name == name for item in node.body)


def never_run(test: Reading) -> set[int]:
    """The ids of what is in functions that others of the same name replace."""
    return {id(item) for module in test.modules for first, _ in hidden(module.tree) for item in walk(first)}


def _reached(view: TaskView, test: Reading, implementation: Implementation, named: Set[str]) -> set[str]:
    """Some names, and those that everything of these names uses in the repository's code."""
    one, used = pair(view, implementation), set(named)
    # All that the test names is there already.
    files = [path for path in every_file(view, implementation) if path != test.path]
    definitions: dict[str, set[str]] = {}
    for path in [*files, *([one.golden_path] if one.golden_path else [])]:
        module = view.module(path)
        for item in module.definitions if module else ():
            definitions.setdefault(item.name, set()).update(used_in(item.node))
    waiting = list(used)
    while waiting:
        for name in definitions.get(waiting.pop(), set()) - used:
            used.add(name)
            waiting.append(name)
    return used


def named_in(test: Reading, without: Set[int]) -> set[str]:
    """The names that a test and its helpers use, and what they are imported as."""
    used = set().union(*(used_in(module.tree, without) for module in test.modules))
    aliases = aliases_in(test.module.tree)
    return used | {aliases[name] for name in used if name in aliases}


def used_in(tree: ast.AST, without: Set[int] = frozenset()) -> set[str]:
    """Names and attributes that code reads, and texts that look like names (getattr, registries).

    Args:
        without: the ids of nodes that are left out.
    """
    found = set()
    for node in walk(tree):
        if id(node) in without:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            found.add("*")
    return found


def aliases_in(tree: ast.AST) -> dict[str, str]:
    return {
        alias.asname: alias.name.rpartition(".")[2]
        for node in each(tree, ast.Import, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
