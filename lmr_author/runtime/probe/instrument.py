"""Instrumenting one function of a source file, and serving that file to whatever imports it.

The target gets an innermost decorator, which is handed the raw function whatever decorates it and wherever it is
defined, and its body gets a cheap call at the start of each block and branch. Line numbers, docstrings, closures and
``super()`` stay what they are. Every other file pays nothing.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import linecache
import os
from types import CodeType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple, Union

from .closures import HIT
from .functions import FUNCTIONS, definitions

REGISTER = "__lmr_target__"
"""Name of the decorator; it lives in ``builtins``, where every scope finds it."""


Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


class TargetNotFound(Exception):
    """The source has no such function, or no Python."""


def find(tree: ast.Module, qualname: str, line: int = 0, nth: int = 0) -> Tuple[ast.stmt, ...]:
    """Return the definitions that lead to a function, itself last. Raises TargetNotFound.

    Of several definitions of the name, ``line`` or ``nth`` (from 1) selects one; the last otherwise.
    """
    matches = definitions(tree, qualname)
    if not matches:
        raise TargetNotFound("there is no function %s" % qualname)
    if nth > len(matches):
        raise TargetNotFound("there are %d functions %s, not %d" % (len(matches), qualname, nth))
    if nth:
        return matches[nth - 1]
    at_line = [path for path in matches if def_line(path[-1]) == line]
    if line and not at_line and len(matches) > 1:
        raise TargetNotFound("there is no function %s at line %d" % (qualname, line))
    return (at_line or matches)[-1]


def def_line(node: Any) -> int:
    """Return the line of the ``def`` itself; before Python 3.8 a node's line is that of its first decorator."""
    last_decorator = max(map(last_line, node.decorator_list), default=0)
    return int(node.lineno if node.lineno > last_decorator else last_decorator + 1)


def last_line(node: Any) -> int:
    return max(getattr(part, "lineno", 0) for part in ast.walk(node))


class InstrumentedCode(NamedTuple):
    """A module's code with the target instrumented.

    Attributes:
        code: the module's code object.
        lines: number of a block → line of its first statement; 0 is the body itself.
        absent: number of a block that stands for an ``else`` that is not written → number of the ``if``'s own block.
        first, last: lines of the target, decorators excluded.
        nested: the target is defined inside another function.
        tree: the instrumented syntax tree.
        path: the definitions around the target and the target itself, outermost first.
    """

    code: CodeType
    lines: Dict[int, int]
    absent: Dict[int, int]
    first: int
    last: int
    nested: bool
    tree: ast.Module
    path: Tuple[ast.stmt, ...]


def instrument(source: bytes, filename: str, qualname: str, line: int = 0) -> InstrumentedCode:
    """Instrument the function ``qualname`` (dotted, without ``<locals>``) of some source.

    Args:
        line: line of its ``def``, to tell definitions of one name apart; without it, the last one is meant.

    Raises TargetNotFound.
    """
    try:
        tree = ast.parse(source, filename)
    except (SyntaxError, ValueError) as error:
        raise TargetNotFound("%s: %s" % (filename, error)) from error
    path = find(tree, qualname, line)
    target: Any = path[-1]
    first, last = def_line(target), last_line(target)
    probes = _Probes()
    target.body = probes.function_body(target)
    target.decorator_list.append(_name(REGISTER, target))
    nested = any(isinstance(definition, FUNCTIONS) for definition in path[:-1])
    code: CodeType = compile(tree, filename, "exec", dont_inherit=True)
    return InstrumentedCode(code, probes.lines, probes.absent, first, last, nested, tree, path)


def _name(name: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(id=name, ctx=ast.Load()), at)


