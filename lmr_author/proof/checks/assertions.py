"""LMR502, LMR503 and LMR505 to LMR507: plain facts about the text of a hand-made unit test.

What a test *does* is not simulated: `evaluate` runs it with the golden, the masked code and wrong versions, and LMR502
reports its result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from lmr_author.core.code import FunctionNode
from lmr_author.core.code.tree import last_name
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation
from lmr_author.core.task.evaluation import Evaluation, passes_without_solution
from lmr_author.proof.checks.base import NOTE, WARNING, Problem
from lmr_author.proof.checks.hygiene import state
from lmr_author.proof.checks.unit_test_code import EXITS, Text, UnitTest, test_check
from lmr_author.proof.contents import TaskContents, read_json
from lmr_author.proof.targets import Pair, names_unit_test, pair

_RUNNER = re.compile(r"(?:pytest|absltest)\.main|(?!subprocess).*[rR]unner(?:\(\))?\.run")


@test_check(
    "LMR502",
    "the unit test cannot fail",
    rationale='24 of 35 published tests only log "Passed" or "Failed" and exit with 0 whatever happens. Harnesses,'
    " shells and CI read exit codes; a verdict that stands only in a log can be forged by a line in a log. A"
    " test needs an assertion, or an exit with a code, that is reached when it runs as a script.",
)
def cannot_fail(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    if reason := _powerless(test):
        hint = (
            "assert what the target returns, and run the test: `if __name__ == '__main__': unittest.main()`"
        )
        yield Problem(reason, hint)
    elif how := _proven_to_pass(task, target):
        yield Problem(how, "compare what the target returns with stored values, and exit with 1")


def _powerless(test: UnitTest) -> str:
    if not test.failures:
        logs = any(re.search(r"(?i)\bpass(ed)?\b", text.value) for text in test.texts)
        verdict = "its verdict is only printed or logged" if logs else "it contains no assertion"
        return f"{verdict}: the test exits with 0 whatever happens"
    if not test.defined.issuperset(test.failures):
        return ""
    own = {function.name for function in test.functions}
    if any(_RUNNER.fullmatch(name) and last_name(call.func) not in own for call, name in test.calls):
        exits = any(name in EXITS for _, name in test.calls)
        return "" if exits else "the test runner's result does not reach the exit code"
    if any(call not in test.defined and last_name(call.func) in own for call, _ in test.calls):
        return ""
    return "run as a script, the file only defines its tests: nothing runs them"


def _proven_to_pass(task: TaskContents, target: Implementation) -> str:
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
    rationale="An `except Exception` around an assertion turns every failure into a log line and exit code 0.",
)
def swallows(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    assertions = [node for node in test.failures if not isinstance(node, ast.Raise)]
    for handler in dict.fromkeys(test.swallowed[node] for node in assertions if node in test.swallowed):
        message = "this handler swallows failed assertions: the test goes on, and exits with 0"
        yield Problem(message, "raise again in the handler, or remove it", line=handler.lineno)


@test_check(
    "LMR505",
    "the test uses the golden",
    rationale="A test of the golden passes whatever the agent writes, and the golden is not there when a candidate is"
    " judged.",
)
def uses_golden(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    stem = Path(target.golden_file).stem
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
def names_target(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    files = pair(task, target)
    if not files.complete or names_unit_test(task, target):  # LMR510
        return
    functions = {function.qualname.rpartition(".")[2] for function in files.targets}
    copy = _own_definition(test, functions)
    if copy and not target.class_name and not _imported_names(test) & functions:
        message = "tests a definition of its own, not the goal file's"
        yield Problem(message, "import it from the goal file", line=copy.lineno)
    elif not _names_leading_to(files) & test.names and not _imports_user_of(task, files, test, functions):
        message = f"never names {next(iter(target.function_names), 'the target')}"
        yield Problem(message, "import the goal file and call the target")


def _own_definition(test: UnitTest, names: set[str]) -> ast.stmt | None:
    for module in test.modules:
        for statement in module.tree.body:
            if isinstance(statement, FunctionNode | ast.ClassDef) and statement.name in names:
                return statement
    return None


def _imported_names(test: UnitTest) -> set[str]:
    names = {node.attr for node in test.each(ast.Attribute)}
    for statement in test.each(ast.ImportFrom):
        names |= {alias.asname or alias.name for alias in statement.names}
    return names


def _names_leading_to(files: Pair) -> set[str]:
    """Return the names of the targets and their classes, and of the golden's functions that name those.

    A test may call a private function through its callers; callers of callers are followed once more.
    """
    names: set[str] = set()
    for target in files.targets:
        names.update(target.qualname.split(".")[-2:])
    for _ in range(3 if files.golden else 0):
        for statement in ast.walk(files.golden.tree if files.golden else ast.Module([], [])):
            if isinstance(statement, FunctionNode | ast.ClassDef):
                if not names.isdisjoint(map(last_name, ast.walk(statement))):
                    names.add(statement.name)
            elif isinstance(statement, ast.Assign) and last_name(statement.value) in names:
                names.update(map(last_name, statement.targets))
    return names - {""}


def _imports_user_of(task: TaskContents, files: Pair, test: UnitTest, functions: set[str]) -> bool:
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
def writes_verdict(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    if any("Passed" in text.value for text in test.texts):
        return
    near = [text for text in test.texts if re.search(r"(?i)\bpass(?:ed|es)?\b", text.value)]
    hint = 'log "Passed" or "Failed" to unit_test/logs/, beside the exit code'
    if near:
        yield Problem(f'logs {near[0].value!r:.40}, not "Passed"', hint, line=near[0].line)
    else:
        severity = None if _powerless(test) else NOTE
        yield Problem('writes no verdict ("Passed" or "Failed")', hint, severity=severity)
