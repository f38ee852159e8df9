"""The evidence for each question of our checklist, and the weaknesses that a reviewer should read first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lmr_author.authoring.recording.checkers import in_numbers
from lmr_author.authoring.suggesting.paper import best_section, contradicting_category, likely_category
from lmr_author.core.paper.parts import sections
from lmr_author.core.task import Finding, Severity, Task, difficulty
from lmr_author.core.task.difficulty import Extreme
from lmr_author.core.task.evaluation import MUTANTS_DIE
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.texts import counted, listed
from lmr_author.release.review import evidence_of_task as facts
from lmr_author.release.review.checklist import CATEGORY_MEANINGS, Evidence, QuestionEvidence
from lmr_author.release.review.evidence_of_tests import evidence_of_tests
from lmr_author.release.review.instruction import gives_away, paragraphs, spelled_out
from lmr_author.release.review.under_test import ReviewedTask, TargetUnderTest, read_task

FINDINGS = {
    "instruction": ("LMR6", "LMR805", "LMR806", "LMR807"),
    "paper-section": ("LMR101", "LMR102", "LMR105", "LMR106"),
    "core": ("LMR105", "LMR106", "LMR107"),
    "category": ("LMR004",),
    "tests": ("LMR5",),
    "no-leak": ("LMR202", "LMR303", "LMR309", "LMR4"),
    "environment": ("LMR20", "LMR21"),
}
"""Question → prefixes of the codes of the checks that concern it."""
FIRST = ("no-leak", "tests", "instruction")
"""The questions whose doubts weigh most, in order."""


def evidence_of(task: Task, findings: Sequence[Finding]) -> dict[str, QuestionEvidence]:
    """Return the evidence for each question of our own checklist; ``findings`` are those of ``validate`` now."""
    return evidence_for(read_task(task), findings)


def evidence_for(reviewed: ReviewedTask, findings: Sequence[Finding]) -> dict[str, QuestionEvidence]:
    result = {}
    for question in (*_OF_IMPLEMENTATION, "environment", "licence"):
        parts = []
        if question in _OF_TASK:
            parts.append(_OF_TASK[question](reviewed))
        if question in _OF_IMPLEMENTATION:
            parts += _of_implementations(question, reviewed)
        parts.append(_findings(question, findings))
        pieces = tuple(piece for part in parts for piece in part.pieces)
        doubts = dict.fromkeys(doubt for part in parts for doubt in part.doubts)
        result[question] = QuestionEvidence(pieces, tuple(doubts))
    return result


def _of_implementations(question: str, reviewed: ReviewedTask) -> Iterator[QuestionEvidence]:
    for target in reviewed.targets:
        part = _OF_IMPLEMENTATION[question](reviewed, target)
        if len(reviewed.targets) > 1:
            name = target.implementation.qualname
            pieces = tuple(replace(piece, title=f"{name}: {piece.title}") for piece in part.pieces)
            part = QuestionEvidence(pieces, tuple(f"{name}: {doubt}" for doubt in part.doubts))
        yield part


def _instruction(reviewed: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    instruction = target.implementation.instruction
    lines = paragraphs(instruction) or ["none"]
    # An ordinary word may be a variable, too: one in backticks, or of several words, is meant as a name.
    names = {quoted or joined for quoted, joined in re.findall(r"`(\w+)`|\b(?=\w*_)(\w+)", instruction)}
    if local := names & facts.local_names(target.files):
        lines.append(f"it names variables of the golden: {', '.join(sorted(local))}")
    context, doubts = _context(reviewed, target)
    for golden in target.goldens:
        spelled, statements = spelled_out(golden, instruction)
        lines.append(f"it spells out {spelled} of {counted(statements, 'statement')} of the golden")
        if gives_away(spelled, statements):
            doubts.append(f"the instruction gives the solution away: {lines[-1]}")
    if not target.lines:
        doubts.insert(0, "the golden cannot be read")
    ledger = facts.ledger_of(reviewed.contents, target)
    pieces = (
        Evidence("Instruction", tuple(lines)),
        Evidence("Golden", code=target.lines),
        *ledger.pieces,
        _returns(target),
        Evidence.of("Context files that models see", context),
    )
    return QuestionEvidence(pieces, (*doubts, *ledger.doubts))


def _context(reviewed: ReviewedTask, target: TargetUnderTest) -> tuple[list[str], list[str]]:
    used = facts.names_used(target.files)
    mentions = facts.mentions(reviewed.contents, target.implementation)
    lines, doubts = [], []
    for path in target.implementation.retrieval_context:
        names = sorted(facts.names_in(reviewed.contents, path) & used)
        calls = [mention for mention in mentions if mention.startswith(f"{path}:")]
        if names:
            lines.append(f"{path}: the golden uses {listed(names, 8)}")
        elif calls:
            lines.append(f"{path}: mentions the function ({calls[0]})")
        else:
            lines.append(f"{path}: the golden uses nothing from it")
            doubts.append(f"the golden uses nothing from the context file {path}")
    return lines, doubts


def _returns(target: TargetUnderTest) -> Evidence:
    sentences = re.split(r"(?<=[.;:!?])\s+|\n", "\n".join(paragraphs(target.implementation.instruction)))
    said = [sentence for sentence in sentences if re.search(r"\b(?:return|yield)", sentence, re.I)]
    lines = [f"instruction: {sentence}" for sentence in said or ["no sentence about the result"]]
    returning = [f"line {line.number}: {line.text.strip()}" for line in target.lines if line.returns]
    return Evidence("Result", (*lines, *(returning or ["golden: returns nothing"])))


def _paper_section(reviewed: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    cited = target.cited
    pieces = [Evidence(f"Paper, {section.named}", prose=section.text) for section in cited.sections]
    doubts = [
        f"section {number} was not found in the PDF's text" for number in cited.absent if cited.readable
    ]
    for home in dict.fromkeys(home for _, home in cited.elsewhere):
        labels = ", ".join(label for label, section in cited.elsewhere if section == home)
        doubts.append(f"{home.named} contains {labels}, but the instruction does not name it")
    if not reviewed.pages:
        doubts.append("the paper's text cannot be read")
    elif not cited.readable:
        doubts.append("no numbered sections were found in the PDF's text")
    elif not cited.sections:
        doubts.append(
            "no section of the instruction was found" if cited.absent else "the instruction names no section"
        )
    closest = best_section(sections(reviewed.pages), target.words) if target.words else None
    if closest and closest not in cited.sections:
        doubts.append(
            f"the golden's words are closest to {closest.named}, which the instruction does not name"
        )
        pieces.append(Evidence(f"Closest to the golden's words: {closest.named}", prose=closest.text))
    pieces += facts.additions(reviewed.contents, target)
    return QuestionEvidence(tuple(pieces), tuple(doubts))


def _paper_and_code(reviewed: ReviewedTask) -> QuestionEvidence:
    abstract = facts.abstract_of(reviewed.contents.info.paper_name, reviewed.pages)
    changed = facts.changed_code(reviewed.task, reviewed.contents)
    drafted = facts.drafted(reviewed.task)
    easy = _models_answers(reviewed, Extreme.EVERY)
    pieces = (*drafted.pieces, abstract, *changed.pieces, *easy.pieces)
    return QuestionEvidence(pieces, (*drafted.doubts, *changed.doubts))


def _models_answers(reviewed: ReviewedTask, only: Extreme | None = None) -> QuestionEvidence:
    names = {target.implementation.index: target.implementation.qualname for target in reviewed.targets}
    questions = {Extreme.EVERY: "; is it too easy?", Extreme.NONE: "; is it fair?"}
    lines = []
    for target in difficulty.current(reviewed.task):
        if target.index in names and (only is None or target.extreme is only):
            question = f"; {target.extreme}{questions[target.extreme]}" if target.extreme else ""
            lines.append(f"{names[target.index]}: {target.text}{question}")
    return QuestionEvidence((Evidence("Models' answers", tuple(lines)),) if lines else ())


def _core(_: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    named = ", ".join(section.named for section in target.cited.sections) or "no section"
    line = f"{target.implementation.target}: {counted(len(target.lines), 'line')} without docstring, {named}"
    return QuestionEvidence((Evidence("Masked function", (line,)),))


def _category(_: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    name, words = target.implementation.category, target.words
    lines = [f"{name or 'none'}: {CATEGORY_MEANINGS.get(name, 'not one of the nine')}"]
    doubts = []
    if name not in CATEGORY_MEANINGS:
        doubts.append("the category is not one of the nine")
    elif words and (other := contradicting_category(words, name)):
        doubts.append(f"the function's words suggest {other}, not {name}")
    likely = likely_category(words) if words else ""
    if likely and likely != name:
        lines.append(f"closer by its words: {likely}, {CATEGORY_MEANINGS[likely]}")
    task = re.split(r"(?<=[.;])\s|\n", "\n".join(paragraphs(target.implementation.instruction)))[0]
    pieces = Evidence("Category", tuple(lines)), Evidence("The function", (task,))
    return QuestionEvidence(pieces, tuple(doubts))


def _evaluated(reviewed: ReviewedTask) -> QuestionEvidence:
    doubts = {
        "none": ("the tests were never evaluated",),
        "stale": ("the task changed after its evaluation",),
    }
    return QuestionEvidence((), doubts.get(reviewed.evaluation, ()))


def _mentions(reviewed: ReviewedTask, target: TargetUnderTest) -> QuestionEvidence:
    mentions = facts.mentions(reviewed.contents, target.implementation)
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
    "paper-section": _models_answers,
    "core": _paper_and_code,
    "tests": _evaluated,
    "no-leak": lambda reviewed: QuestionEvidence((facts.nearest(reviewed.contents),)),
    "environment": lambda reviewed: facts.environment(reviewed.task, reviewed.contents, reviewed.proof),
    "licence": lambda reviewed: facts.licence(reviewed.task, reviewed.contents),
}


@dataclass(frozen=True)
class Weakness:
    """A fact in a sentence, with the id of its place on the page and the question that it affects."""

    text: str
    place: str
    question: str


def weaknesses(reviewed: ReviewedTask, evidence: Mapping[str, QuestionEvidence]) -> tuple[Weakness, ...]:
    """Return the reasons why evidence is weak, leaks first, then other facts worth knowing."""
    order = [*FIRST, *(question for question in evidence if question not in FIRST)]
    weak = [
        Weakness(doubt, f"review-{question}", question)
        for question in order
        if question in evidence
        for doubt in evidence[question].doubts
    ]
    for target in reviewed.targets:
        name = f"{target.implementation.qualname}: " if len(reviewed.targets) > 1 else ""
        weak += (replace(remark, text=f"{name}{remark.text}") for remark in _remarks(reviewed, target))
    return tuple(weak)


def _remarks(reviewed: ReviewedTask, target: TargetUnderTest) -> Iterator[Weakness]:
    index = target.implementation.index
    score = target.mutants.score if target.mutants else MutationScore()
    gate = f"gate-{index}-{MUTANTS_DIE}"
    if score.open:
        text = f"{counted(score.open, 'mutant')} of {score.made} neither killed nor accepted"
        yield Weakness(text, gate, "tests")
    if score.indistinguishable:
        same = counted(score.indistinguishable, "mutant")
        yield Weakness(
            f"{same} of {score.made} indistinguishable from the golden on every generated call", gate, "tests"
        )
    numeric = [part for part in target.compared if part.tolerance]
    if numeric and not any(part.is_weak for part in target.compared):
        widest = max(numeric, key=lambda part: part.tolerance or (0.0, 0.0))
        text = f"the widest tolerance is {in_numbers(widest.tolerance)}, for {widest.named}"
        yield Weakness(text, f"cases-{index}", "tests")
    entries = facts.ledger_entries(reviewed.contents, index)
    deviations = [
        judged.entry for judged in entries if judged.entry.relation == "deviates" and not judged.entry.waived
    ]
    if deviations:
        places = ", ".join(facts.lines_of(entry) for entry in deviations)
        text = f"the code deviates from the paper in {counted(len(deviations), 'place')}: {places}"
        yield Weakness(f"{text}; the task says so", "passages", "instruction")
