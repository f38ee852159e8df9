"""What a file does while it is imported that stands in the way of a test: it calls the target, or reads a command line.

Read from the source alone; what an ``if`` keeps from running is taken to run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author import source

_PARSING = ("parse_args", "parse_known_args")


def remarks(module: source.Module, definition: source.Definition) -> Iterator[str]:
    """What the annotator should know, each on a line."""
    name = definition.qualname
    direct = next(_calls(_running(module.tree), name), None)
    if direct is not None:
        yield f"{name} is called when the file is imported (line {direct}): the masked file cannot be imported"
    elif (found := _by_way_of(module.tree, name)) is not None:
        line, caller = found
        yield (
            f"{name} is called by {caller}, which is called when the file is imported (line {line}): the masked "
            "file may not be importable"
        )
    demanded = _demanded(module.tree)
    if demanded is not None:
        line, argument = demanded
        yield (
            f"the file reads the command line when it is imported (line {line}) and demands {argument}: no test can "
            "import it; choose a function of another file"
        )


def _running(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run on import, in the order of the file; of functions only decorators and defaults."""
    stack: list[ast.AST] = list(reversed(tree.body))
    while stack:
        node = stack.pop()
        if source.is_main_guard(node):
            stack += reversed(node.orelse)
            continue
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            stack += [*getattr(node, "decorator_list", []), *node.args.defaults]
            stack += [default for default in node.args.kw_defaults if default is not None]
        else:
            stack += reversed(list(ast.iter_child_nodes(node)))


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
            line = next(_calls(_running(tree), node.name), None)
            if line is not None:
                return line, node.name
    return None


def _demanded(tree: ast.Module) -> tuple[int, str] | None:
    """Where the command line is read on import, and an argument that it must have; None when it need not."""
    running = [node for node in _running(tree) if isinstance(node, ast.Call)]
    methods = [(node, node.func.attr) for node in running if isinstance(node.func, ast.Attribute)]
    parsed = [node.lineno for node, name in methods if name in _PARSING and not (node.args or node.keywords)]
    required = [_required(node) for node, name in methods if name == "add_argument"]
    argument = next(filter(None, required), "")
    return (parsed[0], argument) if parsed and argument else None


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
