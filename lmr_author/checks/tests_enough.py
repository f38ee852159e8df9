"""LMR515: whether a test compares all that the target returns, and closely enough to tell it from zero."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import REPOSITORY, UNIT_TEST
from lmr_author.checks.ordering import Known
from lmr_author.checks.outcome import outcome
from lmr_author.checks.pairing import pair
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.shallow import only_shapes
from lmr_author.checks.sides import sides_of
from lmr_author.checks.tests_outcome import LOGGING_ONLY
from lmr_author.checks.tolerance import wide
from lmr_author.checks.unread import dropped
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import FunctionNode, each

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
_ONE = "        loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)\n"
_SHARE = "        self.assertAlmostEqual(share, 0.6666667, places=6)\n"
_LOSS = "        self.assertAlmostEqual(loss, 1.0599649, places=6)\n"
_NO_PAIRS = "        self.assertEqual(pairwise_loss([1.0], [3]), (0.0, 1.0))\n"
_WHOLE = _ONE.replace("loss, share", "whole") + "        loss = whole[0]\n"
_FIRST = _ONE + _LOSS + _SHARE


def _importing(name: str) -> str:
    return UNIT_TEST.replace("import logging\n", f"import logging\nimport {name}\n")


class ComparesEnough(ImplementationCheck):
    """LMR515."""

    code = "LMR515"
    title = "the test compares all that the target returns, and zero is not close enough"
    rationale = (
        "What is not compared may be anything: a test that looks at one of three returned values passes with the"
        " other two wrong (a note: they may not matter), and one that looks at shapes, types and ranges passes with"
        " zeros (one that also asks which value is larger is a note). Where the tolerance is as large as the"
        " expected value, zero passes; one of 0.1 beside values that are not written down is a note."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "one of two returned values is dropped",
            files={
                TEST: UNIT_TEST.replace(_ONE, _ONE.replace("loss, share", "loss, _"))
                .replace(_SHARE, "")
                .replace(_NO_PAIRS, "        self.assertEqual(pairwise_loss([1.0], [3])[0], 0.0)\n")
            },
        ),
        Example(
            "it has a name, and nobody reads it",
            files={
                TEST: UNIT_TEST.replace(_SHARE, "").replace(
                    _NO_PAIRS, "        self.assertEqual(pairwise_loss([1.0], [3])[0], 0.0)\n"
                )
            },
        ),
        Example(
            "the tolerance is as large as what is expected",
            files={TEST: UNIT_TEST.replace("0.6666667, places=6", "0.6666667, delta=0.7")},
        ),
        Example(
            "more places are compared than there are",
            files={
                TEST: UNIT_TEST.replace(
                    "0.6666667, places=6",
                    "0.6666667 / 1000, places=2)\n        self.assertAlmostEqual(share / 1000, 0.00067, places=2",
                )
            },
        ),
        Example(
            "a relative tolerance of one",
            files={
                TEST: _importing("math").replace(
                    _SHARE, "        assert math.isclose(share, 0.6666667, rel_tol=1.0)\n"
                )
            },
        ),
        Example(
            "a difference that may be larger than the value",
            files={TEST: UNIT_TEST.replace(_SHARE, "        assert abs(share - 0.6666667) < 1\n")},
        ),
        Example(
            "only the shape is compared",
            files={
                TEST: UNIT_TEST.replace(
                    _FIRST,
                    "        result = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1])\n"
                    "        self.assertEqual(len(result), 2)\n",
                ).replace(_NO_PAIRS, "        assert isinstance(pairwise_loss([1.0], [3]), tuple)\n")
            },
        ),
        Example(
            "one of two is taken out of what is kept under one name",
            files={
                TEST: UNIT_TEST.replace(_ONE, _WHOLE).replace(_SHARE, "").replace(_NO_PAIRS, "        pass\n")
            },
        ),
        Example(
            "only the first is kept",
            files={
                TEST: UNIT_TEST.replace(_ONE, _ONE.replace("loss, share", "loss, *_"))
                .replace(_SHARE, "")
                .replace(_NO_PAIRS, "        pass\n")
            },
        ),
        Example(
            "it is only asked whether something comes back",
            files={
                TEST: UNIT_TEST.replace(_LOSS, "        assert loss\n")
                .replace(_SHARE, "        self.assertTrue(share)\n")
                .replace(_NO_PAIRS, "        assert pairwise_loss([1.0], [3])\n")
            },
        ),
        Example(
            "only types are",
            files={
                TEST: UNIT_TEST.replace(
                    _FIRST,
                    "        result = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1])\n"
                    "        self.assertEqual(type(result).__name__, 'tuple')\n",
                ).replace(
                    _NO_PAIRS, "        assert str(type(pairwise_loss([1.0], [3]))) == \"<class 'tuple'>\"\n"
                )
            },
        ),
        Example(
            "only ranges are",
            files={
                TEST: UNIT_TEST.replace(_LOSS, "        assert loss >= 0\n")
                .replace(_SHARE, "        self.assertTrue(0 <= share <= 1)\n")
                .replace(_NO_PAIRS, "        self.assertGreaterEqual(pairwise_loss([1.0], [3])[0], 0)\n")
            },
        ),
        Example(
            "the tolerance is as large as any of the values in a list",
            files={
                TEST: _importing("numpy as np").replace(
                    _SHARE,
                    _SHARE + "        wanted = [1.06, 0.667]\n"
                    "        np.testing.assert_almost_equal([loss, share], np.array(wanted), decimal=0)\n",
                )
            },
        ),
        Example(
            "a large tolerance beside a value that is computed",
            files={
                TEST: _importing("math").replace(
                    _LOSS, "        self.assertAlmostEqual(loss, math.log(2.886), delta=0.2)\n"
                )
            },
        ),
        Example(
            "a value is only kept from being too large",
            files={TEST: UNIT_TEST.replace(_LOSS, "        assert loss - 1.0599649 < 1e-6\n")},
        ),
        Example(
            "the bracket of abs closes too late",
            files={TEST: UNIT_TEST.replace(_LOSS, "        assert abs(loss - 1.0599649 < 1e-6)\n")},
        ),
        Example(
            "a wide pytest.approx",
            files={
                TEST: _importing("pytest").replace(
                    _SHARE, "        assert share == pytest.approx(0.6666667, abs=0.7)\n"
                )
            },
        ),
        Example(
            "rounded to one place",
            files={
                TEST: _importing("math").replace(
                    _LOSS, "        assert round(loss, 1) == round(math.log(2.886), 1)\n"
                )
            },
        ),
        Example(
            "it only logs, and one of two returned values is dropped",
            files={
                TEST: LOGGING_ONLY.replace("loss, share", "loss, _").replace(
                    " and abs(share - 0.6666667) < 1e-6", ""
                )
            },
            also=("LMR502",),
        ),
    )
    passing = (
        Example(
            "all of them, under one name",
            files={
                TEST: UNIT_TEST.replace(_ONE, _WHOLE).replace(_SHARE, _SHARE.replace("share", "whole[1]", 1))
            },
        ),
        Example(
            "a shape, and values",
            files={
                TEST: UNIT_TEST.replace(_SHARE, _SHARE + "        self.assertEqual(len((loss, share)), 2)\n")
            },
        ),
        Example(
            "how far two values are apart is below one",
            files={
                TEST: UNIT_TEST.replace(
                    _LOSS, "        apart = abs(loss - 1.0599649)\n        assert apart < 1\n"
                )
                .replace(_SHARE, "        assert share <= 1\n")
                .replace(_NO_PAIRS, "")
                .replace("    def test_no_pairs(self):\n", "")
            },
        ),
        Example(
            "lengths that are almost the same, and a limit of time",
            files={
                TEST: _importing("time").replace(
                    _SHARE,
                    _SHARE + "        began = time.time()\n        both = pairwise_loss([1.0], [3])\n"
                    "        self.assertTrue(abs(len(both) - len((loss, share))) <= 1)\n"
                    "        assert time.time() - began < 5\n",
                )
            },
        ),
        Example(
            "a loss that does not grow",
            files={
                TEST: UNIT_TEST.replace(
                    _SHARE,
                    _SHARE + "        less, _ = pairwise_loss([0.5, 3.0, -1.0], [0, 2, 1])\n"
                    "        self.assertLess(less - loss, 1e-6)\n",
                )
            },
        ),
        Example(
            "a tolerance beside a large value",
            files={
                TEST: UNIT_TEST.replace(
                    _SHARE, _SHARE + "        self.assertAlmostEqual(1000 * share, 666.67, delta=0.1)\n"
                )
            },
        ),
        Example(
            "another call is compared as a whole",
            files={TEST: UNIT_TEST.replace(_ONE, _ONE.replace("loss, share", "loss, _")).replace(_SHARE, "")},
        ),
        Example(
            "what is expected is zero",
            files={
                TEST: UNIT_TEST.replace(
                    "0.6666667, places=6",
                    "0.6666667, places=6)\n        self.assertAlmostEqual(loss - 1.06, 0.0, delta=0.001",
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding of each kind."""
        test = reading_of(view, implementation)
        if test is None:
            return
        there = pair(view, implementation).complete
        functions = [
            (golden, target.qualname) for golden, _, target in there if isinstance(golden, FunctionNode)
        ]
        known = Known(test, pair(view, implementation).golden, functions)
        shallow = only_shapes(test, known) if there and outcome(view, test).asserts else None
        for golden, qualname in functions if shallow is None or shallow.severity is Severity.NOTE else ():
            if _compares(test):
                wrong = dropped(test, golden, qualname)
                if wrong is not None:
                    yield self.told(view, implementation, test.path, wrong)
        for wrong in (shallow, wide(test)):
            if wrong is not None:
                yield self.told(view, implementation, test.path, wrong)


def _compares(test: Reading) -> bool:
    """Whether anything is compared with something; if not, LMR502 says so."""
    return any(sides_of(node) for module in test.modules for node in each(module.tree, ast.Call, ast.Compare))
