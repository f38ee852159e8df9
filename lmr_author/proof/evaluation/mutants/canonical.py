"""A canonical form that is equal for versions which no test can tell apart, or need not.

A mutant with the golden's form is not made: it says nothing about a test, and costs the annotator a look. Only what
the source shows is used, and in doubt the mutant is made. All rules about mutants that are not worth counting stand
here: guards, defaults, what is only logged, and code whose result nobody reads.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from lmr_author.core.code import parameters, parse
from lmr_author.proof.evaluation.mutants.names import TABLES, WORDS, called
from lmr_author.proof.evaluation.mutants.operators import DIMENSIONS, OPPOSITES

EPSILON = 1e-5
"""A constant of this size that is added, or is a lower bound, only guards against a division by zero: versions
with another one give the same outputs to the last bit that is compared."""
HUGE = 1e6
"""A constant from here on that fills or replaces stands for infinity."""

Defaults = Mapping[str, Mapping[str, str]]
"""Function of the golden's file → parameter → its default, as Python."""

_PURE = (
    WORDS["pure"] | WORDS["passed_through"] | WORDS["reductions"] | WORDS["commutative"] | OPPOSITES.keys()
)
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_STRICT: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.LtE: ast.Lt, ast.GtE: ast.Gt}
_BLOCKS = ("body", "orelse", "finalbody")


def canonical_form(text: str, defaults: Defaults | None = None) -> str | None:
    """Return the form of a function's source; None when it is no Python."""
    try:
        tree = _Canonical(defaults or {}).visit(parse(text))
        while _prune(tree):
            pass
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
        return ast.Pass() if unread or called(value) in WORDS["logging"] else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = called(node)
        if owner := _moved(node):
            return owner
        if name in WORDS["no_graph"] and isinstance(node.func, ast.Attribute):
            node.func.value = _WithoutDetach().visit(node.func.value)
        if name in WORDS["progress"] and node.args:
            return node.args[0]
        pair = len(node.args) == 2 and name in WORDS["commutative"]
        if name in WORDS["of_any_order"] and all(word.arg == "out" for word in node.keywords):
            node.args.sort(key=ast.dump)
        elif name in WORDS["symmetric"] or (pair and not node.keywords):
            node.args[:2] = sorted(node.args[:2], key=ast.dump)
        own = self._defaults.get(name, {})
        node.keywords = [
            word
            for word in node.keywords
            if not _is_default(name, word) and own.get(word.arg or "") != ast.unparse(word.value)
        ]
        if name in WORDS["bounding"]:
            node.args = [_marked("eps") if is_epsilon(item) else item for item in node.args]
        for word in node.keywords:
            if word.arg in WORDS["guards"] and is_epsilon(word.value):
                word.value = _marked("eps")
        if name in WORDS["filling"]:
            node.args = [_marked("inf") if _is_huge(item) else item for item in node.args]
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
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if any(called(item) in WORDS["draws"] for item in (node.left, *node.comparators)):
            # A draw from an interval never meets its bound.
            node.ops = [_STRICT.get(type(item), type(item))() for item in node.ops]
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


