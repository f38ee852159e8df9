"""LMR305, LMR306: the target's docstring, signature and decorators."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import GOAL, MASKED, MASKED_BODY, PLAIN_HEAD, TAIL
from lmr_author.checks.pairing import pair
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import is_same


class DocstringKept(ImplementationCheck):
    code = "LMR305"
    title = "the target's docstring is kept"
    rationale = (
        "The docstring is the interface that the agent has to meet: shapes, units and order of what is"
        " returned. Where less than half of it is left that may be on purpose, as some docstrings tell the steps:"
        " that is a note."
    )
    severity = Severity.WARNING
    failing = (
        Example("the docstring went with the body", files={GOAL: PLAIN_HEAD + MASKED_BODY + TAIL}),
        Example(
            "only its first line was kept",
            files={GOAL: PLAIN_HEAD + '    """Mean smooth hinge."""\n' + MASKED_BODY + TAIL},
        ),
    )
    passing = (
        Example(
            "a longer docstring",
            files={GOAL: MASKED.replace("Mean smooth hinge", "Implement this. Mean smooth hinge")},
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target that had a docstring and has none, or less than half of it."""
        one = pair(view, implementation)
        for golden, goal, target in one.complete:
            words = Counter((ast.get_docstring(golden) or "").split())
            left = Counter((ast.get_docstring(goal) or "").split())
            if words and (words & left).total() < words.total() / 2:
                yield self.finding(
                    view,
                    f"{'most of ' if left else ''}the docstring of {target.qualname} was lost",
                    "put the golden's docstring back below the header",
                    implementation=implementation,
                    path=one.goal_path or "",
                    line=goal.lineno,
                    severity=Severity.NOTE if left else Severity.WARNING,
                )


class SignatureKept(ImplementationCheck):
    code = "LMR306"
    title = "the target's signature and decorators are kept"
    rationale = (
        "The rest of the repository and the unit test call the function as it was; another signature makes a"
        " right solution fail."
    )
    failing = (
        Example("a parameter was removed", files={GOAL: MASKED.replace("labels, margin=1.0)", "labels)")}),
        Example("another default", files={GOAL: MASKED.replace("margin=1.0)", "margin=0.5)")}),
    )
    passing = (Example("the signature as it was"),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target whose header differs."""
        one = pair(view, implementation)
        for golden, goal, target in one.complete:
            changes = []
            if type(golden) is not type(goal):
                changes.append("async was added or removed")
            if not is_same(golden.args, goal.args):
                changes.append(f"({ast.unparse(golden.args)}) became ({ast.unparse(goal.args)})")
            if not is_same(golden.returns, goal.returns):
                changes.append("the return annotation changed")
            if not is_same(golden.decorator_list, goal.decorator_list):
                changes.append("the decorators changed")
            if changes:
                yield self.finding(
                    view,
                    f"the signature of {target.qualname} differs from the golden's: {'; '.join(changes)}",
                    "restore the golden's header",
                    implementation=implementation,
                    path=one.goal_path or "",
                    line=goal.lineno,
                )
