"""LMR502–504, 507, 514: whether a unit test can fail, and whether its verdict is seen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.base import Check, Example, ImplementationCheck
from lmr_author.checks.example_task import BODY, GOLDEN, HEAD, REPOSITORY, UNIT_TEST, second_implementation
from lmr_author.checks.lookup import pairs, unit_test_path
from lmr_author.checks.outcome import outcome
from lmr_author.checks.reading import Reading, dotted, reading, single_assignments
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
START = UNIT_TEST.partition("class Test")[0]
MAIN = '\n\nif __name__ == "__main__":\n' + UNIT_TEST.partition('if __name__ == "__main__":\n')[2]
CALL = "    loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)\n"

LOGGING_ONLY = START + (
    "def test():\n"
    + CALL
    + "    if abs(loss - 1.0599649) < 1e-6:\n        logging.info('Passed')\n    else:\n       "
    " logging.info('Failed')\n\n\ntest()\n"
)
SWALLOWING = START + (
    "def test():\n    try:\n    "
    + CALL.replace("\n    ", "\n        ")
    + "        assert abs(loss - 1.0599649) < 1e-6\n        logging.info('Passed')\n    except Exception as"
    " error:\n        logging.error('Failed: %s', error)\n\n\ntest()\n"
)


class CanFail(ImplementationCheck):
    """LMR502."""

    code = "LMR502"
    title = "the test's exit code depends on the result"
    rationale = (
        '24 of 35 published tests exit with 0 whatever the function returns: they log "Passed" or "Failed"'
        " and go on. Harnesses, shells and CI read exit codes. A test needs an assertion, or an exit with a"
        " code, that is reached when it runs as a script."
    )
    failing = (
        Example("it only logs", files={TEST: LOGGING_ONLY}),
        Example(
            "the assertion is constant",
            files={TEST: LOGGING_ONLY.replace("    if abs", "    assert True\n    if abs")},
        ),
        Example(
            "unittest's verdict is thrown away",
            files={TEST: UNIT_TEST.replace("    sys.exit(0 if passed else 1)\n", "")},
        ),
        Example(
            "nothing runs the tests",
            files={TEST: UNIT_TEST.partition("\n\nif __name__")[0] + "\n\nVERDICTS = ('Passed', 'Failed')\n"},
        ),
    )
    passing = (
        Example(
            "an assertion",
            files={
                TEST: LOGGING_ONLY.replace(
                    "    else:\n        logging.info('Failed')\n",
                    "    else:\n        logging.info('Failed')\n        raise AssertionError(loss)\n",
                )
            },
        ),
        Example(
            "an exit code",
            files={
                TEST: LOGGING_ONLY.replace(
                    "logging.info('Failed')\n", "logging.info('Failed')\n        sys.exit(1)\n"
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        path = unit_test_path(view, implementation)
        test = reading(view, path)
        if test is None or path is None:
            return
        found = outcome(view, test)
        if found.reached:
            return
        if found.unrun:
            message = "nothing runs its tests when it is run as a script: it always exits with 0"
            hint = (
                'end the file with `if __name__ == "__main__": unittest.main()` (or'
                " sys.exit(pytest.main([__file__])))"
            )
        elif found.ignored:
            message, hint = (
                "the runner's verdict does not reach the exit code",
                "end with sys.exit(0 if result.wasSuccessful() else 1)",
            )
        elif found.asserts and found.swallowed:
            return  # LMR503 says it
        else:
            message, hint = (
                "it cannot fail: no assertion or exit code depends on the result",
                "assert the comparison instead of logging it",
            )
        yield self.finding(view, message, hint, implementation=implementation, path=path)


class NothingSwallowed(ImplementationCheck):
    """LMR503."""

    code = "LMR503"
    title = "the test swallows no failures"
    rationale = (
        "An `except Exception` around the call turns every error, a failed assertion included, into a log"
        " line and exit code 0."
    )
    failing = (
        Example("an assertion inside", files={TEST: SWALLOWING}),
        Example(
            "a bare except around the call",
            files={
                TEST: UNIT_TEST.replace(
                    "        loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)\n",
                    "        try:\n            loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1],"
                    " margin=1.0)\n        except:\n            return\n",
                )
            },
        ),
    )
    passing = (
        Example("it raises again", files={TEST: SWALLOWING.replace("error)\n", "error)\n        raise\n")}),
        Example(
            "it exits with a code",
            files={TEST: SWALLOWING.replace("error)\n", "error)\n        sys.exit(1)\n")},
        ),
        Example(
            "it remembers the failure",
            files={
                TEST: (
                    SWALLOWING.replace("def test():\n", "failures = []\n\n\ndef test():\n").replace(
                        "error)\n", "error)\n        failures.append(error)\n"
                    )
                    + "sys.exit(1 if failures else 0)\n"
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding, at the first such `try`."""
        path = unit_test_path(view, implementation)
        test = reading(view, path)
        if test is None or path is None:
            return
        lines = outcome(view, test).swallowed
        if lines:
            more = f" (and at {len(lines) - 1} more places)" if len(lines) > 1 else ""
            yield self.finding(
                view,
                f"an `except` swallows failures of the test{more}",
                "let the exception through, or end the handler with `raise` or sys.exit(1)",
                implementation=implementation,
                path=path,
                pointer=f"L{lines[0]}",
            )


