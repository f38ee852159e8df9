"""The edit: a new function in front, a call in place of the block, every other byte as it was."""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass

from lmr_author import code
from lmr_author.code.module import NEWLINE
from lmr_author.errors import SourceError, TargetError
from lmr_author.extracting.selection import Block, last_line

WIDTH = 100
"""Signatures and calls longer than this many columns are broken."""

_INDENT = re.compile(r"[ \t\f]*")


@dataclass(frozen=True)
class Plan:
    """What the new function is.

    Attributes:
        name: of the function.
        parameters: without ``self`` for a method.
        outputs: names that it returns and the call binds.
        as_globals: names that it declares ``global``.
        receiver: name of ``self`` when it is a method, else "".
        is_async: a coroutine, called with ``await``.
        yields: a generator, called with ``yield from``.
        returns: the call stands in a ``return``.
        reaches_end: whether a ``return`` of the outputs can be reached.
    """

    name: str
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    as_globals: tuple[str, ...]
    receiver: str
    is_async: bool
    yields: bool
    returns: bool
    reaches_end: bool


def rewrite(module: code.Module, block: Block, plan: Plan) -> bytes:
    """The file with the block moved into a new function.

    Raises TargetError when tabs and spaces are mixed in a way that cannot be moved, SourceError when the
    result would not be what was meant (a bug).
    """
    place = _place(module, block, plan)
    base = _indent_of(module.line_text(place)) if plan.receiver else ""
    function = _function(module, block, plan, base)
    start, end = (
        module.line_start(block.start),
        module.line_start(block.end) + len(module.line_text(block.end)),
    )
    call = module.encode(_call(module, block, plan))
    cuts = (module.byte_offset(module.line_start(place)), module.byte_offset(start), module.byte_offset(end))
    data = module.data[: cuts[0]] + _spaced(module, place, function, plan)
    data += module.data[cuts[0] : cuts[1]] + call + module.data[cuts[2] :]
    _assert_faithful(module, data, plan)
    return data


def _place(module: code.Module, block: Block, plan: Plan) -> int:
    """The line in front of which the function is put: before the comments of what stands there."""
    if plan.receiver:
        method, owner = block.scope, block.scopes[-2]
        assert isinstance(method, ast.stmt) and isinstance(owner, ast.ClassDef)
        line, floor, siblings = code.first_line(method), _header_end(owner), owner.body
    else:
        line, floor, siblings = code.first_line(block.top_level), 0, module.tree.body
        if block.top_level is block.statements[0]:
            line = block.start
    floor = max([floor, *(last_line(module, item) for item in siblings if code.first_line(item) < line)])
    indent = _indent_of(module.line_text(line))
    top = line
    while top - 1 > floor and module.line_text(top - 1).startswith(indent + "#"):
        top -= 1
    # Comments at the top of a file (its licence, its encoding) are not about what follows them.
    return line if top == 1 else top


def _header_end(owner: ast.ClassDef) -> int:
    """The last line of a class's header that holds an expression."""
    ends = [item.end_lineno or 0 for item in (*owner.bases, *owner.decorator_list)]
    return max([owner.lineno, *ends, *(item.value.end_lineno or 0 for item in owner.keywords)])


def _spaced(module: code.Module, place: int, function: bytes, plan: Plan) -> bytes:
    """The function with the blank lines around it that a reader expects."""
    blank = module.encode(code.newline_after(module, place))
    wanted = 1 if plan.receiver else 2
    above = 0
    while place - 1 - above >= 1 and not module.line_text(place - 1 - above).strip():
        above += 1
    nothing = place - 1 - above < 1
    if plan.receiver:
        previous = module.line_text(place - 1 - above)
        nothing = nothing or (previous.rstrip().endswith(":") and not previous.lstrip().startswith("#"))
    return blank * (0 if nothing else max(0, wanted - above)) + function + blank * wanted


def _function(module: code.Module, block: Block, plan: Plan, base: str) -> bytes:
    """The new function's bytes, final line ending included."""
    newline = module.encode(code.newline_after(module, block.start))
    unit = _unit(module, block)
    indent = base + unit
    parameters = [plan.receiver, *plan.parameters] if plan.receiver else [*plan.parameters]
    word = "async def" if plan.is_async else "def"
    head = _broken(f"{base}{word} {plan.name}(", parameters, "):", base, unit)
    if plan.as_globals:
        head += [f"{indent}global {', '.join(plan.as_globals)}"]
    tail = [f"{indent}return {', '.join(plan.outputs)}"] if plan.outputs and plan.reaches_end else []
    lines = [*map(module.encode, head), *_moved(module, block, indent), *map(module.encode, tail)]
    return b"".join(line + newline for line in lines)


def _moved(module: code.Module, block: Block, indent: str) -> list[bytes]:
    """The lines of the block, re-indented but for those that begin inside a string."""
    old = _indent_of(module.line_text(code.first_line(block.statements[0])))
    starts, strings = _statement_starts_and_strings(module)
    moved = []
    for number in range(block.start, block.end + 1):
        text = module.line_text(number)
        start = module.line_start(number)
        cut, new = 0, ""
        if number not in strings and text.strip():
            if text.startswith(old):
                cut, new = len(old), indent
            elif text.lstrip(" \t\f").startswith("#"):
                cut, new = len(_indent_of(text)), indent
            elif number in starts:
                raise TargetError(
                    f"line {number} of {module.name} is not indented with the block's tabs and spaces",
                    "make the indentation of the block uniform first",
                )
        begin, end = module.byte_offset(start + cut), module.byte_offset(start + len(text))
        moved.append(module.encode(new) + module.data[begin:end])
    return moved


