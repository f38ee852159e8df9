"""LMR401–405: the solution is readable in the agent's tree."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from lmr_author.checks.base import Check, Example, ImplementationCheck
from lmr_author.checks.example_task import BODY, GOLDEN, HEAD, MASKED, MASKED_BODY, REPOSITORY, TAIL
from lmr_author.checks.lookup import pair
from lmr_author.checks.scan import histories, scan, solutions
from lmr_author.checks.view import TaskView
from lmr_author.leaks import Leak, is_generated
from lmr_author.leaks import lines as text_lines
from lmr_author.model import Finding, Implementation, Severity

WORRYING = 0.85
"""Similarity from which a look-alike is a warning; below it is a note."""

GOAL = f"{REPOSITORY}/ranking/losses.py"
RENAMED_COPY = "def old_loss(s, y, m=1.0):\n" + (
    BODY.replace("penalties", "values")
    .replace("ordered", "right")
    .replace("difference", "gap")
    .replace("labels", "y")
    .replace("scores", "s")
    .replace("margin", "m")
)


def compiled(source: str) -> Callable[[], bytes]:
    """Makes what Python writes into ``__pycache__`` for a source file. For examples."""

    def make() -> bytes:
        import importlib.util
        import marshal

        # The header of PEP 552: magic number, flags, and a time and size that nobody compares here.
        return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(source, "losses.py", "exec"))

    return make


class CompiledGolden(Check):
    """LMR401."""

    code = "LMR401"
    title = "no compiled file holds the golden's code"
    rationale = (
        "`__pycache__` is written whenever the golden is run where the task lies, and a `.pyc` decompiles in"
        " seconds. 13 of 29 published tasks ship one. A `.pyc` of the masked file is not a leak; the target's"
        " code object is compared."
    )
    failing = (
        Example(
            "the golden was run in the repository",
            files={f"{REPOSITORY}/ranking/__pycache__/losses.cpython-311.pyc": compiled(GOLDEN)},
        ),
        Example(
            "under unit_test/",
            files={f"{REPOSITORY}/unit_test/__pycache__/losses_golden.cpython-311.pyc": compiled(GOLDEN)},
        ),
    )
    passing = (Example("no compiled files"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file and implementation."""
        for leak in scan(view).leaks:
            if leak.kind == "compiled" and leak.solution is not None:
                inside = f" ({leak.member})" if leak.member else ""
                yield self.finding(
                    view,
                    f"holds the compiled solution of {leak.solution.qualname}{inside}",
                    "delete it"
                    if leak.member
                    else "delete it, and every other __pycache__ of the repository",
                    implementation=leak.solution.implementation,
                    path=place(view, leak),
                    fixable=not leak.member,
                )


