"""LMR515: whether a test compares all that the target returns, and closely enough to tell it from zero."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from lmr_author.checks.base import Example, ImplementationCheck, Wrong
from lmr_author.checks.example_texts import REPOSITORY, UNIT_TEST
from lmr_author.checks.outcome import outcome
from lmr_author.checks.pairing import pair
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.sides import EQUALITIES, sides_of
from lmr_author.checks.syntax import last_name
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import FunctionNode, children, nodes

TEST = f"{REPOSITORY}/unit_test/unit_test_1.py"
_ONE = "        loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)\n"
_SHARE = "        self.assertAlmostEqual(share, 0.6666667, places=6)\n"
_NO_PAIRS = "        self.assertEqual(pairwise_loss([1.0], [3]), (0.0, 1.0))\n"
_ABSOLUTE = frozenset({"delta", "atol", "abs_tol", "abs"})
_RELATIVE = frozenset({"rtol", "rel_tol", "rel"})


class ComparesEnough(ImplementationCheck):
    """LMR515."""

    code = "LMR515"
    title = "the test compares all that the target returns, and zero is not close enough"
    rationale = (
        "What is not compared may be anything: a test that looks at one of three returned values passes with the"
        " other two wrong (a note: they may not matter). And where the tolerance is as large as the expected value,"
        " zero passes."
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
                TEST: UNIT_TEST.replace("import logging\n", "import logging\nimport math\n").replace(
                    _SHARE, "        assert math.isclose(share, 0.6666667, rel_tol=1.0)\n"
                )
            },
        ),
        Example(
            "a difference that may be larger than the value",
            files={TEST: UNIT_TEST.replace(_SHARE, "        assert abs(share - 0.6666667) < 1\n")},
        ),
    )
    passing = (
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
        found = outcome(view, test)
        if not found.asserts or found.swallowed:
            return  # it compares nothing, or loses what it finds: LMR502 and LMR503
        for golden, _, target in pair(view, implementation).complete:
            if isinstance(golden, ast.FunctionDef | ast.AsyncFunctionDef):
                wrong = _dropped(test, golden, target.qualname)
                if wrong is not None:
                    yield self.told(view, implementation, test.path, wrong)
        wide = next(_wide(test), None)
        if wide is not None:
            yield self.told(view, implementation, test.path, wide)


def _dropped(test: Reading, golden: FunctionNode, qualname: str) -> Wrong | None:
    """What to say of a test that never looks at one of the values that the target returns."""
    count, names = _returned(golden), {golden.name}
    if golden.name in ("forward", "__call__"):
        names |= _instances(test, qualname.split(".")[-2:][0])
    calls = [call for _, call, _ in test.calls if last_name(call.func) in names]
    if count < 2 or not calls:
        return None
    used = _used(test, frozenset(calls), count)
    if not used or len(used) == count:
        return None
    missing = ", ".join(str(place + 1) for place in range(count) if place not in used)
    message = f"compares {len(used)} of the {count} values that {qualname} returns: nobody looks at number {missing}"
    return Wrong(message, "compare all of them", calls[0].lineno, Severity.NOTE)


def _instances(test: Reading, class_name: str) -> set[str]:
    """Names that a test gives to objects of a class."""
    return {
        last_name(target)
        for module in test.modules
        for node in nodes(module.tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and last_name(node.value.func) == class_name
        for target in node.targets
    } - {""}


def _returned(function: FunctionNode) -> int:
    """How many values a function returns, always the same number; 0 where that cannot be told."""
    lengths: set[int] = set()
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.Return):
            plain = isinstance(node.value, ast.Tuple) and not any(
                isinstance(item, ast.Starred) for item in node.value.elts
            )
            lengths.add(len(node.value.elts) if plain and isinstance(node.value, ast.Tuple) else 0)
        waiting += children(node)
    return lengths.pop() if len(lengths) == 1 else 0


def _used(test: Reading, calls: frozenset[ast.expr], count: int) -> set[int]:
    """Which of the returned values a test looks at after some calls; all where that cannot be told."""
    used: set[int] = set()
    seen = 0
    for module in test.modules:
        everything = nodes(module.tree)
        for node in everything:
            if isinstance(node, ast.Subscript) and node.value in calls:
                place = node.slice.value if isinstance(node.slice, ast.Constant) else None
                used |= {place} if isinstance(place, int) and 0 <= place < count else set(range(count))
                seen += 1
            elif isinstance(node, ast.Assign) and node.value in calls and len(node.targets) == 1:
                used |= _read_later(node.targets[0], everything, count)
                seen += 1
    return used if seen == len(calls) else set(range(count))


def _read_later(target: ast.expr, everything: Sequence[ast.AST], count: int) -> set[int]:
    """Which parts of what is assigned are read anywhere."""
    if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != count:
        return set(range(count))
    read = {item.id for item in everything if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)}
    return {
        place for place, item in enumerate(target.elts) if not isinstance(item, ast.Name) or item.id in read
    }


def _wide(test: Reading) -> Iterator[Wrong]:
    """Comparisons that zero passes, though something else is expected."""
    for node in nodes(test.module.tree):
        sides = sides_of(node)
        values = [_number(side) for side in (sides.left, sides.right)] if sides else []
        known = [abs(value) for value in values if value is not None]
        tolerance = _tolerance(node, known[0]) if len(known) == 1 and known[0] else None
        if tolerance is not None and isinstance(node, ast.expr) and tolerance >= known[0]:
            message = f"`{ast.unparse(node)[:80]}`: zero is close enough, too"
            yield Wrong(message, "choose a tolerance that is small beside the value", node.lineno)


def _tolerance(node: ast.AST, expected: float) -> float | None:
    """How far from the size of the expected number a value may be; None where that is not written down."""
    if isinstance(node, ast.Compare):
        limits = [_number(side) for side in (node.left, node.comparators[0])]
        written = [limit for limit in limits if limit is not None]
        return written[0] if written and not isinstance(node.ops[0], ast.Eq | ast.NotEq) else None
    if not isinstance(node, ast.Call) or last_name(node.func) not in EQUALITIES:
        return None
    given = {item.arg: _number(item.value) for item in node.keywords}
    limits = [given[name] for name in _ABSOLUTE & given.keys()]
    limits += [found * expected for name in _RELATIVE & given.keys() if (found := given[name]) is not None]
    known = [limit for limit in limits if limit is not None]
    if not known and last_name(node.func) == "assertAlmostEqual":
        places = given.get("places", _number(node.args[2]) if len(node.args) > 2 else 7.0)
        return None if places is None else 0.5 * 10**-places
    return max(known) if known else None


def _number(node: object) -> float | None:
    """The value of a number that is written down."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    plain = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return float(node.value) if plain and isinstance(node, ast.Constant) else None  # type: ignore[arg-type]
