"""Evidence for the question about the tests: cases, outcomes that show little, unreached lines, mutants."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy

from lmr_author.authoring.recording.checkers import checker_of, how, in_numbers
from lmr_author.authoring.recording.selection import in_words
from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task.challenge import Acceptance
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.core.task.evaluation import GateDetail, GateStatus
from lmr_author.core.task.mutation import Judgement, MutationScore
from lmr_author.core.task.recording import Case, Recording
from lmr_author.core.texts import counted, listed, shortened
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.targets import unit_test_path
from lmr_author.release.review.checklist import CodeLine, Evidence, QuestionEvidence
from lmr_author.release.review.under_test import TargetUnderTest
from lmr_author.runtime.probe.arrays import dtype_of, numbers
from lmr_author.runtime.probe.checking import load
from lmr_author.runtime.probe.document import BadDocument, Document, tagged, walk

_ARRAY = re.compile(r"(.*?)(\[[\d, ]*\])(, requires grad)?")
"""An array as the recorder describes it: ``tensor float32[4, 8], requires grad``."""
_SHORT_LIST = re.compile(r"(list|tuple) of [1-6]")
_CONTRIBUTION = re.compile(r"(?:(?:\d+ mutants? fails? only here|takes a path of its own)(?:; |$))*")
"""The beginning of what a case adds; the inputs that differ follow."""
_MOST_DIFFERENCES, _LONGEST_INPUT = 8, 100
ONLY_ZEROS, MOST_ZEROS = "only zeros", 0.2
"""An outcome that shows little, and the share of the cases with it from which the test is weak."""
_CONTAINERS = ("list", "tuple", "dict", "set", "frozenset", "object", "ref")


def evidence_of_tests(contents: TaskContents, target: TargetUnderTest) -> QuestionEvidence:
    recording, doubts = target.recording, list(_doubts(target))
    if recording is None:
        pieces = [_own_test(contents, target), *_mutants(target), *_challenged(target)]
        return QuestionEvidence(tuple(pieces), tuple(doubts))
    folder = contents.task.recording(contents.info, target.implementation.index)
    pieces = [
        *_cases(recording, shown_cases(folder, recording.cases)),
        _open_lines(target),
        *_mutants(target),
        *_challenged(target),
    ]
    if table := tolerances(target):
        pieces.insert(1, Evidence("How results are compared (everything else: exactly)", table=table))
    empty = empty_outcomes(folder, recording)
    doubts += outcome_doubts(empty, recording.cases)
    if empty:
        lines = tuple(f"{name} expects {what}" for name, what in empty.items())
        pieces.append(Evidence("Cases that show little", lines))
    return QuestionEvidence(tuple(pieces), tuple(doubts))


def _doubts(target: TargetUnderTest) -> Iterator[str]:
    yield from target.problems
    if target.recording is not None:
        missed = sum(line.mark == "not reached" for line in target.lines)
        if missed:
            yield f"no case reaches {counted(missed, 'line')} of the golden"
        if len(target.recording.cases) == 1:
            yield "there is only one case"
    for part in target.compared:
        if part.is_weak:
            yield f"{part.in_words} ({part.reason or 'no reason given'})"
    score = target.mutants.score if target.mutants else MutationScore()
    if score.judgement is Judgement.ACCEPTED:
        yield f"{score.text}: more than a tenth is accepted; a pass approves all of them"
    elif target.accepted:
        yield f"{counted(len(target.accepted), 'mutant')} accepted as equivalent"
    for gate in target.gates:
        if gate.status is not GateStatus.PASSED:
            yield f"{gate.gate}: {gate.status.value}, {gate.message}"
    for challenger in target.challengers:
        if not challenger.settled:
            yield f"the {challenger.kind.value} {challenger.name} {challenger.in_words}"


def _own_test(contents: TaskContents, target: TargetUnderTest) -> Evidence:
    lines = (contents.text(unit_test_path(contents, target.implementation)) or "").splitlines()
    title = "Test, written by hand" if lines else "There is no test"
    return Evidence(title, code=tuple(CodeLine(number, text) for number, text in enumerate(lines, 1)))


def shown_cases(folder: Path, cases: Sequence[Case]) -> tuple[Case, ...]:
    """Return the cases as people should read them: short lists in full, and every input that differs from others."""
    whole = [{**case.summary, **_short_lists(folder, case)} for case in cases]
    counts = Counter(each for summary in whole for each in summary.items())
    shown = []
    for case, summary in zip(cases, whole, strict=True):
        differs = [
            shortened(in_words(*each), _LONGEST_INPUT)
            for each in summary.items()
            if counts[each] < max(2, len(cases))
        ]
        contribution = _CONTRIBUTION.match(case.adds)
        brings = contribution[0].removesuffix("; ") if contribution else ""
        adds = "; ".join(filter(None, (brings, listed(differs, _MOST_DIFFERENCES)))) if case.adds else ""
        shown.append(replace(case, summary=summary, adds=adds))
    return tuple(shown)


def _short_lists(folder: Path, case: Case) -> dict[str, str]:
    """Return the lists of a case's inputs that hold a few plain values, by path."""
    wanted = {path for path, text in case.summary.items() if _SHORT_LIST.fullmatch(text)}
    lists: dict[str, str] = {}
    try:
        tree = load(str(files.inside(folder, case.name)), "inputs").tree if wanted else {}
    except (BadDocument, LmrError):
        return lists
    for path, node in walk(tree):
        value = tagged(node)
        if path not in wanted or not isinstance(value, dict) or value["$"] not in ("list", "tuple"):
            continue
        if all(isinstance(item, (bool, int, float, str)) for item in value["v"]):
            lists[path] = repr(value["v"] if value["$"] == "list" else tuple(value["v"]))
    return lists


