"""LMR502, 503: whether a unit test can fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import DOCKERFILE, REPOSITORY, UNIT_TEST
from lmr_author.checks.outcome import outcome
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.sites import is_uncalled, quiet_hook
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import nodes

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
            "the assertion is a tuple, and true whatever it holds",
            files={
                TEST: LOGGING_ONLY.replace(
                    "    if abs", "    assert (abs(loss - 1) < 1, f'loss is {loss}')\n    if abs"
                )
            },
        ),
        Example(
            "unittest's verdict is thrown away",
            files={TEST: UNIT_TEST.replace("    sys.exit(0 if passed else 1)\n", "")},
        ),
        Example(
            "nothing runs the tests",
            files={TEST: UNIT_TEST.partition("\n\nif __name__")[0] + "\n\nVERDICTS = ('Passed', 'Failed')\n"},
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
    )
    passing = (
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
        idle = next((node for node in _asserts(test) if is_uncalled(node.test)), None)
        if idle is not None:
            yield self.finding(
                view,
                f"`{ast.unparse(idle.test)[:60]}` always holds: the method is not called",
                "write () behind it",
                implementation=implementation,
                path=test.path,
                line=idle.lineno,
                severity=Severity.WARNING if found.reached else Severity.ERROR,
            )
            return
        if found.reached:
            return
        if found.unrun:
            if _image_runs_pytest(view):
                return
            message = (
                f"run as a script, as LMR-Bench does (`python {test.path.name}`), it only defines its tests: none of"
                " them runs, and it exits with 0"
            )
            hint = (
                'end the file with `if __name__ == "__main__": sys.exit(pytest.main([__file__]))` or'
                " unittest.main()"
            )
        elif found.ignored:
            message, hint = (
                "the runner's verdict does not reach the exit code",
                "end with sys.exit(0 if result.wasSuccessful() else 1)",
            )
        elif found.asserts and found.swallowed:
            return  # LMR503 says it
        elif found.uncalled:
            message, hint = (
                "it cannot fail: its assertions are in functions that nothing calls",
                'call them below `if __name__ == "__main__":`',
            )
        else:
            message, hint = (
                "it cannot fail: no assertion or exit code depends on the result",
                "assert the comparison instead of logging it",
            )
        yield self.finding(view, message, hint, implementation=implementation, path=test.path)


def _asserts(test: Reading) -> list[ast.Assert]:
    return [node for node in nodes(test.module.tree) if isinstance(node, ast.Assert)]


def _image_runs_pytest(view: TaskView) -> bool:
    """Whether the image itself starts pytest, which finds and runs test functions without help."""
    parsed = dockerfile.read(view)
    return parsed is not None and any("pytest" in item.text for item in parsed.named("CMD", "ENTRYPOINT"))


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
        Example(
            "an exit in finally",
            files={
                TEST: START
                + "state = 'Failed'\ntry:\n    assert pairwise_loss([0.5, 2.0], [0, 1])[1] == 1.0\n"
                + "    state = 'Passed'\nfinally:\n    logging.info(state)\n    sys.exit(0)\n"
            },
        ),
        Example(
            "a suppress around all of it",
            files={
                TEST: START
                + "import contextlib\nwith contextlib.suppress(Exception):\n"
                + "    assert pairwise_loss([0.5, 2.0], [0, 1])[1] == 1.0\nlogging.info('Passed')\n"
            },
        ),
        Example(
            "in sys.excepthook",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS =", "sys.excepthook = lambda kind, error, trace: sys.exit(0)\nLOGS =", 1
                ).replace("import os\n", "import os\nimport sys\n", 1)
            },
        ),
    )
    passing = (
        Example(
            "what has to be refused",
            files={
                TEST: START
                + "try:\n    pairwise_loss([0.5], [0, 1])\nexcept AssertionError:\n    pass\n"
                + "else:\n    raise RuntimeError('no labels, no loss')\n"
                + "assert pairwise_loss([0.5, 2.0], [0, 1])[1] == 1.0\nlogging.info('Passed')\n"
            },
        ),
        Example(
            "a file that need not be there",
            files={
                TEST: UNIT_TEST.replace("import logging\n", "import contextlib\nimport logging\n", 1).replace(
                    "LOGS =",
                    "with contextlib.suppress(FileNotFoundError):\n    os.remove('old.txt')\nLOGS =",
                    1,
                )
            },
        ),
        Example(
            "sys.excepthook logs",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS =", "sys.excepthook = lambda kind, error, trace: logging.error(error)\nLOGS =", 1
                ).replace("import os\n", "import os\nimport sys\n", 1)
            },
        ),
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
        test = reading_of(view, implementation)
        if test is None:
            return
        lines = outcome(view, test).swallowed
        if lines:
            more = f" (and at {len(lines) - 1} more places)" if len(lines) > 1 else ""
            yield self.finding(
                view,
                f"an `except` or `suppress` swallows failures of the test{more}",
                "let the exception through, or end the handler with `raise` or sys.exit(1)",
                implementation=implementation,
                path=test.path,
                line=lines[0],
            )
        line = quiet_hook(test.module.tree)
        if line:
            yield self.finding(
                view,
                "sys.excepthook ends the process with 0, whatever went wrong",
                "leave sys.excepthook alone, or end it with sys.exit(1)",
                implementation=implementation,
                path=test.path,
                line=line,
            )
