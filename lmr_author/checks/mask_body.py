"""LMR303, 305–310: what masking left of the target itself."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from lmr_author.checks import bodies
from lmr_author.checks.base import Content, Example, ImplementationCheck
from lmr_author.checks.example_task import BODY, GOLDEN, HEAD, MASKED, MASKED_BODY, REPOSITORY, TAIL
from lmr_author.checks.lookup import Pair, TargetPair, pair
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import FunctionNode, form

GOAL = f"{REPOSITORY}/ranking/losses.py"
PLAIN_HEAD = HEAD.partition('    """Mean smooth')[0]


def with_body(body: str) -> dict[str, Content]:
    """The change that gives the masked function another body."""
    return {GOAL: HEAD + body + TAIL}


@dataclass(frozen=True)
class _Masked:
    """What is known of one masked function."""

    qualname: str
    same: bool
    kept: list[ast.AST]
    total: int
    undefined: list[str]
    silent: bool
    raises: bool


def _masked(one: Pair, golden: FunctionNode, goal: FunctionNode, target: TargetPair) -> _Masked:
    assert one.goal is not None
    kept, total = bodies.kept_pieces(golden, goal)
    scopes = bodies.enclosing_names(one.goal, target.qualname)
    undefined = bodies.undefined_names(one.goal, goal, golden, scopes)
    body = bodies.statements(goal)
    left = {id(node) for node in kept}
    computing = [
        node
        for _, node in bodies.pieces(body)
        if id(node) not in left
        and not isinstance(node, ast.Raise)
        and not bodies.is_trivial(node)
        and not _returns_nothing_new(node, goal)
    ]
    return _Masked(
        qualname=target.qualname,
        same=bodies.dump(bodies.statements(golden)) == bodies.dump(body),
        kept=kept,
        total=total,
        undefined=undefined,
        silent=not computing and not undefined,
        raises=bodies.always_raises(goal.body),
    )


def _returns_nothing_new(node: ast.AST, goal: FunctionNode) -> bool:
    """Whether a return gives back a constant, an argument, or names that were set to constants."""
    if not isinstance(node, ast.Return):
        return False
    value = node.value
    items = value.elts if isinstance(value, ast.Tuple | ast.List) else [] if value is None else [value]
    return all(
        bodies.is_constant(item) or isinstance(item, ast.Name) or _is_own_attribute(item) for item in items
    )


def _is_own_attribute(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _all_masked(view: TaskView, implementation: Implementation) -> list[tuple[_Masked, ast.AST]]:
    one = pair(view, implementation)
    return view.memo(
        ("masked", id(implementation)),
        lambda: [(_masked(one, golden, goal, target), goal) for golden, goal, target in one.complete],
    )


def _lines(node: ast.AST) -> str:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return f"L{first}" if first == last else f"L{first}-L{last}"


class ReallyMasked(ImplementationCheck):
    """LMR303."""

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
    )
    passing = (Example("the body raises NotImplementedError"),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target whose code is the golden's."""
        one = pair(view, implementation)
        found = _all_masked(view, implementation)
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

    def _hint(self, view: TaskView, one: Pair, qualname: str) -> str:
        """Name another file in which the function is masked, if there is one."""
        assert one.goal_path is not None
        for path in view.repository_files:
            if path == one.goal_path or path.name != one.goal_path.name:
                continue
            module = view.module(path)
            for item in module.definitions if module else ():
                if (
                    item.qualname == qualname
                    and not isinstance(item.node, ast.ClassDef)
                    and bodies.raises_not_implemented(item.node)
                ):
                    return (
                        f"it is {view.relative(path)} that is masked: name that file in goal_file, or mask"
                        " this one"
                    )
        return f"mask it: `lmr-author mask {one.implementation.goal_file}::{qualname}`"


class DocstringKept(ImplementationCheck):
    """LMR305."""

    code = "LMR305"
    title = "the target's docstring is kept"
    rationale = (
        "The docstring is the interface that the agent has to meet: shapes, units and order of what is"
        " returned."
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
                    pointer=f"L{goal.lineno}",
                )


class SignatureKept(ImplementationCheck):
    """LMR306."""

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
            if form(golden.args) != form(goal.args):
                changes.append(f"({ast.unparse(golden.args)}) became ({ast.unparse(goal.args)})")
            if _dump(golden.returns) != _dump(goal.returns):
                changes.append("the return annotation changed")
            if [_dump(item) for item in golden.decorator_list] != [
                _dump(item) for item in goal.decorator_list
            ]:
                changes.append("the decorators changed")
            if changes:
                yield self.finding(
                    view,
                    f"the signature of {target.qualname} differs from the golden's: {'; '.join(changes)}",
                    "restore the golden's header",
                    implementation=implementation,
                    path=one.goal_path or "",
                    pointer=f"L{goal.lineno}",
                )


class NoUndefinedReturn(ImplementationCheck):
    """LMR307."""

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
    )
    passing = (
        Example(
            "a return after the raise",
            files=with_body("    raise NotImplementedError\n    return 0.0, 1.0\n"),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target."""
        for masked, node in _all_masked(view, implementation):
            if masked.undefined and not masked.same:
                yield self.finding(
                    view,
                    f"the masked body of {masked.qualname} uses names that nothing defines:"
                    f" {', '.join(masked.undefined[:8])}",
                    "end the masked body with `raise NotImplementedError` and drop the return",
                    implementation=implementation,
                    path=pair(view, implementation).goal_path or "",
                    pointer=_lines(node),
                )


class NoSilentMask(ImplementationCheck):
    """LMR308."""

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
    )
    passing = (
        Example("pass before the raise", files=with_body("    pass\n    raise NotImplementedError\n")),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target."""
        for masked, node in _all_masked(view, implementation):
            if masked.silent and not masked.same and not masked.raises:
                yield self.finding(
                    view,
                    f"the masked body of {masked.qualname}"
                    + (" runs to its end, silently" if masked.kept else " does nothing, silently"),
                    "end it with `raise NotImplementedError`",
                    implementation=implementation,
                    path=pair(view, implementation).goal_path or "",
                    pointer=_lines(node),
                )


class NothingKept(ImplementationCheck):
    """LMR309."""

    code = "LMR309"
    title = "no part of the original body is left"
    rationale = (
        "What is left of the body is part of the solution; how much the agent had to find out differs from"
        " task to task."
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
        for masked, node in _all_masked(view, implementation):
            if masked.kept and not masked.same:
                first = ast.unparse(masked.kept[0]).partition("\n")[0]
                yield self.finding(
                    view,
                    f"{len(masked.kept)} of {max(masked.total, len(masked.kept))} statements of"
                    f" {masked.qualname} were kept, the first is `{first[:80]}`",
                    "mask the whole body",
                    implementation=implementation,
                    path=pair(view, implementation).goal_path or "",
                    pointer=_lines(masked.kept[0] if len(masked.kept) == 1 else node),
                )


class RaisesNotImplemented(ImplementationCheck):
    """LMR310."""

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
        for masked, node in _all_masked(view, implementation):
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


def _dump(node: ast.AST | None) -> str:
    return "" if node is None else form(node)