def _cases(recording: Recording, cases: Sequence[Case]) -> Iterator[Evidence]:
    table = (("", *(case.name for case in cases)), *differences(cases))
    numbers = f"{counted(len(cases), 'case')} of {counted(recording.calls, 'call')}"
    yield Evidence("Cases by what differs", (f"{numbers}: {' '.join(recording.command)}",), table=table)
    if adds := [f"{case.name}: {case.adds}" for case in cases if case.adds]:
        yield Evidence("Each case adds", tuple(adds))


def tolerances(target: TargetUnderTest) -> tuple[tuple[str, ...], ...]:
    """Return how each part of the outcomes is compared, weak ones first; () if everything is compared exactly."""
    rows = []
    for part in target.compared:
        reason = part.reason or "chosen by the annotator, no reason given"
        every = len(part.cases) == len(target.recording.cases) if target.recording else False
        rows.append(
            (
                part.named,
                how(part.kind, part.tolerance),
                in_numbers(part.usual) or "–",
                reason,
                "all" if every else listed(part.cases, 4),
            )
        )
    return (("part", "compared with", "usual", "reason", "cases"), *rows) if rows else ()


def differences(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Return the inputs and outcomes that differ between cases; all of them if there is one case."""
    names = dict.fromkeys(name for case in cases for name in case.summary)
    rows = [(name, *(case.summary.get(name, "–") for case in cases)) for name in names]
    rows.append(("outcome", *(case.outcome for case in cases)))
    return [_shapes_alone(row) for row in rows if len(set(row[1:])) > 1 or len(cases) == 1]


def _shapes_alone(row: tuple[str, ...]) -> tuple[str, ...]:
    """Move the kind that all arrays of a row share beside its name, so that narrow cells show the shapes."""
    name, *cells = row
    kinds, shapes = set(), []
    for cell in cells:
        match = _ARRAY.fullmatch(cell)
        if match is None:
            return row
        kinds.add(match[1] + (match[3] or ""))
        shapes.append(match[2])
    return (f"{name}: {kinds.pop()}", *shapes) if len(kinds) == 1 else row


def _open_lines(target: TargetUnderTest) -> Evidence:
    marked = tuple(line for line in target.lines if line.mark)
    if marked:
        return Evidence("Golden lines that no case reaches, or whose condition always holds", code=marked)
    return Evidence.of("Golden lines that no case reaches", ())


def _challenged(target: TargetUnderTest) -> Iterator[Evidence]:
    lines = []
    for challenger in target.challengers:
        difference = challenger.difference
        differs = f"{difference.where}: {difference.message}" if difference else ""
        said = (f"{challenger.kind.value} {challenger.name} {challenger.in_words}", challenger.about, differs)
        lines.append("; ".join(filter(None, (*said, challenger.reason))))
    if lines:
        yield Evidence("Misreadings must fail, rewrites must pass", tuple(lines))
    for challenger in target.challengers:
        accepted, missing = challenger.accepted, challenger.missing
        if accepted and challenger.settled:
            yield _accepted(f"Accepted: {challenger.name}", accepted)
        elif missing and missing.diff:
            yield Evidence(f"Equal on every recorded call: {challenger.name}", diff=missing.diff)


def _mutants(target: TargetUnderTest) -> Iterator[Evidence]:
    mutants = target.mutants or GateDetail()
    if mutants.made:
        yield Evidence("Mutants", (mutants.score.text,))
    accepted = {survivor.id for survivor in mutants.survivors if survivor.accepted}
    for survivor in mutants.survivors:
        if survivor.accepted:
            continue
        how = "Indistinguishable" if survivor.indistinguishable else "Survives"
        title = f"{how}: {survivor.id}, line {survivor.line}, {survivor.operator}"
        facts = tuple(filter(None, [survivor.why]))
        yield Evidence(title, facts, diff=survivor.diff, anchor=f"mutant-{survivor.id}")
    for mutant in target.accepted:
        title = (
            "Accepted as equivalent"
            if mutant.id in accepted
            else "Accepted, but no survivor with this reason"
        )
        yield replace(_accepted(f"{title}: {mutant.id}", mutant, mutant.diff), anchor=f"mutant-{mutant.id}")


def _accepted(title: str, acceptance: Acceptance | EquivalentMutant, diff: str = "") -> Evidence:
    by = f"by {acceptance.by or 'nobody named'}, {acceptance.date}"
    return Evidence(f"{title}, {by}", (f"reason: {acceptance.reason}",), diff=diff)


def empty_outcomes(folder: Path, recording: Recording) -> dict[str, str]:
    """Return the cases that expect nothing, only zeros or one constant, with what they expect."""
    found = {}
    for case in recording.cases:
        if case.outcome == "returned" and (what := _empty_outcome(folder, case)):
            found[case.name] = what
    return found


def _empty_outcome(folder: Path, case: Case) -> str:
    try:
        document = load(str(files.inside(folder, case.name)), "expected")
        values = list(_values(document, case))
    except (BadDocument, LmrError):
        return ""
    if not values:
        return "nothing"
    if len(values) == 1 and isinstance(values[0], bool):  # a predicate says False often enough
        return ""
    if any(value != values[0] for value in values):
        return ""
    if values[0] == 0:
        return ONLY_ZEROS
    return f"only {values[0]:.6g}" if len(values) > 1 and isinstance(values[0], int | float) else ""


def _values(document: Document, case: Case) -> Iterator[object]:
    """Yield the numbers and texts of the compared parts; of an array at most two, different ones if it has any."""
    pairs = set()
    for path, node in walk(document.tree):
        if isinstance(node, dict) and node.get("$", "dict") == "dict":
            pairs.add(path)
        if path.startswith("@") or checker_of(path, case.checkers).get("kind") == "ignore":
            continue
        if dtype_of(node):
            flat = numpy.asarray(numbers(document, node)).reshape(-1)
            yield from flat[:2].tolist() if (flat[:1] == flat).all() else ("different", "numbers")
        elif isinstance(node, str):
            if path not in pairs:  # the key of a dictionary has the path of the dictionary
                yield node
        elif isinstance(node, int):
            yield node
        elif isinstance(node, dict) and node.get("$", "dict") not in _CONTAINERS:
            yield node["$"]


def outcome_doubts(empty: Mapping[str, str], cases: Sequence[Case]) -> Iterator[str]:
    zeros = sum(what == ONLY_ZEROS for what in empty.values())
    if zeros >= MOST_ZEROS * len(cases) > 0 or 2 * len(empty) > len(cases):
        what = " or ".join(dict.fromkeys(empty.values()))
        yield f"{len(empty)} of {len(cases)} cases expect {what}"
    expected = {
        tuple(sorted((name, digest) for name, digest in case.files.items() if name.startswith("expected")))
        for case in cases
    }
    if len(cases) > 1 and len(expected) == 1:
        yield f"all {len(cases)} cases expect the same"
