"""What a driver would have to do, so that a recorded call tells a misreading from the golden."""

from __future__ import annotations

import ast
import copy
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author.core import code
from lmr_author.core.code import Definition, FunctionNode, Module
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Target
from lmr_author.core.task.challenge import Missing

MOST_LINES = 24
"""Lines of a difference that are kept."""
MOST_NAMES = 8
_OWN = ("self", "cls")
_LAST = re.compile(r"[^\W\d]\w*")
"""The words of a path, as of ``self.groups[0]['beta']``; the last one names the part."""


@dataclass(frozen=True)
class Line:
    """A statement, of a compound one its head: number of its line, text without what has no effect, names in it."""

    number: int
    text: str
    names: frozenset[str] = frozenset()


def missing(
    golden: Module,
    target: Definition,
    answer: bytes,
    summaries: Sequence[Mapping[str, str]],
    missed: Sequence[int],
) -> Missing:
    """Return where a misreading differs from the golden, and what of it no recorded call shows.

    Args:
        target: in the golden file.
        answer: the goal file with the misreading.
        summaries: of all recorded calls: argument or attribute → its value, or its type and shape.
        missed: lines at which blocks begin that no recorded call reaches.
    """
    given = _function_in(answer, golden.name, target)
    if given is None:
        return Missing()
    before, after = list(_lines(target.function)), list(_lines(given))
    numbers, diff, names = list[int](), list[str](), set[str]()
    old, new = ([line.text for line in lines] for lines in (before, after))
    for kind, start, end, first, last in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            continue
        # What is only added stands behind a line of the golden.
        numbers += [line.number for line in before[start:end] or before[max(start - 1, 0) : start]]
        names.update(*(line.names for line in (*before[start:end], *after[first:last])))
        diff += [f"-{line.text}" for line in before[start:end]] + [
            f"+{line.text}" for line in after[first:last]
        ]
    unreached = {line for start in missed for line in range(start, code.block_end(golden.tree, start) + 1)}
    names = _used(names, [target.function, given])
    return Missing(
        lines=tuple(dict.fromkeys(numbers)),
        diff="\n".join(diff[:MOST_LINES]),
        unreached=tuple(number for number in dict.fromkeys(numbers) if number in unreached),
        constant=_constant(summaries, names),
        not_given=_not_given(target, summaries, names),
    )


def _function_in(answer: bytes, name: str, target: Definition) -> FunctionNode | None:
    try:
        module = Module.parse(answer, name)
        return code.find(module, Target(name, target.qualname, nth=target.nth)).function
    except LmrError:
        return None


def _lines(function: FunctionNode) -> Iterator[Line]:
    """Yield the statements of a function as lines, without its docstring; of compound ones their heads."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    yield from _flat(body, "")


def _flat(body: Iterable[ast.stmt], indent: str) -> Iterator[Line]:
    inner = indent + "    "
    for statement in body:
        if not isinstance(getattr(statement, "body", None), list):
            names = frozenset(_names(statement))
            yield from (
                Line(statement.lineno, indent + text, names) for text in ast.unparse(statement).splitlines()
            )
            continue
        head = _head(statement)
        text = "try:" if isinstance(statement, ast.Try) else ast.unparse(head).splitlines()[0]
        yield Line(statement.lineno, indent + text, frozenset(_names(head)))
        yield from _flat(getattr(statement, "body", ()), inner)
        for handler in getattr(statement, "handlers", ()):
            caught = f" {ast.unparse(handler.type)}" if handler.type else ""
            yield Line(handler.lineno, f"{indent}except{caught}:")
            yield from _flat(handler.body, inner)
        for name, word in (("orelse", "else:"), ("finalbody", "finally:")):
            if rest := getattr(statement, name, ()):
                yield Line(rest[0].lineno, indent + word)
                yield from _flat(rest, inner)


def _head(statement: ast.stmt) -> ast.stmt:
    """Return a compound statement with an empty body, and nothing behind that."""
    alone: Any = copy.copy(statement)
    for name in ("orelse", "finalbody", "handlers"):
        if hasattr(alone, name):
            setattr(alone, name, [])
    alone.body = [ast.Pass()]
    head: ast.stmt = alone
    return head


def _used(names: Iterable[str], functions: Sequence[FunctionNode]) -> set[str]:
    """Return some names, and those from which they are computed in a function."""
    made: dict[str, set[str]] = {}
    for function in functions:
        for node in code.each(function, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.NamedExpr):
            value = getattr(node, "iter", None) or getattr(node, "value", None)
            for target in getattr(node, "targets", None) or [getattr(node, "target", node)]:
                for name in _names(target):
                    made.setdefault(name, set()).update(_names(value) if value is not None else ())
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += made.get(name, ())
    return found


def _names(node: ast.AST) -> set[str]:
    """Return the names in a node, with attributes (``self.beta``) and keys (``group['beta']``) by their last part."""
    keys = {
        one.slice.value
        for one in code.each(node, ast.Subscript)
        if isinstance(one.slice, ast.Constant) and isinstance(one.slice.value, str)
    }
    attributes = {one.attr for one in code.each(node, ast.Attribute)}
    return keys | attributes | {one.id for one in code.each(node, ast.Name)}


def _constant(summaries: Sequence[Mapping[str, str]], names: set[str]) -> dict[str, str]:
    """Return what every recorded call has alike among the arguments, attributes and keys with some names."""
    if not summaries:
        return {}
    alike = set.intersection(*(set(summary.items()) for summary in summaries))
    used = [
        (name, text)
        for name, text in summaries[0].items()
        if (name, text) in alike and name not in _OWN and _LAST.findall(name)[-1] in names
    ]
    return dict(used[:MOST_NAMES])


def _not_given(
    target: Definition, summaries: Sequence[Mapping[str, str]], names: set[str]
) -> tuple[str, ...]:
    parameters = [item.arg for item, _ in code.parameters(target.function.args)]
    given = {_LAST.findall(name)[0] for summary in summaries for name in summary}
    return tuple(name for name in parameters if name in names and name not in given and name not in _OWN)
