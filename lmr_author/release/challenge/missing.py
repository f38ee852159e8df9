"""Say what a driver would have to do, so that a recorded call tells a misreading from the golden."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.core import code
from lmr_author.core.code import Definition, FunctionNode, Module
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Target
from lmr_author.core.task.challenge import Missing

MOST_LINES = 24
"""Lines of a difference that are kept."""
MOST_NAMES = 8
_OWN = ("self", "cls")
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Line:
    """A line of normalized code, and its number in the file. A statement of several lines is one."""

    number: int
    text: str


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
    try:
        module = Module.parse(answer, golden.name)
        misreading = code.find(module, Target(golden.name, target.qualname, nth=target.nth)).function
    except LmrError:
        return Missing()
    before, after = _lines_of(target.function), _lines_of(misreading)
    numbers, diff = _difference(before, after)
    words = set(_WORD.findall("\n".join(diff)))
    # Backwards, so that the words from which a changed line is computed are among them.
    for line in reversed([*before, *after]):
        assigned, _, value = line.text.partition(" = ")
        if words.intersection(_WORD.findall(assigned)):
            words.update(_WORD.findall(value))
    unreached = {line for start in missed for line in range(start, code.block_end(golden.tree, start) + 1)}
    parameters = [parameter.arg for parameter, _ in code.parameters(target.function.args)]
    recorded = {_WORD.findall(path)[0] for summary in summaries for path in summary}
    return Missing(
        lines=tuple(numbers),
        diff="\n".join(diff[:MOST_LINES]),
        unreached=tuple(number for number in numbers if number in unreached),
        constant=_constant(summaries, words),
        not_given=tuple(name for name in parameters if name in words - recorded and name not in _OWN),
    )


def _difference(before: Sequence[Line], after: Sequence[Line]) -> tuple[list[int], list[str]]:
    old, new = ([line.text for line in lines] for lines in (before, after))
    numbers, diff = list[int](), list[str]()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            continue
        removed, added = before[start:end], after[first:last]
        # What is only added stands behind a line of the golden.
        numbers += [line.number for line in removed or before[max(start - 1, 0) : start]]
        diff += [f"-{line.text}" for line in removed]
        diff += [f"+{line.text}" for line in added]
    return list(dict.fromkeys(numbers)), diff


def _lines_of(function: FunctionNode) -> list[Line]:
    """Return the lines of a function without what has no effect: layout, comments and the docstring."""
    has_docstring = ast.get_docstring(function) is not None
    return list(_lines(function.body[1:] if has_docstring else function.body, ""))


def _lines(statements: Iterable[ast.stmt | ast.ExceptHandler], indent: str) -> Iterator[Line]:
    for statement in statements:
        text = indent + ast.unparse(statement)
        if not isinstance(getattr(statement, "body", None), list):
            yield Line(statement.lineno, text)
            continue
        yield Line(statement.lineno, text.splitlines()[0])
        for name, heading in (("body", ""), ("handlers", ""), ("orelse", "else:"), ("finalbody", "finally:")):
            block = getattr(statement, name, None) or ()
            if block and heading:
                yield Line(block[0].lineno, indent + heading)
            yield from _lines(block, indent if name == "handlers" else f"{indent}    ")


def _constant(summaries: Sequence[Mapping[str, str]], words: set[str]) -> dict[str, str]:
    """Return what every recorded call has alike among the arguments, attributes and keys with some names."""
    if not summaries:
        return {}
    alike = set.intersection(*(set(summary.items()) for summary in summaries))
    constant = {}
    for path, value in summaries[0].items():
        if (path, value) in alike and path not in _OWN and _WORD.findall(path)[-1] in words:
            constant[path] = value
    return dict(list(constant.items())[:MOST_NAMES])
