"""LMR301, 302, 312: the files that an implementation names, and the target in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import GOAL, GOLDEN, MASKED, REPOSITORY, TAIL
from lmr_author.checks.lookup import (
    candidates,
    clean_path,
    did_you_mean,
    function_names,
    goal_path,
    golden_files,
)
from lmr_author.checks.pairing import Pair, pair
from lmr_author.checks.view import MAX_PYTHON, TaskView
from lmr_author.checks.written_paths import PathCheck, leaves, similar_path
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import Module
from lmr_author.texts import listed

_NESTED = """

class Slopes:
    def __init__(self, heads):
        def inner(heads):
            raise NotImplementedError

        self.slopes = inner(heads)
"""


class GoalHasTarget(PathCheck):
    key = "goal_file"
    code = "LMR301"
    title = "the goal file exists and defines the target"
    fixable = True
    rationale = (
        "The agent is told to implement a function in a file. Without the file, or without the function's"
        " header, there is nothing to do."
    )
    failing = (
        Example("no such file", implementation={"goal_file": "ranking/loss.py"}),
        Example("goal_file is missing", implementation={"goal_file": None}),
        Example(
            "the whole function was removed",
            files={
                f"{REPOSITORY}/ranking/losses.py": MASKED.partition("def pairwise_loss")[0] + TAIL.lstrip()
            },
        ),
        Example("no such function", implementation={"goal_function": "pairwise_los"}),
        Example(
            "the function stands in a method",
            files={GOAL: MASKED + _NESTED, "golden_files/losses_golden.py": GOLDEN + _NESTED},
            implementation={"goal_function": "inner", "class_name": "Slopes"},
        ),
        Example("with a backslash", implementation={"goal_file": "ranking\\losses.py"}),
    )
    passing = (Example("a path that starts with ./", implementation={"goal_file": "./ranking/losses.py"}),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """The file's absence, or the absence of each name in it."""
        where = self.where(view, implementation)
        if view.is_empty and implementation.goal_file:
            message = self.said(implementation, "does not exist: nothing is in the repository")
            yield self.finding(view, message, "copy the repository, and mask the target in it", **where)
        if view.repository is None or leaves(view, view.repository, implementation.goal_file):
            return
        one, named = pair(view, implementation), goal_path(view, implementation)
        if named is None:
            meant = view.in_repository_path(one.goal_path)
            hint = f"did you mean {meant}?" if meant else similar_path(view, implementation.goal_file)
            yield self.finding(view, self.said(implementation, "does not exist"), hint, **where)
            return
        if one.goal_path != named or one.goal_path is None:
            return  # the unit test, which LMR510 reports
        yield from self.misspelt(view, implementation)
        relative = view.in_repository_path(one.goal_path)
        if clean_path(implementation.goal_file) != relative:
            what = f"is not relative to the repository {view.repository.name}/"
            yield self.finding(view, self.said(implementation, what), f"write {relative!r}", **where)
        for name in function_names(implementation) if one.goal is not None else ():
            yield from self._absent(view, one, name)

    def _absent(self, view: TaskView, one: Pair, name: str) -> Iterator[Finding]:
        """A finding for a name that the goal file does not define, or no longer where the golden does."""
        assert one.goal is not None
        class_name = one.implementation.class_name
        original = candidates(one.golden, name, class_name) if one.golden else []
        names = [item.qualname for item in one.goal.definitions]
        gone = bool(original) and all(item.qualname not in names for item in original)
        if candidates(one.goal, name, class_name) and not gone:
            return
        inner = [item for item in one.goal.definitions if f".{item.qualname}".endswith(f".{name}")]
        wanted = f"{class_name.strip()}.{name}" if class_name.strip() else name
        hint, message = did_you_mean(name, names), f"the goal file defines no {wanted}"
        if original:
            message = f"{name} was removed from the goal file altogether"
            hint = "keep its header and docstring; mask only the body"
        elif inner:
            message += f": {name} is {listed([item.qualname for item in inner], 3)}"
            hint = f'write class_name "{inner[0].class_name}" and goal_function "{inner[0].function_name}"'
            hint = hint if len(inner) == 1 else "name the one that is meant in class_name and goal_function"
        line = inner[0].line if inner and not original else 0
        yield self.finding(
            view, message, hint, implementation=one.implementation, path=one.goal_path or "", line=line
        )