class ComparesTwoThings(ImplementationCheck):
    """LMR504."""

    code = "LMR504"
    title = "the test compares the result with something else"
    rationale = (
        "`allclose(loss, loss)`, or expected and actual read from one file, are equal whatever was"
        " implemented."
    )
    failing = (
        Example(
            "a value with itself",
            files={
                TEST: UNIT_TEST.replace(
                    "self.assertAlmostEqual(loss, 1.0599649, places=6)",
                    "self.assertAlmostEqual(loss, loss, places=6)",
                )
            },
        ),
        Example(
            "expected and actual from one file",
            files={
                TEST: (
                    START.replace("import logging\n", "import json\nimport logging\n")
                    + "pairwise_loss([1.0, 0.0], [1, 0])\nexpected = json.load(open(os.path.join(HERE,"
                    " 'loss.json')))\nactual = json.load(open(os.path.join(HERE, 'loss.json')))\npassed ="
                    " expected == actual\nlogging.info('Passed' if passed else 'Failed')\nassert passed\n"
                ),
                f"{REPOSITORY}/unit_test/loss.json": "[1.06]\n",
            },
        ),
    )
    passing = (
        Example(
            "a call with the same argument twice",
            files={
                TEST: UNIT_TEST.replace(
                    "(0.0, 1.0))\n", "(0.0, 1.0))\n        self.assertEqual(max(1, 1), 1)\n"
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding, at the first such comparison."""
        path = unit_test_path(view, implementation)
        test = reading(view, path)
        if test is None or path is None:
            return
        for node, left, right in comparisons(test):
            same = ast.dump(left) == ast.dump(right) and any(
                isinstance(item, ast.Name) for item in ast.walk(left)
            )
            if same and not _may_differ(left):
                message, hint = (
                    f"compares `{ast.unparse(left)[:60]}` with itself",
                    "compare it with the expected value",
                )
            elif _same_file(test, left, right):
                message, hint = (
                    "expected and actual are read from the same file",
                    "take the actual value from a call of the target",
                )
            else:
                continue
            yield self.finding(
                view, message, hint, implementation=implementation, path=path, pointer=f"L{node.lineno}"
            )
            return


def comparisons(test: Reading) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
    """(node, left, right) of every comparison for equality or closeness."""
    for node in ast.walk(test.module.tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            yield node, node.left, node.comparators[0]
        elif isinstance(node, ast.Call):
            last = dotted(node.func).rpartition(".")[2]
            if last in (
                "allclose",
                "isclose",
                "array_equal",
                "equal",
                "assert_close",
                "assert_equal",
                "assert_allclose",
                "assert_array_equal",
                "assertEqual",
                "assertAlmostEqual",
                "assertListEqual",
                "assertDictEqual",
                "assert_almost_equal",
                "assert_array_almost_equal",
                "assertTupleEqual",
                "assertSequenceEqual",
                "assertCountEqual",
                "assert_frame_equal",
            ):
                own = (
                    [node.func.value]
                    if isinstance(node.func, ast.Attribute)
                    and last in ("allclose", "equal", "isclose")
                    and len(node.args) == 1
                    else []
                )
                operands = [*own, *node.args][:2]
                if len(operands) == 2:
                    yield node, operands[0], operands[1]


def _may_differ(node: ast.expr) -> bool:
    """Whether an expression can have two values in one line: it calls something."""
    return any(isinstance(item, ast.Call | ast.Await) for item in ast.walk(node))


def _same_file(test: Reading, left: ast.expr, right: ast.expr) -> bool:
    if not (isinstance(left, ast.Name) and isinstance(right, ast.Name)) or left.id == right.id:
        return False
    values = single_assignments(test.module.tree)
    one, other = values.get(left.id), values.get(right.id)
    if not isinstance(one, ast.Call) or not isinstance(other, ast.Call) or ast.dump(one) != ast.dump(other):
        return False
    return any(
        isinstance(item, ast.Call)
        and dotted(item.func).rpartition(".")[2]
        in ("load", "loads", "open", "read_csv", "load_file", "read_json", "loadtxt")
        for item in ast.walk(one)
    )


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
        Example("no marker", files={TEST: UNIT_TEST.replace('"Passed" if passed else "Failed"', '"done"')}),
        Example(
            "Passed whatever the result",
            files={TEST: UNIT_TEST.replace('"Passed" if passed else "Failed"', 'f"Passed: {passed}"')},
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
        texts = " ".join(test.constants)
        if "Passed" in texts:
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


def _unconditional(test: Reading) -> ast.expr | None:
    """A message in which "Passed" is followed by the value that should decide, as in f"Passed: {ok}"."""
    for node in ast.walk(test.module.tree):
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
                f"{REPOSITORY}/ranking/losses.py": (
                    HEAD
                    + "    raise NotImplementedError\n"
                    + GOLDEN.partition(BODY)[2].partition("        wanted")[0]
                    + "        raise NotImplementedError\n"
                ),
                f"{REPOSITORY}/unit_test/unit_test_2.py": (
                    UNIT_TEST.replace("import pairwise_loss", "import ListLoss").replace(
                        "pairwise_loss(", "ListLoss().forward("
                    )
                ),
            },
        ),
    )
    passing = (
        Example(
            "another number in the name",
            info={"implementations": second_implementation()},
            files={
                f"{REPOSITORY}/ranking/losses.py": (
                    HEAD
                    + "    raise NotImplementedError\n"
                    + GOLDEN.partition(BODY)[2].partition("        wanted")[0]
                    + "        raise NotImplementedError\n"
                ),
                f"{REPOSITORY}/unit_test/unit_test_2.py": (
                    UNIT_TEST.replace("import pairwise_loss", "import ListLoss")
                    .replace("pairwise_loss(", "ListLoss().forward(")
                    .replace("unit_test_1.log", "unit_test_2.log")
                ),
            },
        ),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for the second and each further test that writes a log."""
        owners: dict[str, Implementation] = {}
        tests: dict[str, str] = {}
        for one in pairs(view):
            path = unit_test_path(view, one.implementation)
            test = reading(view, path)
            if test is None or path is None:
                continue
            for log in sorted(test.log_files):
                if "?" in log or "*" in log:
                    continue
                if log in owners and tests[log] != str(path):
                    name = log.removeprefix("@/")
                    yield self.finding(
                        view,
                        f"writes {name}, as the test of implementation {owners[log].index} does",
                        f"name it unit_test/logs/unit_test_{one.implementation.index}.log",
                        implementation=one.implementation,
                        path=path,
                    )
                else:
                    owners.setdefault(log, one.implementation)
                    tests.setdefault(log, str(path))
