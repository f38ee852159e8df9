"""Operators on what research code is made of: reductions, dimensions, gradients, arguments, loops, slices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author.evaluation.mutants.equivalent import called, commutes, is_default
from lmr_author.evaluation.mutants.flow import first_statement, line_break
from lmr_author.evaluation.mutants.operator import Code, Edit, Operator
from lmr_author.source import bound_by, parameters

EXCHANGED_CALLS = {
    "mean": "sum", "sum": "mean", "max": "min", "min": "max", "amax": "amin", "amin": "amax",
    "argmax": "argmin", "argmin": "argmax", "maximum": "minimum", "minimum": "maximum", "nanmean": "nansum",
    "any": "all", "all": "any", "softmax": "log_softmax", "log_softmax": "softmax", "sigmoid": "logsigmoid",
    "logsigmoid": "sigmoid", "relu": "gelu", "gelu": "relu", "exp": "log", "log": "exp", "log1p": "log",
    "expm1": "exp", "sqrt": "square", "rsqrt": "sqrt", "sin": "cos", "cos": "sin", "floor": "ceil",
    "ceil": "floor", "round": "floor", "triu": "tril", "tril": "triu", "ones": "zeros", "zeros": "ones",
    "ones_like": "zeros_like", "zeros_like": "ones_like", "cumsum": "cumprod", "cumprod": "cumsum",
    "addcmul_": "addcdiv_", "addcdiv_": "addcmul_", "mul_": "div_", "add_": "sub_", "sub_": "add_",
    "mul": "div", "add": "sub", "sub": "add", "lower": "upper", "startswith": "endswith",
    "union": "intersection", "intersection": "union", "append": "extend",
}  # fmt: skip
PASSED_THROUGH = frozenset(
    {"abs", "clamp", "clamp_min", "clip", "cumsum", "detach", "dropout", "exp", "flip", "log", "log1p",
     "log_softmax", "lower", "lstrip", "masked_fill", "neg", "normalize", "permute", "relu", "reversed",
     "round", "rstrip", "set", "sigmoid", "softmax", "sort", "sorted", "sqrt", "square", "squeeze",
     "stop_gradient", "strip", "t", "tanh", "transpose", "tril", "triu", "unique", "unsqueeze"}
)  # fmt: skip
"""Calls whose first operand is left standing alone."""
DIMENSIONS = frozenset({"dim", "axis", "dim0", "dim1", "start_dim", "end_dim"})


class OtherFunction(Operator):
    """A function's opposite: mean for sum, softmax for log_softmax."""

    name = "other function"
    examples = (("return x.mean()", "return x.sum()"), ("return torch.argmax(x)", "return torch.argmin(x)"))

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Exchange the last name of what is called."""
        if not isinstance(node, ast.Call):
            return
        new = EXCHANGED_CALLS.get(called(node))
        if new is not None:
            if isinstance(node.func, ast.Attribute):
                text = code.text(node.func)
                yield Edit(node.func, text[: len(text) - len(node.func.attr)] + new)
            elif new in ("min", "max", "any", "all"):
                yield Edit(node.func, new)


class DroppedCall(Operator):
    """A step is left out: no detach, no abs, no normalisation."""

    name = "dropped call"
    examples = (
        ("return x.detach() * y", "return x * y"),
        ("return F.normalize(x, dim=-1)", "return x"),
        ("return sorted(x)", "return x"),
    )

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Leave the object, or the first argument, without the call around it."""
        if not isinstance(node, ast.Call) or called(node) not in PASSED_THROUGH:
            return
        if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value, code):
            yield Edit(node, code.inner(node.func.value))
        elif node.args and not isinstance(node.args[0], ast.Starred):
            yield Edit(node, code.inner(node.args[0]))


class Gradients(Operator):
    """Gradients where there should be none."""

    name = "gradients"
    examples = (
        ("with torch.no_grad():\n    x = y", "with torch.enable_grad():\n    x = y"),
        ("with torch.inference_mode():\n    x = y", "with torch.enable_grad():\n    x = y"),
    )

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Exchange the context manager."""
        if isinstance(node, ast.withitem) and isinstance(node.context_expr, ast.Call):
            function = node.context_expr.func
            if isinstance(function, ast.Attribute) and function.attr in ("no_grad", "inference_mode"):
                yield Edit(function, f"{code.text(function.value)}.enable_grad")


class Dimension(Operator):
    """Another dimension."""

    name = "dimension"
    examples = (("return x.sum(dim=-1)", "return x.sum(dim=0)"), ("return x.sum(1)", "return x.sum(0)"))

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Dimension 0 for any other, 1 for 0."""
        if not isinstance(node, ast.Call):
            return
        places = [word.value for word in node.keywords if word.arg in DIMENSIONS]
        reducing = (
            "sum",
            "mean",
            "max",
            "min",
            "softmax",
            "log_softmax",
            "argmax",
            "cumsum",
            "size",
            "squeeze",
        )
        if isinstance(node.func, ast.Attribute) and node.func.attr in reducing:
            places += node.args[-1:]
        for place in places:
            value = _integer(place)
            if value is not None:
                yield Edit(place, "1" if value == 0 else "0")


