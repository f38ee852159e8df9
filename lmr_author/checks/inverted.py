"""An exit code that is the wrong way round: ``sys.exit(main())``, where main returns True for success, exits with 1."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.assignments import own_nodes
from lmr_author.checks.base import Wrong
from lmr_author.checks.reading import Reading
from lmr_author.checks.sides import EQUALITIES, sides_of
from lmr_author.checks.sites import EXITS
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.source import each, walk

_GOOD = re.compile(r"\b(?:all good|correct|ok|pass(?:ed)?|success\w*)\b", re.IGNORECASE)
_BAD = re.compile(r"fail|error|wrong|mismatch|incorrect|differ|not ", re.IGNORECASE)
_MEANT = re.compile(
    r"(?<![a-z])(?:fail|err|wrong|bad|mism|before|unchanged|same|old|init|orig|prev|code|status|ret|mode|argv)"
)
"""Words of a comparison that may hold where something is wrong: ``torch.equal(before, after)``, ``status == 2``."""
_SIZES = re.compile(r"\b(?:abs|norm|max)\b|\babs\(")


class _Unclear(Exception):
    """A value of which it cannot be told whether it is a verdict."""


def inverted(test: Reading) -> Wrong | None:
    """What to say of an exit with a verdict that is True where the result is right; None where that is not certain."""
    tree = test.module.tree
    for call in each(tree, ast.Call):
        if dotted(call.func) not in EXITS or len(call.args) != 1:
            continue
        try:
            signs = _Verdicts(tree, call).of(call.args[0])
        except _Unclear:
            continue
        if signs == {True}:
            shown = ast.unparse(call.args[0])[:60]
            return Wrong(
                f"the exit code is the wrong way round: `{ast.unparse(call)[:60]}` exits with 1 where the result"
                " is right, and True",
                f"write {dotted(call.func)}(0 if {shown} else 1)",
                call.lineno,
            )
    return None


class _Verdicts:
    """What values say where they are true: that the result is right (True), or that it is wrong (False)."""

    def __init__(self, tree: ast.Module, call: ast.Call) -> None:
        functions = each(tree, ast.FunctionDef)
        names = [item.name for item in each(tree, ast.FunctionDef, ast.AsyncFunctionDef)]
        self._functions = {item.name: item for item in functions if names.count(item.name) == 1}
        inside = (item for item in functions if any(one is call for one in own_nodes(item)))
        self._scope: ast.AST = next(inside, tree)
        self._seen: set[tuple[int, str]] = set()

    def of(self, node: ast.expr) -> set[bool]:
        """What a value says; raises _Unclear where it may be something else than a verdict."""
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return set()
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return {not sign for sign in self.of(node.operand)}
        if isinstance(node, ast.BoolOp):
            return {sign for item in node.values for sign in self.of(item)}
        if isinstance(node, ast.Compare):
            return _of_comparison(node)
        if isinstance(node, ast.Name):
            return self._of_name(node.id)
        if isinstance(node, ast.Call):
            return self._of_call(node)
        raise _Unclear

    def _of_call(self, node: ast.Call) -> set[bool]:
        name = last_name(node.func)
        if isinstance(node.func, ast.Name) and name in self._functions:
            return self._of_function(self._functions[name])
        if name == "wasSuccessful":
            return {True}
        if name in EQUALITIES and not name.startswith("assert"):
            return _of_comparison(node)
        if name in ("bool", "int", "all") and (node.args or isinstance(node.func, ast.Attribute)):
            inner = node.args[0] if node.args else getattr(node.func, "value", node)
            if name == "all" and isinstance(inner, ast.GeneratorExp | ast.ListComp):
                inner = inner.elt
            if name == "all" and isinstance(inner, ast.List | ast.Tuple):
                return {sign for item in inner.elts for sign in self.of(item)}
            return self.of(inner)
        raise _Unclear

    def _of_function(self, function: ast.FunctionDef) -> set[bool]:
        own = own_nodes(function)
        returned = [item for item in own if isinstance(item, ast.Return)]
        special = any(isinstance(item, ast.Yield | ast.YieldFrom) for item in own)
        key = (id(function), "")
        if function.decorator_list or special or not returned or key in self._seen:
            raise _Unclear
        self._seen.add(key)
        outer, self._scope = self._scope, function
        try:
            return {sign for item in returned for sign in self._of_statement(item)}
        finally:
            self._scope = outer

    def _of_name(self, name: str) -> set[bool]:
        """What a name says that the scope sets only by plain assignments."""
        key = (id(self._scope), name)
        if key in self._seen:
            return set()
        self._seen.add(key)
        own = own_nodes(self._scope)
        stores = [
            item
            for item in own
            if isinstance(item, ast.Name) and item.id == name and isinstance(item.ctx, ast.Store)
        ]
        plain = [
            item
            for item in own
            if isinstance(item, ast.Assign) and [dotted(one) for one in item.targets] == [name]
        ]
        if not plain or len(stores) != len(plain):
            raise _Unclear
        return {sign for item in plain for sign in self._of_statement(item)}

    def _of_statement(self, node: ast.Return | ast.Assign) -> set[bool]:
        """What a value says, and where it is a constant, what its place tells of it."""
        if node.value is None:
            raise _Unclear
        found = self.of(node.value)
        if isinstance(node.value, ast.Constant):
            found |= {sign is node.value.value for sign in self._at(node)}
        return found

    def _at(self, node: ast.stmt) -> Iterator[bool]:
        """Whether the result is right where a statement stands, as far as its block tells."""
        for owner in (self._scope, *own_nodes(self._scope)):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(owner, field, None)
                if not isinstance(block, list) or not any(item is node for item in block):
                    continue
                yield from _said(block[: block.index(node)])
                if isinstance(owner, ast.If):
                    yield from (sign is (field == "body") for sign in self._of_condition(owner.test))
                if isinstance(owner, ast.ExceptHandler):
                    yield False

    def _of_condition(self, node: ast.expr) -> set[bool]:
        try:
            return self.of(node)
        except _Unclear:
            return set()


def _of_comparison(node: ast.expr) -> set[bool]:
    """What it says that two things are equal or close: as a rule, that the result is right."""
    sides = sides_of(node)
    if sides is None:
        raise _Unclear
    ordered = isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Eq | ast.NotEq)
    texts = any(isinstance(item, ast.Constant) and isinstance(item.value, str | bool) for item in walk(node))
    zero = isinstance(sides.right, ast.Constant) and sides.right.value == 0
    shown = ast.unparse(node)
    if (
        texts
        or (ordered and not _SIZES.search(shown))
        or (_MEANT.search(shown.lower()) and not (zero or ordered))
    ):
        raise _Unclear
    return {not sides.differ}


def _said(before: list[ast.stmt]) -> Iterator[bool]:
    """What is printed or logged just before: "Passed", or "Failed"."""
    last = before[-1] if before else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        words = [
            item.value
            for item in walk(last)
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        ]
        text = " ".join(words)
        if bool(_GOOD.search(text)) != bool(_BAD.search(text)):
            yield not _BAD.search(text)
