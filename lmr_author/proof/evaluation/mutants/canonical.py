"""A canonical form that is equal for versions which no test can tell apart, or need not.

A mutant with the golden's form is not made: it says nothing about a test, and costs the annotator a look. Only what
the source shows is used, and in doubt the mutant is made. All rules about mutants that are not worth counting stand
here (guards, defaults, what commutes) and in ``unread.py`` (what is only logged, and code whose result nobody reads).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from lmr_author.core.code import parameters, parse
from lmr_author.proof.evaluation.mutants.names import TABLES, WORDS, called
from lmr_author.proof.evaluation.mutants.operators import DIMENSIONS
from lmr_author.proof.evaluation.mutants.unread import marked, prune

EPSILON = 1e-5
"""A constant of this size that is added, or is a lower bound, only guards against a division by zero: versions
with another one give the same outputs to the last bit that is compared."""
HUGE = 1e6
"""A constant from here on that fills or replaces stands for infinity."""

Defaults = Mapping[str, Mapping[str, str]]
"""Function of the golden's file → parameter → its default, as Python."""

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
        name = called(node)
        if owner := _moved(node):
            return owner
        if kind := _asked_for_kind(node):
            return kind
        if name in WORDS["no_graph"] and isinstance(node.func, ast.Attribute):
            node.func.value = _WithoutDetach().visit(node.func.value)
        if name in WORDS["progress"] and node.args:
            return node.args[0]
        for takers, conversions in (("set_methods", "conversions"), ("of_any_order_too", "orderings")):
            if name in WORDS[takers] and not node.keywords:
                node.args = [_converted(item, WORDS[conversions]) for item in node.args]
        if name in WORDS["of_all"] and not node.args and not node.keywords:
            node.func = _any_layout(node.func)
        pair = len(node.args) == 2 and name in WORDS["commutative"]
        if name in WORDS["of_any_order"] and all(word.arg == "out" for word in node.keywords):
            node.args.sort(key=ast.dump)
        elif name in WORDS["symmetric"] or (pair and not node.keywords):
            node.args[:2] = sorted(node.args[:2], key=ast.dump)
        own = self._defaults.get(name, {})
        node.keywords = [
            word
            for word in node.keywords
            if not _is_default(node, word) and own.get(word.arg or "") != ast.unparse(word.value)
        ]
        if name in WORDS["bounding"]:
            node.args = [marked("eps") if is_epsilon(item) else item for item in node.args]
        for word in node.keywords:
            if word.arg in WORDS["guards"] and is_epsilon(word.value):
                word.value = marked("eps")
        if name in WORDS["filling"]:
            node.args = [marked("inf") if _is_huge(item) else item for item in node.args]
        if name in WORDS["even"]:
            node.args = [_unsigned(item) for item in node.args]
            node.func = _unsigned_owner(node.func)
        if name in ("pow", "pow_") and len(node.args) == 1 and _is_even(node.args[0]):
            node.func = _unsigned_owner(node.func)
        return node

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        if any(called(item.context_expr) in ("no_grad", "inference_mode") for item in node.items):
            node.body = [_WithoutDetach().visit(statement) for statement in node.body]
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        first = node.body[0]
        if isinstance(first, ast.If) and not first.orelse and ast.dump(first.test) == ast.dump(node.test):
            node.body[:1] = first.body  # it holds already
        amount = _amount(node.test)
        if amount and not node.orelse and all(_adds_nothing_at_zero(item, amount) for item in node.body):
            node.test = ast.Constant(True)  # without any of it, the block changes nothing
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if any(called(side) in WORDS["draws"] or is_epsilon(side) for side in sides):
            # A draw from an interval never meets its bound, and what is compared with a guard is zero or far from it.
            node.ops = [_STRICT.get(type(item), type(item))() for item in node.ops]
            node.left, *node.comparators = [marked("eps") if is_epsilon(side) else side for side in sides]
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
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    stream = isinstance(owner, ast.Attribute) and owner.attr in ("stdout", "stderr")
    return called(node) in WORDS["logging"] or (stream and called(node) in ("write", "writelines"))


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
        if not (isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value == 0):
            return ""
        test = test.left
    return ast.unparse(test) if isinstance(test, ast.Name | ast.Attribute | ast.Subscript) else ""


def _adds_nothing_at_zero(item: ast.stmt, amount: str) -> bool:
    """Return whether a statement changes nothing where an amount is zero: ``loss += w * x``, ``p.mul_(1 - lr * w)``."""
    if isinstance(item, ast.AugAssign):
        return _is_neutral(item.op, item.value, amount)
    if isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.value, ast.BinOp):
        same = ast.unparse(item.value.left) == ast.unparse(item.targets[0])
        return same and _is_neutral(item.value.op, item.value.right, amount)
    call = item.value if isinstance(item, ast.Expr | ast.Assign) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) != ast.unparse(call.func.value):
        return False
    name = call.func.attr.removesuffix("_")
    if isinstance(item, ast.Expr) and name == call.func.attr:
        return False  # its result is thrown away
    alpha = [word.value for word in call.keywords if word.arg == "alpha"]
    if name in ("add", "sub") and len(call.args) == 1:
        return _is_neutral(ast.Add(), (alpha or call.args)[0], amount)
    return name == "mul" and len(call.args) == 1 and _is_neutral(ast.Mult(), call.args[0], amount)


