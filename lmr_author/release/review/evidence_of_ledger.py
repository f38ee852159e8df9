"""The ledger as evidence: passages of the paper beside lines of the golden; what is not as in the paper comes first."""

from __future__ import annotations

from lmr_author.core.task.ledger import LedgerEntry
from lmr_author.proof.checks.ledger import JudgedEntry, judged_entries
from lmr_author.proof.contents import TaskContents
from lmr_author.release.review.evidence import CodeLine, Evidence, QuestionEvidence
from lmr_author.release.review.under_test import TargetUnderTest

ORDER = ("adds", "deviates", "implements")
MOST = 20
"""Entries that a screen takes."""


def ordered(contents: TaskContents) -> list[JudgedEntry]:
    """Return the entries of a task's ledger, those first that are not as in the paper."""
    return sorted(judged_entries(contents), key=lambda judged: ORDER.index(judged.entry.relation))


def beside(contents: TaskContents, target: TargetUnderTest) -> QuestionEvidence:
    """Return every entry about a target with its words, its lines, and how it is told."""
    own = [each for each in ordered(contents) if each.entry.index == target.implementation.index]
    pieces = [_piece(target, judged) for judged in own[:MOST]]
    if own[MOST:]:
        pieces.append(Evidence(f"{len(own) - MOST} more passages of the ledger are on the page"))
    waived = [each.entry for each in own if each.entry.waived]
    doubts = (
        f"the instruction does not tell that {place(one)} deviate from the paper: {one.waived}"
        for one in waived
    )
    return QuestionEvidence(tuple(pieces), tuple(doubts))


def added(contents: TaskContents, target: TargetUnderTest) -> tuple[Evidence, ...]:
    """Return what the golden does that the paper does not say."""
    own = [each.entry for each in ordered(contents) if each.entry.index == target.implementation.index]
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
    return Evidence(f"{entry.relation}: {passage(entry)}", tuple(facts), code=code)


def place(entry: LedgerEntry) -> str:
    """Return the lines of an entry in words."""
    return f"line{'s' if '-' in entry.lines else ''} {entry.lines}"


def passage(entry: LedgerEntry) -> str:
    """Return where an entry is, in the paper and in the golden."""
    page = f"page {entry.page}" if entry.page else ""
    return ", ".join(filter(None, (entry.where, page, place(entry))))


def told_in_words(entry: LedgerEntry) -> str:
    """Return how a deviation is told; "" for what is none."""
    if entry.instruction:
        return f"the instruction says: “{entry.instruction}”"
    if entry.check:
        return f"the tests compare {entry.check} as the annotator chose"
    return f"told nowhere: {entry.waived}" if entry.waived else ""
