"""What a check is, and what its examples are.

A check is a class with a code, a title, a rationale, and examples that pass and fail; the examples
are its tests and its page in ``docs/checks.md``. A check yields findings; it never raises for a bad
task, never prints, never writes, and reads only through the :class:`TaskView`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypedDict

from lmr_author.checks.lenient import readable
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.texts import listed

Content = str | bytes | None | Callable[[], bytes]
"""What an example puts into a file."""


@dataclass(frozen=True)
class Example:
    """A change to the good task of ``checks/example_task.py`` that makes a check pass or fail.

    Attributes:
        title: what was done, in a few words ("the body is a bare return").
        files: path in the task → new content; None removes the file; a function makes the content when
            it is needed.
        info: keys of ``info.json`` to replace (top level); a value of None removes the key.
        implementation: keys of ``implementations[0]`` to replace; None removes the key.
        also: other codes that the same change rightly brings up.
    """

    title: str
    files: Mapping[str, Content] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)
    implementation: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()


class Where(TypedDict, total=False):
    """Where a finding is: arguments of :meth:`Check.finding` that a check gives several times."""

    implementation: Implementation | None
    path: Path | str
    pointer: str
    severity: Severity | None
    fixable: bool | None


class Check(ABC):
    """One thing that can be wrong with a task.

    Class attributes:
        code: ``LMR`` and three digits; the first says the group (0 metadata, 1 paper and repository,
            2 environment, 3 masking and golden, 4 leaks, 5 unit tests and recordings, 6 instruction,
            7 hygiene, 8 authoring records).
        title: what must hold, in one line.
        rationale: why it matters, with what it cost in real tasks.
        severity: of its findings, unless one says otherwise.
        fixable: whether ``validate --fix`` can repair it.
        passing, failing: examples; each failing one must yield a finding of this code and each
            passing one none.
    """

    code: ClassVar[str]
    title: ClassVar[str]
    rationale: ClassVar[str]
    severity: ClassVar[Severity] = Severity.ERROR
    fixable: ClassVar[bool] = False
    passing: ClassVar[tuple[Example, ...]] = ()
    failing: ClassVar[tuple[Example, ...]]

    @abstractmethod
    def run(self, view: TaskView) -> Iterable[Finding]:
        """Yield what is wrong with the task."""

    def finding(
        self,
        view: TaskView,
        message: str,
        hint: str = "",
        *,
        implementation: Implementation | None = None,
        path: Path | str = "",
        line: int = 0,
        pointer: str = "",
        severity: Severity | None = None,
        fixable: bool | None = None,
    ) -> Finding:
        """A finding of this check.

        Args:
            path: where it is: a file of the task, or its path as the task writes it.
            line: of the file, from 1; 0 when it is about no line.
            pointer: in place of a line, what else tells the place: a JSON pointer, or ``L3-L5``.
        """
        return Finding(
            code=self.code,
            severity=severity or self.severity,
            task=view.name,
            implementation=implementation.index if implementation else None,
            path=view.relative(path) if isinstance(path, Path) else readable(path),
            pointer=pointer or (f"L{line}" if line else ""),
            message=message,
            hint=hint,
            fixable=self.fixable if fixable is None else fixable,
        )


class Wrong(NamedTuple):
    """What is wrong with a file, and at which line of it; 0 when it is about no line."""

    message: str
    hint: str
    line: int = 0
    severity: Severity | None = None


class ImplementationCheck(Check):
    """A check that looks at each implementation by itself."""

    def told(self, view: TaskView, implementation: Implementation, path: Path, wrong: Wrong) -> Finding:
        """The finding that says what is wrong with a file; of the check's own severity if it has none."""
        return self.finding(
            view,
            wrong.message,
            wrong.hint,
            implementation=implementation,
            path=path,
            line=wrong.line,
            severity=wrong.severity,
        )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """Run :meth:`run_one` for each implementation."""
        for implementation in view.implementations:
            yield from self.run_one(view, implementation)

    @abstractmethod
    def run_one(self, view: TaskView, implementation: Implementation) -> Iterable[Finding]:
        """Yield what is wrong with one implementation."""


class TreeCheck(Check):
    """A check that compares implementations with each other, of one task and of several.

    Each task makes *claims*, small enough to be kept for thousands of tasks; a claim that is made
    twice is a finding for everyone who makes it. The examples are changes to the *second* of two
    tasks made by ``checks/example_task.py``.
    """

    def run(self, view: TaskView) -> Iterable[Finding]:
        """Nothing: see :meth:`claims`."""
        return ()

    @abstractmethod
    def claims(self, view: TaskView) -> Iterable[tuple[str, Finding]]:
        """(what is claimed, the finding for it if it is claimed twice). Its message begins the sentence."""

    def conflict(self, finding: Finding, others: Sequence[Finding]) -> Finding | None:
        """The finding of a claim that others make, too; None when that is all right."""
        names = [
            other.task + (f" #{other.implementation}" if other.implementation else "") for other in others
        ]
        return replace(finding, message=f"{finding.message} {listed(names, 5)}")
