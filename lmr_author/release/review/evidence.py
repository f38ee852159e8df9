"""The evidence beside each question of our checklist: facts of the task, and the reasons why they are weak."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from lmr_author.authoring.suggesting.sections import best_section, contradicting_category, likely_category
from lmr_author.core.paper.sections import sections
from lmr_author.core.task import Finding, Severity, Task
from lmr_author.core.texts import counted, listed
from lmr_author.proof.lookup import canonical_category
from lmr_author.release.review import surroundings
from lmr_author.release.review.checklist import CATEGORY_MEANINGS
from lmr_author.release.review.exhibits import Exhibit, QuestionEvidence
from lmr_author.release.review.spelled_out import spelled_out
from lmr_author.release.review.subject import ReviewedTask, Subject, read_task
from lmr_author.release.review.tested import evidence_of_tests


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
    parts = [_OF_IMPLEMENTATION[question](reviewed, subject) for subject in reviewed.subjects]
    if len(parts) == 1:
        return parts
    named = []
    for subject, part in zip(reviewed.subjects, parts, strict=True):
        name = subject.implementation.qualname
        exhibits = tuple(replace(exhibit, title=f"{name}: {exhibit.title}") for exhibit in part.exhibits)
        named.append(QuestionEvidence(exhibits, tuple(f"{name}: {doubt}" for doubt in part.doubts)))
    return named


def _together(parts: Sequence[QuestionEvidence]) -> QuestionEvidence:
    exhibits: list[Exhibit] = []
    doubts: list[str] = []
    for part in parts:
        exhibits += part.exhibits
        doubts += part.doubts
    return QuestionEvidence(tuple(exhibits), tuple(dict.fromkeys(doubts)))


def _instruction(reviewed: ReviewedTask, subject: Subject) -> QuestionEvidence:
    instruction = subject.implementation.instruction
    lines = [instruction or "none"]
    # An ordinary word may be a variable, too: one in backticks, or of several words, is meant as a name.
    names = {quoted or joined for quoted, joined in re.findall(r"`(\w+)`|\b(?=\w*_)(\w+)", instruction)}
    if local := names & surroundings.local_names(subject.files):
        lines.append(f"it names variables of the golden: {', '.join(sorted(local))}")
    context, doubts = _context(reviewed, subject)
    for golden in subject.goldens:
        spelled = spelled_out(golden, instruction)
        lines.append(
            f"it spells out {spelled.statements} of {counted(spelled.of, 'statement')} of the golden"
        )
        if spelled.gives_away:
            doubts.append(f"the instruction gives the solution away: {lines[-1]}")
    if not subject.lines:
        doubts.insert(0, "the golden cannot be read")
    return QuestionEvidence(
        (
            Exhibit("Instruction", tuple(lines)),
            Exhibit("Golden", code=subject.lines),
            _returns(subject),
            Exhibit.of("Context files that models see", context),
        ),
        tuple(doubts),
    )


def _context(reviewed: ReviewedTask, subject: Subject) -> tuple[list[str], list[str]]:
    used = surroundings.names_used(subject.files)
    mentions = surroundings.mentions(reviewed.view, subject.implementation)
    lines, doubts = [], []
    for path in subject.implementation.retrieval_context:
        names = sorted(surroundings.names_in(reviewed.view, path) & used)
        calls = [mention for mention in mentions if mention.startswith(f"{path}:")]
        if names:
            lines.append(f"{path}: the golden uses {listed(names, 8)}")
        elif calls:
            lines.append(f"{path}: mentions the function ({calls[0]})")
        else:
            lines.append(f"{path}: the golden uses nothing of it")
            doubts.append(f"the golden uses nothing of the context file {path}")
    return lines, doubts


def _returns(subject: Subject) -> Exhibit:
    lines = []
    for sentence in re.split(r"(?<=[.;:!?])\s+", subject.implementation.instruction):
        if re.search(r"\b(?:return|yield)", sentence, re.I):
            lines.append(f"instruction: {sentence}")
    if not lines:
        lines.append("instruction: it does not name the result")
    returning = [line for line in subject.lines if line.returns]
    lines += [f"line {line.number}: {line.text.strip()}" for line in returning]
    if not returning:
        lines.append("golden: it returns nothing")
    return Exhibit("Result", tuple(lines))


def _paper_section(reviewed: ReviewedTask, subject: Subject) -> QuestionEvidence:
    cited = subject.cited
    exhibits = [Exhibit(f"Paper, {section.named}", prose=section.text) for section in cited.sections]
    doubts = [f"the paper has no section {number}" for number in cited.absent if cited.readable]
    for home in dict.fromkeys(home for _, home in cited.elsewhere):
        labels = ", ".join(label for label, section in cited.elsewhere if section == home)
        doubts.append(f"{home.named} has {labels}, and is not named")
    if not cited.sections:
        doubts.append(_why_none(reviewed, subject))
    closest = best_section(sections(reviewed.pages), subject.words) if subject.words else None
    if closest and closest not in cited.sections:
        doubts.append(f"by its words the golden belongs to {closest.named}, which is not named")
        exhibits.append(Exhibit(f"Closest to the golden's words: {closest.named}", prose=closest.text))
    return QuestionEvidence(tuple(exhibits), tuple(doubts))


def _why_none(reviewed: ReviewedTask, subject: Subject) -> str:
    if not reviewed.pages:
        return "the paper's text cannot be read"
    if not subject.cited.readable:
        return "no numbered section was found in the paper's text"
    return "no section found" if subject.cited.absent else "the instruction names no section"


def _paper_and_code(reviewed: ReviewedTask) -> QuestionEvidence:
    abstract = surroundings.abstract_of(reviewed.view.info.paper_name, reviewed.pages)
    changed = surroundings.changed_code(reviewed.task, reviewed.view)
    return QuestionEvidence((abstract, *changed.exhibits), changed.doubts)


def _core(_: ReviewedTask, subject: Subject) -> QuestionEvidence:
    named = ", ".join(section.named for section in subject.cited.sections) or "no section"
    line = (
        f"{subject.implementation.target}: {counted(len(subject.lines), 'line')} without docstring, {named}"
    )
    return QuestionEvidence((Exhibit("Masked function", (line,)),))


def _category(_: ReviewedTask, subject: Subject) -> QuestionEvidence:
    name = canonical_category(subject.implementation.category) or ""
    lines = [
        f"{name or subject.implementation.category or 'none'}: {CATEGORY_MEANINGS.get(name, 'none of the nine')}"
    ]
    likely = likely_category(subject.words) if subject.words else ""
    doubts = [] if name else ["the category is none of the nine"]
    if name and subject.words and (other := contradicting_category(subject.words, name)):
        doubts.append(f"by its words the function belongs to {other}, not {name}")
    if likely and likely != name:
        lines.append(f"by its words rather {likely}: {CATEGORY_MEANINGS[likely]}")
    task = re.split(r"(?<=[.;])\s", subject.implementation.instruction)[0]
    exhibits = Exhibit("Category", tuple(lines)), Exhibit("The function", (task,))
    return QuestionEvidence(exhibits, tuple(doubts))


def _evaluated(reviewed: ReviewedTask) -> QuestionEvidence:
    doubts = {
        "none": ("the tests were never evaluated",),
        "stale": ("the task changed after its evaluation",),
    }
    return QuestionEvidence((), doubts.get(reviewed.evaluation, ()))


def _mentions(reviewed: ReviewedTask, subject: Subject) -> QuestionEvidence:
    mentions = surroundings.mentions(reviewed.view, subject.implementation)
    return QuestionEvidence((Exhibit.of("Mentions in other files", mentions[:12]),))


def _findings(question: str, findings: Sequence[Finding]) -> QuestionEvidence:
    lines, doubts = [], []
    for finding in findings:
        if finding.code.startswith(FINDINGS.get(question, ())):
            lines.append(f"{finding.code} {finding.path}: {finding.message}")
            if finding.severity is not Severity.NOTE:
                doubts.append(f"{finding.code}: {finding.message}")
    return QuestionEvidence((Exhibit("Findings", tuple(lines)),) if lines else (), tuple(doubts))


_OF_IMPLEMENTATION: dict[str, Callable[[ReviewedTask, Subject], QuestionEvidence]] = {
    "instruction": _instruction,
    "paper-section": _paper_section,
    "core": _core,
    "category": _category,
    "tests": lambda reviewed, subject: evidence_of_tests(reviewed.view, subject),
    "no-leak": _mentions,
}
_OF_TASK: dict[str, Callable[[ReviewedTask], QuestionEvidence]] = {
    "core": _paper_and_code,
    "tests": _evaluated,
    "no-leak": lambda reviewed: QuestionEvidence((surroundings.nearest(reviewed.view),)),
    "environment": lambda reviewed: surroundings.environment(reviewed.task, reviewed.view),
    "licence": lambda reviewed: surroundings.licence(reviewed.task, reviewed.view),
}

FINDINGS = {
    "instruction": ("LMR6",),
    "paper-section": ("LMR101", "LMR102", "LMR105", "LMR106"),
    "core": ("LMR105", "LMR106", "LMR107"),
    "category": ("LMR004",),
    "tests": ("LMR5",),
    "no-leak": ("LMR202", "LMR303", "LMR309", "LMR4"),
    "environment": ("LMR20", "LMR21"),
}
"""Question → beginnings of the codes of the checks that speak to it."""
