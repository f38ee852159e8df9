"""A canonical form that is equal for versions which no test can tell apart, or need not.

A mutant with the golden's form is not made: it says nothing about a test, and costs the annotator a look. Only what
the source shows is used, and in doubt the mutant is made. Rules are few: each has to catch many mutants of real code.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from lmr_author.core.code import FunctionNode, parameters, parse
from lmr_author.proof.evaluation.mutants.function import TABLES, WORDS, called
from lmr_author.proof.evaluation.mutants.operators import DIMENSIONS, OPPOSITES

EPSILON = 1e-5
"""A constant of this size that is added, or is a lower bound, only guards against a division by zero: versions
with another one give the same outputs to the last bit that is compared."""

Defaults = Mapping[str, Mapping[str, str]]
"""Function or class of the golden's file → parameter → its default, as Python."""

_PURE = WORDS["pure"] | WORDS["passed_through"] | WORDS["reductions"] | OPPOSITES.keys()
_LAYOUTS = WORDS["layouts"] - {"expand"}
_STRICT: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.LtE: ast.Lt, ast.GtE: ast.Gt}
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_READ_ALL = {"eval", "exec", "locals", "vars", "dir"}
_BLOCKS = ("body", "orelse", "finalbody")


def canonical_form(text: str, defaults: Defaults | None = None) -> str | None:
    """Return the form of a function's source; None when it is no Python."""
    try:
        tree = _Canonical(defaults or {}).visit(parse(text))
        while _remove_unread(tree):
            pass
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError):
        return None


def defaults_of(tree: ast.AST) -> dict[str, dict[str, str]]:
    """Return the defaults of the functions and classes in a file, by their last name."""
    defaults: dict[str, dict[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, FunctionNode):
            _add_defaults(defaults, node.name, node)
        elif isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == "__init__":
                    _add_defaults(defaults, node.name, member)
    return defaults


def _add_defaults(defaults: dict[str, dict[str, str]], name: str, function: FunctionNode) -> None:
    own = {parameter.arg: ast.unparse(default) for parameter, default in parameters(function.args) if default}
    # Of several functions of one name, which one is called is not known.
    defaults[name] = {} if name in defaults else own


class _Canonical(ast.NodeTransformer):
    def __init__(self, defaults: Defaults) -> None:
        self._defaults = defaults

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        is_itself = len(node.targets) == 1 and ast.unparse(node.targets[0]) == ast.unparse(node.value)
        return ast.Pass() if is_itself else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)  # model.to(device) is left as its owner
        is_value = isinstance(node.value, ast.Name | ast.Attribute | ast.Subscript | ast.Constant)
        return ast.Pass() if is_value or called(node.value) in WORDS["logging"] else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = called(node)
        if isinstance(node.func, ast.Attribute) and _only_moves(node, name):
            return node.func.value
        if name in WORDS["progress"] and node.args:
            return node.args[0]
        if name in WORDS["even"]:
            node.args = list(map(_unsigned, node.args))
            if isinstance(node.func, ast.Attribute):
                node.func.value = _unsigned(node.func.value)
        if name in WORDS["of_all"] and isinstance(node.func, ast.Attribute) and not node.args + node.keywords:
            node.func.value = _any_layout(node.func.value)
        if name in WORDS["bounding"]:
            node.args = list(map(_mark_epsilon, node.args))
        is_pair = len(node.args) == 2 and not node.keywords
        if name in WORDS["symmetric"] or (is_pair and name in WORDS["commutative"]):
            node.args[:2] = sorted(node.args[:2], key=ast.dump)
        node.keywords = [word for word in node.keywords if not self._is_default(node, word)]
        for word in node.keywords:
            if word.arg in WORDS["guards"]:
                word.value = _mark_epsilon(word.value)
        return node

    def _is_default(self, call: ast.Call, word: ast.keyword) -> bool:
        """Return whether a keyword says what holds without it, on the machine that judges."""
        name, text, parameter = called(call), ast.unparse(word.value), word.arg or ""
        if self._defaults.get(name, {}).get(parameter) == text or TABLES["defaults"].get(parameter) == text:
            return True
        if parameter in ("dim", "axis"):
            return name in DIMENSIONS.get(text, ())
        if parameter == "dtype":
            return name in WORDS["factories"] and text in ("torch.float", "torch.float32")
        if parameter in WORDS["tuning"]:
            return isinstance(word.value, ast.Constant)
        return text == "None" or parameter in WORDS["without_effect"]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        right = node.comparators[0]
        if _is_epsilon(right):  # what is compared with a guard is zero or far from it
            node.ops[0] = _STRICT.get(type(node.ops[0]), type(node.ops[0]))()
            node.comparators[0] = _mark_epsilon(right)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Sub) and _is_epsilon(node.right):
            return node.left
        if isinstance(node.op, ast.Add) and _is_epsilon(node.left):
            return node.right
        if isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "2":
            node.left = _unsigned(node.left)
        return node


