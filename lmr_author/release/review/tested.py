"""Evidence for the question about the tests: cases, lines that they leave open, mutants."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmr_author.core.task.evaluation import MUTANTS_DIE, GateStatus
from lmr_author.core.task.recording import Case, Recording
from lmr_author.core.texts import counted
from lmr_author.proof.lookup import unit_test_path
from lmr_author.proof.view import TaskView
from lmr_author.release.review.exhibits import CodeLine, Exhibit, QuestionEvidence
from lmr_author.release.review.subject import Subject

_ARRAY = re.compile(r"(.*?)(\[[\d, ]*\])(, requires grad)?")
"""An array as the recorder describes it: ``tensor float32[4, 8], requires grad``."""


def evidence_of_tests(view: TaskView, subject: Subject) -> QuestionEvidence:
    """Return the cases by what differs, the golden's lines that they leave open, survivors, accepted mutants."""
    doubts = list(subject.problems)
    if subject.recording is None:
        exhibits = [_own_test(view, subject)]
    else:
        exhibits = [*_cases(subject.recording), _open_lines(subject)]
        missed = sum(line.mark == "not reached" for line in subject.lines)
        doubts += [f"no case reaches {counted(missed, 'line')} of the golden"] if missed else []
        doubts += ["there is only one case"] if len(subject.recording.cases) == 1 else []
    if subject.accepted:
        doubts.append(f"{counted(len(subject.accepted), 'mutant')} accepted as equivalent")
    open_gates = [gate for gate in subject.gates if gate.status is not GateStatus.PASSED]
    doubts += [f"{gate.gate}: {gate.status.value}, {gate.message}" for gate in open_gates]
    doubts += [
        f"the {one.kind.value} {one.name} {one.in_words}" for one in subject.challengers if not one.settled
    ]
    return QuestionEvidence((*exhibits, *_mutants(subject), *_challenged(subject)), tuple(doubts))


def _own_test(view: TaskView, subject: Subject) -> Exhibit:
    path = unit_test_path(view, subject.item)
    lines = (view.text(path) or "").splitlines() if path else []
    title = "Test, written by hand" if lines else "There is no test"
    return Exhibit(title, code=tuple(CodeLine(number, text) for number, text in enumerate(lines, 1)))


def _cases(recording: Recording) -> list[Exhibit]:
    cases = recording.cases
    table = (("", *(case.name for case in cases)), *differences(cases))
    origin = (
        f"{counted(len(cases), 'case')} of {counted(recording.calls, 'call')}: {' '.join(recording.command)}"
    )
    found = [Exhibit("Cases by what differs", (origin,), table=table)]
    adds = tuple(f"{case.name}: {case.adds}" for case in cases if case.adds)
    ignored = tuple(
        f"{case.name}, {path or 'the result'}: {checker.get('reason') or 'no reason given'}"
        for case in cases
        for path, checker in case.checkers.items()
        if checker.get("kind") == "ignore"
    )
    found += [Exhibit("Each case adds", adds)] if adds else []
    found += [Exhibit("Not compared", ignored)] if ignored else []
    return found


def differences(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Return name and values of each input, and of the outcome, that differ between cases; of one case all."""
    names = dict.fromkeys(name for case in cases for name in case.summary)
    rows = [(name, *(case.summary.get(name, "–") for case in cases)) for name in names]
    rows.append(("outcome", *(case.outcome for case in cases)))
    return [_shapes_alone(row) for row in rows if len(set(row[1:])) > 1 or len(cases) == 1]


def _shapes_alone(row: tuple[str, ...]) -> tuple[str, ...]:
    """Put what all of a row's arrays share beside the name, so that narrow cells show the shapes."""
    name, *cells = row
    parts = [_ARRAY.fullmatch(cell) for cell in cells]
    kinds = {match[1] + (match[3] or "") for match in parts if match}
    if len(kinds) != 1 or not all(parts):
        return row
    return (f"{name}: {kinds.pop()}", *(match[2] for match in parts if match))


def _open_lines(subject: Subject) -> Exhibit:
    marked = tuple(line for line in subject.lines if line.mark)
    if not marked:
        return Exhibit("Golden lines that no case reaches", ("none",))
    return Exhibit("Golden lines that no case reaches, or whose condition always holds", code=marked)


def _challenged(subject: Subject) -> list[Exhibit]:
    """Return how each misreading and rewrite ended, and what was accepted: who, when, why."""
    if not subject.challengers:
        return []
    lines = [
        f"{one.kind.value} {one.name} {one.in_words}{': ' if one.about else ''}{one.about}"
        for one in subject.challengers
    ]
    found = [Exhibit("Misreadings have to fail, rewrites to pass", tuple(lines))]
    for one in subject.challengers:
        if one.accepted and one.settled:
            title = f"Accepted: {one.name}, by {one.accepted.by or 'nobody named'}, {one.accepted.date}"
            found.append(Exhibit(title, (f"reason: {one.accepted.reason}",)))
        elif one.missing and one.missing.diff:
            found.append(Exhibit(f"Equal on every recorded call: {one.name}", diff=one.missing.diff))
    return found


def _mutants(subject: Subject) -> list[Exhibit]:
    """Return how many wrong versions fail, those that survive, and each that was accepted: who, when, why."""
    found = []
    detail = next((gate.detail for gate in subject.gates if gate.gate == MUTANTS_DIE), None)
    if detail and detail.mutants:
        text = f"{detail.killed} of {detail.mutants} deliberately wrong versions of the golden fail"
        found.append(Exhibit("Mutants", (text,)))
    for survivor in detail.survivors if detail else ():
        title = f"Survives: {survivor.id}, line {survivor.line}, {survivor.operator}"
        found.append(Exhibit(title, (survivor.why,) if survivor.why else (), diff=survivor.diff))
    for mutant in subject.accepted:
        title = f"Accepted as equivalent: {mutant.id}, by {mutant.by or 'nobody named'}, {mutant.date}"
        found.append(Exhibit(title, (f"reason: {mutant.reason}",), diff=mutant.diff))
    return found
