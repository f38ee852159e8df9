"""The edit: a new function in front, a call in place of the block, every other byte as it was."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from lmr_author.authoring.extracting.events import Function
from lmr_author.authoring.extracting.selection import SelectedBlock, last_line, suites
from lmr_author.core import code
from lmr_author.core.code.tree import last_name
from lmr_author.core.errors import SourceError, TargetError

WIDTH = 100
"""Signatures and calls longer than this many columns are broken."""


@dataclass(frozen=True)
class ExtractPlan:
    """The new function.

    Attributes:
        name: of the function.
        parameters: without ``self`` for a method.
        outputs: names that it returns and the call binds.
        receiver: name of ``self`` when it is a method, else "".
        returns: the call stands in a ``return``.
    """

    name: str
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    receiver: str
    returns: bool


def rewrite(module: code.Module, block: SelectedBlock, plan: ExtractPlan) -> bytes:
    """Return the file with the block moved into a new function.

    Raises TargetError when tabs and spaces are mixed in a way that cannot be moved.
    """
    newline = code.newline_after(module, block.start)
    above = _line_below(module, block, plan)
    function = module.encode(newline.join([*_function(module, block, plan, above), ""]))
    call = module.encode(newline.join(_call(module, block, plan)))
    end = module.line_start(block.end) + len(module.line_text(block.end))
    offsets = (module.line_start(above), module.line_start(block.start), end)
    put, cut, rest = map(module.byte_offset, offsets)
    before, after = _blank_lines(module, above, plan)
    blank, data = module.encode(code.newline_after(module, above)), module.data
    moved = blank * before + function + blank * after
    data = data[:put] + moved + data[put:cut] + call + data[rest:]
    _assert_faithful(module, data, block, plan)
    return data


def _line_below(module: code.Module, block: SelectedBlock, plan: ExtractPlan) -> int:
    """Return the line in front of which the function is put: before the comments of what stands there."""
    if plan.receiver:
        method, owner = block.scope, block.scopes[-2]
        assert isinstance(method, ast.stmt) and isinstance(owner, ast.ClassDef)
        header = [*owner.bases, *owner.decorator_list, *(keyword.value for keyword in owner.keywords)]
        floor = max([owner.lineno, *(part.end_lineno or 0 for part in header)])
        line, siblings = code.first_line(method), owner.body
    else:
        line, floor, siblings = code.first_line(block.top_level), 0, module.tree.body
        if block.top_level is block.statements[0]:
            line = block.start
    floor = max([floor, *(last_line(sibling) for sibling in siblings if code.first_line(sibling) < line)])
    top, comment = line, code.indent_of(module.line_text(line)) + "#"
    while top - 1 > floor and module.line_text(top - 1).startswith(comment):
        top -= 1
    # Comments at the top of a file (its licence, its encoding) are not about what follows them.
    return line if top == 1 else top


def _blank_lines(module: code.Module, line: int, plan: ExtractPlan) -> tuple[int, int]:
    """Return how many blank lines to add above and below a function at a line, as a reader expects them."""
    wanted = 1 if plan.receiver else 2
    last = line - 1
    while last >= 1 and not module.line_text(last).strip():
        last -= 1
    if last < 1:
        return 0, wanted
    previous = module.line_text(last).strip()
    if plan.receiver and previous.endswith(":") and not previous.startswith("#"):
        return 0, wanted
    return max(0, wanted - (line - 1 - last)), wanted


def _function(module: code.Module, block: SelectedBlock, plan: ExtractPlan, line: int) -> list[str]:
    base = code.indent_of(module.line_text(line)) if plan.receiver else ""
    unit = _unit(module)
    indent = base + unit
    parameters = [plan.receiver, *plan.parameters] if plan.receiver else [*plan.parameters]
    lines = _broken(f"{base}def {plan.name}(", parameters, "):", base, unit)
    old = code.indent_of(module.line_text(code.first_line(block.statements[0])))
    lines += code.indented(module, block.start, block.end, old, indent)
    if plan.outputs:
        lines.append(f"{indent}return {', '.join(plan.outputs)}")
    return lines


def _unit(module: code.Module) -> str:
    """Return one step of indentation, as the first indented statement of the file uses it."""
    for suite in suites(module.tree):
        around = [owner for owner in suite.owners if isinstance(owner, ast.stmt)]
        inner = code.indent_of(module.line_text(code.first_line(suite.statements[0])))
        outer = code.indent_of(module.line_text(code.first_line(around[-1]))) if around else inner
        if inner != outer and inner.startswith(outer):
            return inner.removeprefix(outer)
    return "    "


def _call(module: code.Module, block: SelectedBlock, plan: ExtractPlan) -> list[str]:
    """Return the lines of the statement that stands in place of the block."""
    indent = code.indent_of(module.line_text(code.first_line(block.statements[0])))
    name = f"{plan.receiver}.{plan.name}" if plan.receiver else plan.name
    bound = f"{', '.join(plan.outputs)} = " if plan.outputs else ""
    head = f"{indent}{'return ' if plan.returns else bound}{name}("
    return _broken(head, plan.parameters, ")", indent, _unit(module))


def _broken(head: str, names: Sequence[str], tail: str, indent: str, unit: str) -> list[str]:
    """Return ``head`` + names + ``tail`` on one line, or with the names on lines of their own."""
    whole = head + ", ".join(names) + tail
    if len(whole.expandtabs(4)) <= WIDTH or not names:
        return [whole]
    inner = indent + unit
    width = max(20, WIDTH - len(inner.expandtabs(4)))
    body = textwrap.wrap(", ".join(names) + ",", width, break_long_words=False)
    return [head, *(inner + line for line in body), indent + tail]


def _assert_faithful(module: code.Module, data: bytes, block: SelectedBlock, plan: ExtractPlan) -> None:
    """Check that with the call put back and the function taken out, the program is the one that it was."""
    try:
        tree = code.Module.parse(data, module.name).tree
        compile(data, module.name, "exec", dont_inherit=True)
        function = _take_out(tree, plan.name)
        _put_back(tree, plan.name, function.body[: len(function.body) - bool(plan.outputs)])
        is_same = ast.dump(tree) == ast.dump(module.tree)
    except (SourceError, SyntaxError):
        is_same = False  # tabs and spaces are mixed
    if not is_same:
        raise TargetError(
            f"lines {block.start}-{block.end} of {module.name} cannot be indented anew",
            "make the indentation of the block uniform first, or choose another range",
        )


def _take_out(tree: ast.Module, name: str) -> Function:
    for suite in suites(tree):
        for statement in suite.statements:
            if isinstance(statement, Function) and statement.name == name:
                suite.statements.remove(statement)
                return statement
    raise SourceError(f"{name} is not in its file", "report this file to the lmr-author project")


def _put_back(tree: ast.Module, name: str, statements: list[ast.stmt]) -> None:
    """Replace the statement whose value is the call of a function."""
    for suite in suites(tree):
        for number, statement in enumerate(suite.statements):
            called = getattr(getattr(statement, "value", None), "func", None)
            if last_name(called) == name:
                suite.statements[number : number + 1] = statements
                return