class _WithoutDetach(ast.NodeTransformer):
    """Drops ``.detach()``, where what it gives has no graph anyway."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if called(node) == "detach" and not node.args and isinstance(node.func, ast.Attribute):
            return node.func.value
        return node


def _prune(tree: ast.AST) -> bool:
    """Remove statements that do nothing from every block, once; return whether there were any."""
    unread = _unread(tree)
    changed = False
    for node in list(ast.walk(tree)):
        for field in _BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list):
                kept = list(_kept(block, unread))
                changed |= kept != block
                setattr(node, field, kept)
                _mark_filled(kept)
    return changed


def _kept(block: Sequence[ast.stmt], unread: Callable[[str], bool]) -> Iterator[ast.stmt]:
    for place, item in enumerate(block):
        if isinstance(item, ast.If) and isinstance(item.test, ast.Constant):
            yield from item.body if item.test.value else item.orelse
        elif not (_is_empty(item) or _is_dead(item, block[place + 1 :], unread)):
            yield item
        if isinstance(item, _ENDS):
            return


def _is_empty(item: ast.stmt) -> bool:
    """Return whether a statement has nothing left in it: all that it did was to log."""
    blocks = [getattr(item, field) for field in _BLOCKS if hasattr(item, field)]
    if isinstance(item, ast.If | ast.For):
        return not any(blocks) and is_pure(item.test if isinstance(item, ast.If) else item.iter)
    return isinstance(item, ast.Pass)


def _is_dead(item: ast.stmt, rest: Sequence[ast.stmt], unread: Callable[[str], bool]) -> bool:
    """Return whether nobody reads what a statement binds or appends, or it is bound anew before."""
    if name := _appended_to(item):
        return unread(name)
    if not isinstance(item, ast.Assign | ast.AnnAssign | ast.AugAssign) or item.value is None:
        return False
    targets = item.targets if isinstance(item, ast.Assign) else [item.target]
    flat = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if not is_pure(item.value) or not all(isinstance(one, ast.Name) for one in flat):
        return False
    names = [one.id for one in flat if isinstance(one, ast.Name)]
    if all(map(unread, names)):
        return True
    after = next((other for other in rest if _mentions(other, names)), None)
    return (
        isinstance(after, ast.Assign)
        and not isinstance(item, ast.AugAssign)
        and [ast.unparse(one) for one in after.targets] == names
        and not _mentions(after.value, names)
    )


def _appended_to(item: ast.AST) -> str:
    """Return the name of the list that a statement does nothing but append to; "" for any other statement."""
    call = item.value if isinstance(item, ast.Expr) else None
    if not isinstance(call, ast.Call) or called(call) not in ("append", "extend"):
        return ""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return owner.id if isinstance(owner, ast.Name) and all(map(is_pure, call.args)) else ""


def _mark_filled(block: Sequence[ast.stmt]) -> None:
    """Give buffers one name whatever they hold at first, where all of it is written before it is read."""
    for place, item in enumerate(block):
        if isinstance(item, ast.Assign) and called(item.value) in WORDS["buffers"]:
            name = ast.unparse(item.targets[0])
            after = next((other for other in block[place + 1 :] if _mentions(other, [name])), None)
            if after is not None and _fills(after, name, ast.unparse(item.value)):
                assert isinstance(item.value, ast.Call)
                item.value.func = _marked("buffer")


def _fills(statement: ast.stmt, name: str, made: str) -> bool:
    """Return whether a statement writes every element of a buffer, as ``for i in range(n): name[i] = …`` does."""
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) in (f"{name}[:]", f"{name}[...]")
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if called(call) not in WORDS["overwriting"] or ast.unparse(call.func).rpartition(".")[0] != name:
            return False
        return not any(_mentions(given, [name]) for given in (*call.args, *call.keywords))
    if not (isinstance(statement, ast.For) and called(statement.iter) in ("range", "enumerate")):
        return False
    assert isinstance(statement.iter, ast.Call)
    size = ast.unparse(statement.iter.args[0]) if len(statement.iter.args) == 1 else ""
    counter = statement.target.elts[0] if isinstance(statement.target, ast.Tuple) else statement.target
    stored = f"{name}[{ast.unparse(counter)}]"
    first = next((item for item in statement.body if _mentions(item, [name])), None)
    return (
        bool(size)
        and f"{size.removeprefix('len(').removesuffix(')')}" in made
        and isinstance(first, ast.Assign)
        and ast.unparse(first.targets[0]) == stored
        and not _mentions(first.value, [name])
    )


def _unread(tree: ast.AST) -> Callable[[str], bool]:
    """Return a test for local names that nobody reads; counters that are only counted are not read."""
    read, kept = set[str](), set[str]()
    lists = _own_lists(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            read.update({node.id} - lists)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            read.update(node.names)
        elif isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            kept.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.arg):
            kept.add(node.arg)
    # `x += y` of what may be another object's alias changes that object.
    changed = {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    read |= changed & kept
    if read & {"eval", "exec", "locals", "vars", "dir"}:
        return lambda name: False
    return lambda name: name not in read


def _own_lists(tree: ast.AST) -> set[str]:
    """Return the local names of lists that begin empty, and to which is only ever appended."""
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    appended = Counter(filter(None, map(_appended_to, ast.walk(tree))))
    made = Counter(
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and not node.value.elts
        for target in node.targets
        if isinstance(target, ast.Name)
    )
    return {name for name in made if uses[name] == appended[name] + made[name]}


def _mentions(node: ast.AST, names: Sequence[str]) -> bool:
    return any(isinstance(item, ast.Name) and item.id in names for item in ast.walk(node))


def is_pure(node: ast.AST) -> bool:
    """Return whether an expression only computes, as far as the names of what it calls tell."""
    return not any(
        isinstance(item, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr)
        or (isinstance(item, ast.Call) and called(item) not in _PURE)
        for item in ast.walk(node)
    )


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


def _marked(kind: str) -> ast.expr:
    return ast.Name(f"<{kind}>", ast.Load())


def _unsigned(node: ast.expr) -> ast.expr:
    """Return a difference with its sides in one order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        node.left, node.right = sorted((node.left, node.right), key=ast.dump)
    return node


def _unsigned_owner(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute):
        node.value = _unsigned(node.value)
    return node


def _is_default(name: str, word: ast.keyword) -> bool:
    """Return whether a keyword says what holds without it, on the machine that judges."""
    text = ast.unparse(word.value)
    if word.arg in ("dim", "axis"):
        return name in DIMENSIONS.get(text, ())
    if word.arg == "dtype":
        return name in WORDS["factories"] and text in ("torch.float", "torch.float32")
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
