"""LMR506: the test reaches the target and calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from lmr_author.checks.base import Example, ImplementationCheck, Where
from lmr_author.checks.example_texts import UNIT_TEST
from lmr_author.checks.follow import every_file, imports
from lmr_author.checks.other_class import leads_nowhere, other_class
from lmr_author.checks.pairing import pair, pairs
from lmr_author.checks.reached import mentions, own_version
from lmr_author.checks.reading import Reading, reading_of
from lmr_author.checks.syntax import dotted
from lmr_author.checks.tests_imports import IMPORT, TEST
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation
from lmr_author.source import Module, bound_by, each


class CallsTheTarget(ImplementationCheck):
    code = "LMR506"
    title = "the test imports the goal file and calls the target"
    rationale = "A test that never runs the target says nothing about it, and passes with the masked code."
    failing = (
        Example(
            "it tests another function",
            files={
                TEST: (
                    UNIT_TEST.replace("import pairwise_loss", "import sigmoid").replace(
                        "pairwise_loss(", "sigmoid("
                    )
                )
            },
        ),
        Example(
            "imported and never called",
            files={
                TEST: (
                    UNIT_TEST.replace(
                        "pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)", "1.0599649, 0.6666667"
                    ).replace("pairwise_loss([1.0], [3])", "(0.0, 1.0)")
                )
            },
        ),
        Example(
            "it has a copy of its own",
            files={
                TEST: UNIT_TEST.replace(
                    IMPORT,
                    "\n\ndef pairwise_loss(scores, labels, margin=1.0):\n    return 1.0599649, 0.6666667\n\n",
                )
            },
        ),
        Example(
            "it tests a mock",
            files={
                TEST: UNIT_TEST.replace(
                    "    def test_no_pairs",
                    "    @unittest.mock.patch('ranking.losses.pairwise_loss')\n    def test_no_pairs",
                )
            },
        ),
        Example(
            "it imports nothing",
            files={TEST: UNIT_TEST.replace(IMPORT, "from math import exp as pairwise_loss\n")},
        ),
    )
    passing = (
        Example(
            "counting the calls",
            files={
                TEST: UNIT_TEST.replace(
                    "    def test_no_pairs",
                    "    @unittest.mock.patch('ranking.losses.pairwise_loss', wraps=pairwise_loss)\n"
                    "    def test_no_pairs",
                )
            },
        ),
        Example(
            "through another function",
            files={
                TEST: (
                    UNIT_TEST.replace(IMPORT, "from ranking.train import epoch\n").replace(
                        "pairwise_loss(", "epoch("
                    )
                )
            },
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding; none when LMR505 has said where the function comes from instead."""
        test, found = reading_of(view, implementation), imports(view, implementation)
        if (
            test is None
            or found is None
            or found.golden[0]
            or found.foreign[0]
            or test.path == pair(view, implementation).goal_path
        ):
            return
        where: Where = {"implementation": implementation, "path": test.path}
        line = _replaced(test, implementation)
        if line:
            message = f"replaces {implementation.qualname} by a stand-in before it is called"
            yield self.finding(view, message, "call the target itself", line=line, **where)
        elif _defines(test, implementation):
            message = f"tests a definition of {implementation.qualname} of its own, not the goal file's"
            yield self.finding(view, message, f"import it from {implementation.goal_file}", **where)
        elif not found.reaches:
            if not found.dynamic:
                yield self.finding(
                    view,
                    f"never imports {implementation.goal_file}",
                    "import the target from the goal file and call it",
                    **where,
                )
        elif not found.dynamic and pair(view, implementation).targets:
            message, line = _never_calls(view, test, implementation)
            if message:
                yield self.finding(
                    view, message, "call the target and compare what it returns", line=line, **where
                )


def _never_calls(view: TaskView, test: Reading, implementation: Implementation) -> tuple[str, int]:
    """What to say of a test that never calls the target, and at which line; "" where it may."""
    message = f"never calls {implementation.qualname}"
    if not mentions(view, test, implementation):
        return message, 0
    own = own_version(view, test, implementation)
    if own is not None:
        return f"{message}: {own.name}, a class of the test, has its own instead", own.lineno
    targets = pair(view, implementation).targets
    if len(targets) == 1:
        code = partial(_code, view, test, implementation)
        if leads_nowhere(test, code, targets[0].qualname):
            return message, 0
        other = other_class(test, code, targets[0].qualname)
        if other is not None:
            return f"{message}: `{other.call}` is that of {other.class_name}", other.line
    return "", 0


def _code(view: TaskView, test: Reading, implementation: Implementation) -> list[Module]:
    """The code of the repository that a test reaches, without masks."""
    originals = {item.goal_path: item.golden for item in pairs(view) if item.golden is not None}
    files = [path for path in every_file(view, implementation) if path != test.path]
    return [item for path in files if (item := originals.get(path) or view.module(path)) is not None]


def _defines(test: Reading, implementation: Implementation) -> bool:
    name = (implementation.class_name or implementation.goal_function).strip().partition(".")[0]
    defined = any(
        isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
        for node in test.module.tree.body
    )
    imported = any(name in bound_by(node) for node in each(test.module.tree, ast.Import, ast.ImportFrom))
    return bool(name) and defined and not imported


def _replaced(test: Reading, implementation: Implementation) -> int:
    """The line at which the target is patched or overwritten; 0 if it is not.

    A stand-in that calls the original (``wraps``, or ``side_effect`` with its name) is none.
    """
    name = implementation.goal_function.strip().rpartition(".")[2]
    if not name:
        return 0
    for node in each(test.module.tree, ast.Assign, ast.Call):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call | ast.Lambda):
            overwritten = any(isinstance(item, ast.Attribute) and item.attr == name for item in node.targets)
            if overwritten and name not in ast.unparse(node.value):
                return node.lineno
            named = any(isinstance(item, ast.Name) and item.id == name for item in node.targets)
            if named and (isinstance(node.value, ast.Lambda) or "Mock" in dotted(node.value.func)):
                return node.lineno
        if not isinstance(node, ast.Call):
            continue
        called = dotted(node.func)
        texts = [item.value for item in node.args if isinstance(item, ast.Constant)]
        whole = called.rpartition(".")[2] == "patch" and any(str(text).endswith(f".{name}") for text in texts)
        part = called.endswith(("patch.object", "monkeypatch.setattr")) and name in texts
        others = [ast.unparse(item) for item in node.args[2:]] + [
            ast.unparse(item.value) for item in node.keywords
        ]
        if (whole or part) and not any(name in text for text in others):
            return node.lineno
    return 0