class _Probes(ast.NodeTransformer):
    def __init__(self) -> None:
        self.lines: Dict[int, int] = {}
        self.absent: Dict[int, int] = {}

    def call(self, at: Any) -> ast.expr:
        number = len(self.lines)
        self.lines[number] = getattr(at, "lineno", 0)
        value = ast.copy_location(ast.Constant(value=number), at)
        return ast.copy_location(ast.Call(func=_name(HIT, at), args=[value], keywords=[]), at)

    def statement(self, at: Any) -> ast.stmt:
        return ast.copy_location(ast.Expr(value=self.call(at)), at)

    def function_body(self, target: Function) -> List[ast.stmt]:
        """Return the target's body with probes; the docstring stays first."""
        body = list(target.body)
        doc = body[:1] if ast.get_docstring(target, clean=False) is not None else []
        statements = body[len(doc) :]
        first = self.statement(statements[0] if statements else body[0])
        return doc + [first] + [self.visit(statement) for statement in statements]

    def block(self, body: List[ast.stmt]) -> List[ast.stmt]:
        first = self.statement(body[0])
        return [first] + [self.visit(statement) for statement in body]

    def visit_If(self, node: ast.If) -> ast.If:
        node.test = self.visit(node.test)
        own = len(self.lines)
        node.body = self.block(node.body)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node.orelse = [self.visit(node.orelse[0])]
        elif node.orelse:
            node.orelse = self.block(node.orelse)
        else:
            self.absent[len(self.lines)] = own
            node.orelse = [self.statement(node)]
        return node

    def _loop(self, node: Any) -> Any:
        for field in ("test", "target", "iter"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        node.body = self.block(node.body)
        if node.orelse:
            node.orelse = self.block(node.orelse)
        return node

    visit_For = visit_AsyncFor = visit_While = _loop

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        node.body = self.block(node.body)
        return node

    def visit_match_case(self, node: Any) -> Any:
        node.body = self.block(node.body)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.IfExp:
        node.test = self.visit(node.test)
        node.body = self._counted(node.body)
        node.orelse = self._counted(node.orelse)
        return node

    def _counted(self, value: ast.expr) -> ast.expr:
        """Return ``__lmr_hit__(k) or value``: the call returns None."""
        call = self.call(value)
        return ast.copy_location(ast.BoolOp(op=ast.Or(), values=[call, self.visit(value)]), value)


class Hook:
    """Instruments one function of one file while it is imported.

    Args:
        goal_file: the file, whichever path it is imported by.
        qualname, line: the target, see :func:`instrument`.
        register: called with the raw function when it is defined; its result takes its place.
        source: served instead of the file's content; None for the content itself.

    Attributes:
        hits: numbers of the blocks executed; ``~number`` for one executed more than once.
        instrumented: the code served; None before the file is imported.
    """

    serving: Optional[Hook] = None
    patched = False

    def __init__(
        self,
        goal_file: str,
        qualname: str,
        line: int,
        register: Callable[[Any], Any],
        source: Optional[bytes] = None,
    ) -> None:
        self.goal_file = os.path.realpath(goal_file)
        self.qualname, self.line = qualname, line
        self.source = source
        self.hits: Set[int] = set()
        self.instrumented: Optional[InstrumentedCode] = None
        self.register = register
        self._name = os.path.basename(self.goal_file)

    def install(self) -> None:
        """Start serving. Replaces an earlier hook."""
        hits = self.hits

        def hit(number: int) -> None:
            hits.add(~number if number in hits else number)

        setattr(builtins, HIT, hit)
        setattr(builtins, REGISTER, self.register)
        Hook.serving = self
        if Hook.patched:
            return
        Hook.patched = True
        # Everything that imports files uses this method. The goal file's .pyc is neither read nor written.
        loader: Any = importlib.machinery.SourceFileLoader
        original = loader.get_code

        def get_code(self: Any, fullname: str) -> Any:
            if Hook.serving is not None and Hook.serving.is_goal(self.path):
                return Hook.serving.code(self.path)
            return original(self, fullname)

        loader.get_code = get_code

    def is_goal(self, path: Any) -> bool:
        try:
            if os.path.basename(path) != self._name and not os.path.islink(path):
                return False
            return bool(os.path.realpath(path) == self.goal_file)
        except (TypeError, ValueError, OSError):
            return False

    def code(self, path: str) -> CodeType:
        """Return the instrumented code of the goal file. Raises TargetNotFound."""
        source = self.source
        if source is None:
            with open(path, "rb") as file:
                source = file.read()
        else:
            text = source.decode("utf-8", "replace")
            linecache.cache[path] = (len(text), None, text.splitlines(True), path)
        self.instrumented = instrument(source, path, self.qualname, self.line)
        return self.instrumented.code
