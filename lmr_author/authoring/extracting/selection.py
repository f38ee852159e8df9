"""From a range of lines to the block it covers: whole statements of one suite that mean the same in a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lmr_author.core import code
from lmr_author.core.errors import TargetError

Loop = ast.For | ast.AsyncFor | ast.While
ScopeNode = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Suite:
    """Statements that are indented together.

    Attributes:
        owners: nodes around them, the module first and the direct owner last.
        field: which suite of its owner it is: ``body``, ``orelse`` or ``finalbody``.
        statements: in order.
    """

    owners: tuple[ast.AST, ...]
    field: str
    statements: list[ast.stmt]


@dataclass(frozen=True)
class SelectedBlock:
    """The statements to extract.

    Attributes:
        suite: the suite that contains them.
        statements: one or more neighbours of the suite.
        start, end: their first and last line, from 1; comments at the ends that were asked for included.
    """

    suite: Suite
    statements: tuple[ast.stmt, ...]
    start: int
    end: int

    @property
    def scopes(self) -> tuple[ScopeNode, ...]:
        """The module, functions and classes around the block, outermost first."""
        return tuple(owner for owner in self.suite.owners if isinstance(owner, ScopeNode))

    @property
    def scope(self) -> ScopeNode:
        """The module, function or class whose names the block binds."""
        return self.scopes[-1]

    @property
    def module(self) -> ast.Module:
        """The whole file."""
        outermost = self.suite.owners[0]
        assert isinstance(outermost, ast.Module)
        return outermost

    @property
    def top_level(self) -> ast.stmt:
        """The statement of the module that the block is or lies in."""
        outermost = self.suite.owners[1:2]
        return outermost[0] if outermost and isinstance(outermost[0], ast.stmt) else self.statements[0]

    def nodes(self) -> Iterator[ast.AST]:
        """Yield everything in the block."""
        for statement in self.statements:
            yield from ast.walk(statement)


def select(module: code.Module, start: int, end: int) -> SelectedBlock:
    """Return the statements that a range of lines covers; blank lines at its ends do not count.

    Raises TargetError with the nearest range that would do.
    """
    if start > end or start < 1:
        raise TargetError(f"lines {start}-{end} are not a range", "START is the smaller number, from 1")
    count = module.line_count - (module.line_text(module.line_count) == "")
    if end > count:
        raise TargetError(f"{module.name} has {count} lines, not {end}", f"END is at most {count}")
    lines = [number for number in range(start, end + 1) if module.line_text(number).strip()]
    known = [suite for suite in suites(module.tree) if not is_elif(module, suite)]
    for suite in known if lines else ():
        if block := _covered(module, suite, lines[0], lines[-1]):
            return block
    nearest = _nearest(module, known, start, end)
    why = "do not cover whole statements of one block" if lines else "are blank"
    raise TargetError(
        f"lines {start}-{end} of {module.name} {why}",
        f"the nearest range that does is {nearest[0]}-{nearest[1]}" if nearest else "choose other lines",
    )


def suites(tree: ast.Module) -> Iterator[Suite]:
    """Yield every suite of a file, outer ones first."""
    stack: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, ())]
    while stack:
        current, above = stack.pop()
        path = (*above, current)
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(current, field, None)
            if isinstance(statements, list) and statements:
                yield Suite(path, field, statements)
                stack += [(statement, path) for statement in reversed(statements)]
        for part in (*getattr(current, "handlers", ()), *getattr(current, "cases", ())):
            stack.append((part, path))


def last_line(statement: ast.stmt) -> int:
    """Return the line a statement ends on."""
    return statement.end_lineno or statement.lineno


def is_docstring(suite: Suite, statement: ast.stmt) -> bool:
    """Return whether a statement is the docstring of the module, class or function around it."""
    owner = suite.owners[-1]
    has_docstring = isinstance(owner, ScopeNode) and ast.get_docstring(owner) is not None
    return has_docstring and statement is suite.statements[0]


def _covered(module: code.Module, suite: Suite, start: int, end: int) -> SelectedBlock | None:
    """Return the block of a suite that a range covers exactly, or None."""
    covered = []
    for statement in suite.statements:
        if code.first_line(statement) <= end and last_line(statement) >= start:
            covered.append(statement)
    if not covered or not _begins_line(module, covered[0]) or not _ends_line(module, covered[-1]):
        return None
    first, last = code.first_line(covered[0]), last_line(covered[-1])
    around = [*range(start, first), *range(last + 1, end + 1)]
    has_code = any(module.line_text(number).strip()[:1] not in ("", "#") for number in around)
    if first < start or last > end or has_code:
        return None
    return SelectedBlock(suite, tuple(covered), start, end)


def _begins_line(module: code.Module, statement: ast.stmt) -> bool:
    line = code.first_line(statement)
    column = 0 if getattr(statement, "decorator_list", ()) else statement.col_offset
    return not module.text[module.line_start(line) : module.offset(line, column)].strip()


def _ends_line(module: code.Module, statement: ast.stmt) -> bool:
    line = last_line(statement)
    end = module.offset(line, statement.end_col_offset or 0)
    after = module.line_text(line)[end - module.line_start(line) :].strip(" \t\f;")
    return after == "" or after.startswith("#")


def is_elif(module: code.Module, suite: Suite) -> bool:
    """Return whether a suite is the ``elif`` of its owner: an ``if`` for ast, but no line of its own."""
    first = suite.statements[0]
    if suite.field != "orelse" or not isinstance(suite.owners[-1], ast.If) or not isinstance(first, ast.If):
        return False
    return module.text.startswith("elif", module.offset(first.lineno, first.col_offset))


def _nearest(module: code.Module, known: list[Suite], start: int, end: int) -> tuple[int, int] | None:
    """Return the range of whole statements whose ends are closest to a range."""
    ranges = []
    for suite in known:
        usable = [statement for statement in suite.statements if not is_docstring(suite, statement)]
        firsts = [code.first_line(statement) for statement in usable if _begins_line(module, statement)]
        lasts = [last_line(statement) for statement in usable if _ends_line(module, statement)]
        if not isinstance(suite.owners[-1], ast.ClassDef):
            ranges += [(first, last) for first in firsts for last in lasts if first <= last]
    return min(ranges, key=lambda lines: abs(lines[0] - start) + abs(lines[1] - end), default=None)


# code that would mean something else in a function of its own

LEAVE_OUT = "leave it out of the range"
OTHER_FUNCTION = "choose a block of another function"
SUPPRESSING = frozenset(
    {"suppress", "raises", "assertRaises", "assertRaisesRegex", "ExitStack", "AsyncExitStack"}
)
"""Last names of context managers after which a program goes on in spite of an exception."""
SEES_ALL = frozenset({"globals", "eval", "exec", "sys._getframe", "inspect.currentframe", "inspect.stack"})
SEES_LOCALS = frozenset({"locals", "vars", "dir"})
"""Functions that are given every variable around them when they are called without arguments."""

Obstacle = tuple[ast.AST, str, str]
"""Where something is that cannot be moved, why it cannot, and what to do."""


def check(block: SelectedBlock) -> None:
    """Refuse a block that cannot be moved. Raises TargetError with the line, the reason and a remedy."""
    for node, reason, remedy in _obstacles(block):
        raise TargetError(f"line {getattr(node, 'lineno', '?')}: {reason}", remedy)


def _obstacles(block: SelectedBlock) -> Iterator[Obstacle]:
    first, at_top = block.statements[0], isinstance(block.scope, ast.Module)
    if isinstance(block.scope, ast.ClassDef):
        yield first, "in the body of a class every name becomes an attribute", "choose a block of a method"
    if is_docstring(block.suite, first):
        yield first, "this is a docstring, which stays where it is", LEAVE_OUT
    for node in code.running(block.statements):
        if at_top and isinstance(node, code.DefinitionNode):
            reason = f"the block defines {node.name}, which could not be imported or pickled any more"
            yield node, reason, "leave definitions out of the range"
        if text := _bound_to_its_place(node):
            yield node, f"`{text}` cannot be moved into a function of its own", LEAVE_OUT
    for node in ast.walk(block.scope):
        if text := _unfollowed(node):
            yield node, f"the code around the block uses `{text}`", OTHER_FUNCTION
    for jump in _leaving_jumps(block.statements):
        word = type(jump).__name__.lower()
        yield jump, f"`{word}` leaves the block", "extend the range over the whole loop, or end it earlier"


def _unfollowed(node: ast.AST) -> str:
    """Return the word for what the analysis does not follow: a block of such a function is hardly ever wanted."""
    match node:
        case ast.Match() | ast.TryStar():
            return "match" if isinstance(node, ast.Match) else "except*"
        case ast.NamedExpr():
            return ":="
        case ast.Try(finalbody=[_, *_]):
            return "finally"
        case ast.Name(id="__all__"):
            return "__all__"
        case ast.With() | ast.AsyncWith():
            names = [_dotted(context.context_expr).rpartition(".")[2] for context in node.items]
            return next((name for name in names if name in SUPPRESSING), "")
        case ast.Call():
            name, is_bare = _dotted(node), not (node.args or node.keywords)
            return f"{name}()" if name in SEES_ALL or (is_bare and name in SEES_LOCALS) else ""
    return ""


def _dotted(called: ast.expr) -> str:
    return ast.unparse(called.func if isinstance(called, ast.Call) else called)


def has_return(block: SelectedBlock, *, reaches_end: bool) -> bool:
    """Return True for a block with a return, when leaving it always leaves the function around it as well.

    Args:
        reaches_end: some way through the block comes to its end.

    Raises TargetError when only some ways through the block leave the function.
    """
    returns = [node for node in code.running(block.statements) if isinstance(node, ast.Return)]
    ends_function = (
        block.suite.statements is block.scope.body and block.statements[-1] is block.scope.body[-1]
    )
    if returns and reaches_end and not ends_function:
        raise TargetError(
            f"line {returns[0].lineno}: `return` leaves the function around the block on some ways only",
            "extend the range to the end of the function, or leave the return out",
        )
    return bool(returns)


def needs_class(block: SelectedBlock) -> str:
    """Return a name of the block that has its meaning only inside of the class, as ``super``; or ""."""
    if not any(isinstance(scope, ast.ClassDef) for scope in block.scopes):
        return ""
    for node in block.nodes():
        if isinstance(node, ast.Call) and not node.args and _dotted(node) == "super":
            return "super()"
        for field in ("attr", "id", "arg"):
            name = getattr(node, field, None) or ""
            is_private = name.startswith("__") and not name.endswith("__")
            if is_private or name == "__class__":
                return name
    return ""


def _bound_to_its_place(node: ast.AST) -> str:
    """Return the keyword of what belongs to the scope it is in, and cannot be moved to another one."""
    match node:
        case ast.ImportFrom(module="__future__"):
            return "from __future__"
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            return "import *"
        case ast.Global() | ast.Nonlocal():
            return type(node).__name__.lower()
        case ast.Yield() | ast.YieldFrom():
            return "yield"
        case ast.Await():
            return "await"
        case ast.AsyncFor() | ast.AsyncWith() | ast.comprehension(is_async=1):
            return "async"
        case ast.AnnAssign(value=None, target=ast.Name()):
            return ast.unparse(node)
    return ""


def _leaving_jumps(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield each ``break`` and ``continue`` whose loop is not among some statements."""
    for statement in statements:
        if isinstance(statement, ast.Break | ast.Continue):
            yield statement
        if isinstance(statement, code.DefinitionNode):
            continue
        if not isinstance(statement, Loop):
            yield from _leaving_jumps(getattr(statement, "body", ()))
        yield from _leaving_jumps(getattr(statement, "orelse", ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _leaving_jumps(handler.body)