def _statement_starts_and_strings(module: code.Module) -> tuple[set[int], set[int]]:
    """Lines on which a logical line begins, and lines that begin inside a string."""
    starts: set[int] = set()
    strings: set[int] = set()
    fresh, opened = True, []
    for token in _tokens(module):
        if token.type == tokenize.NEWLINE:
            fresh = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            if fresh:
                starts.add(token.start[0])
            fresh = False
        name = tokenize.tok_name[token.type]
        if name.endswith("STRING_START"):  # of an f-string, from Python 3.12 on
            opened.append(token.start[0])
        elif name == "STRING" or name.endswith("STRING_END"):
            begin = token.start[0] if name == "STRING" else opened.pop()
            strings |= set(range(begin + 1, token.end[0] + 1))
    return starts, strings


def _tokens(module: code.Module) -> list[tokenize.TokenInfo]:
    lines = [line + "\n" for line in NEWLINE.split(module.text)]
    try:
        return list(tokenize.generate_tokens(io.StringIO("".join(lines)).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise SourceError(
            f"{module.name}: cannot be tokenized: {error}", "choose a block in another file"
        ) from error


def _unit(module: code.Module, block: Block) -> str:
    """One step of indentation, as the statement around the block or the file uses it."""
    fallback = ""
    first, last = code.first_line(block.top_level), last_line(module, block.top_level)
    for token in _tokens(module):
        if token.type == tokenize.INDENT:
            fallback = fallback or token.string
            if first < token.start[0] <= last:
                return token.string
    return fallback or "    "


def _call(module: code.Module, block: Block, plan: Plan) -> str:
    """The statement that stands in place of the block; its last line ends where the block's did."""
    indent = _indent_of(module.line_text(code.first_line(block.statements[0])))
    targets = ", ".join(plan.outputs)
    name = f"{plan.receiver}.{plan.name}" if plan.receiver else plan.name
    word = "await " if plan.is_async else "yield from " if plan.yields else ""
    before = "return " if plan.returns else f"{targets} = " if targets and plan.reaches_end else ""
    opening, closing = ("(", "))") if plan.returns and plan.yields else ("", ")")
    head = f"{indent}{before}{opening}{word}{name}("
    newline = code.newline_after(module, block.start)
    lines = _broken(head, [*plan.parameters], closing, indent, _unit(module, block))
    return newline.join(lines)


def _broken(head: str, items: Sequence[str], tail: str, indent: str, unit: str) -> list[str]:
    """``head`` + items + ``tail`` on one line, or with the items on lines of their own."""
    whole = head + ", ".join(items) + tail
    if len(whole.expandtabs(4)) <= WIDTH or not items:
        return [whole]
    inner = indent + unit
    body = textwrap.wrap(
        ", ".join(items) + ",", max(20, WIDTH - len(inner.expandtabs(4))), break_long_words=False
    )
    return [head, *(inner + line for line in body), indent + tail]


def _assert_faithful(module: code.Module, data: bytes, plan: Plan) -> None:
    """With the call put back and the function taken out, the program is the one that it was."""
    try:
        tree = code.Module.parse(data, module.name).tree
        compile(data, module.name, "exec", dont_inherit=True)
        body = _take_out(tree, plan)
        _put_back(tree, plan, body)
    except (SourceError, SyntaxError, StopIteration) as error:
        raise SourceError(
            f"{module.name}: the block cannot be moved: {error}", "choose another range, and report this one"
        ) from error
    if ast.dump(tree) != ast.dump(module.tree):
        raise SourceError(
            f"{module.name}: extracting would change more than the block",
            "choose another range, and report this one",
        )


def _take_out(tree: ast.Module, plan: Plan) -> list[ast.stmt]:
    """Remove the new function from a tree; returns the statements that were moved."""
    for owner in ast.walk(tree):
        if isinstance(owner, ast.Module | ast.ClassDef):
            for item in owner.body:
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == plan.name:
                    owner.body.remove(item)
                    last = len(item.body) - bool(plan.outputs and plan.reaches_end)
                    return item.body[bool(plan.as_globals) : last]
    raise StopIteration("the new function is missing")


def _put_back(tree: ast.Module, plan: Plan, body: list[ast.stmt]) -> None:
    """Replace the one call of the new function by some statements."""
    for owner in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(owner, field, None)
            for number, item in enumerate(statements if isinstance(statements, list) else ()):
                if not isinstance(item, ast.Expr | ast.Assign | ast.Return) or item.value is None:
                    continue
                call = item.value.value if isinstance(item.value, ast.Await | ast.YieldFrom) else item.value
                called = getattr(call, "func", None)
                if getattr(called, "id", getattr(called, "attr", "")) == plan.name:
                    assert isinstance(statements, list)
                    statements[number : number + 1] = body
                    return
    raise StopIteration("the call of the new function is missing")


def _indent_of(text: str) -> str:
    match = _INDENT.match(text)
    return match.group() if match else ""