class GitHistory(Check):
    """LMR402."""

    code = "LMR402"
    title = "the repository has no version history"
    rationale = (
        "`git show HEAD:trainers.py` is the solution. Agents restore originals from the history when there is"
        " one."
    )
    failing = (
        Example("a .git folder", files={f"{REPOSITORY}/.git/HEAD": "ref: refs/heads/main\n"}),
        Example("in a folder below", files={f"{REPOSITORY}/third_party/.git/config": "[core]\n"}),
        Example(
            "a link to a history elsewhere",
            files={f"{REPOSITORY}/.git": "gitdir: ../.git/modules/margin-ranking\n"},
        ),
    )
    passing = (Example(".gitignore is no history", files={f"{REPOSITORY}/.gitignore": "*.pyc\n"}),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each history."""
        for leak in histories(view):
            name = leak.path.rpartition("/")[2]
            link = not leak.sure
            what = {
                "folder": f"{name}/ holds the version history",
                "bare repository": f"{name}/ is a repository with its version history",
                "bundle": f"{name} is a git bundle: it holds the version history",
            }
            yield self.finding(
                view,
                what.get(leak.where, f"{name} is a link to a version history"),
                "delete it; info.json's repo_commit says where the code is from",
                path=place(view, leak),
                severity=Severity.WARNING if link else Severity.ERROR,
                fixable=True,
            )


def place(view: TaskView, leak: Leak) -> Path:
    """Where a leak is."""
    assert view.repository is not None
    return view.repository / leak.path


class CopyElsewhere(Check):
    """LMR403."""

    code = "LMR403"
    title = "the solution stands nowhere else in the repository"
    rationale = (
        "An upstream module, a notebook, a fork of a library, a nested copy, a backup, a patch: an agent that"
        " searches for the function's name finds the answer. Compared are statements (also with renamed"
        " variables) in Python files, and lines in comments, notebooks and texts."
    )
    failing = (
        Example("a copy in another module", files={f"{REPOSITORY}/legacy/old_losses.py": GOLDEN}),
        Example(
            "a copy with renamed variables in the goal file",
            files={
                GOAL: MASKED + "\n\n" + RENAMED_COPY,
                "golden_files/losses_golden.py": GOLDEN + "\n\n" + RENAMED_COPY,
            },
        ),
        Example("a backup", files={f"{REPOSITORY}/ranking/losses.py.bak": GOLDEN}),
        Example("the golden beside the goal file", files={f"{REPOSITORY}/ranking/losses_golden.py": GOLDEN}),
        Example(
            "a notebook",
            files={
                f"{REPOSITORY}/analysis.ipynb": json.dumps(
                    {
                        "cells": [
                            {
                                "cell_type": "code",
                                "source": ("def loss(scores, labels, margin):\n" + BODY).splitlines(True),
                            }
                        ]
                    }
                )
            },
        ),
        Example(
            "the unit test has it",
            files={
                f"{REPOSITORY}/unit_test/reference.py": (
                    "import math\n\n\ndef reference(scores, labels, margin):\n" + BODY
                )
            },
        ),
        Example(
            "commented out in another file",
            files={f"{REPOSITORY}/ranking/old.py": "".join(f"# {line}\n" for line in BODY.splitlines())},
        ),
    )
    passing = (
        Example("a masked copy", files={f"{REPOSITORY}/legacy/old_losses.py": MASKED}),
        Example("another function", files={f"{REPOSITORY}/legacy/old_losses.py": "import math\n" + TAIL}),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file and implementation, about the place that is most like the solution."""
        goals = {
            implementation.index: pair(view, implementation).goal_path
            for implementation in view.implementations
        }
        places: dict[tuple[str, int, str], list[Leak]] = defaultdict(list)
        for leak in scan(view).leaks:
            if leak.kind == "compiled" or leak.solution is None:
                continue
            own = goals.get(leak.solution.implementation.index) == place(view, leak)
            if not (own and leak.kind == "comments"):
                solution = leak.solution
                places[leak.path, solution.implementation.index, solution.qualname].append(leak)
        for found in places.values():
            yield self._about(view, found)

    def _about(self, view: TaskView, found: list[Leak]) -> Finding:
        leak = max(found, key=lambda item: (item.sure, item.similarity))
        assert leak.solution is not None
        others = len(found) - 1
        percent = round(leak.similarity * 100)
        what = (
            f"{percent} % of the solution of {leak.solution.qualname} stands {leak.place}"
            if leak.sure
            else f"a look-alike of {leak.solution.qualname}, {percent} % the same, stands {leak.place}"
        )
        return self.finding(
            view,
            what + (f"; {others} more place{'s' * (others > 1)} in this file" if others else ""),
            _advice(leak),
            implementation=leak.solution.implementation,
            path=place(view, leak),
            pointer=f"L{leak.line}" if leak.line and not leak.member else "",
            severity=_severity(leak),
        )


def _severity(leak: Leak) -> Severity:
    if leak.sure:
        return Severity.ERROR
    return Severity.WARNING if leak.similarity >= WORRYING else Severity.NOTE


def _advice(leak: Leak) -> str:
    if leak.path.startswith("unit_test/"):
        return "compare with stored values instead of a copy"
    if not leak.sure:
        return "read it: if it gives the solution away, mask it too; if not, accept the finding with a reason"
    if leak.member or is_generated(leak.path):
        return "delete the file"
    return "mask this copy too, or delete the file"


class SolutionInComments(ImplementationCheck):
    """LMR404."""

    code = "LMR404"
    title = "the goal file's comments and texts do not hold the solution"
    rationale = (
        "Commenting the body out instead of removing it masks nothing: the agent only has to remove the #."
    )
    failing = (
        Example(
            "the body is commented out",
            files={GOAL: HEAD + "".join(f"    #{line}\n" for line in BODY.splitlines()) + MASKED_BODY + TAIL},
        ),
        Example(
            "the body became a string",
            files={GOAL: HEAD + "    raise NotImplementedError\n    '''\n" + BODY + "    '''\n" + TAIL},
        ),
        Example(
            "at the file's end",
            files={GOAL: MASKED + "\n\n" + "".join(f"# {line}\n" for line in BODY.splitlines()[7:])},
            also=("LMR311",),
        ),
    )
    passing = (
        Example(
            "a comment in words",
            files={GOAL: HEAD + "    # Sum the penalties of all pairs, then divide.\n" + MASKED_BODY + TAIL},
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each target."""
        one = pair(view, implementation)
        if one.goal is None or one.golden is None:
            return
        lines = text_lines.comment_lines(one.goal) - text_lines.comment_lines(one.golden)
        for item in solutions(view):
            if item.implementation is not implementation:
                continue
            found = item.lines & lines
            if found and (len(found) >= 2 or len(item.lines) <= 3):
                first = min(
                    number
                    for number in range(1, one.goal.line_count + 1)
                    if text_lines.squeezed(one.goal.line_text(number)) in found
                )
                yield self.finding(
                    view,
                    f"{len(found)} lines of the solution of {item.qualname} stand in comments or texts",
                    "delete them",
                    implementation=implementation,
                    path=one.goal_path or "",
                    pointer=f"L{first}",
                )


class AuthoringInside(Check):
    """LMR405."""

    code = "LMR405"
    title = "goldens and authoring records lie outside of the repository"
    rationale = (
        "The agent gets the repository. Agents opened the golden in 10 of 74 published runs in which it was"
        " within reach."
    )
    failing = (
        Example(
            "golden_files/ in the repository", files={f"{REPOSITORY}/golden_files/losses_golden.py": GOLDEN}
        ),
        Example("authoring/ in the repository", files={f"{REPOSITORY}/authoring/vetting.json": "{}\n"}),
    )
    passing = (Example("golden_files/ in the task's folder"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each such folder."""
        for entry in view.repository_entries:
            if entry.kind != "folder" or entry.name not in (
                "golden_files",
                "golden_file",
                "goldens",
                "authoring",
            ):
                continue
            if entry.name == "authoring" and "/" in view.in_repository(entry):
                continue  # a package of the repository may well be called so
            yield self.finding(
                view,
                f"{entry.name}/ lies inside the repository",
                "move it into the task's folder, beside the repository",
                path=view.path(entry),
            )
