"""From a range of lines to the block it covers: whole statements of one suite that mean the same in a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from lmr_author.authoring.extracting import events
from lmr_author.authoring.extracting.events import CHANGES, Function
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
    return (
        statement is suite.statements[0]
        and suite.field == "body"
        and isinstance(suite.owners[-1], ScopeNode)
        and isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


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
        if not firsts or isinstance(suite.owners[-1], ast.ClassDef):
            continue
        first = min(firsts, key=lambda line: abs(line - start))
        lasts = [line for line in lasts if line >= first]
        if lasts:
            ranges.append((first, min(lasts, key=lambda line: abs(line - end))))
    return min(ranges, key=lambda lines: abs(lines[0] - start) + abs(lines[1] - end), default=None)


# code that would mean something else in a function of its own

LEAVE_OUT = "leave it out of the range"
OTHER_FUNCTION = "choose a block of another function"
SUPPRESSING = frozenset(
    {"suppress", "raises", "assertRaises", "assertRaisesRegex", "ExitStack", "AsyncExitStack"}
)
"""Last names of context managers after which a program goes on in spite of an exception."""
FRAME_READERS = frozenset({"sys._getframe", "inspect.currentframe", "inspect.stack"})
SEES_ALL = frozenset({"globals", "eval", "exec"})
SEES_LOCALS = frozenset({"locals", "vars", "dir"})


def check(block: SelectedBlock) -> None:
    """Refuse a block that cannot be moved. Raises TargetError with the line, the reason and a remedy."""
    lines = f"lines {block.start}-{block.end}: this"
    if isinstance(block.scope, ast.ClassDef):
        raise TargetError(
            f"{lines} is the body of a class, where every name becomes an attribute", "choose a method of it"
        )
    if is_docstring(block.suite, block.statements[0]):
        raise TargetError(
            f"{lines} begins with a docstring, which stays where it is", "leave the docstring out"
        )
    at_top = isinstance(block.scope, ast.Module)
    for node in _own_nodes(block.statements):
        if at_top and isinstance(node, code.DefinitionNode):
            reason = f"the block defines {node.name}, which could not be imported or pickled any more"
            _refuse(node, reason, "leave definitions out of the range")
        if text := _bound_to_its_place(node):
            _refuse(node, f"`{text}` cannot be moved into a function of its own", LEAVE_OUT)
    _refuse_readers_of_all(block)
    _refuse_rarities(block.scope)
    _refuse_jumps(block.statements)


def _refuse_readers_of_all(block: SelectedBlock) -> None:
    """Refuse calls that are given every variable around them: of the block, or of the code around it."""
    changed = {event.name for event in events.scope(block.module.body) if event.kind in CHANGES}
    of_this_file = changed | events.shared_names(block.module)
    inside, own = set(block.nodes()), set(_own_nodes(block.scope.body))
    for node in ast.walk(block.scope):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        is_bare = name == "locals" or not (node.args or node.keywords)
        sees_locals = name in SEES_LOCALS and is_bare and (node in own or node in inside)
        if name in of_this_file or not (name in SEES_ALL or sees_locals or name in FRAME_READERS):
            continue
        if node in inside:
            _refuse(node, f"`{name}()` would see the variables of another function", LEAVE_OUT)
        if name not in FRAME_READERS:
            _refuse(node, f"`{name}()` may read any variable of the block", OTHER_FUNCTION)


def _refuse_rarities(scope: ScopeNode) -> None:
    """Refuse what the analysis does not follow: a block of such a function is hardly ever wanted."""
    rare: list[tuple[ast.AST, str]] = []
    for node in ast.walk(scope):
        if isinstance(node, ast.Match | ast.TryStar):
            rare.append((node, "match" if isinstance(node, ast.Match) else "except*"))
    for node in _own_nodes(scope.body):
        if isinstance(node, ast.NamedExpr):
            rare.append((node, ":="))
        if isinstance(node, ast.Name) and node.id == "__all__":
            rare.append((node, "__all__"))
    for statement in events.statements(scope.body):
        if isinstance(statement, ast.Try) and statement.finalbody:
            rare.append((statement.finalbody[0], "finally"))
        for context in statement.items if isinstance(statement, ast.With | ast.AsyncWith) else ():
            called = context.context_expr
            name = ast.unparse(called.func if isinstance(called, ast.Call) else called).rpartition(".")[2]
            if name in SUPPRESSING:
                rare.append((statement, name))
    for node, word in rare:
        _refuse(node, f"the code around the block has a `{word}`", OTHER_FUNCTION)


def has_return(block: SelectedBlock, *, reaches_end: bool) -> bool:
    """Return True for a block with a return, when leaving it always leaves the function around it as well.

    Args:
        reaches_end: some way through the block comes to its end.

    Raises TargetError when only some ways through the block leave the function.
    """
    returns = [node for node in _own_nodes(block.statements) if isinstance(node, ast.Return)]
    is_at_the_end = (
        block.suite.owners[-1] is block.scope and block.statements[-1] is block.suite.statements[-1]
    )
    if returns and reaches_end and not is_at_the_end:
        _refuse(
            returns[0],
            "`return` leaves the function around the block on some ways only",
            "extend the range to the end of the function, or leave the return out",
        )
    return bool(returns)


def needs_class(block: SelectedBlock) -> str:
    """Return a name of the block that has its meaning only inside of the class, as ``super``; or ""."""
    if not any(isinstance(scope, ast.ClassDef) for scope in block.scopes):
        return ""
    for node in block.nodes():
        if isinstance(node, ast.Call) and not node.args and ast.unparse(node.func) == "super":
            return "super()"
        for field in ("attr", "id", "arg"):
            name = getattr(node, field, None) or ""
            is_private = name.startswith("__") and not name.endswith("__")
            if is_private or name == "__class__":
                return name
    return ""


def _own_nodes(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes that run as part of some statements: not the bodies of functions and lambdas in them."""
    stack: list[ast.AST] = list(reversed(statements))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Function | ast.Lambda):
            now = [*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults]
            stack += filter(None, now)
        else:
            stack += reversed(list(ast.iter_child_nodes(node)))