class GoldenHasTarget(PathCheck):
    key = "golden_file"
    code = "LMR302"
    title = "the golden file exists and defines the target"
    fixable = True
    rationale = (
        "The golden is the reference solution: without it nothing can be verified, recorded or unmasked."
    )
    failing = (
        Example("no such file", files={"golden_files/losses_golden.py": None}),
        Example("another name in info.json", implementation={"golden_file": "golden_files/loss_golden.py"}),
        Example("golden_file is missing", implementation={"golden_file": None}),
        Example(
            "the golden of another file",
            files={"golden_files/losses_golden.py": '"""Nothing."""\n\n\ndef other():\n    return 1\n'},
            also=("LMR304",),
        ),
    )
    passing = (Example("golden_files/losses_golden.py"),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """The file's absence, or the absence of the target in it."""
        one, given = pair(view, implementation), implementation.golden_file
        if leaves(view, view.task.root, given):
            return
        exact = view.inside(view.task.root, clean_path(given))
        if one.golden_path is None or one.golden_path != exact:
            meant = view.relative(one.golden_path) if one.golden_path else ""
            similar = did_you_mean(given, [view.relative(path) for path in golden_files(view)])
            hint = f"did you mean {meant}?" if meant else similar or "put the original file there"
            message = self.said(implementation, "does not exist")
            yield self.finding(view, message, hint, **self.where(view, implementation))
        else:
            yield from self.misspelt(view, implementation)
        if one.golden is None:
            return
        for name in function_names(implementation):
            in_goal = one.goal is not None and candidates(one.goal, name, implementation.class_name)
            if in_goal and not candidates(one.golden, name, implementation.class_name):
                names = [item.qualname for item in one.golden.definitions]
                yield self.finding(
                    view,
                    f"the golden defines no {name}",
                    did_you_mean(name, names) or "is it the golden of another file?",
                    implementation=implementation,
                    path=one.golden_path or "",
                )


class PythonParses(ImplementationCheck):
    code = "LMR312"
    title = "goal file and golden are Python that can be parsed"
    rationale = (
        "A goal file with a syntax error fails every test for the wrong reason, and a candidate cannot be"
        " spliced into it. Where both files are Python 2, static checks of the mask are impossible; that is"
        " only noted."
    )
    failing = (
        Example(
            "the mask left a syntax error",
            files={
                f"{REPOSITORY}/ranking/losses.py": MASKED.replace(
                    "    raise NotImplementedError", "    return ???"
                )
            },
        ),
    )
    passing = (Example("both parse"),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each file that cannot be parsed."""
        one = pair(view, implementation)
        python = [
            (path, module)
            for path, module in ((one.goal_path, one.goal), (one.golden_path, one.golden))
            if path is not None and path.suffix == ".py"
        ]
        broken = [path for path, module in python if module is None]
        old = len(broken) == 2
        for path in broken:
            line, cause = syntax_error(view, path)
            yield self.finding(
                view,
                f"cannot be parsed as Python 3: {cause}",
                "the mask cannot be checked; is it Python 2?" if old else "correct the syntax",
                implementation=implementation,
                path=path,
                line=line,
                severity=Severity.NOTE if old else Severity.ERROR,
            )


def syntax_error(view: TaskView, path: Path) -> tuple[int, str]:
    """(line, cause) of why a file does not parse; line 0 when there is none."""
    data = view.read_bytes(path)
    if data is None or len(data) > MAX_PYTHON:
        return 0, "it is too large to be read"
    try:
        Module.parse(data, path.name)
    except Exception as error:  # any reason is a reason; nothing is run
        cause = error.__cause__ if isinstance(error.__cause__, SyntaxError) else None
        return (cause.lineno or 0, str(cause.msg)) if cause else (0, type(error.__cause__ or error).__name__)
    return 0, "unknown"
