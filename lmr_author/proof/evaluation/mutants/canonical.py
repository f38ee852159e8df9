"""A canonical form that is equal for versions which no test can tell apart, or need not.

A mutant with the golden's form is not made: it says nothing about a test, and costs the annotator a look. Only what
the source shows is used, and in doubt the mutant is made. All rules about mutants that are not worth counting stand
here (guards, defaults, what commutes) and in ``unread.py`` (what is only logged, and code whose result nobody reads).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from lmr_author.core.code import FunctionNode, parameters, parse
from lmr_author.proof.evaluation.mutants.function import TABLES, WORDS, called
from lmr_author.proof.evaluation.mutants.operators import DIMENSIONS
from lmr_author.proof.evaluation.mutants.unread import marked, prune

EPSILON = 1e-5
"""A constant of this size that is added, or is a lower bound, only guards against a division by zero: versions
with another one give the same outputs to the last bit that is compared."""
HUGE = 1e6
"""A constant from here on that fills or replaces stands for infinity."""

Defaults = Mapping[str, Mapping[str, str]]
"""Function of the golden's file → parameter → its default, as Python."""

_LAYOUTS = (WORDS["layouts"] | WORDS["transpositions"]) - {"expand"}
_STRICT: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.LtE: ast.Lt, ast.GtE: ast.Gt}


def canonical_form(text: str, defaults: Defaults | None = None) -> str | None:
    """Return the form of a function's source; None when it is no Python."""
    try:
        tree = _Canonical(defaults or {}).visit(parse(text))
        prune(tree)
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError):
        return None


class _Canonical(ast.NodeTransformer):
    def __init__(self, defaults: Defaults) -> None:
        self._defaults = defaults

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        itself = len(node.targets) == 1 and ast.unparse(node.targets[0]) == ast.unparse(node.value)
        return ast.Pass() if itself else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)  # model.to(device) is left as its owner
        value = node.value
        unread = isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Constant)
        return ast.Pass() if unread or _only_tells(value) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if plain := _moved(node) or _asked_for_kind(node):
            return plain
        name = called(node)
        if name in WORDS["progress"] and node.args:
            return node.args[0]
        self._simplify_receiver(node, name)
        self._simplify_arguments(node, name)
        node.keywords = [word for word in node.keywords if not self._is_default(node, word)]
        for word in node.keywords:
            if word.arg in WORDS["guards"] and is_epsilon(word.value):
                word.value = marked("eps")
        return node

    @staticmethod
    def _simplify_receiver(node: ast.Call, name: str) -> None:
        if not isinstance(node.func, ast.Attribute):
            return
        if name in WORDS["no_graph"]:
            node.func.value = _WithoutDetach().visit(node.func.value)
        if name in WORDS["of_all"] and not node.args and not node.keywords:
            node.func.value = _any_layout(node.func.value)
        is_even_power = name in ("pow", "pow_") and len(node.args) == 1 and _is_even(node.args[0])
        if name in WORDS["even"] or is_even_power:
            node.func.value = _unsigned(node.func.value)

    @staticmethod
    def _simplify_arguments(node: ast.Call, name: str) -> None:
        arguments = node.args
        if not node.keywords:
            if name in WORDS["set_methods"]:
                arguments = [_converted(argument, WORDS["conversions"]) for argument in arguments]
            if name in WORDS["of_any_order_too"]:
                arguments = [_converted(argument, WORDS["orderings"]) for argument in arguments]
        if name in WORDS["bounding"]:
            arguments = list(map(_mark_epsilon, arguments))
        if name in WORDS["filling"]:
            arguments = list(map(_mark_infinite, arguments))
        if name in WORDS["even"]:
            arguments = list(map(_unsigned, arguments))
        node.args = _in_one_order(node, name, arguments)

    def _is_default(self, call: ast.Call, word: ast.keyword) -> bool:
        """Return whether a keyword says what holds without it, on the machine that judges."""
        name, text = called(call), ast.unparse(word.value)
        if self._defaults.get(name, {}).get(word.arg or "") == text:
            return True
        if word.arg in ("dim", "axis"):
            return name in DIMENSIONS.get(text, ())
        if word.arg == "dtype":
            numpy = ast.unparse(call.func).startswith(("np.", "numpy."))
            usual = ("float", "np.float64", "numpy.float64") if numpy else ("torch.float", "torch.float32")
            return name in WORDS["factories"] and text in usual
        if word.arg in WORDS["tuning"] and isinstance(word.value, ast.Constant):
            return True
        return word.arg in WORDS["without_effect"] or TABLES["defaults"].get(word.arg) == text

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        if any(called(manager.context_expr) in ("no_grad", "inference_mode") for manager in node.items):
            node.body = [_WithoutDetach().visit(statement) for statement in node.body]
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        first = node.body[0]
        if isinstance(first, ast.If) and not first.orelse and ast.dump(first.test) == ast.dump(node.test):
            node.body[:1] = first.body  # it holds already
        amount = "" if node.orelse else _amount(node.test)
        if amount and all(_adds_nothing_at_zero(statement, amount) for statement in node.body):
            node.test = ast.Constant(True)  # without any of it, the block changes nothing
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if any(called(side) in WORDS["draws"] or is_epsilon(side) for side in sides):
            # A draw from an interval never meets its bound, and what is compared with a guard is zero or far from it.
            node.ops = [_STRICT.get(type(op), type(op))() for op in node.ops]
            node.left, *node.comparators = map(_mark_epsilon, sides)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Sub) and is_epsilon(node.right):
            return node.left
        if isinstance(node.op, ast.Add) and is_epsilon(node.left):
            return node.right
        if isinstance(node.op, ast.Pow) and _is_even(node.right):
            node.left = _unsigned(node.left)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        inner = node.value.func if isinstance(node.value, ast.Call) else node.value
        if node.attr == "T" and isinstance(inner, ast.Attribute) and inner.attr in WORDS["transpositions"]:
            return inner.value  # transposed twice
        return node