def _bound_to_its_place(node: ast.AST) -> str:
    """Return the keyword of what belongs to the scope it is in, and cannot be moved to another one."""
    match node:
        case ast.ImportFrom(module="__future__"):
            return "from __future__"
        case ast.ImportFrom() if any(alias.name == "*" for alias in node.names):
            return "import *"
        case ast.Global() | ast.Nonlocal():
            return type(node).__name__.lower()
        case ast.Yield() | ast.YieldFrom():
            return "yield"
        case ast.Await():
            return "await"
        case ast.AsyncFor() | ast.AsyncWith():
            return "async"
        case ast.AnnAssign(value=None, target=ast.Name()):
            return ast.unparse(node)
    generators = getattr(node, "generators", ())
    return "async" if any(generator.is_async for generator in generators) else ""


def _refuse_jumps(statements: Sequence[ast.stmt]) -> None:
    """Refuse a break or continue whose loop is not in the block."""
    for statement in statements:
        if isinstance(statement, ast.Break | ast.Continue):
            word = type(statement).__name__.lower()
            hint = "extend the range over the whole loop, or end it earlier"
            _refuse(statement, f"`{word}` leaves the block", hint)
        if isinstance(statement, code.DefinitionNode):
            continue
        if not isinstance(statement, Loop):
            _refuse_jumps(getattr(statement, "body", ()))
        _refuse_jumps(getattr(statement, "orelse", ()))
        for handler in getattr(statement, "handlers", ()):
            _refuse_jumps(handler.body)


def _refuse(node: ast.AST, reason: str, remedy: str) -> NoReturn:
    raise TargetError(f"line {getattr(node, 'lineno', '?')}: {reason}", remedy)