def _is_neutral(op: ast.operator, node: ast.expr, amount: str) -> bool:
    """Return whether an operand changes nothing where an amount is zero."""
    if isinstance(op, ast.Mult):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return _has_factor(node.right, amount)
        if not (isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant) and node.left.value == 1):
            return False
        return _is_neutral(node.op, node.right, amount)
    return isinstance(op, ast.Add | ast.Sub) and _has_factor(node, amount)


def _has_factor(node: ast.expr, amount: str) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _has_factor(node.operand, amount)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        right = isinstance(node.op, ast.Mult) and _has_factor(node.right, amount)
        return right or _has_factor(node.left, amount)
    return ast.unparse(node) == amount


def defaults_of(tree: ast.AST) -> dict[str, dict[str, str]]:
    """Return the default of each parameter of the functions in a file, by the function's last name."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = {item.arg: ast.unparse(default) for item, default in parameters(node.args) if default}
            # Of several functions of one name, which one is called is not known.
            found[node.name] = {} if node.name in found else own
    return found


def is_epsilon(node: ast.expr) -> bool:
    """Return whether a node is a tiny constant."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, float) and 0 < value <= EPSILON


def _is_huge(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value >= HUGE


def _is_even(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value % 2 == 0


def _unsigned(node: ast.expr) -> ast.expr:
    """Return a difference with its sides in one order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        node.left, node.right = sorted((node.left, node.right), key=ast.dump)
    return node


def _asked_for_kind(node: ast.Call) -> ast.expr | None:
    """Return ``any(isinstance(i, list) for i in x)`` in one form whichever items are asked, as they are of one kind."""
    made = node.args[0] if called(node) in ("any", "all") and len(node.args) == 1 else None
    if not isinstance(made, ast.GeneratorExp | ast.ListComp) or called(made.elt) != "isinstance":
        return None
    if len(made.generators) > 1 or made.generators[0].ifs:
        return None
    asked = made.generators[0].iter
    some = asked.value if isinstance(asked, ast.Subscript) and isinstance(asked.slice, ast.Slice) else asked
    made.generators[0].iter = _converted(some, frozenset({"list"}))
    return ast.Call(ast.Name("any", ast.Load()), [made], [])


def _converted(node: ast.expr, conversions: Collection[str]) -> ast.expr:
    """Return what is converted, where the call that it is given to takes it as it is."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in conversions:
        if len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            break
        node = node.args[0]
    return node


def _any_layout(node: ast.expr) -> ast.expr:
    """Return a method of a tensor that is only laid out otherwise as that of the tensor itself."""
    while (
        isinstance(node, ast.Attribute)
        and called(node.value) in (WORDS["layouts"] | WORDS["transpositions"]) - {"expand"}
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
    ):
        node.value = node.value.func.value
    return node


def _unsigned_owner(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute):
        node.value = _unsigned(node.value)
    return node


def _is_default(call: ast.Call, word: ast.keyword) -> bool:
    """Return whether a keyword says what holds without it, on the machine that judges."""
    name, text = called(call), ast.unparse(word.value)
    if word.arg in ("dim", "axis"):
        return name in DIMENSIONS.get(text, ())
    if word.arg == "dtype":
        numpy = ast.unparse(call.func).startswith(("np.", "numpy."))
        usual = ("float", "np.float64", "numpy.float64") if numpy else ("torch.float", "torch.float32")
        return name in WORDS["factories"] and text in usual
    if word.arg in WORDS["tuning"] and isinstance(word.value, ast.Constant):
        return True
    return word.arg in WORDS["without_effect"] or TABLES["defaults"].get(word.arg) == text


def _moved(node: ast.Call) -> ast.expr | None:
    """Return what a call only moves to a device, as in ``x.cuda()`` and ``x.to(device)``; None for other calls."""
    given = [*node.args, *(word.value for word in node.keywords if word.arg != "non_blocking")]
    if not isinstance(node.func, ast.Attribute) or len(given) > 1:
        return None
    text = ast.unparse(given[0]) if given else ""
    place = text.strip("'").partition(":")[0] in ("cpu", "cuda", "mps") or text.lower().endswith(
        ("device", "device)")
    )
    moves = node.func.attr in ("cpu", "cuda") or (node.func.attr == "to" and (place or not given))
    return node.func.value if moves else None
