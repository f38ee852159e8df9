"""LMR301, 302, 312: the files that an implementation names, and the target in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from lmr_author.checks.base import Example, ImplementationCheck, Where
from lmr_author.checks.example_task import MASKED, REPOSITORY, TAIL
from lmr_author.checks.lookup import (
    Pair,
    candidates,
    clean_path,
    did_you_mean,
    function_names,
    goal_path,
    golden_files,
    pair,
)
from lmr_author.checks.view import MAX_PYTHON, TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import Module


class GoalHasTarget(ImplementationCheck):
    """LMR301."""

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
        Example("with a backslash", implementation={"goal_file": "ranking\\losses.py"}),
    )
    passing = (Example("a path that starts with ./", implementation={"goal_file": "./ranking/losses.py"}),)

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """The file's absence, or the absence of each name in it."""
        one, named = pair(view, implementation), goal_path(view, implementation)
        position = view.position(implementation)
        where: Where = {
            "implementation": implementation,
            "path": "info.json",
            "pointer": f"/implementations/{position}/goal_file",
        }
        if view.is_empty and implementation.goal_file:
            message = (
                f"goal_file {implementation.goal_file!r:.120} does not exist: nothing is in the repository"
            )
            yield self.finding(view, message, "copy the repository, and mask the target in it", **where)
        if view.repository is None or leaves(view, view.repository, implementation.goal_file):
            return
        if named is None:
            message = (
                f"goal_file {implementation.goal_file!r:.120} does not exist"
                if implementation.goal_file
                else "goal_file is missing"
            )
            meant = view.in_repository_path(one.goal_path)
            hint = f"did you mean {meant}?" if meant else similar_path(view, implementation.goal_file)
            yield self.finding(view, message, hint, **where)
            return
        if one.goal_path != named or one.goal_path is None:
            return  # the unit test, which LMR510 reports
        prefix = view.repository.name + "/"
        slashes = misspelt(implementation.goal_file)
        if slashes:
            yield self.finding(view, f"goal_file {slashes}", "write it with /, and nothing else", **where)
        if clean_path(implementation.goal_file) != view.relative_raw(one.goal_path)[len(prefix) :]:
            message = (
                f"goal_file {implementation.goal_file!r:.120} is not relative to the repository"
                f" {view.repository.name}/"
            )
            yield self.finding(
                view, message, f"write {one.goal_path.relative_to(view.repository).as_posix()!r}", **where
            )
        if one.goal is None:
            return
        for name in function_names(implementation):
            if not candidates(one.goal, name, implementation.class_name):
                yield self._absent(view, one, name)
                continue
            original = candidates(one.golden, name, implementation.class_name) if one.golden else []
            left = {item.qualname for item in one.goal.definitions}
            if original and all(item.qualname not in left for item in original):
                yield self._absent(view, one, name)

    def _absent(self, view: TaskView, one: Pair, name: str) -> Finding:
        assert one.goal is not None
        kept = one.golden is not None and bool(candidates(one.golden, name, one.implementation.class_name))
        names = [item.qualname for item in one.goal.definitions]
        hint = "keep its header and docstring; mask only the body" if kept else did_you_mean(name, names)
        message = (
            f"{name} was removed from the goal file altogether"
            if kept
            else f"the goal file defines no {name}"
        )
        return self.finding(view, message, hint, implementation=one.implementation, path=one.goal_path or "")


class GoldenHasTarget(ImplementationCheck):
    """LMR302."""

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
        one = pair(view, implementation)
        if leaves(view, view.task.root, implementation.golden_file):
            return
        position = view.position(implementation)
        pointer = f"/implementations/{position}/golden_file"
        exact = view.inside(view.task.root, clean_path(implementation.golden_file))
        if one.golden_path is None or exact is None or one.golden_path != exact:
            given = implementation.golden_file
            message = f"golden_file {given!r:.120} does not exist" if given else "golden_file is missing"
            names = [view.relative(path) for path in golden_files(view)]
            hint = (
                f"did you mean {view.relative(one.golden_path)}?"
                if one.golden_path
                else did_you_mean(given, names)
            )
            yield self.finding(
                view,
                message,
                hint or "put the original file there",
                implementation=implementation,
                path="info.json",
                pointer=pointer,
            )
        elif slashes := misspelt(implementation.golden_file):
            yield self.finding(
                view,
                f"golden_file {slashes}",
                "write it with /, and nothing else",
                implementation=implementation,
                path="info.json",
                pointer=pointer,
            )
        if one.golden is None:
            return
        for name in function_names(implementation):
            in_goal = one.goal is not None and candidates(one.goal, name, implementation.class_name)
            if in_goal and not candidates(one.golden, name, implementation.class_name):
                yield self.finding(
                    view,
                    f"the golden defines no {name}",
                    did_you_mean(name, [item.qualname for item in one.golden.definitions])
                    or "is it the golden of another file?",
                    implementation=implementation,
                    path=one.golden_path or "",
                )


class PythonParses(ImplementationCheck):
    """LMR312."""

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
                pointer=f"L{line}" if line else "",
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


def misspelt(text: str) -> str:
    r"""What is wrong with how a path is written that can be understood all the same; "" when nothing is."""
    if "\\" in text:
        return f"{text!r:.120} is written with backslashes: only Windows finds it"
    return f"{text!r:.120} has blanks around it" if text != text.strip() else ""


def leaves(view: TaskView, root: Path | None, text: str) -> bool:
    """Whether a path is absolute, goes upwards, or leads outside through a symbolic link."""
    if not text.strip():
        return False
    pure = PurePosixPath(clean_path(text))
    if pure.is_absolute() or ".." in pure.parts or re.match(r"^[A-Za-z]:|^~", str(pure)):
        return True
    return root is not None and view.inside(root, str(pure)) is None


def similar_path(view: TaskView, text: str) -> str:
    """A hint with the repository files that a wrong path may mean."""
    names = [
        view.in_repository(entry)
        for entry in view.repository_entries
        if entry.kind == "file" and entry.suffix == ".py"
    ]
    name = clean_path(text).rpartition("/")[2]
    same = [path for path in names if path.rpartition("/")[2] == name and name]
    if same:
        return f"did you mean {' or '.join(same[:3])}?"
    return did_you_mean(clean_path(text), names) or "name a file of the repository, relative to it"
