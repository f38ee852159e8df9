"""The ledger as evidence: passages of the paper beside lines of the golden; what is not as in the paper comes first."""

from __future__ import annotations

from lmr_author.core.task.ledger import LedgerEntry
from lmr_author.proof.checks.ledger import JudgedEntry, judged_entries
from lmr_author.proof.contents import TaskContents
from lmr_author.release.review.evidence import CodeLine, Evidence, QuestionEvidence
from lmr_author.release.review.under_test import TargetUnderTest

ORDER = ("adds", "deviates", "implements")


def ordered(contents: TaskContents) -> list[JudgedEntry]:
    """Return the entries of a task's ledger, those first that are not as in the paper."""
    return sorted(judged_entries(contents), key=lambda judged: ORDER.index(judged.entry.relation))


def entries_of(contents: TaskContents, index: int) -> list[JudgedEntry]:
    """Return those that are about one target."""
    return [judged for judged in ordered(contents) if judged.entry.index == index]


def beside(contents: TaskContents, target: TargetUnderTest) -> QuestionEvidence:
    """Return every entry about a target with its words, its lines, and how it is told."""
    own = entries_of(contents, target.implementation.index)
    waived = [judged.entry for judged in own if judged.entry.waived and judged.entry.relation == "deviates"]
    doubts = [f"a deviation from the paper is waived, {place(entry)}: {entry.waived}" for entry in waived]
    return QuestionEvidence(tuple(_piece(target, judged) for judged in own), tuple(doubts))


def added(contents: TaskContents, target: TargetUnderTest) -> tuple[Evidence, ...]:
    """Return what the golden does that the paper does not say."""
    own = [judged.entry for judged in entries_of(contents, target.implementation.index)]
    lines = tuple(f"{place(entry)}: {entry.note}" for entry in own if entry.relation == "adds")
    return (Evidence("Not in the paper, by the ledger", lines),) if lines else ()


def _piece(target: TargetUnderTest, judged: JudgedEntry) -> Evidence:
    entry, golden = judged.entry, target.files.golden
    facts = [f"“{entry.quote}”"] if entry.quote else []
    facts += [entry.note] if entry.note else []
    facts += [told] if (told := told_in_words(entry)) else []
    facts += [f"does not hold: {flaw.field}: {flaw.message}" for flaw in judged.flaws]
    code: tuple[CodeLine, ...] = ()
    if golden and not judged.is_misplaced:
        code = tuple(CodeLine(number, golden.line_text(number).rstrip()) for number in entry.span)
    title = ", ".join(filter(None, (in_paper(entry), place(entry))))
    return Evidence(f"{entry.relation}: {title}", tuple(facts), code=code)


def in_paper(entry: LedgerEntry) -> str:
    return ", ".join(filter(None, (entry.where, f"page {entry.page}" if entry.page else "")))


def place(entry: LedgerEntry) -> str:
    return f"line{'s' if '-' in entry.lines else ''} {entry.lines}"


def told_in_words(entry: LedgerEntry) -> str:
    """Return how a deviation is told; "" for what is none."""
    if entry.instruction:
        return f"the instruction says: “{entry.instruction}”"
    if entry.check:
        return f"the tests compare {entry.check} as the annotator chose"
    return f"told nowhere: {entry.waived}" if entry.waived else ""
