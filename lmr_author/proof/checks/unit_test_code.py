"""A unit test as code: what it calls, names and reads, and which of its statements can make it fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

from lmr_author.core.code import FunctionNode, Module, each
from lmr_author.core.code.tree import last_name
from lmr_author.core.task import Implementation, Severity
from lmr_author.proof.checks.base import ERROR, Check, Problem, target_check
from lmr_author.proof.contents import TaskContents, once
from lmr_author.proof.targets import unit_test_path

EXITS = frozenset(("sys.exit", "exit", "quit", "os._exit", "os.abort", "SystemExit"))
_BROAD = re.compile(r"(?:.*\.)?(?:Exception|BaseException|AssertionError)")
_SUPPRESS = re.compile(r"(?:\w+\.)*suppress\(.*\b(?:Exception|BaseException|AssertionError)\b.*\)")
_DATA = re.compile(
    r"[^\s*{}%<>|]*[\w\])]\.(?:jsonl?|pth?|pkl|pickle|np[yz]|csv|tsv|txt|bin|ya?ml|h5|safetensors|mat)"
)
_WRITES = re.compile(
    r"(?:[^(]*\.)?(?:save\w*|dump|to_csv|to_json|write\w*|basicConfig|\w*FileHandler|remove|unlink|exists|isfile)\("
    r"|(?:[^(]*\.)?open\((?:.*, )?(?:mode=)?'[wax]b?\+?'",
    re.DOTALL,
)
"""The text of a call that writes a file, or asks for it."""

Node = TypeVar("Node", bound=ast.AST)


class Text(NamedTuple):
    """A string constant of a test, or a constant piece of an f-string."""

    value: str
    line: int


class DataFile(NamedTuple):
    """A data file that a constant names, with its path as it is spelt."""

    path: str
    line: int
    is_written: bool


@dataclass(frozen=True)
class UnitTest:
    """A unit test, with the modules of its own folder that it imports."""

    path: Path
    modules: tuple[Module, ...]

    @property
    def text(self) -> str:
        return "\n".join(module.text for module in self.modules)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(walk_all(module.tree for module in self.modules))

    def each(self, kind: type[Node]) -> list[Node]:
        return [node for node in self.nodes if isinstance(node, kind)]

    @cached_property
    def functions(self) -> list[FunctionNode]:
        return [node for node in self.nodes if isinstance(node, FunctionNode)]

    @cached_property
    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        return [node for node in self.nodes if isinstance(node, ast.Import | ast.ImportFrom)]

    @cached_property
    def calls(self) -> list[tuple[ast.Call, str]]:
        return [(call, dotted(call.func)) for call in self.each(ast.Call)]

    @cached_property
    def texts(self) -> list[Text]:
        docstrings = {statement.value for statement in self.each(ast.Expr)}
        texts = []
        for constant in self.each(ast.Constant):
            if isinstance(constant.value, str) and constant not in docstrings:
                texts.append(Text(constant.value, constant.lineno))
        return texts

    @cached_property
    def names(self) -> frozenset[str]:
        texts = [text.value for text in self.texts]
        for node in self.nodes:
            if isinstance(node, ast.Name | ast.Attribute | ast.Import | ast.ImportFrom):
                texts.append(ast.unparse(node))
        return frozenset(re.findall(r"\w+", "\n".join(texts)))

    @cached_property
    def swallowed(self) -> dict[ast.AST, ast.ExceptHandler | ast.With]:
        """Return the broad handler, or ``with suppress``, around each node that is in one."""
        handlers: dict[ast.AST, ast.ExceptHandler | ast.With] = {}
        for block in self.each(ast.Try):
            broad = next(filter(_swallows, block.handlers), None)
            if broad:
                handlers |= dict.fromkeys(walk_all(block.body), broad)
        for context in self.each(ast.With):
            if any(map(_SUPPRESS.match, map(ast.unparse, context.items))):
                handlers |= dict.fromkeys(walk_all(context.body), context)
        return handlers

    @cached_property
    def failures(self) -> list[ast.AST]:
        """Return what can make the test fail, calls of its own functions that hold such included."""
        direct = {node for node in self.nodes if _can_fail(node)}
        failing = {function.name for function in self.functions if not direct.isdisjoint(ast.walk(function))}
        calls = {call for call, _ in self.calls if last_name(call.func) in failing}
        return [node for node in self.nodes if node in direct or node in calls]

    @cached_property
    def defined(self) -> set[ast.AST]:
        """Return all nodes in functions and classes: they do not run when the file is run."""
        return set(walk_all([*self.functions, *self.each(ast.ClassDef)]))

    @cached_property
    def files(self) -> list[DataFile]:
        writing: list[ast.AST] = [call for call in self.each(ast.Call) if _WRITES.match(ast.unparse(call))]
        names = set(map(last_name, walk_all(writing))) - {""}
        for assignment in self.each(ast.Assign):  # the path may be in a variable
            if last_name(assignment.targets[0]) in names:
                writing.append(assignment.value)
        written = {node.value for node in walk_all(writing) if isinstance(node, ast.Constant)}
        named = [text for text in self.texts if _DATA.fullmatch(text.value) and "://" not in text.value]
        return [DataFile(text.value, text.line, text.value in written) for text in named]


@once
def read_test(task: TaskContents, target: Implementation) -> UnitTest | None:
    path = unit_test_path(task, target)
    module = task.module(path)
    if path is None or module is None:
        return None
    modules = [module]
    imports = "\n".join(ast.unparse(node) for node in each(module.tree, ast.Import, ast.ImportFrom))
    for name in sorted(set(re.findall(r"\w+", imports))):
        beside = path.parent / f"{name}.py"
        if beside == path or path.parent == task.repository or task.is_support(beside):
            continue
        if helper := task.module(beside):
            modules.append(helper)
    return UnitTest(path, tuple(modules))


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` of a name or attribute, ``().c`` where something else precedes it; "" for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            return f"{dotted(owner) or '()'}.{name}"
    return ""


def walk_all(trees: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for tree in trees:
        yield from ast.walk(tree)


def _can_fail(node: ast.AST) -> bool:
    match node:
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case ast.Assert(test=ast.Tuple(elts=values)):  # `assert (x, "message")` always holds
            return not values
        case ast.Raise(exc=ast.Call(func=ast.Name(id="SystemExit"))):
            return False  # `raise SystemExit(0)` is no failure; the call is judged by itself
        case ast.Assert() | ast.Raise():
            return True
        case ast.Call():
            return _call_can_fail(node)
    return False


def _call_can_fail(call: ast.Call) -> bool:
    name = dotted(call.func)
    if name == "unittest.main":  # `exit=False` runs the tests, and goes on
        return all(keyword.arg != "exit" for keyword in call.keywords)
    if name not in EXITS:
        return re.fullmatch(r"_?assert\w*|fail|raises", last_name(call.func)) is not None
    match call.args:
        case [] | [ast.Constant(value=0 | None | False), *_]:
            return False
    return True


def _swallows(handler: ast.ExceptHandler) -> bool:
    if not any(_BROAD.fullmatch(name) for name in _caught(handler)):
        return False
    return not any(_can_fail(node) or _keeps(node) for node in walk_all(handler.body))


def _keeps(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="append" | "add")):
            return True
        case ast.Assign() | ast.AugAssign() | ast.Return(value=ast.expr()):
            return True
    return False


def _caught(handler: ast.ExceptHandler) -> list[str]:
    match handler.type:
        case None:
            return ["BaseException"]
        case ast.Tuple(elts=kinds):
            return list(map(dotted, kinds))
        case kind:
            return [dotted(kind)]


TestRule = Callable[[TaskContents, Implementation, UnitTest], Iterable[Problem]]


def test_check(
    code: str, title: str, *, rationale: str, severity: Severity = ERROR, recorded: bool = True
) -> Callable[[TestRule], Check]:
    """Make a check of a rule that reads a unit test; a problem without a path is about it.

    Args:
        recorded: also read tests that `lmr-author record` made, which writes a manifest beside them.
    """

    def decorate(rule: TestRule) -> Check:
        def problems(task: TaskContents, target: Implementation) -> Iterator[Problem]:
            test = read_test(task, target)
            manifest = f"recordings/{target.index}/recording.json"
            if test is None or (not recorded and task.is_file(test.path.parent / manifest)):
                return
            for problem in rule(task, target, test):
                yield problem if problem.path else replace(problem, path=test.path)

        return target_check(code, title, rationale=rationale, severity=severity)(problems)

    return decorate