def _only_tells(node: ast.expr) -> bool:
    """Return whether a call writes to a log, or to the standard output."""
    if called(node) not in ("write", "writelines"):
        return called(node) in WORDS["logging"]
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return isinstance(owner, ast.Attribute) and owner.attr in ("stdout", "stderr")


class _WithoutDetach(ast.NodeTransformer):
    """Drops ``.detach()``, where what it gives has no graph anyway."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if called(node) == "detach" and not node.args and isinstance(node.func, ast.Attribute):
            return node.func.value
        return node


def _amount(test: ast.expr) -> str:
    """Return what a condition asks whether there is any of it: ``w`` of ``w > 0``, ``w != 0`` and ``w``; or ""."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Gt | ast.GtE | ast.NotEq):
        if getattr(test.comparators[0], "value", None) != 0:
            return ""
        test = test.left
    return ast.unparse(test) if isinstance(test, ast.Name | ast.Attribute | ast.Subscript) else ""


def _adds_nothing_at_zero(statement: ast.stmt, amount: str) -> bool:
    """Return whether a statement changes nothing where an amount is zero: ``loss += w * x``, ``p.mul_(1 - lr * w)``."""
    match statement:
        case ast.AugAssign():
            return _is_neutral(statement.op, statement.value, amount)
        case ast.Assign(targets=[target], value=ast.BinOp() as value):
            is_same = ast.unparse(value.left) == ast.unparse(target)
            return is_same and _is_neutral(value.op, value.right, amount)
        case ast.Assign(value=ast.Call(func=ast.Attribute(value=owner, attr=method)) as call):
            is_same = ast.unparse(statement.targets[0]) == ast.unparse(owner)
            return is_same and _is_neutral_call(call, method, amount)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method)) as call) if method.endswith("_"):
            return _is_neutral_call(call, method, amount)
    return False  # also of a call whose result is thrown away


def _is_neutral_call(call: ast.Call, method: str, amount: str) -> bool:
    name = method.removesuffix("_")
    if len(call.args) != 1 or name not in ("add", "sub", "mul"):
        return False
    if name == "mul":
        return _is_neutral(ast.Mult(), call.args[0], amount)
    alpha = [word.value for word in call.keywords if word.arg == "alpha"]
    return _is_neutral(ast.Add(), (alpha or call.args)[0], amount)


