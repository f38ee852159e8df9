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

from lmr_author.core.code import FunctionNode, walk
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation
from lmr_author.core.task.evaluation import Evaluation, passes_without_solution
from lmr_author.proof.checks.base import NOTE, WARNING, Problem
from lmr_author.proof.checks.hygiene import state
from lmr_author.proof.checks.lookup import clean_path, function_names, names_unit_test, pair
from lmr_author.proof.checks.result_flow import ResultFlow, result_flow
from lmr_author.proof.checks.unit_test_code import (
    CALLS,
    EXITS,
    RUNNER,
    UnitTest,
    catches_all,
    dotted,
    test_check,
)
from lmr_author.proof.checks.view import TaskView, read_json


@test_check(
    "LMR502",
    "the unit test cannot fail",
    rationale='24 of 35 published tests only log "Passed" or "Failed" and exit with 0 whatever happens. Harnesses,'
    " shells and CI read exit codes; a verdict that stands only in a log can be forged by a line in a log. A"
    " test needs an assertion, or an exit with a code, that is reached when it runs as a script.",
)
def cannot_fail(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    message, line = _powerless(test, result_flow(task, target, test))
    if message:
        hint = (
            "assert what the target returns, and run the test: `if __name__ == '__main__': unittest.main()`"
        )
        yield Problem(message, hint, line=line)
    elif proof := _proven_to_pass(task, target):
        yield Problem(proof, "compare what the target returns with stored values, and exit with 1")


def _powerless(test: UnitTest, flow: ResultFlow | None) -> tuple[str, int]:
    """Return why no failure reaches the exit code, and the line; "" when one may, or LMR503 says why none does.

    Args:
        flow: what of the test shows the target's result; None when that cannot be told.
    """
    own = {node.name for node in test.nodes if isinstance(node, FunctionNode)}
    runs = [
        call for call, name in test.calls if RUNNER.fullmatch(name) and name.rpartition(".")[2] not in own
    ]
    exits = [call for call, name in test.calls if name == "unittest.main" or name in EXITS]
    # A runner fails only if the tests do: its exit code counts for nothing where they assert nothing.
    asserts = [node for node in test.failures if not (runs and node in exits)]
    if any(id(node) in test.swallowed and not isinstance(node, ast.Raise) for node in asserts):
        return "", 0  # LMR503
    logged = any(re.search(r"(?i)\bpass(ed)?\b", text) for text, _ in test.texts)
    if not asserts:
        verdict = "its verdict is only printed or logged" if logged else "it contains no assertion"
        return f"{verdict}: the test exits with 0 whatever happens", 0
    # An assertion about the inputs holds whatever the target returns. A runner's exit code shows what tests assert.
    if flow and not any(node not in exits or not runs for node in test.failures_where(flow.sees)):
        verdict = ", and its verdict is only printed or logged" if logged else ""
        return f"no assertion sees what the target returns{verdict}", getattr(asserts[0], "lineno", 0)
    if any(id(node) not in test.defined and id(node) not in test.swallowed for node in test.failures):
        return "", 0
    if runs:
        return "the test runner's result does not reach the exit code", runs[-1].lineno
    return "run as a script, the file only defines its tests: nothing runs them", 0


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
    if not failures and flow and not _powerless(test, flow)[0]:  # else LMR502
        for handler in _skipping(test, flow):
            message = "this handler swallows the target's failure: the assertions behind the call are skipped"
            yield Problem(message, "raise again in the handler, or remove it", line=handler.lineno)


def _skipping(test: UnitTest, flow: ResultFlow) -> Iterator[ast.ExceptHandler]:
    """Yield handlers around a call of the target after which nothing reads what the call gave."""
    swallowing = {id(handler) for handler in test.swallowed.values()}
    for node in (one for one in test.nodes if isinstance(one, ast.Try)):
        handlers = [one for one in node.handlers if id(one) in swallowing and catches_all(one)]
        if not handlers or not flow.calls_target(node.body):
            continue
        inside = [item for part in node.body for item in ast.walk(part)]
        around = {id(item) for item in ast.walk(node)}
        given = {dotted(item) for item in inside if isinstance(getattr(item, "ctx", None), ast.Store)} - {""}
        read = {dotted(item) for item in test.nodes if id(item) not in around}
        leaves = isinstance(handlers[0].body[-1], ast.Return | ast.Continue | ast.Break)
        if leaves or not given & read:
            yield handlers[0]


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
    withs = [node for node in test.nodes if isinstance(node, ast.With)]
    opened = {id(item): ast.unparse(node.items[0]) for node in withs for item in ast.walk(node)}
    assigned: dict[str, set[str]] = defaultdict(set)
    for node in test.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned[node.targets[0].id].add(opened.get(id(node), "") + ast.unparse(node.value))
    once = {name: texts.pop() for name, texts in assigned.items() if len(texts) == 1}
    known = {name: text for name, text in once.items() if re.search(r"loads?\(|open\(", text)} | _aliases(
        test
    )
    names = function_names(target)
    for node in test.nodes:
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.NotEq | ast.IsNot):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            sides = [node.left, node.right]
        elif isinstance(node, ast.Call) and _COMPARING.fullmatch(dotted(node.func)):
            owner = [node.func.value] if isinstance(node.func, ast.Attribute) and len(node.args) == 1 else []
            sides = [*owner, *node.args[:2]]
        same = {_SAME.sub("", ast.unparse(side)).strip("()") for side in sides}
        values = {known.get(text, text) for text in same}
        calls = any(f"{name}(" in text for name in names for text in same)
        if len(sides) == 2 and len(values) == 1 and not calls:
            message = f"compares a value with itself: `{ast.unparse(node)[:80]}`"
            line = getattr(node, "lineno", 0)
            yield Problem(message, "compare with stored values of the golden", line=line)


