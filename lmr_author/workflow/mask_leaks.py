"""What can still be read after masking: taken out where it is surely the answer and was made by a program."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from lmr_author import accepted
from lmr_author.checks.own_requirements import OwnRequirement, own_requirements
from lmr_author.checks.scan import search
from lmr_author.checks.view import TaskView
from lmr_author.leaks import Leak
from lmr_author.masking import cleaning
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.taskdir import UNIT_TEST, TaskDir
from lmr_author.validation.run import select_checks, validate_view

SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
"""The worst first."""


@dataclass(frozen=True)
class OpenLeak:
    """A place in the agent's tree where the answer, or something like it, can be read.

    Attributes:
        finding: what the checks of the group 4xx say about it.
        places: what was found in that file, the likest first; none where the finding is about a file's kind.
    """

    finding: Finding
    places: tuple[Leak, ...] = ()

    @property
    def also(self) -> tuple[str, ...]:
        """Node ids of the functions that ``mask --also`` takes."""
        nodes = [leak.node for leak in self.places if not leak.path.startswith(f"{UNIT_TEST}/")]
        return tuple(dict.fromkeys(node for node in nodes if node))


@dataclass(frozen=True)
class Left:
    """The result of a search.

    Attributes:
        moved: what was taken out, relative to the repository.
        leaks: what is left.
        remarks: what the annotator should know.
    """

    moved: tuple[str, ...] = ()
    leaks: tuple[OpenLeak, ...] = ()
    remarks: tuple[str, ...] = ()


def look(task: TaskDir, masked: Iterable[Implementation]) -> Left:
    """Search the agent's tree for what was masked, and take out what is surely the answer and no one wrote.

    Generated files and archives go to ``authoring/removed/``; everything else is the annotator's to decide.
    Findings that were accepted are left out.

    Args:
        masked: the implementations that are asked about.
    """
    view = TaskView(task)
    if view.repository is None:
        return Left()
    found = search(view)
    members = {leak.path: leak.member for leak in found if leak.sure and leak.member}
    removable = cleaning.removable(found, view.repository)
    moved = cleaning.take_out(view.repository, task.removed_folder, removable).moved
    indices = {item.index for item in masked}
    findings = validate_view(view, select_checks(["LMR4"]))
    about = [item for item in findings if item.implementation is None or item.implementation in indices]
    still_open = accepted.sort(task, (item for item in about if _is_there(task, item))).open
    remarks = tuple(
        f"{path} held the solution, in {members[path]}: if the code needs the archive, put it back without that"
        for path in moved
        if path in members
    )
    remarks += tuple(_own_package(item) for item in own_requirements(view))
    ordered = sorted(still_open, key=lambda item: SEVERITIES.index(item.severity))
    return Left(moved, tuple(OpenLeak(item, _places(view, item, found)) for item in ordered), remarks)


def _own_package(item: OwnRequirement) -> str:
    """The published package holds the solution, wherever it is installed."""
    which = "this repository's own package" if item.sure else "probably this repository's own package"
    return (
        f"{item.path}:{item.line} asks for {item.requirement}, {which}, whose published form holds the solution: "
        "leave it out of the image (`env lock` does)"
    )


def _is_there(task: TaskDir, finding: Finding) -> bool:
    """Whether the file of a finding has not been taken out; one without a file is about the task."""
    return not finding.path or os.path.lexists(task.root / finding.path)


def _places(view: TaskView, finding: Finding, found: Iterable[Leak]) -> tuple[Leak, ...]:
    """What was found in the file of a finding about copies of its implementation."""
    assert view.repository is not None
    if finding.code not in ("LMR403", "LMR404"):
        return ()
    index = finding.implementation
    places = [
        leak
        for leak in found
        if leak.solution is not None
        and leak.solution.implementation.index == index
        and leak.kind != "compiled"
        and view.relative(view.repository / leak.path) == finding.path
    ]
    return tuple(sorted(places, key=lambda leak: (not leak.sure, -leak.similarity)))
