"""LMR504: whether a unit test compares two things."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.comparing import Comparison, comparisons, reads_file
from lmr_author.checks.copies import copied, handed_on
from lmr_author.checks.example_texts import REPOSITORY, UNIT_TEST
from lmr_author.checks.in_place import is_its_argument
from lmr_author.checks.lookup import function_names
from lmr_author.checks.pairing import pair
from lmr_author.checks.reading import reading_of
from lmr_author.checks.round_trips import measured, round_trip
from lmr_author.checks.syntax import dotted, last_name
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation
from lmr_author.source import each, is_same, walk

_RESULT = START + "import json\nresult = pairwise_loss([0.5, 2.0], [0, 1])\n"
_PASSED = "logging.info('Passed')\n"


class ComparesTwoThings(ImplementationCheck):
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
            "a value with itself, in pytest.approx",
            files={
                TEST: UNIT_TEST.replace("import logging\n", "import logging\nimport pytest\n").replace(
                    "self.assertAlmostEqual(loss, 1.0599649, places=6)", "assert loss == pytest.approx(loss)"
                )
            },
        ),
        Example(
            "a value with a copy of itself",
            files={
                TEST: START
                + "import copy\nresult = pairwise_loss([0.5, 2.0], [0, 1])\n"
                + "expected = copy.deepcopy(result)\nprint(expected)\n"
                + "assert result == expected\nlogging.info('Passed')\n"
            },
        ),
        Example(
            "a measure of a value with itself",
            files={TEST: _RESULT + "assert sum(result) == sum(result)\n" + _PASSED},
        ),
        Example(
            "a value with itself, turned into text and back",
            files={
                TEST: _RESULT + "stored = json.loads(json.dumps(result))\nassert result == stored\n" + _PASSED
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
        Example(
            "the target computes what is expected of it",
            files={
                TEST: START
                + "loss, share = pairwise_loss([0.5, 2.0], [0, 1])\n"
                + "wanted_loss, wanted_share = pairwise_loss([0.5, 2.0], [0, 1])\n"
                + "assert abs(loss - wanted_loss) < 1e-6\nlogging.info('Passed')\n"
            },
            also=("LMR515",),
        ),
        Example(
            "the target computes what is expected of it, again and again",
            files={
                TEST: START
                + "expected = pairwise_loss([0.5, 2.0], [0, 1])\n"
                + "loss = pairwise_loss([0.5, 2.0], [0, 1])\n"
                + "assert loss == expected\n"
                + "expected = pairwise_loss([0.5, 1.0], [0, 1])\n"
                + "assert pairwise_loss([0.5, 1.0], [0, 1]) == expected\nlogging.info('Passed')\n"
            },
        ),
        Example(
            "a function of the test that calls the target, twice",
            files={
                TEST: START
                + "def found(labels):\n    return pairwise_loss([0.5, 2.0], labels)\n\n\n"
                + "for labels in ([0, 1], [1, 0]):\n"
                + "    assert found(labels) == found(labels)\nlogging.info('Passed')\n"
            },
        ),
        Example(
            "a function of the test that only hands its arguments on",
            files={
                TEST: START
                + "def once(scores, labels):\n    return pairwise_loss(list(scores), labels)\n\n\n"
                + "for scores in ([0.5, 2.0], [1.0, 0.0]):\n    expected = pairwise_loss(scores, [0, 1])\n"
                + "    assert once(scores, [0, 1]) == expected\nlogging.info('Passed')\n"
            },
        ),
        Example(
            "a flag that is lowered where they differ",
            files={
                TEST: START
                + "loss, share = pairwise_loss([0.5, 2.0], [0, 1])\n"
                + "wanted, _ = pairwise_loss([0.5, 2.0], [0, 1])\n"
                + "passed = True\nif not abs(loss - wanted) < 1e-6:\n    passed = False\n"
                + "logging.info('Passed' if passed else 'Failed')\nassert passed\n"
            },
            also=("LMR515",),
        ),
    )
    passing = (
        Example(
            "that it can be stored as text, and what it is",
            files={
                TEST: _RESULT + "assert json.loads(json.dumps(result)) == result\n"
                "assert pairwise_loss([1.0], [3]) == (0.0, 1.0)\n" + _PASSED
            },
        ),
        Example(
            "a flag that is lowered where they are equal",
            files={
                TEST: START
                + "passed = pairwise_loss([0.5, 2.0], [0, 1]) == (2.7014132779827524, 0.0)\n"
                + "if pairwise_loss([0.5, 2.0], [0, 1]) == pairwise_loss([0.5, 2.0], [0, 1]):\n"
                + "    passed = False\nlogging.info('Passed' if passed else 'Failed')\nassert passed\n"
            },
        ),
        Example(
            "every result with every other",
            files={
                TEST: START
                + "cases = [[0.5, 2.0], [1.0, 2.5]]\nfor one in cases:\n    for other in cases:\n"
                + "        assert pairwise_loss(one, [0, 1]) == pairwise_loss(other, [0, 1])\n"
                + "logging.info('Passed')\n"
            },
        ),
        Example(
            "a function of the test that turns its arguments round",
            files={
                TEST: START
                + "def turned(scores, labels):\n    return pairwise_loss(scores[::-1], labels[::-1])\n\n\n"
                + "scores = [0.5, 2.0]\nexpected = pairwise_loss(scores, [0, 1])\n"
                + "assert turned(scores, [0, 1]) == expected\nlogging.info('Passed')\n"
            },
        ),
        Example(
            "a name that is used again for another call",
            files={
                TEST: START
                + "before, labels = pairwise_loss([0.5, 2.0], [0, 1]), [1, 0]\n"
                + "assert pairwise_loss([0.5, 2.0], labels) != before\n"
                + "labels = [0, 1]\n"
                + "assert pairwise_loss([0.5, 2.0], labels)[0] == 2.7014132779827524\n"
                + "logging.info('Passed')\n"
            },
        ),
        Example(
            "what a call leaves as it was",
            files={
                TEST: START
                + "import copy\nscores = [0.5, 2.0]\nbefore = copy.deepcopy(scores)\n"
                + "assert pairwise_loss(scores, [0, 1]) == (0.0, 1.0)\nassert scores == before\n"
                + "logging.info('Passed')\n"
            },
        ),
        Example(
            "that it is no dice, and what it is",
            files={
                TEST: UNIT_TEST.replace(
                    "        self.assertEqual(pairwise_loss([1.0], [3])",
                    "        self.assertEqual(pairwise_loss([1.0], [3]), pairwise_loss([1.0], [3]))\n"
                    "        self.assertEqual(pairwise_loss([1.0], [3])",
                )
            },
        ),
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
        test = reading_of(view, implementation)
        if test is None:
            return
        names = _names(view, implementation)
        names |= _callers(test.module.tree, names)
        found = comparisons(test.module.tree)
        golden = [node for node, _, _ in pair(view, implementation).complete]
        for one in found:
            message, hint = _problem(one, found, names, test.module.tree)
            if not message:
                message, hint = copied(one, test.module.tree), "compare it with the expected value"
            if not message and not any(other is not one and _is_real(other, names) for other in found):
                message = round_trip(one)
            if not message and (name := is_its_argument(one, golden)):
                message = f"compares `{ast.unparse(one.left)[:60]}` with itself: {name} returns its argument"
            if message:
                line = one.node.lineno
                yield self.finding(
                    view, message, hint, implementation=implementation, path=test.path, line=line
                )
                return


def _problem(
    one: Comparison, others: list[Comparison], names: frozenset[str], tree: ast.Module
) -> tuple[str, str]:
    """What is wrong with a comparison, and what to do; empty when nothing is."""
    if not one.wanted:
        return "", ""
    shown = ast.unparse(one.left)[:60]
    # Whatever its names stand for, they do on both sides.
    same = is_same(one.renamed(one.left), one.renamed(one.right))
    if same and (not _calls(one.left) or measured(one.left, names)):
        if any(isinstance(item, ast.Name) and item.id != "__name__" for item in walk(one.left)):
            return f"compares `{shown}` with itself", "compare it with the expected value"
        return "", ""
    source = one.source(one.left)
    from_file = reads_file(source) and not handed_on(one, tree)
    if from_file and is_same(source, one.source(one.right)) and not _calls_any(tree, names):
        return _SAME_FILE
    origin = one.origin(one.left)
    if not same and (not origin or origin != one.origin(one.right)):
        return "", ""
    if from_file:
        return _SAME_FILE
    # Two calls that agree say only that the target is no dice, unless something else is compared, too.
    ran = _runs(one, source, names) or _runs(one, one.source(one.right), names)
    if ran and not any(_is_real(other, names) for other in others):
        made = next(item for item in (source, *walk(source)) if isinstance(item, ast.Call))
        call = ast.unparse(made.func)[:60]
        return f"both sides come from the same call of {call}", "compare it with stored values of the golden"
    return "", ""


_SAME_FILE = (
    "expected and actual are read from the same file",
    "take the actual value from a call of the target",
)


def _calls_any(tree: ast.Module, names: frozenset[str]) -> bool:
    """Whether a test calls the target anywhere."""
    return any(last_name(item.func) in names for item in each(tree, ast.Call))


def _names(view: TaskView, implementation: Implementation) -> frozenset[str]:
    """Names that a call of the target can have: the function's, and the class's for its implicit methods."""
    targets = pair(view, implementation).targets
    found = {target.qualname.rpartition(".")[2] for target in targets} | set(function_names(implementation))
    owners = {target.qualname.rpartition(".")[0].rpartition(".")[2] for target in targets} - {""}
    return frozenset(found | owners)


def _callers(tree: ast.Module, names: frozenset[str]) -> frozenset[str]:
    """Functions of the test that return what a call of the target returns."""
    return frozenset(
        node.name
        for node in each(tree, ast.FunctionDef)
        for item in walk(node)
        if isinstance(item, ast.Return) and item.value is not None
        for call in walk(item.value)
        if isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] in names
    )


def _runs(one: Comparison, node: ast.expr, names: frozenset[str]) -> bool:
    """Whether an expression calls the target, or an object of its class."""
    for item in walk(node):
        if not isinstance(item, ast.Call):
            continue
        if dotted(item.func).rpartition(".")[2] in names:
            return True
        made = one.source(item.func) if isinstance(item.func, ast.Name) else item.func
        if isinstance(made, ast.Call) and dotted(made.func).rpartition(".")[2] in names:
            return True
    return False


def _is_real(one: Comparison, names: frozenset[str]) -> bool:
    """Whether a comparison holds the target's result against something else."""
    if one.origin(one.left) == one.origin(one.right) != "" or is_same(one.left, one.right):
        return False
    return any(_runs(one, one.source(side), names) for side in (one.left, one.right))


def _calls(node: ast.expr) -> bool:
    """Whether an expression calls something, so that it can have two values in one line."""
    return any(isinstance(item, ast.Call | ast.Await) for item in walk(node))
