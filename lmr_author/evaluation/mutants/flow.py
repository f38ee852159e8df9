"""Operators on what is executed: statements that are missing, loops and functions that end too early."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from lmr_author.checks.bodies import statements
from lmr_author.evaluation.mutants.equivalent import ends_anyway
from lmr_author.evaluation.mutants.operator import Code, Edit, Operator


class DroppedStatement(Operator):
    """A statement is missing, or a loop ends early."""

    name = "dropped statement"
    examples = (
        ("x = g(x)\nreturn x", "pass\nreturn x"),
        ("x.add_(y)\nreturn x", "pass\nreturn x"),
        ("for i in x:\n    y += i", "for i in x:\n    y += i\n    break"),
        ("for i in x:\n    continue", "for i in x:\n    break"),
        ("if x:\n    return y\nreturn x", "if x:\n    pass\nreturn x"),
    )

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Put ``pass`` in the place of what is rebound, called for its effect, or returned early."""
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            read = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
            again = any(not isinstance(item, ast.Name) or _bound_before(item, node, code) for item in targets)
            if read and (again or isinstance(node, ast.AugAssign)):
                yield Edit(node, "pass")
        elif isinstance(node, ast.Return):
            if code.parents[node] is not code.function and not ends_anyway(node, code):
                yield Edit(node, "pass")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
            yield Edit(node, "pass")
        elif isinstance(node, ast.Continue | ast.Break):
            yield Edit(node, "break" if isinstance(node, ast.Continue) else "continue")
        elif isinstance(node, ast.For):
            last = node.body[-1]
            if not isinstance(last, ast.Return | ast.Break | ast.Continue | ast.Raise):
                yield Edit(last, f"{code.text(last)}{line_break(code, last)}break")


class EarlyReturn(Operator):
    """What is returned is returned before it is finished."""

    name = "early return"
    examples = (
        ("z = g(x)\nz = z * y\nreturn z", "z = g(x)\nreturn z\nz = z * y\nreturn z"),
        ("if y:\n    x = g(x)\nreturn x", "return x\nif y:\n    x = g(x)\nreturn x"),
    )

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Return as soon as all names of the last statement, a return, have a value."""
        if node is not code.function:
            return
        body = statements(code.function)
        last = body[-1] if body else None
        if not isinstance(last, ast.Return) or last.value is None or len(body) < 2:
            return
        read = {item.id for item in ast.walk(last.value) if isinstance(item, ast.Name)}
        bound = _parameters(code.function)
        ours = read & _stored(body)
        for number, statement in enumerate(body[:-1]):
            if ours and ours <= bound and ours & _stored(body[number:]):
                yield Edit(statement, f"{code.text(last)}{line_break(code, statement)}{code.text(statement)}")
                return
            bound = bound | _stored([statement])


def first_statement(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt | None:
    """The first statement behind the docstring."""
    return next(iter(statements(function)), None)


def line_break(code: Code, statement: ast.stmt) -> str:
    """What separates a statement from one before it on the same level: a new line, or a semicolon."""
    head = code.module.line_text(statement.lineno)[: statement.col_offset]
    return "\n" + head if not head.strip() else "; "


def _bound_before(name: ast.Name, statement: ast.stmt, code: Code) -> bool:
    """Whether a name has a value without this statement: a parameter, or assigned further up."""
    return name.id in _parameters(code.function) or any(
        isinstance(item, ast.Name) and item.id == name.id and item.lineno < statement.lineno
        for item in ast.walk(code.function)
        if isinstance(getattr(item, "ctx", None), ast.Store)
    )


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    arguments = function.args
    return {item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _stored(body: Sequence[ast.stmt]) -> set[str]:
    """Names that some statements assign."""
    return {
        item.id
        for statement in body
        for item in ast.walk(statement)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
    }


OPERATORS: tuple[type[Operator], ...] = (DroppedStatement, EarlyReturn)
