"""LMR401, LMR402 and LMR405: files that hold the solution and have no place in the agent's tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_texts import GOLDEN, REPOSITORY
from lmr_author.checks.scan import histories, scan
from lmr_author.checks.view import TaskView
from lmr_author.leaks import Leak
from lmr_author.model import Finding, Severity


def compiled(source: str) -> Callable[[], bytes]:
    """Makes what Python writes into ``__pycache__`` for a source file. For examples."""

    def make() -> bytes:
        import importlib.util
        import marshal

        # The header of PEP 552: magic number, flags, and a time and size that nobody compares here.
        return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(compile(source, "losses.py", "exec"))

    return make


class CompiledGolden(Check):
    code = "LMR401"
    title = "no compiled file holds the golden's code"
    fixable = True
    rationale = (
        "`__pycache__` is written whenever the golden is run where the task lies, and a `.pyc` decompiles in"
        " seconds. 13 of 29 published tasks ship one. A `.pyc` of the masked file is not a leak; the target's"
        " code object is compared."
    )
    failing = (
        Example(
            "the golden was run in the repository",
            files={f"{REPOSITORY}/ranking/__pycache__/losses.cpython-311.pyc": compiled(GOLDEN)},
            also=("LMR702",),
        ),
        Example(
            "under unit_test/",
            files={f"{REPOSITORY}/unit_test/__pycache__/losses_golden.cpython-311.pyc": compiled(GOLDEN)},
            also=("LMR702",),
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
    code = "LMR402"
    title = "the repository has no version history"
    fixable = True
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


class AuthoringInside(Check):
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
