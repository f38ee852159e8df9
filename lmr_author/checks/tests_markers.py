"""LMR507, 514: whether the verdict of a unit test is seen."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from lmr_author.checks.base import Check, Example, ImplementationCheck
from lmr_author.checks.example_task import (
    UNIT_TEST,
    second_files,
    second_implementation,
)
from lmr_author.checks.lookup import pairs, unit_test_path
from lmr_author.checks.outcome import outcome
from lmr_author.checks.reading import Reading, reading
from lmr_author.checks.sites import is_assert_name, is_exit
from lmr_author.checks.syntax import dotted
from lmr_author.checks.tests_outcome import TEST
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import nodes, walk


class VerdictMarkers(ImplementationCheck):
    """LMR507."""

    code = "LMR507"
    title = "the test logs Passed and Failed"
    rationale = (
        'LMR-Bench\'s scripts decide by the log: a pass is a log with "Passed" and without "Failed". "passed"'
        ' or "PASSED" is no pass.'
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "in lower case",
            files={
                TEST: UNIT_TEST.replace(
                    '"Passed" if passed else "Failed"', '"passed" if passed else "failed"'
                )
            },
        ),
        Example(
            "in another folder",
            files={
                TEST: UNIT_TEST.replace(
                    'LOGS = os.path.join(HERE, "logs")', 'LOGS = os.path.join(HERE, "output")'
                )
            },
        ),
        Example(
            "at a level that is not written",
            files={TEST: UNIT_TEST.replace("level=logging.INFO", "level=logging.WARNING")},
        ),
        Example("no marker", files={TEST: UNIT_TEST.replace('"Passed" if passed else "Failed"', '"done"')}),
        Example(
            "Passed whatever the result",
            files={TEST: UNIT_TEST.replace('"Passed" if passed else "Failed"', 'f"Passed: {passed}"')},
        ),
        Example(
            "Passed when the tests are over",
            files={
                TEST: UNIT_TEST.replace(
                    "    def test_no_pairs",
                    "    def tearDown(self):\n        logging.info('Passed')\n\n    def test_no_pairs",
                )
            },
        ),
        Example(
            "Passed before the comparison",
            files={
                TEST: UNIT_TEST.replace(
                    "        self.assertAlmostEqual(loss, 1",
                    "        logging.info('Passed')\n        self.assertAlmostEqual(loss, 1",
                )
            },
        ),
    )
    passing = (
        Example(
            "inside a sentence",
            files={TEST: UNIT_TEST.replace('"Passed" if passed', '"Test Passed." if passed')},
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        path = unit_test_path(view, implementation)
        test = reading(view, path)
        if test is None or path is None:
            return
        elsewhere = [log for log in sorted(test.log_files) if log.startswith(("@/", "/")) and "*" not in log]
        in_place = view.in_repository_path(path).startswith("unit_test/")  # else LMR511 says it
        if in_place and elsewhere and not any(log.startswith("@/unit_test/logs/") for log in test.log_files):
            yield self.finding(
                view,
                f"logs to {elsewhere[0].removeprefix('@/')}; the verdict is looked for in unit_test/logs/",
                f"log to unit_test/logs/{path.stem}.log",
                implementation=implementation,
                path=path,
            )
            return
        texts = " ".join(test.constants)
        if "Passed" in texts:
            line = _unwritten(test)
            if line:
                yield self.finding(
                    view,
                    'logs "Passed" as information, and only warnings are written',
                    "pass level=logging.INFO to basicConfig",
                    implementation=implementation,
                    path=path,
                    pointer=f"L{line}",
                )
                return
            node = _unconditional(test)
            if node is not None:
                yield self.finding(
                    view,
                    'logs "Passed: <result>": the marker is there whatever the result is',
                    'log "Passed" or "Failed", nothing else',
                    implementation=implementation,
                    path=path,
                    pointer=f"L{node.lineno}",
                )
                return
            where, line = misplaced(test)
            if where and outcome(view, test).reached:
                yield self.finding(
                    view,
                    f'logs "Passed" {where}: it is there whatever the result is',
                    'log "Passed" behind the last assertion',
                    implementation=implementation,
                    path=path,
                    pointer=f"L{line}",
                )
            return
        other = re.search(r"\b(passed|PASSED|PASS|pass|success|Success|SUCCESS|succeeded)\b", texts)
        message = (
            f'logs {other[0]!r} where "Passed" is looked for'
            if other
            else 'logs no verdict ("Passed" or "Failed")'
        )
        yield self.finding(
            view,
            message,
            'log "Passed" or "Failed" to a file in unit_test/logs/',
            implementation=implementation,
            path=path,
        )


def _unwritten(test: Reading) -> int:
    """The line of a basicConfig whose level lets no "Passed" through; 0 when there is none."""
    configured = [node for _, node, name in test.calls if name == "logging.basicConfig"]
    if len(configured) != 1 or any(name.endswith("setLevel") for _, _, name in test.calls):
        return 0
    level = next((item.value for item in configured[0].keywords if item.arg == "level"), None)
    if level is not None and dotted(level).rpartition(".")[2] not in ("WARNING", "WARN", "ERROR", "CRITICAL"):
        return 0
    saying = [
        name.rpartition(".")[2]
        for _, node, name in test.calls
        if any("Passed" in str(item.value) for item in walk(node) if isinstance(item, ast.Constant))
    ]
    return configured[0].lineno if saying and set(saying) <= {"info", "debug"} else 0


def _unconditional(test: Reading) -> ast.expr | None:
    """A message in which "Passed" is followed by the value that should decide, as in f"Passed: {ok}"."""
    for node in nodes(test.module.tree):
        if isinstance(node, ast.JoinedStr) and len(node.values) >= 2:
            for part, following in zip(node.values, node.values[1:], strict=False):
                if (
                    isinstance(part, ast.Constant)
                    and re.search(r"Passed\s*[:=?]\s*$", str(part.value))
                    and isinstance(following, ast.FormattedValue)
                    and not isinstance(following.value, ast.Constant)
                    and not any(
                        "Failed" in str(item.value) for item in node.values if isinstance(item, ast.Constant)
                    )
                    and re.search(
                        r"pass|ok|success|result|equal|close|match|correct",
                        ast.unparse(following.value),
                        re.IGNORECASE,
                    )
                ):
                    return node
    return None


def misplaced(test: Reading) -> tuple[str, int]:
    """Where "Passed" is written although nothing has been compared yet: (where, line), or ("", 0)."""
    for node in nodes(test.module.tree):
        if isinstance(node, ast.FunctionDef) and node.name in _AFTERWARDS:
            line = _marker(node.body)
            if line:
                return f"in {node.name}", line
        if isinstance(node, ast.Try) and _marker(node.finalbody):
            return "in a `finally`", _marker(node.finalbody)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            line = _too_early(node.body)
            if line:
                return "before the comparison", line
    return "", 0


_AFTERWARDS = frozenset({"tearDown", "tearDownClass", "tearDownModule", "teardown_module", "teardown_method"})


def _marker(body: list[ast.stmt]) -> int:
    """The line of the first statement of a block that writes "Passed" and not "Failed"; 0 if none does."""
    for node in body:
        if isinstance(node, ast.With):
            line = _marker(node.body)
            if line:
                return line
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            continue
        texts = [item.value for item in node.value.args if isinstance(item, ast.Constant)]
        said = " ".join(text for text in texts if isinstance(text, str))
        if len(texts) == len(node.value.args) and "Passed" in said and "Failed" not in said:
            return node.lineno
    return 0


def _too_early(body: list[ast.stmt]) -> int:
    """The line of a "Passed" that comes before the first assertion of a straight piece of code."""
    marker = 0
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        calls = [item for item in walk(node) if isinstance(item, ast.Call)]
        asserts = isinstance(node, ast.Assert) or any(
            is_assert_name(dotted(call.func)) or is_exit(call) for call in calls
        )
        if asserts or not isinstance(node, ast.Expr | ast.Assign | ast.Import | ast.ImportFrom | ast.With):
            return marker if isinstance(node, ast.Assert) or (asserts and isinstance(node, ast.Expr)) else 0
        marker = marker or _marker([node])
    return 0


class OwnLogFile(Check):
    """LMR514."""

    code = "LMR514"
    title = "each test has a log file of its own"
    rationale = (
        'Two tests that write one log overwrite or mix their verdicts: one "Failed" fails both, or the last'
        ' "Passed" passes both.'
    )
    failing = (
        Example(
            "the second test was copied from the first",
            info={"implementations": second_implementation()},
            files={
                path: text.replace("unit_test_2.log", "unit_test_1.log")
                for path, text in second_files().items()
            },
        ),
    )
    passing = (
        Example(
            "another number in the name",
            info={"implementations": second_implementation()},
            files=second_files(),
        ),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each test that writes a log of another one."""
        owners: dict[str, dict[Path, Implementation]] = {}
        for one in pairs(view):
            path = unit_test_path(view, one.implementation)
            test = reading(view, path)
            if test is None or path is None:
                continue
            for log in _logs(test):
                owners.setdefault(log, {}).setdefault(path, one.implementation)
        for log, tests in sorted(owners.items()):
            for path, implementation in tests.items() if len(tests) > 1 else ():
                others = [str(other.index) for other in tests.values() if other is not implementation]
                yield self.finding(
                    view,
                    f"writes {log}, as the test of implementation {', '.join(others)} does",
                    f"name it unit_test/logs/unit_test_{implementation.index}.log",
                    implementation=implementation,
                    path=path,
                )


def _logs(test: Reading) -> set[str]:
    """The log files that a test writes, as far as they are certain, or that its texts name."""
    certain = {log.removeprefix("@/") for log in test.log_files if not any(char in log for char in "?*")}
    named = {posixpath.normpath(text) for text in test.constants if _LOG.fullmatch(text)}
    return certain | named


_LOG = re.compile(r"(?:\./)?unit_test/logs/[\w.-]+")
