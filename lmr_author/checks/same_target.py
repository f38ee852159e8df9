"""LMR011, 012: what several tasks have in common that only one of them should have."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lmr_author.checks import bodies
from lmr_author.checks.base import Example, TreeCheck, Where
from lmr_author.checks.example_texts import GOLDEN, INFO
from lmr_author.checks.lookup import clean_path
from lmr_author.checks.pairing import pairs
from lmr_author.checks.scan import solutions
from lmr_author.checks.view import TaskView
from lmr_author.files import sha256_bytes
from lmr_author.model import Finding, Implementation, Severity

LITTLE = 8.0
"""How much a golden has to tell so that two that are equal are the same, and not two of a kind."""


@dataclass(frozen=True)
class _Target:
    """A masked function of a task.

    Attributes:
        repository: its address, in the one form that its spellings have.
        file: the goal file's name.
        code: a digest of the golden's statements, comments and layout left out.
        weight: how much they tell.
    """

    implementation: Implementation
    repository: str
    file: str
    qualname: str
    code: str
    weight: float


def _targets(view: TaskView) -> list[_Target]:
    return view.memo("targets", lambda: list(_each_target(view)))


def _each_target(view: TaskView) -> Iterator[_Target]:
    repository = view.info.repo_url.strip().rstrip("/").removesuffix(".git").lower()
    weights = {(id(item.implementation), item.qualname): item.weight for item in solutions(view)}
    for one in pairs(view):
        file = clean_path(one.implementation.goal_file).rpartition("/")[2]
        for target in one.targets:
            if target.golden is None or isinstance(target.golden.node, ast.ClassDef):
                continue
            code = bodies.dump(bodies.statements(target.golden.node))
            yield _Target(
                one.implementation,
                repository,
                file,
                target.qualname,
                sha256_bytes(code.encode("utf-8", "surrogatepass")),
                weights.get((id(one.implementation), target.qualname), 0.0),
            )


class UniqueTarget(TreeCheck):
    code = "LMR011"
    title = "no function is masked in two tasks or twice in one"
    rationale = (
        "The same target twice counts one skill double, and where only one copy is masked the other task"
        " gives the answer."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "both tasks mask the same function of the same repository",
            info={"repo_url": INFO["repo_url"]},
            files={"golden_files/losses_golden.py": GOLDEN},
        ),
    )
    passing = (Example("the same names in another repository"),)

    def claims(self, view: TaskView) -> Iterator[tuple[str, Finding]]:
        """Each function that is masked, by repository, file and code."""
        for one in _targets(view):
            if one.repository:
                message = f"{one.qualname} of {one.file} is also masked by"
                where: Where = {"implementation": one.implementation, "path": "info.json"}
                finding = self.finding(view, message, "mask it in one place only", **where)
                yield "\n".join((one.repository, one.file, one.qualname, one.code)), finding


class UniqueGolden(TreeCheck):
    code = "LMR012"
    title = "no two tasks have the same golden"
    rationale = (
        "A golden that was copied from another task belongs to neither of them for sure; and where two"
        " repositories share a function, each task's tree shows the other's answer."
    )
    severity = Severity.WARNING
    failing = (Example("the golden of another repository", files={"golden_files/losses_golden.py": GOLDEN}),)
    passing = (Example("another golden of the same name"),)

    def claims(self, view: TaskView) -> Iterator[tuple[str, Finding]]:
        """Each golden function that tells something, by its code alone."""
        for one in _targets(view):
            if one.weight >= LITTLE:
                place = f"{one.file}, {one.repository}" if one.repository else one.file
                message = f"the golden of {one.qualname} ({place:.200}) is also that of"
                where: Where = {"implementation": one.implementation, "path": "info.json"}
                hint = "is it the golden of the other task? if it stands in both repositories, keep one task"
                yield one.code, self.finding(view, message, hint, **where)

    def conflict(self, finding: Finding, others: Sequence[Finding]) -> Finding | None:
        """Nothing where it is the same function of the same repository: LMR011 says that."""
        different = [other for other in others if other.message != finding.message]
        return super().conflict(finding, different) if different else None