class SwappedArguments(Operator):
    """Two positional arguments, or two returned or unpacked values, the wrong way round."""

    name = "swapped arguments"
    examples = (
        ("return g(x, y)", "return g(y, x)"),
        ("return x, y", "return y, x"),
        ("a, b = x", "b, a = x"),
    )

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Swap neighbours."""
        if isinstance(node, ast.Call) and not any(isinstance(item, ast.Starred) for item in node.args):
            if commutes(node):
                return
            for one, other in zip(node.args, node.args[1:], strict=False):
                if ast.dump(one) != ast.dump(other) and _integer(one) is None and _integer(other) is None:
                    yield from _swapped(code, node, one, other)
        elif isinstance(node, ast.Tuple) and len(node.elts) >= 2:
            parent = code.parents.get(node)
            # Of `a, b = x, y` either side may be swapped: one of them is enough.
            twice = (
                isinstance(parent, ast.Assign)
                and isinstance(parent.value, ast.Tuple)
                and node is not parent.value
            )
            if isinstance(parent, ast.Return | ast.Assign) and not twice:
                one, other = node.elts[:2]
                if ast.dump(one) != ast.dump(other):
                    yield from _swapped(code, node, one, other)


def _swapped(code: Code, node: ast.expr, one: ast.expr, other: ast.expr) -> Iterator[Edit]:
    if isinstance(one, ast.Starred) or isinstance(other, ast.Starred):
        return
    start, _ = code.span(node)
    (a, b), (c, d) = code.span(one), code.span(other)
    text = code.text(node)
    yield Edit(
        node,
        text[: a - start] + text[c - start : d - start] + text[b - start : c - start]
        + text[a - start : b - start] + text[d - start :],
    )  # fmt: skip


class DroppedKeyword(Operator):
    """A keyword argument is forgotten."""

    name = "dropped keyword"
    examples = (("return g(x, reduction='none')", "return g(x)"), ("return g(k=x, n=y)", "return g(n=y)"))

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Leave one keyword argument out."""
        if not isinstance(node, ast.Call) or any(isinstance(item, ast.GeneratorExp) for item in node.args):
            return
        for word in node.keywords:
            if word.arg is None or is_default(node, word):
                continue
            kept = [code.text(item) for item in node.args]
            kept += [
                f"{item.arg}={code.text(item.value)}" if item.arg else f"**{code.text(item.value)}"
                for item in node.keywords
                if item is not word
            ]
            yield Edit(node, f"{code.text(node.func)}({', '.join(kept)})")


class IgnoredParameter(Operator):
    """A parameter is not looked at: its default stands in its place."""

    name = "ignored parameter"
    examples = (("return x * y", "y = 2\nreturn x * y"),)

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Set a parameter with a constant default to it at the start of the body."""
        if node is not code.function:
            return
        first = first_statement(code.function)
        read = {item.id for item in ast.walk(code.function) if isinstance(item, ast.Name)}
        for item, default in parameters(code.function.args):
            if first is not None and item.arg in read and isinstance(default, ast.Constant | ast.UnaryOp):
                indent = line_break(code, first)
                yield Edit(
                    first, f"{item.arg} = {code.text(default)}{indent}{code.text(first)}", parameter=item.arg
                )


class OffByOne(Operator):
    """A slice, an index or a range that starts or ends one off."""

    name = "off by one"
    examples = (
        ("return x[1:]", "return x[2:]"),
        ("return x[:-1]", "return x[:]"),
        ("return x[0]", "return x[1]"),
        ("return list(range(y))", "return list(range((y) - 1))"),
    )

    def edits(self, node: ast.AST, code: Code) -> Iterator[Edit]:
        """Move one bound."""
        if isinstance(node, ast.Slice):
            lower, upper = _integer(node.lower), _integer(node.upper)
            texts = [code.text(part) if part else "" for part in (node.lower, node.upper)]
            step = f":{code.text(node.step)}" if node.step else ""
            if lower is not None and node.lower is not None:
                yield Edit(node, f"{lower + 1 or ''}:{texts[1]}{step}")
            if upper is not None and node.upper is not None:
                yield Edit(node, f"{texts[0]}:{upper + 1 or ''}{step}")
        elif isinstance(node, ast.Subscript) and _integer(node.slice) is not None:
            yield Edit(node.slice, str((_integer(node.slice) or 0) + 1))
        elif isinstance(node, ast.Call) and called(node) == "range" and node.args:
            last = node.args[min(len(node.args) - 1, 1)]
            yield Edit(last, f"({code.text(last)}) - 1")


def _integer(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _integer(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def _is_module(node: ast.expr, code: Code) -> bool:
    """Whether an expression is an imported module, as ``F`` or ``torch.nn.functional``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    imported = {
        name
        for item in ast.walk(code.module.tree)
        if isinstance(item, ast.Import | ast.ImportFrom)
        for name in bound_by(item)
    }
    return node.id in imported


OPERATORS: tuple[type[Operator], ...] = (
    OtherFunction,
    DroppedCall,
    Gradients,
    Dimension,
    SwappedArguments,
    DroppedKeyword,
    IgnoredParameter,
    OffByOne,
)
