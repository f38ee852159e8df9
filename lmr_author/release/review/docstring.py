"""What a docstring says of parameters and result that the golden contradicts."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator

from lmr_author.core.code import FunctionNode, each

_ARGUMENTS = re.compile(
    r"^([ \t]*)(?:Args|Arguments|Parameters|Params):[ \t]*\n((?:\1[ \t]+.*(?:\n|$)|[ \t]*\n)*)", re.M
)
_ENTRY = re.compile(r"^([ \t]+)\*{0,2}(\w+)[ \t]*(?:\([^)\n]*\))?[ \t]*:", re.M)
_FIELD = re.compile(r"^[ \t]*:(?:param|parameter|arg|argument)\s+(?:[^:\n]*\s)?\*{0,2}(\w+)[ \t]*:", re.M)
_RETURNS = re.compile(
    r"^[ \t]*(?::(?:returns?|rtype):|(?:Returns?|Yields?):|Returns?[ \t]*\n[ \t]*-{3,})\s*(.*)", re.M
)


def docstring_contradictions(goldens: Iterable[FunctionNode]) -> Iterator[str]:
    """Yield what docstrings say of parameters and result that is not so."""
    for golden in goldens:
        yield from _contradictions(golden)


def _contradictions(golden: FunctionNode) -> Iterator[str]:
    text = inspect.cleandoc(ast.get_docstring(golden) or "")
    names = {argument.arg for argument in each(golden.args, ast.arg)}
    if not golden.args.kwarg:
        for name in dict.fromkeys(_documented(text)):
            if name not in names:
                yield f"the docstring describes {name}, which is no parameter"
    result = _RETURNS.search(text)
    if result is None:
        return
    says_none = re.match(r"(?:None|nothing)\b\W*$", result[1], re.I) is not None
    returned = [node for node in _own(golden) if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom)]
    returns_value = any(not isinstance(node, ast.Return) or _is_value(node.value) for node in returned)
    if says_none and returns_value:
        yield "the docstring says that it returns None, and the golden returns something"
    elif not says_none and not returns_value:
        yield "the docstring describes a result, and the golden returns nothing"


def _documented(text: str) -> Iterator[str]:
    yield from _FIELD.findall(text)
    for _, body in _ARGUMENTS.findall(text):
        entries = _ENTRY.findall(body)
        margin = min((len(indent) for indent, _ in entries), default=0)
        yield from (name for indent, name in entries if len(indent) == margin)


def _own(function: FunctionNode) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions and classes in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _is_value(node: ast.expr | None) -> bool:
    return node is not None and not (isinstance(node, ast.Constant) and node.value is None)
