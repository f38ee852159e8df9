"""LMR516: whether the test of an implementation runs another one's target, which is masked, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_task import second_files, second_implementation
from lmr_author.checks.example_texts import GOLDEN, REPOSITORY
from lmr_author.checks.masked_bodies import all_masked
from lmr_author.checks.pairing import Pair, pair
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.syntax import last_name
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import FunctionNode, each

_SECOND_TEST = f"{REPOSITORY}/unit_test/unit_test_2.py"
_CALLING = second_files()[_SECOND_TEST].replace(
    "class Test", "from ranking import losses\n\nOTHER = losses.pairwise_loss([1.0], [3])\n\n\nclass Test", 1
)
_COMMON = frozenset({"__init__", "__call__", "forward", "step", "update", "get", "run", "fit", "reset"})
"""Names that many classes give to methods of theirs: that one is called does not tell whose."""


class TestsApart(ImplementationCheck):
    code = "LMR516"
    title = "the test of an implementation runs without the others' targets"
    rationale = (
        "Two implementations are two tasks. Where the golden of one calls the other's target, or its test does, it"
        " passes only if both are done, and an agent that solves one of them fails. `lmr-author evaluate` judges each"
        " with the others' goldens in place; LMR-Bench's own scripts do not."
    )
    severity = Severity.NOTE
    failing = (
        Example(
            "its test calls the other target",
            info={"implementations": second_implementation()},
            files=second_files() | {_SECOND_TEST: _CALLING},
        ),
        Example(
            "its golden calls the other target",
            info={"implementations": second_implementation()},
            files=second_files()
            | {
                "golden_files/losses_golden.py": GOLDEN.replace(
                    "        wanted = self.normalise(labels)\n",
                    "        if len(labels) < 2:\n            return pairwise_loss(scores, labels)[0]\n"
                    "        wanted = self.normalise(labels)\n",
                )
            },
        ),
    )
    passing = (
        Example(
            "the other one is replaced",
            info={"implementations": second_implementation()},
            files=second_files()
            | {
                _SECOND_TEST: _CALLING.replace(
                    "class Test", "losses.pairwise_loss = print\n\n\nclass Test", 1
                )
            },
        ),
        Example(
            "two that do not need each other",
            info={"implementations": second_implementation()},
            files=second_files(),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target of another implementation."""
        test, own = reading_of(view, implementation), pair(view, implementation)
        others = _others(view, own)
        if test is None or not others:
            return
        for name, way in _reached(test, own, others).items():
            if _replaced(test, name):
                continue
            other, qualname = others[name]
            by = f" by way of {' and '.join(way)}" if way else ""
            yield self.finding(
                view,
                f"runs {qualname}{by}, which implementation {other.index} masks: it passes only if both are done",
                "mask functions that do not need each other, or test this one with a stand-in for the other",
                implementation=implementation,
                path=test.path,
            )


def _others(view: TaskView, own: Pair) -> dict[str, tuple[Implementation, str]]:
    """Telling name of a function → whose masked target it is."""
    taken = {one.qualname for one in own.targets}
    masked = [
        (other, one.qualname)
        for other in view.implementations
        if other is not own.implementation
        for one, _ in all_masked(view, other)
        if not one.same and one.qualname not in taken
    ]
    named = {qualname.rpartition(".")[2]: (other, qualname) for other, qualname in masked}
    return {name: one for name, one in named.items() if name not in _COMMON}


def _replaced(test: Reading, name: str) -> bool:
    """Whether a test puts something in a function's place: ``losses.f = …``, ``patch("losses.f")``."""
    stored = (item for module in test.modules for item in each(module.tree, ast.Attribute))
    return any(item.attr == name and isinstance(item.ctx, ast.Store) for item in stored) or any(
        text.rpartition(".")[2] == name for text in test.constants
    )


def _reached(test: Reading, own: Pair, others: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Which of the other targets a test comes to, each with the functions of the golden that lie between.

    Functions are followed by their names, where only one has it.
    """
    definitions = [item.node for item in (own.golden.definitions if own.golden else ())]
    functions = [item for item in definitions if isinstance(item, FunctionNode)]
    names = [item.name for item in functions]
    bodies = {item.name: item for item in functions if names.count(item.name) == 1}
    helpers = {
        item.name for module in test.modules for item in each(module.tree, ast.FunctionDef, ast.ClassDef)
    }
    waiting: list[tuple[str, tuple[str, ...]]] = [(last_name(call.func), ()) for _, call, _ in test.calls]
    seen: set[str] = set()
    found: dict[str, tuple[str, ...]] = {}
    while waiting:
        name, way = waiting.pop(0)
        if name in seen or (name in helpers and not way):
            continue
        seen.add(name)
        if name in others and names.count(name) <= 1:
            found[name] = way
        elif name in bodies:
            waiting += [(last_name(call.func), (*way, name)) for call in each(bodies[name], ast.Call)]
    return found
