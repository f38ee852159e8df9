"""From a range of lines to the statements it covers: whole statements of one suite, or a refusal."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from lmr_author import code
from lmr_author.errors import TargetError

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
        return tuple(item for item in self.suite.owners if isinstance(item, ScopeNode))

    @property
    def scope(self) -> ScopeNode:
        """The module, function or class whose names the block binds."""
        return self.scopes[-1]

    @property
    def top_level(self) -> ast.stmt:
        """The statement of the module that the block is or lies in."""
        nested = self.suite.owners[1:]
        return next((item for item in nested if isinstance(item, ast.stmt)), self.statements[0])


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
    known = [suite for suite in suites(module.tree) if not _is_elif(module, suite)]
    blocks = (_covered(module, suite, lines[0], lines[-1]) for suite in known) if lines else iter(())
    block = next(filter(None, blocks), None)
    if block is not None:
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
                stack += [(item, path) for item in reversed(statements)]
        parts = (*getattr(current, "handlers", ()), *getattr(current, "cases", ()))
        stack += [(item, path) for item in parts]


def last_line(module: code.Module, statement: ast.stmt) -> int:
    """Return the line a statement ends on; a backslash behind it takes the next line along."""
    line = statement.end_lineno or statement.lineno
    return line + (_rest(module, statement) == "\\" and line < module.line_count)


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
    met = [
        item for item in suite.statements if code.first_line(item) <= end and last_line(module, item) >= start
    ]
    if not met:
        return None
    first, last = code.first_line(met[0]), last_line(module, met[-1])
    backslash = last == end + 1 and not module.line_text(last).strip()
    if first < start or (last > end and not backslash):
        return None
    if not _begins_line(module, met[0]) or not _ends_line(module, met[-1]):
        return None
    around = [*range(start, first), *range(last + 1, end + 1)]
    if any(module.line_text(number).strip()[:1] not in ("", "#") for number in around):
        return None
    return SelectedBlock(suite, tuple(met), start, max(end, last))


def _begins_line(module: code.Module, statement: ast.stmt) -> bool:
    line = code.first_line(statement)
    column = 0 if getattr(statement, "decorator_list", ()) else statement.col_offset
    return not module.text[module.line_start(line) : module.offset(line, column)].strip()


def _ends_line(module: code.Module, statement: ast.stmt) -> bool:
    rest = _rest(module, statement)
    return rest in ("", "\\") or rest.startswith("#")


def _rest(module: code.Module, statement: ast.stmt) -> str:
    """Return what follows a statement on its last line, without the semicolon."""
    line = statement.end_lineno or statement.lineno
    end = module.offset(line, statement.end_col_offset or 0)
    return module.line_text(line)[end - module.line_start(line) :].strip(" \t\f;")


def _is_elif(module: code.Module, suite: Suite) -> bool:
    """Return whether a suite is the ``elif`` of its owner: an ``if`` for ast, but no line of its own."""
    first = suite.statements[0]
    if suite.field != "orelse" or not isinstance(suite.owners[-1], ast.If) or not isinstance(first, ast.If):
        return False
    return module.text.startswith("elif", module.offset(first.lineno, first.col_offset))


def _nearest(module: code.Module, known: list[Suite], start: int, end: int) -> tuple[int, int] | None:
    """Return the range of whole statements whose ends are closest to a range."""
    found: list[tuple[int, int, int]] = []
    for suite in known:
        if isinstance(suite.owners[-1], ast.ClassDef):
            continue
        usable = [item for item in suite.statements if not is_docstring(suite, item)]
        starts = [item for item in usable if _begins_line(module, item)]
        if not starts:
            continue
        first = min(starts, key=lambda item: abs(code.first_line(item) - start))
        ends = [item for item in usable[usable.index(first) :] if _ends_line(module, item)]
        if ends:
            top = code.first_line(first)
            bottom = min((last_line(module, item) for item in ends), key=lambda line: abs(line - end))
            found.append((abs(top - start) + abs(bottom - end), top, bottom))
    return min(found, key=lambda item: item[0])[1:] if found else None
