"""LMR502 to LMR507 and LMR515: what a unit test asserts, and of what.

These rules state plain facts about a test's text. What a test *does* is proven by running: `evaluate` runs a test
with the golden, the masked code and wrong versions, and LMR502 reports its result.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from lmr_author.core.code import FunctionNode
from lmr_author.core.code.tree import last_name
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation
from lmr_author.core.task.evaluation import Evaluation, passes_without_solution
from lmr_author.proof.checks.base import NOTE, WARNING, Problem
from lmr_author.proof.checks.hygiene import state
from lmr_author.proof.checks.result_flow import ResultFlow, result_flow, ways_to
from lmr_author.proof.checks.unit_test_code import EXITS, Text, UnitTest, catches_all, dotted, test_check
from lmr_author.proof.lookup import Pair, clean_path, function_names, names_unit_test, pair
from lmr_author.proof.view import TaskView, read_json

_RUNNER = re.compile(r"(?:unittest|pytest|absltest)\.main|(?!subprocess).*[rR]unner(?:\(\))?\.run|\(\)\.run")


@test_check(
    "LMR502",
    "the unit test cannot fail",
    rationale='24 of 35 published tests only log "Passed" or "Failed" and exit with 0 whatever happens. Harnesses,'
    " shells and CI read exit codes; a verdict that stands only in a log can be forged by a line in a log. A"
    " test needs an assertion, or an exit with a code, that is reached when it runs as a script.",
)
def cannot_fail(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    powerless = _powerless(test, result_flow(task, target, test))
    if powerless:
        hint = (
            "assert what the target returns, and run the test: `if __name__ == '__main__': unittest.main()`"
        )
        yield Problem(powerless.reason, hint, line=powerless.line)
    elif proof := _proven_to_pass(task, target):
        yield Problem(proof, "compare what the target returns with stored values, and exit with 1")


class Powerless(NamedTuple):
    """Why no failure of a test reaches the exit code; ``line`` is 0 when it is about no line."""

    reason: str
    line: int = 0


def _powerless(test: UnitTest, flow: ResultFlow | None) -> Powerless | None:
    """Return why no failure reaches the exit code; None when one may, or LMR503 says why none does.

    Args:
        flow: what of the test shows the target's result; None when that cannot be told.
    """
    runners = _runners(test)
    # The exit code of a runner fails only if the tests do.
    exits: list[ast.AST] = []
    if runners:
        exits = [call for call, name in test.calls if name == "unittest.main" or name in EXITS]
    assertions = [node for node in test.failures if node not in exits]
    if _swallowed_assertions(test, assertions):
        return None
    is_logged = any(re.search(r"(?i)\bpass(ed)?\b", text.value) for text in test.texts)
    if not assertions:
        verdict = "its verdict is only printed or logged" if is_logged else "it contains no assertion"
        return Powerless(f"{verdict}: the test exits with 0 whatever happens")
    # An assertion about the inputs holds whatever the target returns.
    if flow and all(node in exits for node in test.failures_where(flow.sees)):
        verdict = ", and its verdict is only printed or logged" if is_logged else ""
        reason = f"no assertion sees what the target returns{verdict}"
        return Powerless(reason, getattr(assertions[0], "lineno", 0))
    if not test.defined.union(test.swallowed).issuperset(test.failures):
        return None
    if runners:
        return Powerless("the test runner's result does not reach the exit code", runners[-1].lineno)
    return Powerless("run as a script, the file only defines its tests: nothing runs them")


def _runners(test: UnitTest) -> list[ast.Call]:
    """Return the calls of unittest's or pytest's runners; a function of the test may have such a name too."""
    own = {function.name for function in test.functions}
    named = [call for call, name in test.calls if _RUNNER.fullmatch(name)]
    return [call for call in named if last_name(call.func) not in own]


def _swallowed_assertions(test: UnitTest, nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """Return the assertions that a broad handler catches; exceptions are raised and caught for other reasons too."""
    return [node for node in nodes if node in test.swallowed and not isinstance(node, ast.Raise)]


def _proven_to_pass(task: TaskView, target: Implementation) -> str:
    """Return how the test passed without the solution in an evaluation of the present state; "" if it did not."""
    try:
        evaluation = Evaluation.from_json(read_json(task.read_bytes(task.task.evaluation_path)))
    except LmrError:
        return ""
    how = passes_without_solution(evaluation.gates, target.index)
    return f"{how}, as `lmr-author evaluate` has shown" if how and evaluation.is_of(state(task)) else ""


@test_check(
    "LMR503",
    "a handler swallows failures",
    rationale="An `except Exception` around an assertion turns every failure into a log line and exit code 0. Around"
    " the call of the target it lets the masked function pass, where the assertions behind the call are skipped.",
)
def swallows(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    assertions = _swallowed_assertions(test, test.failures)
    handlers = dict.fromkeys(map(test.swallowed.__getitem__, assertions))
    for handler in handlers:
        message = "this handler swallows failed assertions: the test goes on, and exits with 0"
        yield Problem(message, "raise again in the handler, or remove it", line=handler.lineno)
    flow = result_flow(task, target, test)
    if not handlers and flow and not _powerless(test, flow):  # else LMR502
        for block in test.each(ast.Try):
            skipping = _skipping(block, test)
            if skipping and flow.calls_target(block.body):
                message = (
                    "this handler swallows the target's failure: the assertions behind the call are skipped"
                )
                yield Problem(message, "raise again in the handler, or remove it", line=skipping.lineno)


def _skipping(block: ast.Try, test: UnitTest) -> ast.ExceptHandler | None:
    """Return the broad handler after which nothing reads what the body of a ``try`` has assigned."""
    handler = test.swallowed.get(block.body[0])
    if not isinstance(handler, ast.ExceptHandler) or not catches_all(handler):
        return None
    if isinstance(handler.body[-1], ast.Return | ast.Continue | ast.Break):
        return handler
    inside = set(ast.walk(block))
    read = set(map(dotted, set(test.nodes) - inside)) - {""}
    stored = {dotted(node) for node in inside if isinstance(getattr(node, "ctx", None), ast.Store)}
    return handler if read.isdisjoint(stored) else None


_COMPARING = re.compile(
    r"(?:.*\.)?(?:allclose|isclose|eq|equal|array_equal|assert(?:_?almost)?_?equals?|assert_allclose|assert_close"
    r"|assert_array_\w*equal|assert(?:Sequence|List|Dict|Tuple)Equal|assertIs)",
    re.IGNORECASE,
)
_LOADS = re.compile(r"loads?\(|open\(")
_SAME = re.compile(r"\.(?:detach|clone|copy|item|cpu|numpy)\(\)|\bcopy\.deepcopy\b")


@test_check(
    "LMR504",
    "the test compares a value with itself",
    rationale="`allclose(loss, loss)` holds whatever was implemented. Two calls of the target are compared to see"
    " whether it is deterministic.",
)
def compares_with_itself(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    names, meanings = function_names(target), _meanings(test)
    for node in test.nodes:
        sides = [_SAME.sub("", ast.unparse(side)).strip("()") for side in _compared(node)]
        calls_target = any(f"{name}(" in side for name in names for side in sides)
        values = [meanings.get(side, side) for side in sides]
        if len(values) == 2 and values[0] == values[1] and not calls_target:
            message = f"compares a value with itself: `{ast.unparse(node)[:80]}`"
            line = getattr(node, "lineno", 0)
            yield Problem(message, "compare with stored values of the golden", line=line)


def _meanings(test: UnitTest) -> dict[str, str]:
    """Return what stands for a name that is bound once: another name, or what it loads from a file."""
    times_bound = Counter(node.id for node in test.each(ast.Name) if isinstance(node.ctx, ast.Store))
    opened: dict[ast.AST, str] = {}
    for block in test.each(ast.With):
        opened.update(dict.fromkeys(ast.walk(block), ast.unparse(block.items[0])))
    meanings = {}
    for node in test.each(ast.Assign):
        name, value = dotted(node.targets[0]), ast.unparse(node.value)
        if isinstance(node.value, ast.Name):
            if times_bound[name] == times_bound[value] == 1:
                meanings[name] = value
        elif times_bound[name] == 1 and _LOADS.search(value):
            meanings[name] = opened.get(node, "") + value
    return meanings


def _compared(node: ast.AST) -> list[ast.expr]:
    """Return what a comparison, a difference or a call like ``allclose`` or ``zip`` compares; nothing for others."""
    match node:
        case ast.Compare(ops=[ast.NotEq() | ast.IsNot(), *_]):
            return []
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return [left, right]
        case ast.Call(func=ast.Name(id="zip"), args=values):  # whose pairs are compared
            return values[:2]
        case ast.Call(func=function) if not _COMPARING.fullmatch(dotted(function)):
            return []
        case ast.Call(func=ast.Attribute(value=owner), args=[value]):  # `loss.eq(expected)`
            return [owner, value]
        case ast.Call(args=values):
            return values[:2]
    return []


@test_check(
    "LMR505",
    "the test uses the golden",
    rationale="A test of the golden passes whatever the agent writes, and the golden is not there when a candidate is"
    " judged.",
)
def uses_golden(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    stem = Path(clean_path(target.golden_file)).stem
    named = rf"|(?<!\w){re.escape(stem)}(?!\w)" if re.search("gold|orig|solution", stem) else ""
    words = re.compile(rf"(?<![a-z])golden_files?(?![a-z]){named}")
    imports = [Text(ast.unparse(statement), statement.lineno) for statement in test.imports]
    for text, line in [*imports, *test.texts]:
        match = words.search(text)
        if match and "\n" not in text:
            hint = "import the repository's own file, and compare with stored values"
            yield Problem(f"the test uses the golden ({match[0]})", hint, line=line)
            return


@test_check(
    "LMR506",
    "the test never names the target",
    rationale="A test that never runs the target says nothing about it, and passes with the masked code.",
    recorded=False,
)
def names_target(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    files = pair(task, target)
    if not files.complete or names_unit_test(task, target):  # LMR510
        return
    functions = {function.qualname.rpartition(".")[2] for function in files.targets}
    copy = _own_definition(test, functions)
    if copy and not target.class_name and not _reached_names(test) & functions:
        message = "tests a definition of its own, not the goal file's"
        yield Problem(message, "import it from the goal file", line=copy.lineno)
    elif not ways_to(files) & test.names and not _imports_user_of(task, files, test, functions):
        message = f"never names {next(iter(function_names(target)), 'the target')}"
        yield Problem(message, "import the goal file and call the target")


def _own_definition(test: UnitTest, names: set[str]) -> ast.stmt | None:
    for module in test.modules:
        for statement in module.tree.body:
            if isinstance(statement, FunctionNode | ast.ClassDef) and statement.name in names:
                return statement
    return None


def _reached_names(test: UnitTest) -> set[str]:
    """Return the names that a test imports, and the attributes of what it imports."""
    names = {node.attr for node in test.each(ast.Attribute)}
    for statement in test.each(ast.ImportFrom):
        names |= {alias.asname or alias.name for alias in statement.names}
    return names


def _imports_user_of(task: TaskView, files: Pair, test: UnitTest, functions: set[str]) -> bool:
    """Return True if a test imports from another module of the repository in which the target is named."""
    for statement in test.each(ast.ImportFrom):
        path = task.inside(task.repository, f"{(statement.module or '').replace('.', '/')}.py")
        text = task.text(path) or "" if path != files.goal_path else ""
        if any(name in text for name in functions):
            return True
    return False


@test_check(
    "LMR507",
    'the test writes no "Passed"',
    rationale='LMR-Bench\'s scripts count "Passed" in unit_test/logs/ and read nothing else: a right solution scores'
    " 0. Where the exit code tells, it is a note.",
    severity=WARNING,
    recorded=False,
)
def writes_verdict(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    if any("Passed" in text.value for text in test.texts):
        return
    near = [text for text in test.texts if re.search(r"(?i)\bpass(?:ed|es)?\b", text.value)]
    hint = 'log "Passed" or "Failed" to unit_test/logs/, beside the exit code'
    if near:
        yield Problem(f'logs {near[0].value!r:.40}, not "Passed"', hint, line=near[0].line)
    else:
        severity = None if _powerless(test, result_flow(task, target, test)) else NOTE
        yield Problem('writes no verdict ("Passed" or "Failed")', hint, severity=severity)


_TOLERANCES = frozenset(["atol", "rtol", "delta", "abs", "rel", "abs_tol", "rel_tol", "tol", "tolerance"])


@test_check(
    "LMR515",
    "the test compares too loosely",
    rationale="A tolerance of 0.1 or more hides dropped terms and wrong constants.",
    severity=WARNING,
    recorded=False,
)
def compares_closely(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    for node in test.nodes:
        tolerances = _tolerances(node)
        width = max(map(_number, tolerances), default=0.0)
        # Beside a large number the tolerance is small.
        if width >= 0.1 and max(map(_number, ast.walk(node))) <= 10 * width:
            message = f"a tolerance of {width:g} hides wrong results"
            hint = "use the smallest tolerance that the golden needs, as 1e-5"
            yield Problem(message, hint, line=tolerances[0].lineno)
            return


def _tolerances(node: ast.AST) -> list[ast.expr]:
    """Return what a comparison allows: of ``allclose(…, atol=0.1)``, or of ``abs(a - b) < 0.1``."""
    match node:
        case ast.Call(func=function, keywords=keywords):
            if re.search(r"(?i)close|equal|approx", dotted(function)):
                return [keyword.value for keyword in keywords if keyword.arg in _TOLERANCES]
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE(), *_], comparators=others):
            if re.fullmatch(r"(?!.*len\().*abs\(.*", ast.unparse(left), re.DOTALL):
                return others
    return []


def _number(node: ast.AST) -> float:
    value = getattr(node, "value", 0)
    return float(value) if isinstance(value, int | float) else 0.0
