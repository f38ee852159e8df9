"""LMR303, 307–310: what masking left of the target itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author.checks import bodies
from lmr_author.checks.base import Content, Example, ImplementationCheck
from lmr_author.checks.example_texts import BODY, GOAL, GOLDEN, HEAD, MASKED, REPOSITORY, TAIL
from lmr_author.checks.masked_bodies import all_masked, masked_copy
from lmr_author.checks.pairing import Pair, pair
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import each, walk


def with_body(body: str) -> dict[str, Content]:
    """The change that gives the masked function another body."""
    return {GOAL: HEAD + body + TAIL}


_SCRIPT = "\nmean_penalty, share = pairwise_loss([1.0], [1], 0.0)\n"


def _lines(node: ast.AST) -> str:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return f"L{first}" if first == last else f"L{first}-L{last}"


class ReallyMasked(ImplementationCheck):
    code = "LMR303"
    title = "the target is masked"
    rationale = (
        "An unmasked target hands the solution over with the task; every agent and every null agent"
        " solves it."
    )
    failing = (
        Example("the goal file is the golden", files={GOAL: GOLDEN}),
        Example(
            "only the docstring was changed",
            files={GOAL: GOLDEN.replace("Mean smooth hinge", "TODO. Mean smooth hinge")},
        ),
        Example("only comments were added", files=with_body("    # TODO: implement\n" + BODY)),
        Example(
            "a copy beside it was masked",
            files={GOAL: GOLDEN, f"{REPOSITORY}/ranking/losses_masked.py": MASKED},
        ),
    )
    passing = (Example("the body raises NotImplementedError"),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target whose code is the golden's."""
        one = pair(view, implementation)
        found = all_masked(view, implementation)
        for masked, node in found:
            if masked.same:
                message = f"{masked.qualname} is not masked: its body is the golden's"
                yield self.finding(
                    view,
                    message,
                    self._hint(view, one, masked.qualname),
                    implementation=implementation,
                    path=one.goal_path or "",
                    pointer=_lines(node),
                )
        data = view.read_bytes(one.goal_path)
        if (
            not found
            and one.goal is None
            and data
            and data.strip() == (view.read_bytes(one.golden_path) or b"").strip()
        ):
            yield self.finding(
                view,
                "not masked: the goal file is the golden",
                "mask the target",
                implementation=implementation,
                path=one.goal_path or "",
            )

    @staticmethod
    def _hint(view: TaskView, one: Pair, qualname: str) -> str:
        """Name another file in which the function is masked, if there is one."""
        copy = masked_copy(view, one, qualname)
        if copy is None or one.goal_path is None:
            return f"mask it: `lmr-author mask {one.implementation.goal_file}::{qualname}`"
        if copy.name != one.goal_path.name:
            return f"it is {view.relative(copy)} that is masked: move it to {view.relative(one.goal_path)}"
        return f"it is {view.relative(copy)} that is masked: name that file in goal_file, or mask this one"


