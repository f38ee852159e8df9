"""The canonical form of a function: versions with equal forms are one, as no test can distinguish them, or need not.

It uses only the source; in doubt two versions stay two. Every rule must remove many mutants of real code.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from lmr_author.core.code import FunctionNode, each, parameters, parse
from lmr_author.proof.evaluation.mutants.function import TABLES, WORDS, called
from lmr_author.proof.evaluation.mutants.operators import DIMENSIONS, OPPOSITES

_SMALLEST = 1e-5
"""A constant up to this size mostly guards against division by zero: changing it changes no compared bit."""

Defaults = Mapping[str, Mapping[str, str]]
"""Function or class of the golden's file → parameter → its default, as Python."""

_PURE = WORDS["pure"] | WORDS["passed_through"] | WORDS["reductions"] | OPPOSITES.keys()
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_BLOCKS = ("body", "orelse", "finalbody")


def canonical_form(text: str, defaults: Defaults | None = None, off: Collection[str] = ()) -> str | None:
    try:
        function = parse(text)
        tree = _Canonical(defaults or {}, off, _aliases(function)).visit(function)
        while _remove_unread(tree):
            pass
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError):
        return None


def defaults_of(tree: ast.AST) -> dict[str, dict[str, str]]:
    defaults: dict[str, dict[str, str]] = {}
    for function in each(tree, ast.FunctionDef, ast.AsyncFunctionDef):
        _add_defaults(defaults, function.name, function)
    for owner in each(tree, ast.ClassDef):
        for member in owner.body:
            match member:
                case ast.FunctionDef(name="__init__"):
                    _add_defaults(defaults, owner.name, member)
    return defaults


def _add_defaults(defaults: dict[str, dict[str, str]], name: str, function: FunctionNode) -> None:
    own = {parameter.arg: ast.unparse(default) for parameter, default in parameters(function.args) if default}
    # With several functions of one name, the callee is unknown.
    defaults[name] = {} if name in defaults else own


def switched_off(tree: ast.Module) -> frozenset[str]:
    """Return module constants such as ``DEBUG = False`` that the file never sets again."""
    stored = [node.id for node in each(tree, ast.Name) if isinstance(node.ctx, ast.Store)]
    off = set[str]()
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=False)) if name.isupper():
                if stored.count(name) == 1:
                    off.add(name)
    return frozenset(off)


def _aliases(function: ast.AST) -> dict[str, str]:
    """Return names bound only once, to a parameter that is never rebound, as in ``tmp_values = values``."""
    bindings = Counter(node.id for node in each(function, ast.Name) if not isinstance(node.ctx, ast.Load))
    declared = Counter(node.arg for node in each(function, ast.arg))
    aliases: dict[str, str] = {}
    for assignment in each(function, ast.Assign):
        match assignment:
            case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Name(id=parameter)):
                is_stable = declared[parameter] == 1 and not bindings[parameter]
                if is_stable and bindings[alias] == 1 and not declared[alias]:
                    aliases[alias] = parameter
    return aliases


class _Canonical(ast.NodeTransformer):
    def __init__(self, defaults: Defaults, off: Collection[str], aliases: Mapping[str, str]) -> None:
        self._defaults, self._off, self._aliases = defaults, off, aliases

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._off:
            return ast.Constant(False)
        return ast.Name(self._aliases.get(node.id, node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        # Tests are recorded and judged on the CPU.
        return ast.Constant(False) if node.attr == "is_cuda" else node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        is_itself = len(node.targets) == 1 and ast.unparse(node.targets[0]) == ast.unparse(node.value)
        return ast.Pass() if is_itself else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)  # turns model.to(device) into model
        is_value = isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript | ast.Constant)
        return ast.Pass() if is_value or called(node.value) in WORDS["logging"] else node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return _EPSILON if isinstance(node.value, float) and 0 < node.value <= _SMALLEST else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = called(node)
        if isinstance(node.func, ast.Attribute) and _only_moves(node, name):
            return node.func.value
        if name in WORDS["even"]:
            node.args = list(map(_unsigned, node.args))
            if isinstance(node.func, ast.Attribute):
                node.func.value = _unsigned(node.func.value)
        is_pair = len(node.args) == 2 and not node.keywords
        if name in WORDS["symmetric"] or (is_pair and name in WORDS["commutative"]):
            node.args[:2] = sorted(node.args[:2], key=ast.dump)
        node.keywords = [word for word in node.keywords if not self._is_default(node, word)]
        return node

    def _is_default(self, call: ast.Call, word: ast.keyword) -> bool:
        name, text, parameter = called(call), ast.unparse(word.value), word.arg or ""
        defaults = {self._defaults.get(name, {}).get(parameter), TABLES["defaults"].get(parameter), "None"}
        if parameter in ("dim", "axis"):
            return name in DIMENSIONS.get(text, ())
        return text in defaults or parameter in WORDS["without_effect"]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(op=ast.Add() | ast.Sub(), right=right) if right is _EPSILON:
                return node.left
            case ast.BinOp(op=ast.Add(), left=left) if left is _EPSILON:
                return node.right
            case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=2)):
                node.left = _unsigned(node.left)
        return node


