"""Search for what can still be read after masking, and keep the annotator's answers about it.

What is surely the answer and was made by a program is taken out. Answers are kept as they are given, so that an
interruption costs none of them (``schemas/leak-answers.schema.json``); their file is there until they are carried out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from lmr_author import files
from lmr_author.checks.dockerfile import own_requirements
from lmr_author.checks.leaks import search
from lmr_author.checks.view import TaskView
from lmr_author.errors import LmrError
from lmr_author.leaks import Leak
from lmr_author.masking import cleaning
from lmr_author.task import UNIT_TEST, Finding, Implementation, Severity, Task, accepted
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


def look(task: Task, masked: Iterable[Implementation]) -> Left:
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
    # A finding without a file is about the task; a file may have been taken out just now.
    there = (item for item in about if not item.path or os.path.lexists(task.root / item.path))
    still_open = accepted.sort(task, there).open
    remarks = tuple(
        f"{path} held the solution, in {members[path]}: if the code needs the archive, put it back without that"
        for path in moved
        if path in members
    )
    remarks += tuple(
        f"{item.path}:{item.line} asks for {item.requirement}, {'' if item.sure else 'probably '}this repository's own "
        "package, whose published form holds the solution: leave it out of the image (`env lock` does)"
        for item in own_requirements(view)
    )
    ordered = sorted(still_open, key=lambda item: SEVERITIES.index(item.severity))
    return Left(moved, tuple(OpenLeak(item, _places(view, item, found)) for item in ordered), remarks)


def _places(view: TaskView, finding: Finding, found: Iterable[Leak]) -> tuple[Leak, ...]:
    """The leaks in the file of a finding about copies of its implementation."""
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


# answers


MASK, ACCEPT, LEAVE = "mask", "accept", "leave"


@dataclass(frozen=True)
class Answer:
    """The decision about a leak: ``mask``, ``accept`` (with a reason) or ``leave``."""

    answer: str
    reason: str = ""


def load_answers(task: Task) -> dict[tuple[Any, ...], Answer]:
    """The answers of a run that did not come to its end, by :func:`answer_key`.

    Raises LmrError when the file is damaged: the next answer would be written over all of them.
    """
    data = files.read_object_to_change(task.leak_answers_path)
    try:
        return {
            (item["code"], item["implementation"], item["path"], item["message"]): Answer(
                item["answer"], item["reason"]
            )
            for item in data.get("answers", ())
            if item["answer"] in (MASK, LEAVE) or (item["answer"] == ACCEPT and item["reason"])
        }
    except (TypeError, KeyError) as error:
        raise LmrError(
            f"{task.leak_answers_path}: not as its schema says ({error!r})",
            "correct the file by hand, or remove it to be asked everything again",
        ) from error


def answer_key(finding: Finding) -> tuple[Any, ...]:
    """Return the key of an answer; when the finding says something else by now, it is asked about again."""
    return (finding.code, finding.implementation, finding.path, finding.message)


def store_answers(task: Task, answers: dict[tuple[Any, ...], Answer]) -> None:
    """Write all answers given so far."""
    names = ("code", "implementation", "path", "message")
    entries = [
        {**dict(zip(names, about, strict=True)), **asdict(answer)} for about, answer in answers.items()
    ]
    files.write_json(task.leak_answers_path, {"answers": entries})


def clear_answers(task: Task) -> None:
    """Forget the answers: they are carried out."""
    task.leak_answers_path.unlink(missing_ok=True)
