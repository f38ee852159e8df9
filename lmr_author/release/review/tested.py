"""Evidence for the question about the tests: cases, lines that they leave open, mutants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lmr_author.core.task.evaluation import GateDetail, GateStatus
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
    if subject.recording is None:
        exhibits = [_own_test(view, subject)]
    else:
        exhibits = [*_cases(subject.recording), _open_lines(subject)]
    exhibits += [*_mutants(subject), *_challenged(subject)]
    return QuestionEvidence(tuple(exhibits), tuple(_doubts(subject)))


def _doubts(subject: Subject) -> Iterator[str]:
    yield from subject.problems
    if subject.recording is not None:
        missed = sum(line.mark == "not reached" for line in subject.lines)
        if missed:
            yield f"no case reaches {counted(missed, 'line')} of the golden"
        if len(subject.recording.cases) == 1:
            yield "there is only one case"
    if subject.accepted:
        yield f"{counted(len(subject.accepted), 'mutant')} accepted as equivalent"
    for gate in subject.gates:
        if gate.status is not GateStatus.PASSED:
            yield f"{gate.gate}: {gate.status.value}, {gate.message}"
    for challenger in subject.challengers:
        if not challenger.settled:
            yield f"the {challenger.kind.value} {challenger.name} {challenger.in_words}"


def _own_test(view: TaskView, subject: Subject) -> Exhibit:
    path = unit_test_path(view, subject.implementation)
    lines = (view.text(path) or "").splitlines() if path else []
    title = "Test, written by hand" if lines else "There is no test"
    return Exhibit(title, code=tuple(CodeLine(number, text) for number, text in enumerate(lines, 1)))


def _cases(recording: Recording) -> list[Exhibit]:
    cases = recording.cases
    table = (("", *(case.name for case in cases)), *differences(cases))
    origin = (
        f"{counted(len(cases), 'case')} of {counted(recording.calls, 'call')}: {' '.join(recording.command)}"
    )
    exhibits = [Exhibit("Cases by what differs", (origin,), table=table)]
    adds, ignored = [], []
    for case in cases:
        if case.adds:
            adds.append(f"{case.name}: {case.adds}")
        for path, checker in case.checkers.items():
            if checker.get("kind") == "ignore":
                reason = checker.get("reason") or "no reason given"
                ignored.append(f"{case.name}, {path or 'the result'}: {reason}")
    if adds:
        exhibits.append(Exhibit("Each case adds", tuple(adds)))
    if ignored:
        exhibits.append(Exhibit("Not compared", tuple(ignored)))
    return exhibits


def differences(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Return name and values of each input, and of the outcome, that differ between cases; of one case all."""
    names = dict.fromkeys(name for case in cases for name in case.summary)
    rows = [(name, *(case.summary.get(name, "–") for case in cases)) for name in names]
    rows.append(("outcome", *(case.outcome for case in cases)))
    return [_shapes_alone(row) for row in rows if len(set(row[1:])) > 1 or len(cases) == 1]


def _shapes_alone(row: tuple[str, ...]) -> tuple[str, ...]:
    """Put what all of a row's arrays share beside the name, so that narrow cells show the shapes."""
    name, *cells = row
    kinds, shapes = set(), []
    for cell in cells:
        match = _ARRAY.fullmatch(cell)
        if match is None:
            return row
        kinds.add(match[1] + (match[3] or ""))
        shapes.append(match[2])
    return (f"{name}: {kinds.pop()}", *shapes) if len(kinds) == 1 else row


def _open_lines(subject: Subject) -> Exhibit:
    marked = tuple(line for line in subject.lines if line.mark)
    if marked:
        return Exhibit("Golden lines that no case reaches, or whose condition always holds", code=marked)
    return Exhibit("Golden lines that no case reaches", ("none",))


def _challenged(subject: Subject) -> list[Exhibit]:
    """Return how each misreading and rewrite ended, and what was accepted: who, when, why."""
    lines, single = [], list[Exhibit]()
    for challenger in subject.challengers:
        about = f": {challenger.about}" if challenger.about else ""
        lines.append(f"{challenger.kind.value} {challenger.name} {challenger.in_words}{about}")
        accepted, missing = challenger.accepted, challenger.missing
        if accepted and challenger.settled:
            title = f"Accepted: {challenger.name}, by {accepted.by or 'nobody named'}, {accepted.date}"
            single.append(Exhibit(title, (f"reason: {accepted.reason}",)))
        elif missing and missing.diff:
            single.append(Exhibit(f"Equal on every recorded call: {challenger.name}", diff=missing.diff))
    return [Exhibit("Misreadings have to fail, rewrites to pass", tuple(lines)), *single] if lines else []


def _mutants(subject: Subject) -> list[Exhibit]:
    """Return how many wrong versions fail, those that survive, and each that was accepted: who, when, why."""
    exhibits = []
    mutants = subject.mutants or GateDetail()
    if mutants.mutants:
        text = f"{mutants.killed} of {mutants.mutants} deliberately wrong versions of the golden fail"
        exhibits.append(Exhibit("Mutants", (text,)))
    for survivor in mutants.survivors:
        title = f"Survives: {survivor.id}, line {survivor.line}, {survivor.operator}"
        exhibits.append(Exhibit(title, (survivor.why,) if survivor.why else (), diff=survivor.diff))
    for mutant in subject.accepted:
        title = f"Accepted as equivalent: {mutant.id}, by {mutant.by or 'nobody named'}, {mutant.date}"
        exhibits.append(Exhibit(title, (f"reason: {mutant.reason}",), diff=mutant.diff))
    return exhibits