_EPSILON = ast.Name("<eps>", ast.Load())


def _unsigned(node: ast.expr) -> ast.expr:
    match node:
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            node.left, node.right = sorted((left, right), key=ast.dump)
    return node


def _only_moves(call: ast.Call, name: str) -> bool:
    values = [*call.args, *(word.value for word in call.keywords if word.arg != "non_blocking")]
    if len(values) > 1:
        return False
    return name in ("cpu", "cuda") or (name == "to" and all(map(_names_device, values)))


def _names_device(node: ast.expr) -> bool:
    text = ast.unparse(node)
    kind = text.strip("'").partition(":")[0]
    return kind in ("cpu", "cuda", "mps") or text.lower().endswith(("device", "device)"))


def _remove_unread(tree: ast.AST) -> bool:
    read, is_changed = _names_read(tree), False
    for node in ast.walk(tree):
        for field in _BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list):
                remaining = list(_noticeable(block, read))
                is_changed = is_changed or remaining != block
                setattr(node, field, remaining)
    return is_changed


def _noticeable(block: Sequence[ast.stmt], read: Collection[str]) -> Iterator[ast.stmt]:
    """Yield the statements that do something, up to the one that ends the block."""
    for statement in block:
        match statement:
            case ast.If(test=ast.Constant(value=value)):
                yield from statement.body if value else statement.orelse
            case ast.Pass():
                pass
            # It contained only logging.
            case ast.If(test=computed, body=[], orelse=[]) | ast.For(iter=computed, body=[], orelse=[]):
                if not is_pure(computed):
                    yield statement
            case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
                if not (_is_unread(target, read) and is_pure(statement.value)):
                    yield statement
            case _:
                yield statement
        if isinstance(statement, _ENDS):
            return


def _is_unread(target: ast.expr, read: Collection[str]) -> bool:
    match target:
        case ast.Name(id=name):
            return name not in read
        case ast.Tuple(elts=parts):
            return all(isinstance(part, ast.Name) and part.id not in read for part in parts)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            return name not in read and is_pure(index)
    return False


def _names_read(tree: ast.AST) -> set[str]:
    """Return the names that are read, except counters that are only incremented and new arrays that are only filled.

    A new array, as in ``losses = torch.zeros(n)``, has no alias.
    """
    read, bound, changed = set[str](), set[str](), set[str]()
    uses, makes, fills = Counter[str](), Counter[str](), Counter[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=context):
                uses[name] += 1
                if isinstance(context, ast.Load):
                    read.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                uses.update(names)
                read.update(names)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not isinstance(value, ast.Constant):
                bound.add(name)
                makes[name] += called(value) in WORDS["new"]
            case ast.arg(arg=name):
                uses[name] += 1
                bound.add(name)
            case ast.AugAssign(target=ast.Name(id=name)):
                changed.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                fills[name] += 1
    for name in fills:
        if makes[name] and uses[name] == makes[name] + fills[name]:
            read.discard(name)
    # `x += y` changes the object of every alias of x.
    return read | (changed & bound)


def is_pure(node: ast.AST) -> bool:
    """Return whether an expression has no side effects, judged by the names of its calls."""
    for part in ast.walk(node):
        match part:
            case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
                return False
            case ast.Call() if called(part) not in _PURE:
                return False
    return True