def _aliases(test: UnitTest) -> dict[str, str]:
    """Return the second names of values: of ``b = a``, and of the parts of ``for a, b in zip(all, all)``.

    Only names that the test binds in one place: another may have changed in between.
    """
    stored = [node for node in test.nodes if isinstance(getattr(node, "ctx", None), ast.Store)]
    bound = Counter(filter(None, map(dotted, stored)))
    found: dict[str, str] = {}
    for node in test.nodes:
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(node.targets[0], node.value)]
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Tuple):
            zipped = (
                node.iter if isinstance(node.iter, ast.Call) and dotted(node.iter.func) == "zip" else None
            )
            pairs = list(zip(node.target.elts, zipped.args, strict=False)) if zipped else []
        part = "" if isinstance(node, ast.Assign) else "[*]"
        for name, value in ((dotted(one), dotted(other)) for one, other in pairs):
            if bound[name] == bound[value] == 1:
                found[name] = found.get(value, value) + part
    return found


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
    one = pair(task, target)
    if not one.complete or one.golden is None or names_unit_test(task, target):  # LMR510
        return
    last = {item.qualname.rpartition(".")[2] for item in one.targets}
    wanted = {part for item in one.targets for part in item.qualname.split(".")}
    for _ in range(CALLS):  # a private function is reached through its callers
        for item in one.golden.definitions:
            if wanted & {dotted(node).rpartition(".")[2] for node in ast.walk(item.node)}:
                wanted |= set(item.qualname.split("."))
    own = [node for one in test.modules for node in one.tree.body if getattr(node, "name", "") in last]
    imports = [node for node in test.nodes if isinstance(node, ast.ImportFrom)]
    reached = {alias.asname or alias.name for node in imports for alias in node.names}
    reached |= {node.attr for node in test.nodes if isinstance(node, ast.Attribute)}
    if own and not target.class_name and not reached & last:
        message = "tests a definition of its own, not the goal file's"
        yield Problem(message, "import it from the goal file", line=own[0].lineno)
    elif not wanted & test.names:
        names = [f"{(node.module or '').replace('.', '/')}.py" for node in imports]
        modules = {task.inside(task.repository, name) for name in names} - {one.goal_path}
        if not any(name in (task.text(path) or "") for name in last for path in modules):
            message = f"never names {next(iter(function_names(target)), 'the target')}"
            yield Problem(message, "import the goal file and call the target")


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
        severity = None if _powerless(test, result_flow(task, target, test))[0] else NOTE
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
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and re.search(r"(?i)close|equal|approx", dotted(node.func)):
            values = [item.value for item in node.keywords if item.arg in _TOLERANCES]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
            left = ast.unparse(node.left)
            values = node.comparators if "abs(" in left and "len(" not in left else []
        width = max((_number(value) for value in values), default=0.0)
        # beside a large number the tolerance is small
        if width >= 0.1 and max(_number(one) for one in ast.walk(node)) <= 10 * width:
            message = f"a tolerance of {width:g} hides wrong results"
            hint = "use the smallest tolerance that the golden needs, as 1e-5"
            yield Problem(message, hint, line=values[0].lineno)
            break
    for golden, _, one in pair(task, target).complete:
        yield from _dropped_values(golden, one.qualname.rpartition(".")[2], test)


def _number(node: ast.AST) -> float:
    value = getattr(node, "value", 0)
    return float(value) if isinstance(value, int | float) else 0.0


def _dropped_values(golden: FunctionNode, name: str, test: UnitTest) -> Iterator[Problem]:
    """Yield a note where some of the values that the golden returns are looked at in no call."""
    returned = [node.value for node in walk(golden) if isinstance(node, ast.Return) and node.value]
    counts = {len(value.elts) if isinstance(value, ast.Tuple) else 0 for value in returned}
    count = counts.pop() if len(counts) == 1 else 0
    names = [node for node in test.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    loaded = {node.id for node in names} - {"_"}
    calls = [call for call, called in test.calls if called.rpartition(".")[2] == name]
    taken: dict[int, set[int]] = {}
    for node in test.nodes if count > 1 else ():
        if isinstance(node, ast.Subscript) and isinstance(index := getattr(node.slice, "value", None), int):
            taken[id(node.value)] = {index % count}
        elif isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Tuple):
            kept = {at for at, item in enumerate(target.elts) if getattr(item, "id", "") in loaded}
            taken[id(node.value)] = kept
    used = {at for call in calls for at in taken.get(id(call), range(count))}
    if calls and len(used) < count:
        missing = ", ".join(str(at + 1) for at in range(count) if at not in used)
        message = f"{len(used)} of the {count} values that {name} returns are compared, not number {missing}"
        yield Problem(message, "compare all that it returns", line=calls[0].lineno, severity=NOTE)


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