class NoUndefinedReturn(ImplementationCheck):
    code = "LMR307"
    title = "the masked body does not use names that are no longer defined"
    rationale = (
        "A bare `return losses, rewards` gives the names of the solution's variables away, and fails with a"
        " NameError that looks like a broken repository rather than like something to implement."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "the body is a bare return",
            files=with_body("    # TODO\n    return mean_penalty, ordered / len(penalties)\n"),
        ),
        Example("a return of one name", files=with_body("    ...\n    return mean_penalty\n")),
        Example(
            "a name that only the script below sets, with what is returned",
            files={
                GOAL: HEAD + "    # TODO\n    return mean_penalty\n" + TAIL + _SCRIPT,
                "golden_files/losses_golden.py": GOLDEN + _SCRIPT,
            },
        ),
    )
    passing = (
        Example(
            "a return after the raise",
            files=with_body("    raise NotImplementedError\n    return 0.0, 1.0\n"),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target."""
        for masked, node in all_masked(view, implementation):
            if masked.undefined and not masked.same:
                yield self.finding(
                    view,
                    f"the masked body of {masked.qualname} uses names that nothing defines:"
                    f" {', '.join(masked.undefined[:8])}",
                    "end the masked body with `raise NotImplementedError` and drop the return",
                    implementation=implementation,
                    path=pair(view, implementation).goal_path or "",
                    pointer=_lines(_using(node, masked.undefined)),
                )


def _using(node: ast.AST, names: list[str]) -> ast.AST:
    """The first statement of a body that uses one of some names; all of it where none does."""
    body: list[ast.stmt] = getattr(node, "body", [])
    using = (one for one in body if any(item.id in names for item in each(one, ast.Name)))
    return next(using, node)


class NoSilentMask(ImplementationCheck):
    code = "LMR308"
    title = "the masked body does not run through silently"
    rationale = (
        "`pass` or `loss = None; return loss` runs without an error, and a weak test passes it: nothing was"
        " implemented, and nothing fails."
    )
    failing = (
        Example("pass", files=with_body("    pass\n")),
        Example("None is returned", files=with_body("    loss = None\n    return loss\n")),
        Example("an argument is returned", files=with_body("    # TODO\n    return scores\n")),
        Example("nothing but the docstring", files=with_body("")),
        Example(
            "the first statements were kept",
            files=with_body(
                "    penalties = []\n    for first, first_label in enumerate(labels):\n        pass\n"
            ),
            also=("LMR309",),
        ),
        Example("constants are returned", files=with_body("    share = 0.0\n    return 0, share\n")),
        Example(
            "values are left open",
            files=with_body("    total = ...\n    share = ...\n    return total, share\n"),
        ),
        Example(
            "numbers are returned as an array",
            files=with_body(
                "    import numpy as np\n\n    total = share = 0.0\n    return np.stack([total, share])\n"
            ),
        ),
        Example(
            "a number times an argument is returned",
            files=with_body("    total = 0.0\n    return total * margin, 1.0\n"),
        ),
    )
    passing = (
        Example("pass before the raise", files=with_body("    pass\n    raise NotImplementedError\n")),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target."""
        for masked, node in all_masked(view, implementation):
            if masked.silent and not masked.same and not masked.raises:
                does = " runs to its end, silently" if masked.kept else " does nothing, silently"
                open_values = _has_open_values(node)
                if open_values:
                    does = " has `...` in place of values: where nothing asks for them, it runs to its end"
                yield self.finding(
                    view,
                    f"the masked body of {masked.qualname}{does}",
                    "end it with `raise NotImplementedError`",
                    implementation=implementation,
                    path=pair(view, implementation).goal_path or "",
                    pointer=_lines(node),
                    severity=Severity.WARNING if open_values else None,
                )


def _has_open_values(node: ast.AST) -> bool:
    """Whether ``...`` is assigned: `x.data = ...` raises a TypeError for a tensor, `z = ...` does not."""
    return any(
        isinstance(item, ast.Constant) and item.value is ...
        for statement in walk(node)
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) and statement.value
        for item in walk(statement.value)
    )


class NothingKept(ImplementationCheck):
    code = "LMR309"
    title = "no part of the original body is left"
    rationale = (
        "What is left of the body is part of the solution; how much the agent had to find out differs from"
        " task to task. Where only initial values are left (`losses = []`) that is little, and a note."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "the first half was kept",
            files=with_body(
                BODY.partition("            difference")[0] + "            raise NotImplementedError\n"
            ),
        ),
        Example(
            "two initial values were kept",
            files=with_body("    penalties = []\n    ordered = 0\n    raise NotImplementedError\n"),
        ),
        Example("code behind the raise", files=with_body("    raise NotImplementedError\n" + BODY)),
    )
    passing = (Example("only the raise"),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target."""
        for masked, _ in all_masked(view, implementation):
            if masked.kept and not masked.same:
                first = ast.unparse(masked.kept[0]).partition("\n")[0]
                yield self.finding(
                    view,
                    f"{len(masked.kept)} of {max(masked.total, len(masked.kept))} statements of"
                    f" {masked.qualname} (returns not counted) were kept, the first is `{first[:80]}`",
                    "mask the whole body",
                    implementation=implementation,
                    path=pair(view, implementation).goal_path or "",
                    pointer=_lines(masked.kept[0]),
                    severity=self.severity if any(map(bodies.is_telling, masked.kept)) else Severity.NOTE,
                )


class RaisesNotImplemented(ImplementationCheck):
    code = "LMR310"
    title = "the masked body raises NotImplementedError"
    rationale = (
        "It is the one failure that says what it is: the gates tell a missing implementation from a broken"
        " environment by it."
    )
    severity = Severity.NOTE
    failing = (
        Example("another exception", files=with_body("    raise Exception('implement me')\n")),
        Example("other code", files=with_body("    return sum(scores) - sum(labels), 0.5\n")),
    )
    passing = (
        Example("with a message", files=with_body("    raise NotImplementedError('pairwise_loss')\n")),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target that no other check of the mask speaks about."""
        one = pair(view, implementation)
        for masked, node in all_masked(view, implementation):
            if masked.same or masked.undefined or masked.kept or (masked.silent and not masked.raises):
                continue
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if not bodies.raises_not_implemented(node):
                yield self.finding(
                    view,
                    f"the masked body of {masked.qualname} does not raise NotImplementedError",
                    "end it with `raise NotImplementedError`",
                    implementation=implementation,
                    path=one.goal_path or "",
                    pointer=_lines(node),
                )
