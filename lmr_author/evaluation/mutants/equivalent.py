"""Changes that no test can notice, because the result is the same: operators leave them out.

A mutant that means the same as the golden says nothing about a test, and costs the annotator a look. Only what can be
told from the source is here, and in doubt the mutant is made.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from lmr_author.evaluation.mutants.operator import Code
from lmr_author.evaluation.mutants.summed import only_shapes

EPSILON = 1e-5
"""A constant of this size that is added, or is a lower bound, only guards against a division by zero: versions
with another one give the same outputs to the last bit that is compared."""

HUGE = 1e6
"""A constant from here on that fills or replaces stands for infinity."""

COMMUTATIVE = frozenset(
    {"add", "array_equal", "array_equiv", "cosine_similarity", "eq", "equal", "gcd", "huber_loss", "hypot",
     "intersect1d", "isdisjoint", "l1_loss", "logaddexp", "logical_and", "logical_or", "logical_xor", "max", "maximum",
     "min", "minimum", "mse_loss", "mul", "multiply", "ne", "smooth_l1_loss", "union1d"}
)  # fmt: skip
"""Functions of two values whose order does not matter."""

DRAWS = frozenset({"rand", "rand_like", "random", "random_sample", "uniform"})
"""Draw from a continuum: a draw is as good as never equal to anything."""

DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "aggfunc": ("'mean'",),
    "ascending": ("True",),
    "bias": ("True",),
    "descending": ("False",),
    "dtype": ("torch.float", "torch.float32"),
    "inplace": ("False",),
    "keepdim": ("False",),
    "keepdims": ("False",),
    "largest": ("True",),
    "reduction": ("'mean'",),
    "requires_grad": ("False",),
    "reverse": ("False",),
}
"""What keywords are when they are left out, whatever is called. A device is what it is on the machine that judges."""
FACTORIES = frozenset({"empty", "eye", "linspace", "ones", "rand", "randn", "zeros"})
"""Functions of which ``DEFAULTS`` knows the element type."""
DIMENSIONS: Mapping[str, frozenset[str]] = {
    "0": frozenset({"cat", "chunk", "concat", "concatenate", "split", "stack", "tensor_split", "unbind"}),
    "1": frozenset({"cosine_similarity", "normalize"}),
    "-1": frozenset({"argsort", "diff", "glu", "kthvalue", "sort", "topk"}),
}
"""The dimension that functions work along when none is named."""


DEVICES = frozenset({"cpu", "cuda", "mps", "xpu"})


SEES_NAMES = frozenset({"eval", "exec", "locals", "vars", "dir"})
"""What may look at a variable without naming it."""


def called(node: ast.AST | None) -> str:
    """The last name of what a node calls; "" when it is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def unread(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Local names that a function gives values to and never looks at, as an old version of its code leaves them."""
    stored, read = set[str](), set[str]()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            (stored if isinstance(node.ctx, ast.Store) else read).add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            read.update(node.names)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read.add(node.target.id)
    return frozenset() if read & SEES_NAMES else frozenset(stored - read)


def commutes(call: ast.Call) -> bool:
    """Whether two arguments may stand in either order."""
    return called(call) in COMMUTATIVE and len(call.args) == 2 and not call.keywords


def is_default(call: ast.Call, word: ast.keyword) -> bool:
    """Whether a keyword says what holds without it, on the machine that judges."""
    name, text = word.arg or "", ast.unparse(word.value)
    if name == "dtype" and called(call) not in FACTORIES:
        return False
    if name in ("dim", "axis"):
        return called(call) in DIMENSIONS.get(text, ())
    return name == "device" or text in DEFAULTS.get(name, ())


def never_equal(node: ast.Compare) -> bool:
    """Whether what is compared is as good as never equal, a random number or a tiny one, so that `<` is `<=`."""
    ordered = isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    return ordered and any(
        called(side) in DRAWS or is_epsilon(side) for side in (node.left, *node.comparators)
    )


def is_even(node: ast.BinOp, code: Code) -> bool:
    """Whether the sign of a difference is lost: it is squared, or its absolute value is taken."""
    parent = code.parents.get(node)
    if not isinstance(node.op, ast.Sub):
        return False
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and parent.left is node:
        return _is_even_number(parent.right)
    if isinstance(parent, ast.Attribute) and isinstance(outer := code.parents.get(parent), ast.Call):
        power = parent.attr in ("pow", "pow_") and len(outer.args) == 1 and _is_even_number(outer.args[0])
        return power or (parent.attr in ("abs", "square") and not outer.args)
    return (
        isinstance(parent, ast.Call) and called(parent) in ("abs", "fabs", "square") and len(parent.args) == 1
    )


def _is_even_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value % 2 == 0


def ends_anyway(node: ast.Return, code: Code) -> bool:
    """Whether the function ends, with None, where this ``return`` of None is taken away."""
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        return False
    child: ast.AST = node
    for parent in code.ancestors(node):
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            return parent.body[-1] is child
        if not isinstance(parent, ast.If | ast.With | ast.AsyncWith | ast.Try | ast.ExceptHandler):
            return False
        if isinstance(parent, ast.Try) and (parent.orelse or parent.finalbody):
            return False
        blocks = [getattr(parent, name, []) for name in ("body", "orelse", "handlers")]
        if not any(
            block and (block[-1] is child or child in getattr(parent, "handlers", ())) for block in blocks
        ):
            return False
        child = parent
    return False


def is_guard(node: ast.Constant, code: Code) -> bool:
    """Whether a number only keeps a division from failing, or stands for infinity."""
    parent = code.parents.get(node)
    return (
        (is_epsilon(node) and _guards_division(node, parent))
        or _is_infinity(node, code)
        or _replaces_zero(node, code)
    )


def is_epsilon(node: ast.expr) -> bool:
    """Whether a node is a tiny constant."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, float) and 0 < value <= EPSILON


def adds_epsilon(node: ast.BinOp) -> bool:
    """Whether a tiny constant is added to something."""
    return isinstance(node.op, ast.Add | ast.Sub) and is_epsilon(node.right)


def _guards_division(node: ast.expr, parent: ast.AST | None) -> bool:
    """Whether a tiny constant stands where only a guard stands: added, compared, ``eps=``, ``min=``, in clamp."""
    if isinstance(parent, ast.BinOp):
        return adds_epsilon(parent) or (isinstance(parent.op, ast.Add) and parent.left is node)
    if isinstance(parent, ast.keyword):
        return parent.arg in ("eps", "epsilon", "min", "a_min")
    if isinstance(parent, ast.Compare):
        return True
    return called(parent) in ("clamp", "clip", "clamp_", "clamp_min", "max", "maximum")


def _is_infinity(node: ast.Constant, code: Code) -> bool:
    """``-1e9`` in ``masked_fill`` or ``where``, or multiplied with a mask."""
    if not isinstance(node.value, float) or node.value < HUGE:
        return False
    parent = code.parents.get(node)
    if isinstance(parent, ast.UnaryOp):
        parent = code.parents.get(parent)
    return called(parent) in ("masked_fill", "masked_fill_", "where", "full", "full_like", "fill_")


def _replaces_zero(node: ast.Constant, code: Code) -> bool:
    """The 1 of ``sum(x) or 1``: what is divided by it is zero itself."""
    parent = code.parents.get(node)
    return (
        isinstance(parent, ast.BoolOp)
        and isinstance(parent.op, ast.Or)
        and parent.values[-1] is node
        and called(parent.values[0]) in ("len", "norm", "std", "sum")
    )


def moved(node: ast.Call) -> ast.expr | None:
    """What a call only moves to a device, as in ``x.cuda()`` and ``x.to(device)``: tests run without a GPU."""
    if not isinstance(node.func, ast.Attribute):
        return None
    words = [word for word in node.keywords if word.arg != "non_blocking"]
    given = [*node.args, *(word.value for word in words if word.arg == "device")]
    if len(given) > 1 or len(given) < len(node.args) + len(words):
        return None
    if node.func.attr in ("cpu", "cuda"):
        return node.func.value
    return node.func.value if node.func.attr == "to" and given and _is_device(given[0]) else None


def _is_device(node: ast.expr) -> bool:
    """Whether an argument is a device by its form: ``"cuda:0"``, ``self.device``, ``torch.device(…)``."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.partition(":")[0] in DEVICES
    name = called(node) or getattr(node, "attr", "") or getattr(node, "id", "")
    return name.lower().endswith("device")


class Canonical(ast.NodeTransformer):
    """One form for what is written in several ways: ``x = x`` and ``x = x.cuda()`` do nothing."""

    def __init__(self) -> None:
        self._only_shapes: frozenset[ast.stmt] = frozenset()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """What only gives a value another shape before it is summed."""
        self._only_shapes |= only_shapes(node)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """``pass`` in the place of what is given to itself, in another shape where that does not matter."""
        if node in self._only_shapes:
            return ast.Pass()
        self.generic_visit(node)
        itself = len(node.targets) == 1 and ast.unparse(node.targets[0]) == ast.unparse(node.value)
        return ast.Pass() if itself and _is_place(node.value) else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """``pass`` in the place of a name alone: ``model.to(device)``, moved nowhere."""
        self.generic_visit(node)
        return ast.Pass() if _is_place(node.value) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """What is moved to a device, as it is where there is only one."""
        self.generic_visit(node)
        return moved(node) or node


def _is_place(node: ast.expr) -> bool:
    """Whether a node only names a value: ``x``, ``self.x``, ``x["a"]``."""
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
