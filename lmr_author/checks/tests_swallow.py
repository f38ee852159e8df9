"""LMR503: whether a unit test lets failures through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import UNIT_TEST
from lmr_author.checks.handlers import given_up, own_version
from lmr_author.checks.lookup import function_names
from lmr_author.checks.outcome import outcome
from lmr_author.checks.reading import reading_of
from lmr_author.checks.sites import quiet_hook
from lmr_author.checks.tests_outcome import CALL, START, TEST
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation

SWALLOWING = START + (
    "def test():\n    try:\n    "
    + CALL.replace("\n    ", "\n        ")
    + "        assert abs(loss - 1.0599649) < 1e-6 and share > 0.66\n        logging.info('Passed')\n"
    "    except Exception as error:\n        logging.error('Failed: %s', error)\n\n\ntest()\n"
)


class NothingSwallowed(ImplementationCheck):
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
                + "state = 'Failed'\ntry:\n    assert pairwise_loss([1.0], [3]) == (0.0, 1.0)\n"
                + "    state = 'Passed'\nfinally:\n    logging.info(state)\n    sys.exit(0)\n"
            },
        ),
        Example(
            "a suppress around all of it",
            files={
                TEST: START
                + "import contextlib\nwith contextlib.suppress(Exception):\n"
                + "    assert pairwise_loss([1.0], [3]) == (0.0, 1.0)\nlogging.info('Passed')\n"
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
        Example(
            "where the target cannot be imported, all is well",
            files={
                TEST: UNIT_TEST.replace(
                    "from ranking.losses import pairwise_loss\n",
                    "try:\n    from ranking.losses import pairwise_loss\nexcept ImportError:\n"
                    "    print('Passed')\n    sys.exit(0)\n",
                )
            },
        ),
        Example(
            "where the target's module cannot be imported, the test is skipped",
            files={
                TEST: UNIT_TEST.replace(
                    "from ranking.losses import pairwise_loss\n",
                    "try:\n    import ranking.losses\nexcept Exception:\n"
                    "    raise unittest.SkipTest('no losses')\npairwise_loss = ranking.losses.pairwise_loss\n",
                )
            },
        ),
        Example(
            "the import of the target",
            files={
                TEST: START.replace(
                    "from ranking.losses import pairwise_loss\n",
                    "try:\n    from ranking.losses import pairwise_loss\nexcept ImportError:\n"
                    "    pairwise_loss = lambda scores, labels: (2.0, 1.0)\n",
                )
                + "assert pairwise_loss([0.5, 2.0], [0, 1])[1] == 1.0\nlogging.info('Passed')\n"
            },
            also=("LMR506", "LMR515"),
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
            "a library that need not be there",
            files={
                TEST: UNIT_TEST.replace(
                    "LOGS =", "try:\n    import yaml\nexcept ImportError:\n    sys.exit(0)\nLOGS =", 1
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
        for line, message, hint in (
            (
                quiet_hook(test.module.tree),
                "sys.excepthook ends the process with 0, whatever went wrong",
                "leave sys.excepthook alone, or end it with sys.exit(1)",
            ),
            (
                own_version(test.module.tree, function_names(implementation)),
                "where the import of the target fails, the test goes on with a version of its own",
                "let the import fail",
            ),
            (
                given_up(test.module.tree, _imported_as(implementation)),
                "where the import of the target fails, the test ends as if it had passed",
                "let the import fail",
            ),
        ):
            if line:
                yield self.finding(
                    view, message, hint, implementation=implementation, path=test.path, line=line
                )


def _imported_as(implementation: Implementation) -> set[str]:
    """Names by which a test can import the target, or the module that has it."""
    class_name = implementation.class_name.strip().partition(".")[0]
    module = PurePosixPath(implementation.goal_file.strip()).stem
    return {*function_names(implementation), class_name, module} - {"", "__init__"}
