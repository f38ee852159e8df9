"""LMR502: whether a unit test can fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Content, Example, ImplementationCheck, Wrong
from lmr_author.checks.example_texts import DOCKERFILE, REPOSITORY, UNIT_TEST
from lmr_author.checks.idle import asserts_more, idle
from lmr_author.checks.inverted import inverted
from lmr_author.checks.outcome import Outcome, outcome
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.runners import counts_failures_only
from lmr_author.checks.syntax import dotted
from lmr_author.checks.threads import unseen
from lmr_author.checks.unstarted import unstarted
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import each, walk

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
START = UNIT_TEST.partition("class Test")[0]
CALL = "    loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)\n"

LOGGING_ONLY = START + (
    "def test():\n"
    + CALL
    + "    if abs(loss - 1.0599649) < 1e-6 and abs(share - 0.6666667) < 1e-6:\n"
    + "        logging.info('Passed')\n    else:\n        logging.info('Failed')\n\n\ntest()\n"
)

RETURNED = START.replace("import logging\n", "import logging\nimport pytest\n") + (
    "def test_loss():\n"
    + CALL
    + "    logging.info('Passed')\n    return abs(loss - 1.0599649) < 1e-6 and abs(share - 0.6666667) < 1e-6\n\n\n"
    "if __name__ == '__main__':\n    pytest.main([__file__])\n"
)

VERDICT = START + (
    "def test():\n"
    + CALL
    + "    passed = abs(loss - 1.0599649) < 1e-6 and abs(share - 0.6666667) < 1e-6\n"
    + "    logging.info('Passed' if passed else 'Failed')\n    return passed\n\n\n"
)

THREAD = START + (
    "import threading\n\n\ndef check():\n    assert pairwise_loss([1.0], [3]) == (0.0, 1.0)\n\n\n"
    "one = threading.Thread(target=check)\n"
)


def _before(*lines: str) -> dict[str, Content]:
    """The test that only logs, with some lines before its comparison."""
    added = "".join(f"    {line}\n" for line in lines)
    return {TEST: LOGGING_ONLY.replace("    if abs", f"{added}    if abs")}


class CanFail(ImplementationCheck):
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
            files=_before("assert True"),
        ),
        Example(
            "the assertion is a tuple, and true whatever it holds",
            files=_before("assert (abs(loss - 1) < 0.1, f'loss is {loss}')"),
        ),
        Example(
            "what is expected is given as a message",
            files={
                TEST: UNIT_TEST.replace("self.assertEqual(", "self.assertTrue(").replace(
                    "self.assertAlmostEqual(loss, 1.0599649, places=6)", "assert round(loss, 6), 1.059965"
                )
            },
        ),
        Example(
            "what is expected is given as a message, and the verdict is thrown away",
            files={
                TEST: UNIT_TEST.replace("self.assertEqual(", "self.assertTrue(")
                .replace(
                    "self.assertAlmostEqual(loss, 1.0599649, places=6)", "assert round(loss, 6), 1.059965"
                )
                .replace("    sys.exit(0 if passed else 1)\n", "")
            },
        ),
        Example(
            "unittest's verdict is thrown away",
            files={TEST: UNIT_TEST.replace("    sys.exit(0 if passed else 1)\n", "")},
        ),
        Example("its tests return the comparison", files={TEST: RETURNED}),
        Example(
            "nothing runs the tests",
            files={TEST: UNIT_TEST.partition("\n\nif __name__")[0] + "\n\nVERDICTS = ('Passed', 'Failed')\n"},
        ),
        Example(
            "the function that holds the assertions is named, not called",
            files={
                TEST: LOGGING_ONLY.replace("def test():", "def check():")
                .replace(
                    "    if abs", "    assert (round(loss, 3), round(share, 3)) == (1.06, 0.667)\n    if abs"
                )
                .replace("\n\ntest()\n", "\n\ncheck\n")
            },
        ),
        Example(
            "only failures are counted, and no errors",
            files={TEST: UNIT_TEST.replace("program.result.wasSuccessful()", "not program.result.failures")},
        ),
        Example(
            "a method that is not called",
            files={
                TEST: UNIT_TEST.replace(
                    "        loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)\n",
                    "        loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)\n"
                    "        assert (np.array([loss, share]) == np.array([1.5, 0.25])).all\n",
                ).replace("import logging\n", "import logging\nimport numpy as np\n")
            },
        ),
        Example(
            "a generator, which is true whatever it yields",
            files=_before("assert (abs(one - 1) < 0.1 for one in (loss, share))"),
        ),
        Example(
            "a list of comparisons, which is true when all of them are not",
            files=_before("assert [abs(one - 1) < 0.1 for one in (loss, share)]"),
        ),
        Example(
            "a function that is not called",
            files=_before("good = lambda: abs(loss - 1.06) + abs(share - 0.67) < 0.1", "assert good"),
        ),
        Example("a verdict is the exit code, and True is 1", files={TEST: VERDICT + "sys.exit(test())\n"}),
        Example(
            "only a thread asserts",
            files={TEST: THREAD + "one.start()\none.join()\nlogging.info('Passed')\n"},
        ),
        Example(
            "its test is skipped",
            files={TEST: UNIT_TEST.replace("class Test", "@unittest.skip('it takes long')\nclass Test")},
        ),
        Example(
            "one of two tests is expected to fail",
            files={
                TEST: UNIT_TEST.replace(
                    "    def test_three", "    @unittest.expectedFailure\n    def test_three"
                )
            },
        ),
        Example(
            "there are no cases",
            files={
                TEST: START + "CASES = []\nfor scores, labels, wanted in CASES:\n"
                "    assert pairwise_loss(scores, labels) == wanted\nlogging.info('Passed')\n"
            },
        ),
        Example(
            "pytest is given no cases",
            files={
                TEST: RETURNED.replace(
                    "def test_loss():",
                    "CASES = ()\n\n\n@pytest.mark.parametrize('loss', CASES)\ndef test_loss(loss):",
                )
                .replace("    return ", "    assert ")
                .replace("    pytest.main(", "    sys.exit(pytest.main(")
                .replace("__file__])", "__file__]))")
            },
            also=("LMR507",),
        ),
    )
    passing = (
        Example("a verdict is turned into an exit code", files={TEST: VERDICT + "sys.exit(not test())\n"}),
        Example(
            "cases that are collected first",
            files={
                TEST: START + "cases = []\nfor labels in ([3], [2]):\n    cases.append(([1.0], labels))\n"
                "for scores, labels in cases:\n"
                "    assert pairwise_loss(scores, labels) == (0.0, 1.0)\nlogging.info('Passed')\n"
            },
        ),
        Example(
            "the image runs pytest",
            files={
                TEST: UNIT_TEST.partition("\n\nif __name__")[0] + "\n\nVERDICTS = ('Passed', 'Failed')\n",
                "Dockerfile": DOCKERFILE + 'CMD ["pytest", "-q", "unit_test"]\n',
            },
        ),
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
        test = reading_of(view, implementation)
        if test is None:
            return
        found = outcome(view, test)
        dead = idle(test)
        if dead:
            yield self.finding(
                view,
                dead[0].message,
                dead[0].hint,
                implementation=implementation,
                path=test.path,
                line=dead[0].line,
                severity=Severity.WARNING if found.reached and asserts_more(test, dead) else Severity.ERROR,
            )
            if not (found.unrun or found.ignored):
                return  # that is why it cannot fail, if it cannot
        line = counts_failures_only(test)
        if found.reached and line:
            yield self.finding(
                view,
                "only the runner's failures decide: what raises, as the masked code does, is one of its errors",
                "use wasSuccessful()",
                implementation=implementation,
                path=test.path,
                line=line,
            )
        never = unstarted(test, by_pytest=_image_runs_pytest(view))
        wrong = never or inverted(test) or unseen(test) or _why_it_cannot_fail(view, test, found)
        if wrong is not None:
            yield self.told(view, implementation, test.path, wrong)


_LOGS = re.compile(r"log(?:ging|ger)?\.\w+$|\.(?:info|error|warning|write)$")


def _why_it_cannot_fail(view: TaskView, test: Reading, found: Outcome) -> Wrong | None:
    """Why a test cannot fail, and what to do; None where it can, or LMR503 says why."""
    swallowed = found.asserts and found.swallowed and not (found.unrun or found.ignored)
    if found.reached or swallowed or (found.unrun and _image_runs_pytest(view)):
        return None
    dropped = _dropped_pytest(test)
    if found.unrun:
        only = f"run as a script, as LMR-Bench does (`python {test.path.name}`), it only defines its tests"
        return Wrong(
            f"{only}: none of them runs, and it exits with 0",
            'end the file with `if __name__ == "__main__": sys.exit(pytest.main([__file__]))` or unittest.main()',
        )
    if found.ignored:
        end = "pytest.main([__file__])" if dropped else "0 if result.wasSuccessful() else 1"
        return Wrong(
            "the runner's verdict does not reach the exit code", f"end with sys.exit({end})", dropped
        )
    if found.uncalled:
        return Wrong(
            "it cannot fail: its assertions are in functions that nothing calls",
            'call them below `if __name__ == "__main__":`',
        )
    message, hint = "it cannot fail: no assertion or exit code depends on the result", "assert the comparison"
    returned = _returned(test)
    if returned is None:
        logs = any(_LOGS.search(name) for _, _, name in test.calls)
        return Wrong(message, f"{hint} instead of {'logging' if logs else 'printing'} it")
    message = f"it cannot fail: `{ast.unparse(returned)[:60]}` is the value of a test, which nothing looks at"
    if dropped:
        message += ", and the result of pytest.main is dropped"
        hint = f"{hint} instead of returning it, and end with sys.exit(pytest.main([__file__]))"
    else:
        hint = f"{hint} instead of returning it"
    return Wrong(message, hint, returned.lineno)


def _returned(test: Reading) -> ast.Return | None:
    """A comparison that a test function returns to its runner, which does not look at it."""
    called = {name.rpartition(".")[2] for _, _, name in test.calls}
    for function in each(test.module.tree, ast.FunctionDef, ast.AsyncFunctionDef):
        if not function.name.startswith("test"):
            continue
        for node in walk(function) if function.name not in called else ():
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Call | ast.Compare | ast.BoolOp):
                return node
    return None


def _dropped_pytest(test: Reading) -> int:
    """The line of a pytest.main whose result nothing uses; 0 if there is none."""
    alone = (node.value for node in each(test.module.tree, ast.Expr))
    return next(
        (node.lineno for node in alone if isinstance(node, ast.Call) and dotted(node.func) == "pytest.main"),
        0,
    )


def _image_runs_pytest(view: TaskView) -> bool:
    """Whether the image itself starts pytest, which finds and runs test functions without help."""
    parsed = dockerfile.read(view)
    return parsed is not None and any("pytest" in item.text for item in parsed.named("CMD", "ENTRYPOINT"))