def _is_epsilon(node: ast.expr) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, float) and 0 < value <= EPSILON


def _mark_epsilon(node: ast.expr) -> ast.expr:
    return ast.Name("<eps>", ast.Load()) if _is_epsilon(node) else node


def _any_layout(node: ast.expr) -> ast.expr:
    """Return the tensor of which a tensor is only laid out otherwise."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in _LAYOUTS:
            break
        node = node.func.value
    return node


def _unsigned(node: ast.expr) -> ast.expr:
    """Return a difference whose sign is lost with its sides in one order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        node.left, node.right = sorted((node.left, node.right), key=ast.dump)
    return node


def _only_moves(call: ast.Call, name: str) -> bool:
    """Return whether a method only moves its object to a device, as in ``x.cuda()`` and ``x.to(device)``."""
    values = [*call.args, *(word.value for word in call.keywords if word.arg != "non_blocking")]
    if len(values) > 1:
        return False
    return name in ("cpu", "cuda") or (name == "to" and all(map(_names_device, values)))


def _names_device(node: ast.expr) -> bool:
    text = ast.unparse(node)
    kind = text.strip("'").partition(":")[0]
    return kind in ("cpu", "cuda", "mps") or text.lower().endswith(("device", "device)"))


def _remove_unread(tree: ast.AST) -> bool:
    """Remove what nobody can notice from every block, once; return whether there was anything."""
    read = _names_read(tree)
    changed = False
    for node in ast.walk(tree):
        for field in _BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list):
                remaining = list(_noticeable(block, read))
                changed = changed or remaining != block
                setattr(node, field, remaining)
    return changed


def _noticeable(block: Sequence[ast.stmt], read: Collection[str]) -> Iterator[ast.stmt]:
    """Yield the statements that do something, up to the one that ends the block."""
    for statement in block:
        if isinstance(statement, ast.If) and isinstance(statement.test, ast.Constant):
            yield from statement.body if statement.test.value else statement.orelse
        elif not _does_nothing(statement, read):
            yield statement
        if isinstance(statement, _ENDS):
            return


def _does_nothing(statement: ast.stmt, read: Collection[str]) -> bool:
    """Return whether nothing is left in a statement but log lines, or nobody reads what it binds."""
    match statement:
        case ast.Pass():
            return True
        case ast.If():
            return not statement.body and not statement.orelse and is_pure(statement.test)
        case ast.For():
            return not statement.body and not statement.orelse and is_pure(statement.iter)
        case ast.Assign(targets=[target], value=value) | ast.AugAssign(target=target, value=value):
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            return all(isinstance(part, ast.Name) and part.id not in read for part in parts) and is_pure(
                value
            )
    return False


def _names_read(tree: ast.AST) -> set[str]:
    """Return the names that somebody reads; counters that are only counted are not read."""
    read, stored, bound, changed = set[str](), set[str](), set[str](), set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                (stored if isinstance(node.ctx, ast.Store) else read).add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                read.update(names)
            case ast.Assign(targets=targets) if not isinstance(node.value, ast.Constant):
                bound.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.arg(arg=name):
                bound.add(name)
            case ast.AugAssign(target=ast.Name(id=name)):
                changed.add(name)
    if read & _READ_ALL:
        return read | stored
    # `x += y` of what may be another object's alias changes that object.
    return read | (changed & bound)


def is_pure(node: ast.AST) -> bool:
    """Return whether an expression only computes, as far as the names of what it calls tell."""
    for part in ast.walk(node):
        if isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr):
            return False
        if isinstance(part, ast.Call) and called(part) not in _PURE:
            return False
    return True
