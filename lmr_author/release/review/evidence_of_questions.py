"""The evidence beside each question of our checklist: facts of the task, and the reasons why they are weak."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from lmr_author.authoring.suggesting.paper import best_section, contradicting_category, likely_category
from lmr_author.core.paper.parts import sections
from lmr_author.core.task import Finding, Severity, Task
from lmr_author.core.task.difficulty import Extreme
from lmr_author.core.texts import counted, listed
from lmr_author.release.review import evidence_of_ledger, evidence_of_task
from lmr_author.release.review.checklist import CATEGORY_MEANINGS
from lmr_author.release.review.evidence import Evidence, QuestionEvidence
from lmr_author.release.review.evidence_of_models import models_answers
from lmr_author.release.review.evidence_of_tests import evidence_of_tests
from lmr_author.release.review.spelled_out import spelled_out
from lmr_author.release.review.under_test import ReviewedTask, TargetUnderTest, read_task


def evidence_of(task: Task, findings: Sequence[Finding]) -> dict[str, QuestionEvidence]:
    """Return the evidence for each question of our own checklist.

    Args:
        findings: findings of ``validate`` now.
    """
    return evidence_for(read_task(task), findings)


def evidence_for(reviewed: ReviewedTask, findings: Sequence[Finding]) -> dict[str, QuestionEvidence]:
    """As :func:`evidence_of`, for a task that was read."""
    result = {}
    for question in (*_OF_IMPLEMENTATION, "environment", "licence"):
        parts = []
        if question in _OF_TASK:
            parts.append(_OF_TASK[question](reviewed))
        if question in _OF_IMPLEMENTATION:
            parts += _of_implementations(question, reviewed)
        parts.append(_findings(question, findings))
        result[question] = _together(parts)
    return result


def _of_implementations(question: str, reviewed: ReviewedTask) -> list[QuestionEvidence]:
    parts = [_OF_IMPLEMENTATION[question](reviewed, target) for target in reviewed.targets]
    if len(parts) == 1:
        return parts
    named = []
    for target, part in zip(reviewed.targets, parts, strict=True):
        name = target.implementation.qualname
        pieces = tuple(replace(piece, title=f"{name}: {piece.title}") for piece in part.pieces)
        named.append(QuestionEvidence(pieces, tuple(f"{name}: {doubt}" for doubt in part.doubts)))
    return named


def _together(parts: Sequence[QuestionEvidence]) -> QuestionEvidence:
    pieces: list[Evidence] = []
    doubts: list[str] = []
    for part in parts:
        pieces += part.pieces
        doubts += part.doubts
    return QuestionEvidence(tuple(pieces), tuple(dict.fromkeys(doubts)))


def _instruction(reviewed: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    instruction = target.implementation.instruction
    lines = [instruction or "none"]
    # An ordinary word may be a variable, too: one in backticks, or of several words, is meant as a name.
    names = {quoted or joined for quoted, joined in re.findall(r"`(\w+)`|\b(?=\w*_)(\w+)", instruction)}
    if local := names & evidence_of_task.local_names(target.files):
        lines.append(f"it names variables of the golden: {', '.join(sorted(local))}")
    context, doubts = _context(reviewed, target)
    for golden in target.goldens:
        spelled = spelled_out(golden, instruction)
        lines.append(
            f"it spells out {spelled.statements} of {counted(spelled.of, 'statement')} of the golden"
        )
        if spelled.gives_away:
            doubts.append(f"the instruction gives the solution away: {lines[-1]}")
    if not target.lines:
        doubts.insert(0, "the golden cannot be read")
    ledger = evidence_of_ledger.beside(reviewed.contents, target)
    return QuestionEvidence(
        (
            Evidence("Instruction", tuple(lines)),
            Evidence("Golden", code=target.lines),
            *ledger.pieces,
            _returns(target),
            Evidence.of("Context files that models see", context),
        ),
        (*doubts, *ledger.doubts),
    )


def _context(reviewed: ReviewedTask, target: TargetUnderTest) -> tuple[list[str], list[str]]:
    used = evidence_of_task.names_used(target.files)
    mentions = evidence_of_task.mentions(reviewed.contents, target.implementation)
    lines, doubts = [], []
    for path in target.implementation.retrieval_context:
        names = sorted(evidence_of_task.names_in(reviewed.contents, path) & used)
        calls = [mention for mention in mentions if mention.startswith(f"{path}:")]
        if names:
            lines.append(f"{path}: the golden uses {listed(names, 8)}")
        elif calls:
            lines.append(f"{path}: mentions the function ({calls[0]})")
        else:
            lines.append(f"{path}: the golden uses nothing of it")
            doubts.append(f"the golden uses nothing of the context file {path}")
    return lines, doubts


def _returns(target: TargetUnderTest) -> Evidence:
    lines = []
    for sentence in re.split(r"(?<=[.;:!?])\s+", target.implementation.instruction):
        if re.search(r"\b(?:return|yield)", sentence, re.I):
            lines.append(f"instruction: {sentence}")
    if not lines:
        lines.append("instruction: it does not name the result")
    returning = [line for line in target.lines if line.returns]
    lines += [f"line {line.number}: {line.text.strip()}" for line in returning]
    if not returning:
        lines.append("golden: it returns nothing")
    return Evidence("Result", tuple(lines))


def _paper_section(reviewed: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    cited = target.cited
    pieces = [Evidence(f"Paper, {section.named}", prose=section.text) for section in cited.sections]
    doubts = [f"the paper has no section {number}" for number in cited.absent if cited.readable]
    for home in dict.fromkeys(home for _, home in cited.elsewhere):
        labels = ", ".join(label for label, section in cited.elsewhere if section == home)
        doubts.append(f"{home.named} has {labels}, and is not named")
    if not cited.sections:
        doubts.append(_why_none(reviewed, target))
    closest = best_section(sections(reviewed.pages), target.words) if target.words else None
    if closest and closest not in cited.sections:
        doubts.append(f"by its words the golden belongs to {closest.named}, which is not named")
        pieces.append(Evidence(f"Closest to the golden's words: {closest.named}", prose=closest.text))
    pieces += evidence_of_ledger.added(reviewed.contents, target)
    return QuestionEvidence(tuple(pieces), tuple(doubts))


def _why_none(reviewed: ReviewedTask, target: TargetUnderTest) -> str:
    if not reviewed.pages:
        return "the paper's text cannot be read"
    if not target.cited.readable:
        return "no numbered section was found in the paper's text"
    return "no section found" if target.cited.absent else "the instruction names no section"


def _paper_and_code(reviewed: ReviewedTask) -> QuestionEvidence:
    abstract = evidence_of_task.abstract_of(reviewed.contents.info.paper_name, reviewed.pages)
    changed = evidence_of_task.changed_code(reviewed.task, reviewed.contents)
    drafted = evidence_of_task.drafted(reviewed.task)
    easy = models_answers(reviewed, Extreme.EVERY)
    pieces = (*drafted.pieces, abstract, *changed.pieces, *easy.pieces)
    return QuestionEvidence(pieces, (*drafted.doubts, *changed.doubts))


def _core(_: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    named = ", ".join(section.named for section in target.cited.sections) or "no section"
    line = f"{target.implementation.target}: {counted(len(target.lines), 'line')} without docstring, {named}"
    return QuestionEvidence((Evidence("Masked function", (line,)),))


def _category(_: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    written = target.implementation.category
    name = written if written in CATEGORY_MEANINGS else ""
    lines = [f"{written or 'none'}: {CATEGORY_MEANINGS.get(name, 'none of the nine')}"]
    likely = likely_category(target.words) if target.words else ""
    doubts = [] if name else ["the category is none of the nine"]
    if name and target.words and (other := contradicting_category(target.words, name)):
        doubts.append(f"by its words the function belongs to {other}, not {name}")
    if likely and likely != name:
        lines.append(f"by its words rather {likely}: {CATEGORY_MEANINGS[likely]}")
    task = re.split(r"(?<=[.;])\s", target.implementation.instruction)[0]
    pieces = Evidence("Category", tuple(lines)), Evidence("The function", (task,))
    return QuestionEvidence(pieces, tuple(doubts))


def _evaluated(reviewed: ReviewedTask) -> QuestionEvidence:
    doubts = {
        "none": ("the tests were never evaluated",),
        "stale": ("the task changed after its evaluation",),
    }
    return QuestionEvidence((), doubts.get(reviewed.evaluation, ()))


def _mentions(reviewed: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    mentions = evidence_of_task.mentions(reviewed.contents, target.implementation)
    return QuestionEvidence((Evidence.of("Mentions in other files", mentions[:12]),))


def _findings(question: str, findings: Sequence[Finding]) -> QuestionEvidence:
    lines, doubts = [], []
    for finding in findings:
        if finding.code.startswith(FINDINGS.get(question, ())):
            lines.append(f"{finding.code} {finding.path}: {finding.message}")
            if finding.severity is not Severity.NOTE:
                doubts.append(f"{finding.code}: {finding.message}")
    return QuestionEvidence((Evidence("Findings", tuple(lines)),) if lines else (), tuple(doubts))


_OF_IMPLEMENTATION: dict[str, Callable[[ReviewedTask, TargetUnderTest], QuestionEvidence]] = {
    "instruction": _instruction,
    "paper-section": _paper_section,
    "core": _core,
    "category": _category,
    "tests": lambda reviewed, target: evidence_of_tests(reviewed.contents, target),
    "no-leak": _mentions,
}
_OF_TASK: dict[str, Callable[[ReviewedTask], QuestionEvidence]] = {
    "paper-section": models_answers,
    "core": _paper_and_code,
    "tests": _evaluated,
    "no-leak": lambda reviewed: QuestionEvidence((evidence_of_task.nearest(reviewed.contents),)),
    "environment": lambda reviewed: evidence_of_task.environment(reviewed.task, reviewed.contents),
    "licence": lambda reviewed: evidence_of_task.licence(reviewed.task, reviewed.contents),
}

FINDINGS = {
    "instruction": ("LMR6", "LMR805", "LMR806", "LMR807"),
    "paper-section": ("LMR101", "LMR102", "LMR105", "LMR106"),
    "core": ("LMR105", "LMR106", "LMR107"),
    "category": ("LMR004",),
    "tests": ("LMR5",),
    "no-leak": ("LMR202", "LMR303", "LMR309", "LMR4"),
    "environment": ("LMR20", "LMR21"),
}
"""Question → beginnings of the codes of the checks that speak to it."""