def _is_neutral(op: ast.operator, node: ast.expr, amount: str) -> bool:
    """Return whether an operand changes nothing where an amount is zero."""
    if not isinstance(op, ast.Mult):
        return isinstance(op, ast.Add | ast.Sub) and _has_factor(node, amount)
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Pow):
        return _has_factor(node.right, amount)
    return getattr(node.left, "value", None) == 1 and _is_neutral(node.op, node.right, amount)


def _has_factor(node: ast.expr, amount: str) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _has_factor(node.operand, amount)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        if isinstance(node.op, ast.Mult) and _has_factor(node.right, amount):
            return True
        return _has_factor(node.left, amount)
    return ast.unparse(node) == amount


def defaults_of(tree: ast.AST) -> dict[str, dict[str, str]]:
    """Return the default of each parameter of the functions in a file, by the function's last name."""
    defaults: dict[str, dict[str, str]] = {}
    for function in ast.walk(tree):
        if isinstance(function, FunctionNode):
            own = {name.arg: ast.unparse(default) for name, default in parameters(function.args) if default}
            # Of several functions of one name, which one is called is not known.
            defaults[function.name] = {} if function.name in defaults else own
    return defaults


def is_epsilon(node: ast.expr) -> bool:
    """Return whether a node is a tiny constant."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, float) and 0 < value <= EPSILON


def _mark_epsilon(node: ast.expr) -> ast.expr:
    return marked("eps") if is_epsilon(node) else node


def _mark_infinite(node: ast.expr) -> ast.expr:
    """Return a mark for a huge constant, of either sign; anything else as it is."""
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    value = plain.value if isinstance(plain, ast.Constant) else None
    return marked("inf") if isinstance(value, float) and value >= HUGE else node


def _is_even(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value % 2 == 0


def _unsigned(node: ast.expr) -> ast.expr:
    """Return a difference with its sides in one order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        node.left, node.right = sorted((node.left, node.right), key=ast.dump)
    return node


def _in_one_order(call: ast.Call, name: str, arguments: list[ast.expr]) -> list[ast.expr]:
    """Return a call's arguments, sorted where their order does not matter."""
    if name in WORDS["of_any_order"] and all(word.arg == "out" for word in call.keywords):
        return sorted(arguments, key=ast.dump)
    is_pair = len(arguments) == 2 and not call.keywords
    if name in WORDS["symmetric"] or (is_pair and name in WORDS["commutative"]):
        return [*sorted(arguments[:2], key=ast.dump), *arguments[2:]]
    return arguments


def _asked_for_kind(node: ast.Call) -> ast.expr | None:
    """Return ``any(isinstance(i, list) for i in x)`` in one form whichever items are asked, as they are of one kind."""
    made = node.args[0] if called(node) in ("any", "all") and len(node.args) == 1 else None
    if not isinstance(made, ast.GeneratorExp | ast.ListComp) or called(made.elt) != "isinstance":
        return None
    loop = made.generators[0]
    if len(made.generators) > 1 or loop.ifs:
        return None
    if isinstance(loop.iter, ast.Subscript) and isinstance(loop.iter.slice, ast.Slice):
        loop.iter = loop.iter.value
    loop.iter = _converted(loop.iter, frozenset({"list"}))
    return ast.Call(ast.Name("any", ast.Load()), [made], [])


def _converted(node: ast.expr, conversions: Collection[str]) -> ast.expr:
    """Return what is converted, where the call that it is given to takes it as it is."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in conversions:
        if len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            break
        node = node.args[0]
    return node


def _any_layout(node: ast.expr) -> ast.expr:
    """Return the tensor of which a tensor is only laid out otherwise."""
    while called(node) in _LAYOUTS:
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute):
            break
        node = node.func.value
    return node


def _moved(node: ast.Call) -> ast.expr | None:
    """Return what a call only moves to a device, as in ``x.cuda()`` and ``x.to(device)``; None for other calls."""
    given = [*node.args, *(word.value for word in node.keywords if word.arg != "non_blocking")]
    if not isinstance(node.func, ast.Attribute) or len(given) > 1:
        return None
    is_to = node.func.attr == "to" and all(map(_names_device, given))
    return node.func.value if is_to or node.func.attr in ("cpu", "cuda") else None


def _names_device(node: ast.expr) -> bool:
    text = ast.unparse(node)
    kind = text.strip("'").partition(":")[0]
    return kind in ("cpu", "cuda", "mps") or text.lower().endswith(("device", "device)"))
