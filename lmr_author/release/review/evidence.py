"""The evidence beside each question of our checklist: facts of the task, and the reasons why they are weak."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from lmr_author.authoring.suggesting.sections import Section, best_section, likely_category, sections
from lmr_author.core.task import Finding, Severity, Task
from lmr_author.core.texts import counted, listed
from lmr_author.proof.lookup import canonical_category
from lmr_author.release.review import surroundings
from lmr_author.release.review.checklist import CATEGORY_MEANINGS
from lmr_author.release.review.exhibits import Exhibit, QuestionEvidence
from lmr_author.release.review.subject import ReviewedTask, Subject, read_task
from lmr_author.release.review.tested import evidence_of_tests


def evidence_of(task: Task, findings: Sequence[Finding]) -> dict[str, QuestionEvidence]:
    """Return the evidence for each question of our own checklist.

    Args:
        findings: findings of ``validate`` now.
    """
    reviewed = read_task(task)
    result = {}
    for name in (*_OF_IMPLEMENTATION, "environment", "licence"):
        parts = [_OF_TASK[name](reviewed)] if name in _OF_TASK else []
        for subject in reviewed.subjects if name in _OF_IMPLEMENTATION else ():
            about = subject.item.qualname if len(reviewed.subjects) > 1 else ""
            parts.append(_about(_OF_IMPLEMENTATION[name](reviewed, subject), about))
        result[name] = _together([*parts, _findings(name, findings)])
    return result


def _about(evidence: QuestionEvidence, name: str) -> QuestionEvidence:
    """Name the implementation, in a task of several."""
    if not name:
        return evidence
    exhibits = tuple(replace(one, title=f"{name}: {one.title}") for one in evidence.exhibits)
    return QuestionEvidence(exhibits, tuple(f"{name}: {doubt}" for doubt in evidence.doubts))


def _together(parts: Iterable[QuestionEvidence]) -> QuestionEvidence:
    parts = list(parts)
    return QuestionEvidence(
        tuple(one for part in parts for one in part.exhibits),
        tuple(dict.fromkeys(doubt for part in parts for doubt in part.doubts)),
    )


def _instruction(reviewed: ReviewedTask, subject: Subject) -> QuestionEvidence:
    doubts = [] if subject.lines else ["the golden cannot be read"]
    # An ordinary word may be a variable, too: one in backticks, or of several words, is meant as a name.
    names = set(re.findall(r"`(\w+)`|\b(?=\w*_)(\w+)", subject.item.instruction))
    local = surroundings.local_names(subject.files) & {quoted or joined for quoted, joined in names}
    remark = [f"it names variables of the golden: {', '.join(sorted(local))}"] if local else []
    callers = surroundings.mentions(reviewed.view, subject.item)
    context = []
    for path in subject.item.retrieval_context:
        used = surroundings.names_in(reviewed.view, path) & surroundings.names_used(subject.files)
        calls = [place for place in callers if place.startswith(f"{path}:")]
        relation = f"the golden uses {listed(sorted(used), 8)}" if used else ""
        relation = relation or (
            f"mentions the function ({calls[0]})" if calls else "the golden uses nothing of it"
        )
        context.append(f"{path}: {relation}")
        doubts += [] if used or calls else [f"the golden uses nothing of the context file {path}"]
    return QuestionEvidence(
        (
            Exhibit("Instruction", (subject.item.instruction or "none", *remark)),
            Exhibit("Golden", code=subject.lines),
            _returns(subject),
            Exhibit("Context files that models see", tuple(context) or ("none",)),
        ),
        tuple(doubts),
    )


def _returns(subject: Subject) -> Exhibit:
    """Return what the instruction says of the result, beside what the golden returns."""
    sentences = re.split(r"(?<=[.;:!?])\s+", subject.item.instruction)
    named = [f"instruction: {text}" for text in sentences if re.search(r"\b(?:return|yield)", text, re.I)]
    given = [f"line {line.number}: {line.text.strip()}" for line in subject.lines if line.returns]
    return Exhibit(
        "Result",
        (
            *(named or ["instruction: it does not name the result"]),
            *(given or ["golden: it returns nothing"]),
        ),
    )


def _paper_section(reviewed: ReviewedTask, subject: Subject) -> QuestionEvidence:
    cited = subject.cited
    exhibits = [Exhibit(f"Paper, {one.named}", prose=one.text) for one in cited.sections]
    doubts = [f"the paper has no section {number}" for number in cited.absent if cited.readable]
    for home in dict.fromkeys(home for _, home in cited.elsewhere):
        labels = ", ".join(label for label, section in cited.elsewhere if section == home)
        doubts.append(f"{home.named} has {labels}, and is not named")
    if not cited.sections:
        doubts.append(_why_none(reviewed, subject))
    closest = _closest_section(reviewed, subject)
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


def _closest_section(reviewed: ReviewedTask, subject: Subject) -> Section | None:
    known = sections(reviewed.pages)
    return best_section(known, subject.words) if known and subject.words else None


def _abstract(reviewed: ReviewedTask) -> QuestionEvidence:
    return QuestionEvidence((surroundings.abstract_of(reviewed.view.info.paper_name, reviewed.pages),))


def _core(reviewed: ReviewedTask, subject: Subject) -> QuestionEvidence:
    named = ", ".join(section.named for section in subject.cited.sections) or "no section"
    places = surroundings.mentions(reviewed.view, subject.item)
    lines = (
        f"{subject.item.target}: {counted(len(subject.lines), 'line')} without docstring, {named}",
        f"mentioned in: {listed(places, 6)}" if places else "no other file mentions it",
    )
    return QuestionEvidence((Exhibit("Masked function", lines),))


def _category(_: ReviewedTask, subject: Subject) -> QuestionEvidence:
    name = canonical_category(subject.item.category) or ""
    lines = [f"{name or subject.item.category or 'none'}: {CATEGORY_MEANINGS.get(name, 'none of the nine')}"]
    likely = likely_category(subject.words) if subject.words else ""
    if likely and likely != name:
        lines.append(f"by its words rather {likely}: {CATEGORY_MEANINGS[likely]}")
    task = re.split(r"(?<=[.;])\s", subject.item.instruction)[0]
    exhibits = Exhibit("Category", tuple(lines)), Exhibit("The function", (task,))
    return QuestionEvidence(exhibits, () if name else ("the category is none of the nine",))


def _evaluated(reviewed: ReviewedTask) -> QuestionEvidence:
    doubts = {"none": "the tests were never evaluated", "stale": "the task changed after its evaluation"}
    doubt = doubts.get(reviewed.evaluation)
    return QuestionEvidence((), (doubt,) if doubt else ())


def _mentions(reviewed: ReviewedTask, subject: Subject) -> QuestionEvidence:
    places = surroundings.mentions(reviewed.view, subject.item)
    return QuestionEvidence((Exhibit("Mentions in other files", places[:12] or ("none",)),))


def _findings(name: str, findings: Sequence[Finding]) -> QuestionEvidence:
    own = [one for one in findings if name in FINDINGS and one.code.startswith(FINDINGS[name])]
    lines = tuple(f"{one.code} {one.path}: {one.message}" for one in own)
    doubts = tuple(f"{one.code}: {one.message}" for one in own if one.severity is not Severity.NOTE)
    return QuestionEvidence((Exhibit("Findings", lines),) if lines else (), doubts)


_OF_IMPLEMENTATION: dict[str, Callable[[ReviewedTask, Subject], QuestionEvidence]] = {
    "instruction": _instruction,
    "paper-section": _paper_section,
    "core": _core,
    "category": _category,
    "tests": lambda reviewed, subject: evidence_of_tests(reviewed.view, subject),
    "no-leak": _mentions,
}
_OF_TASK: dict[str, Callable[[ReviewedTask], QuestionEvidence]] = {
    "core": _abstract,
    "tests": _evaluated,
    "no-leak": lambda reviewed: QuestionEvidence((surroundings.nearest(reviewed.view),)),
    "environment": lambda reviewed: surroundings.environment(reviewed.task, reviewed.view),
    "licence": lambda reviewed: surroundings.licence(reviewed.task, reviewed.view),
}

FINDINGS = {
    "instruction": ("LMR6",),
    "paper-section": ("LMR101", "LMR102"),
    "category": ("LMR004",),
    "tests": ("LMR5",),
    "no-leak": ("LMR202", "LMR303", "LMR309", "LMR4"),
    "environment": ("LMR20", "LMR21"),
}
"""Question → beginnings of the codes of the checks that speak to it."""
