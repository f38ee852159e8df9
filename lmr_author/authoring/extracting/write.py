"""The edit: a new function in front, a call in place of the block, every other byte as it was.

libcst gives the block's statements another indentation; only these lines go through it, the rest of the file is copied.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmr_author.authoring.extracting.events import Function
from lmr_author.authoring.extracting.selection import SelectedBlock, last_line, suites
from lmr_author.core import code
from lmr_author.core.errors import SourceError, TargetError

if TYPE_CHECKING:
    import libcst as cst

WIDTH = 100
"""Signatures and calls longer than this many columns are broken."""

_INDENT = re.compile(r"[ \t\f]*")


@dataclass(frozen=True)
class ExtractPlan:
    """The new function.

    Attributes:
        name: of the function.
        parameters: without ``self`` for a method.
        outputs: names that it returns and the call binds.
        as_globals: names that it declares ``global``.
        receiver: name of ``self`` when it is a method, else "".
        returns: the call stands in a ``return``.
        reaches_end: a ``return`` of the outputs can be reached.
    """

    name: str
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    as_globals: tuple[str, ...]
    receiver: str
    returns: bool
    reaches_end: bool


def rewrite(module: code.Module, block: SelectedBlock, plan: ExtractPlan) -> bytes:
    """Return the file with the block moved into a new function.

    Raises TargetError when tabs and spaces are mixed in a way that cannot be moved, SourceError when the
    result would not be what was meant (a bug).
    """
    newline = code.newline_after(module, block.start)
    place = _place(module, block, plan)
    function = module.encode(newline.join([*_function(module, block, plan, place), ""]))
    call = module.encode(newline.join(_call(module, block, plan)))
    end = module.line_start(block.end) + len(module.line_text(block.end))
    cuts = [
        module.byte_offset(item) for item in (module.line_start(place), module.line_start(block.start), end)
    ]
    above, below = _blank_lines(module, place, plan)
    blank, data = module.encode(code.newline_after(module, place)), module.data
    data = b"".join(
        [
            data[: cuts[0]],
            blank * above,
            function,
            blank * below,
            data[cuts[0] : cuts[1]],
            call,
            data[cuts[2] :],
        ]
    )
    _assert_faithful(module, data, plan)
    return data


def _place(module: code.Module, block: SelectedBlock, plan: ExtractPlan) -> int:
    """Return the line in front of which the function is put: before the comments of what stands there."""
    if plan.receiver:
        method, owner = block.scope, block.scopes[-2]
        assert isinstance(method, ast.stmt) and isinstance(owner, ast.ClassDef)
        header = [*owner.bases, *owner.decorator_list, *(item.value for item in owner.keywords)]
        floor = max([owner.lineno, *(item.end_lineno or 0 for item in header)])
        line, siblings = code.first_line(method), owner.body
    else:
        line, floor, siblings = code.first_line(block.top_level), 0, module.tree.body
        if block.top_level is block.statements[0]:
            line = block.start
    floor = max([floor, *(last_line(item) for item in siblings if code.first_line(item) < line)])
    top, comment = line, indent_of(module.line_text(line)) + "#"
    while top - 1 > floor and module.line_text(top - 1).startswith(comment):
        top -= 1
    # Comments at the top of a file (its licence, its encoding) are not about what follows them.
    return line if top == 1 else top


def _blank_lines(module: code.Module, place: int, plan: ExtractPlan) -> tuple[int, int]:
    """Return how many blank lines to add above and below the function, as a reader expects them."""
    wanted, above = 1 if plan.receiver else 2, 0
    while place - 1 - above >= 1 and not module.line_text(place - 1 - above).strip():
        above += 1
    previous = module.line_text(place - 1 - above) if place - 1 - above >= 1 else ""
    first = not previous or (
        plan.receiver and previous.rstrip().endswith(":") and not previous.lstrip().startswith("#")
    )
    return (0 if first else max(0, wanted - above)), wanted


def _function(module: code.Module, block: SelectedBlock, plan: ExtractPlan, place: int) -> list[str]:
    """Return the lines of the new function."""
    base = indent_of(module.line_text(place)) if plan.receiver else ""
    unit = _unit(module, block)
    indent = base + unit
    parameters = [plan.receiver, *plan.parameters] if plan.receiver else [*plan.parameters]
    lines = _broken(f"{base}def {plan.name}(", parameters, "):", base, unit)
    if plan.as_globals:
        lines.append(f"{indent}global {', '.join(plan.as_globals)}")
    lines += _moved(module, block, indent)
    if plan.outputs and plan.reaches_end:
        lines.append(f"{indent}return {', '.join(plan.outputs)}")
    return lines


def _moved(module: code.Module, block: SelectedBlock, indent: str) -> list[str]:
    """Return the lines of the block with another indentation; strings keep their lines as they are."""
    import libcst as cst  # takes 0.2 s, which `extract --help` need not wait for

    numbers = range(block.start, block.end + 1)
    text = "\n".join([*(module.line_text(number) for number in numbers), ""])
    indented = bool(indent_of(module.line_text(code.first_line(block.statements[0]))))
    try:
        parsed = cst.parse_module(f"if 1:\n{text}" if indented else text)
        around: cst.Module | cst.IndentedBlock = parsed
        if indented:
            around = cst.ensure_type(cst.ensure_type(parsed.body[0], cst.If).body, cst.IndentedBlock)
        above = [] if indented else parsed.header
        below = [*around.footer, *(parsed.footer if indented else ())]
        statements: list[cst.SimpleStatementLine | cst.BaseCompoundStatement] = []
        for item in around.body:
            assert isinstance(item, cst.SimpleStatementLine | cst.BaseCompoundStatement)
            lines = [_aligned(line) for line in (*above, *item.leading_lines)]
            statements.append(item.with_changes(leading_lines=lines))
            above = []
        body = cst.IndentedBlock(statements, indent=indent, footer=[_aligned(line) for line in below])
        edited = parsed.with_changes(body=[cst.If(cst.Integer("1"), body)], header=[], footer=[]).code
    except (cst.ParserSyntaxError, RecursionError, AssertionError) as error:
        raise TargetError(
            f"lines {block.start}-{block.end} of {module.name} cannot be indented anew",
            "make the indentation of the block uniform first",
        ) from error
    return edited.split("\n")[1 : 1 + len(numbers)]


def _aligned(line: cst.EmptyLine) -> cst.EmptyLine:
    """Return a comment with the indentation of its block; a blank line gets none."""
    import libcst as cst

    if line.comment and not line.indent:
        return line.with_changes(indent=True, whitespace=cst.SimpleWhitespace(""))
    return line.with_changes(indent=bool(line.comment))


def _unit(module: code.Module, block: SelectedBlock) -> str:
    """Return one step of indentation, as the statement around the block or the file uses it."""
    steps = {}
    for suite in suites(module.tree):
        first = code.first_line(suite.statements[0])
        owner = next((item for item in reversed(suite.owners) if isinstance(item, ast.stmt)), None)
        inner = indent_of(module.line_text(first))
        outer = indent_of(module.line_text(code.first_line(owner))) if owner else inner
        if inner != outer and inner.startswith(outer):
            steps[first] = inner.removeprefix(outer)
    start, end = code.first_line(block.top_level), last_line(block.top_level)
    near = [steps[line] for line in sorted(steps) if start < line <= end]
    return next(iter([*near, *(steps[line] for line in sorted(steps))]), "    ")


def _call(module: code.Module, block: SelectedBlock, plan: ExtractPlan) -> list[str]:
    """Return the lines of the statement that stands in place of the block."""
    indent = indent_of(module.line_text(code.first_line(block.statements[0])))
    name = f"{plan.receiver}.{plan.name}" if plan.receiver else plan.name
    bound = f"{', '.join(plan.outputs)} = " if plan.outputs and plan.reaches_end else ""
    head = f"{indent}{'return ' if plan.returns else bound}{name}("
    return _broken(head, plan.parameters, ")", indent, _unit(module, block))


def _broken(head: str, items: Sequence[str], tail: str, indent: str, unit: str) -> list[str]:
    """Return ``head`` + items + ``tail`` on one line, or with the items on lines of their own."""
    whole = head + ", ".join(items) + tail
    if len(whole.expandtabs(4)) <= WIDTH or not items:
        return [whole]
    inner = indent + unit
    width = max(20, WIDTH - len(inner.expandtabs(4)))
    body = textwrap.wrap(", ".join(items) + ",", width, break_long_words=False)
    return [head, *(inner + line for line in body), indent + tail]


def _assert_faithful(module: code.Module, data: bytes, plan: ExtractPlan) -> None:
    """Check that with the call put back and the function taken out, the program is the one that it was."""
    try:
        tree = code.Module.parse(data, module.name).tree
        compile(data, module.name, "exec", dont_inherit=True)
        owner, function = next(
            (suite.statements, item)
            for suite in suites(tree)
            for item in suite.statements
            if isinstance(item, Function) and item.name == plan.name
        )
        owner.remove(function)
        last = len(function.body) - bool(plan.outputs and plan.reaches_end)
        statements, place = next(
            (suite.statements, number)
            for suite in suites(tree)
            for number, item in enumerate(suite.statements)
            if _called(item) == plan.name
        )
        statements[place : place + 1] = function.body[bool(plan.as_globals) : last]
    except (SourceError, SyntaxError, StopIteration) as error:
        raise SourceError(
            f"{module.name}: the block cannot be moved: {error}", "choose another range, and report this one"
        ) from error
    if ast.dump(tree) != ast.dump(module.tree):
        raise SourceError(
            f"{module.name}: extracting would change more than the block",
            "choose another range, and report this one",
        )


def _called(statement: ast.stmt) -> str:
    """Return the last name of the function whose call is the value of a statement, or ""."""
    called = getattr(getattr(statement, "value", None), "func", None)
    return str(getattr(called, "id", getattr(called, "attr", "")))


def indent_of(text: str) -> str:
    """Return the white space that a line begins with."""
    match = _INDENT.match(text)
    return match.group() if match else ""
