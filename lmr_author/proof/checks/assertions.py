"""LMR502 to LMR507, LMR515 and LMR518: what a unit test asserts, and of what.

These rules state plain facts about a test's text. What a test *does* is proven by running: `evaluate` runs a test
with the golden, the masked code and wrong versions, and LMR502 reports its result.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lmr_author.core.code import FunctionNode, walk
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation
from lmr_author.core.task.evaluation import Evaluation, passes_without_solution
from lmr_author.proof.checks.base import NOTE, WARNING, Problem
from lmr_author.proof.checks.hygiene import state
from lmr_author.proof.checks.result_flow import ResultFlow, result_flow
from lmr_author.proof.checks.unit_test_code import (
    CALLS,
    EXITS,
    RUNNER,
    UnitTest,
    catches_all,
    dotted,
    last_name,
    test_check,
)
from lmr_author.proof.lookup import Pair, clean_path, function_names, names_unit_test, pair
from lmr_author.proof.view import TaskView, read_json


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
    own = {node.name for node in test.nodes if isinstance(node, FunctionNode)}
    runners = [
        call for call, name in test.calls if RUNNER.fullmatch(name) and name.rpartition(".")[2] not in own
    ]
    exits = [call for call, name in test.calls if name == "unittest.main" or name in EXITS]

    def asserts(node: ast.AST) -> bool:
        """Leave out the exit code of a runner, which fails only if the tests do."""
        return not (runners and node in exits)

    assertions = [node for node in test.failures if asserts(node)]
    if any(id(node) in test.swallowed and not isinstance(node, ast.Raise) for node in assertions):
        return None  # LMR503
    is_logged = any(re.search(r"(?i)\bpass(ed)?\b", text) for text, _ in test.texts)
    if not assertions:
        verdict = "its verdict is only printed or logged" if is_logged else "it contains no assertion"
        return Powerless(f"{verdict}: the test exits with 0 whatever happens")
    # An assertion about the inputs holds whatever the target returns.
    if flow and not any(map(asserts, test.failures_where(flow.sees))):
        verdict = ", and its verdict is only printed or logged" if is_logged else ""
        reason = f"no assertion sees what the target returns{verdict}"
        return Powerless(reason, getattr(assertions[0], "lineno", 0))
    if any(id(node) not in test.defined and id(node) not in test.swallowed for node in test.failures):
        return None
    if runners:
        return Powerless("the test runner's result does not reach the exit code", runners[-1].lineno)
    return Powerless("run as a script, the file only defines its tests: nothing runs them")


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
    # Exceptions are raised and caught for other reasons too.
    asserting = (node for node in test.failures if not isinstance(node, ast.Raise))
    failures = dict.fromkeys(test.swallowed[id(one)] for one in asserting if id(one) in test.swallowed)
    for handler in failures:
        message = "this handler swallows failed assertions: the test goes on, and exits with 0"
        line = getattr(handler, "lineno", 0)
        yield Problem(message, "raise again in the handler, or remove it", line=line)
    flow = result_flow(task, target, test)
    if not failures and flow and not _powerless(test, flow):  # else LMR502
        for handler in _skipping(test, flow):
            message = "this handler swallows the target's failure: the assertions behind the call are skipped"
            yield Problem(message, "raise again in the handler, or remove it", line=handler.lineno)


def _skipping(test: UnitTest, flow: ResultFlow) -> Iterator[ast.ExceptHandler]:
    """Yield handlers around a call of the target after which nothing reads what the call gave."""
    swallowing = {id(handler) for handler in test.swallowed.values()}
    for node in test.nodes:
        if not isinstance(node, ast.Try) or not flow.calls_target(node.body):
            continue
        handlers = [one for one in node.handlers if id(one) in swallowing and catches_all(one)]
        if not handlers:
            continue
        ends = isinstance(handlers[0].body[-1], ast.Return | ast.Continue | ast.Break)
        if ends or not _is_read_elsewhere(node, test):
            yield handlers[0]


def _is_read_elsewhere(block: ast.Try, test: UnitTest) -> bool:
    """Return True if something outside of a ``try`` reads a name that its body binds."""
    inside = {id(node) for node in ast.walk(block)}
    read = {dotted(node) for node in test.nodes if id(node) not in inside}
    for statement in block.body:
        for node in ast.walk(statement):
            if isinstance(getattr(node, "ctx", None), ast.Store) and dotted(node) in read - {""}:
                return True
    return False


_COMPARING = re.compile(
    r"(?:.*\.)?(?:allclose|isclose|eq|equal|array_equal|assert(?:_?almost)?_?equals?|assert_allclose|assert_close"
    r"|assert_array_\w*equal|assert(?:Sequence|List|Dict|Tuple)Equal|assertIs)",
    re.IGNORECASE,
)
_SAME = re.compile(r"\.(?:detach|clone|copy|item|cpu|numpy)\(\)|\bcopy\.deepcopy\b")


@test_check(
    "LMR504",
    "the test compares a value with itself",
    rationale="`allclose(loss, loss)` holds whatever was implemented. Two calls of the target are compared to see"
    " whether it is deterministic.",
)
def compares_with_itself(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    meanings = _loaded_values(test) | _second_names(test)
    calls_target = re.compile("|".join(rf"{re.escape(name)}\(" for name in function_names(target)) or "(?!)")
    for node in test.nodes:
        sides = _compared(node)
        if len(sides) != 2:
            continue
        texts = [_SAME.sub("", ast.unparse(side)).strip("()") for side in sides]
        first, second = (meanings.get(text, text) for text in texts)
        if first == second and not any(map(calls_target.search, texts)):
            message = f"compares a value with itself: `{ast.unparse(node)[:80]}`"
            line = getattr(node, "lineno", 0)
            yield Problem(message, "compare with stored values of the golden", line=line)


def _compared(node: ast.AST) -> list[ast.expr]:
    """Return what a comparison, a difference or a call like ``allclose`` compares; nothing for anything else."""
    if isinstance(node, ast.Compare):
        differs = isinstance(node.ops[0], ast.NotEq | ast.IsNot)
        return [] if differs else [node.left, *node.comparators]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return [node.left, node.right]
    if isinstance(node, ast.Call) and _COMPARING.fullmatch(dotted(node.func)):
        if isinstance(node.func, ast.Attribute) and len(node.args) == 1:  # `loss.eq(expected)`
            return [node.func.value, *node.args]
        return node.args[:2]
    return []


def _loaded_values(test: UnitTest) -> dict[str, str]:
    """Return the names that are assigned once, from a file: two of one file are one value."""
    opened: dict[int, str] = {}
    for node in test.nodes:
        if isinstance(node, ast.With):
            opened |= {id(part): ast.unparse(node.items[0]) for part in ast.walk(node)}
    assigned: dict[str, set[str]] = defaultdict(set)
    for node in test.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned[node.targets[0].id].add(opened.get(id(node), "") + ast.unparse(node.value))
    values = {name: min(texts) for name, texts in assigned.items() if len(texts) == 1}
    return {name: text for name, text in values.items() if re.search(r"loads?\(|open\(", text)}


def _second_names(test: UnitTest) -> dict[str, str]:
    """Return the second names of values: of ``b = a``, and of the parts of ``for a, b in zip(all, all)``.

    Only names that the test binds in one place: another may have changed in between.
    """
    stored = (node for node in test.nodes if isinstance(getattr(node, "ctx", None), ast.Store))
    times_bound = Counter(filter(None, map(dotted, stored)))
    meanings: dict[str, str] = {}
    for node in test.nodes:
        for name, value, part in _named_again(node):
            if times_bound[name] == times_bound[value] == 1:
                meanings[name] = meanings.get(value, value) + part
    return meanings


def _named_again(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Yield (name, name of its value, which part of it) of everything that a node gives another name."""
    if isinstance(node, ast.Assign):
        yield dotted(node.targets[0]), dotted(node.value), ""
        return
    match node:
        case (
            ast.For(target=ast.Tuple(elts=names), iter=ast.Call() as values)
            | ast.comprehension(target=ast.Tuple(elts=names), iter=ast.Call() as values)
        ) if dotted(values.func) == "zip":
            for name, value in zip(names, values.args, strict=False):
                yield dotted(name), dotted(value), "[*]"


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
    imports = [node for node in test.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    texts = [(ast.unparse(node), node.lineno) for node in imports]
    for text, line in [*texts, *(one for one in test.texts if "\n" not in one[0])]:
        if match := words.search(text):
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
    if not files.complete or files.golden is None or names_unit_test(task, target):  # LMR510
        return
    functions = {one.qualname.rpartition(".")[2] for one in files.targets}
    imports = [node for node in test.nodes if isinstance(node, ast.ImportFrom)]
    copies = [node for module in test.modules for node in module.tree.body if _name_of(node) in functions]
    reached = {alias.asname or alias.name for node in imports for alias in node.names}
    reached |= {node.attr for node in test.nodes if isinstance(node, ast.Attribute)}
    if copies and not target.class_name and not reached & functions:
        message = "tests a definition of its own, not the goal file's"
        yield Problem(message, "import it from the goal file", line=copies[0].lineno)
    elif not _ways_to(files) & test.names:
        paths = {f"{(node.module or '').replace('.', '/')}.py" for node in imports}
        modules = {task.inside(task.repository, path) for path in paths} - {files.goal_path}
        if not any(name in (task.text(module) or "") for name in functions for module in modules):
            message = f"never names {next(iter(function_names(target)), 'the target')}"
            yield Problem(message, "import the goal file and call the target")


def _name_of(node: ast.stmt) -> str:
    return node.name if isinstance(node, FunctionNode | ast.ClassDef) else ""


def _ways_to(files: Pair) -> set[str]:
    """Return the names of the targets and of what uses them: a private function is reached through its callers."""
    assert files.golden is not None
    names = {part for one in files.targets for part in one.qualname.split(".")}
    for _ in range(CALLS):
        for definition in files.golden.definitions:
            if names & {last_name(node) for node in ast.walk(definition.node)}:
                names |= set(definition.qualname.split("."))
    return names


@test_check(
    "LMR507",
    'the test writes no "Passed"',
    rationale='LMR-Bench\'s scripts count "Passed" in unit_test/logs/ and read nothing else: a right solution scores'
    " 0. Where the exit code tells, it is a note.",
    severity=WARNING,
    recorded=False,
)
def writes_verdict(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    if any("Passed" in text for text, _ in test.texts):
        return
    near = [(text, line) for text, line in test.texts if re.search(r"(?i)\bpass(?:ed|es)?\b", text)]
    hint = 'log "Passed" or "Failed" to unit_test/logs/, beside the exit code'
    if near:
        yield Problem(f'logs {near[0][0]!r:.40}, not "Passed"', hint, line=near[0][1])
    else:
        severity = None if _powerless(test, result_flow(task, target, test)) else NOTE
        yield Problem('writes no verdict ("Passed" or "Failed")', hint, severity=severity)


_TOLERANCES = frozenset(["atol", "rtol", "delta", "abs", "rel", "abs_tol", "rel_tol", "tol", "tolerance"])


@test_check(
    "LMR515",
    "the test compares too little",
    rationale="What is not compared may be anything: a test that looks at one of three returned values passes with the"
    " other two wrong (a note: they may not matter), and a tolerance of 0.1 or more hides dropped terms and"
    " wrong constants.",
    severity=WARNING,
    recorded=False,
)
def compares_enough(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    for node in test.nodes:
        tolerances = _tolerances(node)
        width = max(map(_number, tolerances), default=0.0)
        # Beside a large number the tolerance is small.
        if width >= 0.1 and max(_number(one) for one in ast.walk(node)) <= 10 * width:
            message = f"a tolerance of {width:g} hides wrong results"
            hint = "use the smallest tolerance that the golden needs, as 1e-5"
            yield Problem(message, hint, line=tolerances[0].lineno)
            break
    for golden, _, one in pair(task, target).complete:
        yield from _dropped_values(golden, one.qualname.rpartition(".")[2], test)


def _tolerances(node: ast.AST) -> list[ast.expr]:
    """Return what a comparison allows: of ``allclose(…, atol=0.1)``, or of ``abs(a - b) < 0.1``."""
    if isinstance(node, ast.Call) and re.search(r"(?i)close|equal|approx", dotted(node.func)):
        return [keyword.value for keyword in node.keywords if keyword.arg in _TOLERANCES]
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
        left = ast.unparse(node.left)
        return node.comparators if "abs(" in left and "len(" not in left else []
    return []


def _number(node: ast.AST) -> float:
    value = getattr(node, "value", 0)
    return float(value) if isinstance(value, int | float) else 0.0


def _dropped_values(golden: FunctionNode, name: str, test: UnitTest) -> Iterator[Problem]:
    """Yield a note where some of the values that the golden returns are looked at in no call."""
    calls = [call for call, called in test.calls if called.rpartition(".")[2] == name]
    count = _values_returned(golden)
    if not calls or count < 2:
        return
    looked_at = _places_looked_at(test, count)
    used: set[int] = set()
    for call in calls:
        used |= looked_at.get(id(call), set(range(count)))
    if len(used) < count:
        missing = ", ".join(str(place + 1) for place in range(count) if place not in used)
        message = f"{len(used)} of the {count} values that {name} returns are compared, not number {missing}"
        yield Problem(message, "compare all that it returns", line=calls[0].lineno, severity=NOTE)


def _values_returned(golden: FunctionNode) -> int:
    """Return the number of values in every tuple that a function returns; 0 where that differs, or is no tuple."""
    counts = set()
    for node in walk(golden):
        if isinstance(node, ast.Return) and node.value:
            counts.add(len(node.value.elts) if isinstance(node.value, ast.Tuple) else 0)
    return counts.pop() if len(counts) == 1 else 0


def _places_looked_at(test: UnitTest, count: int) -> dict[int, set[int]]:
    """Return, by id of a call, which of its values are used: those of ``call(…)[0]``, or of ``a, _ = call(…)``."""
    loaded = {node.id for node in test.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    places: dict[int, set[int]] = {}
    for node in test.nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            if isinstance(node.slice.value, int):
                places[id(node.value)] = {node.slice.value % count}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names = [getattr(name, "id", "") for name in node.targets[0].elts]
            kept = {place for place, name in enumerate(names) if name in loaded and name != "_"}
            places[id(node.value)] = kept
    return places


_DRAWS = re.compile(
    r"torch\.(?:rand|randn|randint|randperm|normal)|(?:np|numpy)\.random\.(?!seed|default_rng|RandomState|[gs]et_state)\w+"
    r"|random\.(?:random|randint|choice|choices|shuffle|sample|uniform|gauss)"
)


@test_check(
    "LMR518",
    "the test draws random numbers without a seed",
    rationale="Where the target is given other numbers in each run, and the result is compared with stored ones, the"
    " golden itself fails by chance, and a wrong solution may pass.",
    severity=NOTE,
)
def seeded(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    drawn = [(call.lineno, name) for call, name in test.calls if _DRAWS.fullmatch(name)]
    if drawn and not re.search(r"seed|RandomState\(\d|default_rng\(\d|generator=", test.modules[0].text):
        line, name = drawn[0]
        yield Problem(f"{name} draws without a seed", "set a seed first, or store the inputs", line=line)
