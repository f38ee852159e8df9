"""Whether a file can be imported and its functions run, as far as its text tells: the command line, and Python 2.

What an ``if`` keeps from running is taken to run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author.source.tree import is_main_guard, walk

_PARSING = ("parse_args", "parse_known_args")
PYTHON_2 = frozenset(
    {"basestring", "cmp", "execfile", "long", "raw_input", "reduce", "unichr", "unicode", "xrange"}
)
"""Builtins that Python 3 no longer has; what a file binds itself is not meant."""
_VERSIONS = frozenset({"PY2", "PY3", "version_info", "python_2_unicode_compatible"})


def running(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run on import, in the order of the file; of functions only decorators and defaults."""
    stack: list[ast.AST] = list(reversed(tree.body))
    while stack:
        node = stack.pop()
        if is_main_guard(node):
            stack += reversed(node.orelse)
            continue
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            stack += [*getattr(node, "decorator_list", []), *node.args.defaults]
            stack += [default for default in node.args.kw_defaults if default is not None]
        else:
            stack += reversed(list(ast.iter_child_nodes(node)))


def python_2_names(tree: ast.Module, function: ast.AST) -> tuple[str, ...]:
    """Builtins of Python 2 that a function, or what it calls of its file, uses and the file does not bind, sorted.

    () where the file asks for Python's version.
    """
    used = _reached(tree, function) & PYTHON_2
    if not used:
        return ()
    bound: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Attribute):
            bound |= {node.attr} & _VERSIONS
    return () if bound & {"*", *_VERSIONS} else tuple(sorted(used - bound))


def _reached(tree: ast.Module, function: ast.AST) -> set[str]:
    """The names in a function and in the file's own functions that it names, and so on."""
    own = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    found: set[str] = set()
    waiting = [function]
    while waiting:
        names = {node.id for node in walk(waiting.pop()) if isinstance(node, ast.Name)} - found
        found |= names
        waiting += [own[name] for name in sorted(names) if name in own]
    return found


def demanded(tree: ast.Module) -> str:
    """What is demanded of the command line on import, with the line, as the end of a sentence; "" for nothing."""
    calls = [node for node in running(tree) if isinstance(node, ast.Call)]
    methods = [(node, node.func.attr) for node in calls if isinstance(node.func, ast.Attribute)]
    parsed = [node.lineno for node, name in methods if name in _PARSING and not (node.args or node.keywords)]
    required = [_required(node) for node, name in methods if name == "add_argument"]
    argument = next(filter(None, required), "")
    if not parsed or not argument:
        return ""
    return f"reads the command line when it is imported (line {parsed[0]}) and demands {argument}"


def _required(call: ast.Call) -> str:
    """The name of an argument that has to be given; "" for one that need not."""
    names = [
        item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    words = {word.arg: word.value for word in call.keywords}
    if not names:
        return ""
    if names[0].startswith("-"):
        required = words.get("required")
        return names[-1] if isinstance(required, ast.Constant) and required.value is True else ""
    optional = words.get("nargs")
    return "" if isinstance(optional, ast.Constant) and optional.value in ("?", "*") else names[0]
