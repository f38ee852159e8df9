"""LMR805 to LMR807: the ledger, checked against the task's current paper, golden, instruction and recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.core.code import first_line
from lmr_author.core.errors import LmrError
from lmr_author.core.paper.parts import missing_parts, named_parts
from lmr_author.core.paper.quotes import QuotableText
from lmr_author.core.task import AUTHORING, Implementation
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.ledger import TOLD, Flaw, Ledger, LedgerEntry, refuse
from lmr_author.core.texts import listed
from lmr_author.proof.checks.base import Problem, check
from lmr_author.proof.checks.paper import paper_pages
from lmr_author.proof.contents import TaskContents, once, read_json
from lmr_author.proof.targets import pair
from lmr_author.runtime.probe.compare import CHOSEN

_IN_PAPER, _IN_CODE = ("quote", "where"), ("lines", "index")
"""Fields with a check of their own; all other flaws concern how a deviation is disclosed."""


@dataclass(frozen=True)
class JudgedEntry:
    """An entry of the ledger, checked against the current task; its page is the quotation's current one.

    Attributes:
        flaws: its errors; a false quotation has page 0.
    """

    number: int
    entry: LedgerEntry
    flaws: tuple[Flaw, ...] = ()

    @property
    def is_misplaced(self) -> bool:
        return any(flaw.field in _IN_CODE for flaw in self.flaws)


def judge(task: TaskContents, ledger: Ledger) -> list[JudgedEntry]:
    named = "\n".join(entry.where for entry in ledger.entries)
    missing = missing_parts(named, paper_pages(task))
    judged = []
    for number, entry in enumerate(ledger.entries):
        page = _paper(task).page_of(entry.quote) if entry.quote else None
        flaws = [*entry.flaws(), *_flaws_in_code(task, entry)]
        if entry.quote and page is None:
            hint = _paper(task).nearest(entry.quote) or "copy the words from paper.json"
            flaws.append(Flaw("quote", "is not in the paper", hint))
        for part in named_parts(entry.where):
            if part in missing:
                flaws.append(
                    Flaw("where", f"the paper has no {part}", "name the part by its number in paper.pdf")
                )
        judged.append(JudgedEntry(number, replace(entry, page=page or 0), tuple(flaws)))
    return judged


@once
def judged_entries(task: TaskContents) -> list[JudgedEntry]:
    """Judge a task's stored ledger; empty if it is missing or unreadable."""
    try:
        stored = Ledger.from_json(read_json(task.read_bytes(task.task.root / AUTHORING / "ledger.json")))
    except LmrError:  # LMR802
        return []
    return judge(task, stored)


def require_true(task: TaskContents, ledger: Ledger, file: Path | str) -> Ledger:
    """Return a ledger with the pages of its quotations. Raises FieldError for its flaws, by entry and field."""
    judged = judge(task, ledger)
    refuse(file, [(entry.number, flaw) for entry in judged for flaw in entry.flaws])
    return replace(ledger, entries=tuple(each.entry for each in judged))


@once
def _paper(task: TaskContents) -> QuotableText:
    return QuotableText(paper_pages(task))


def _flaws_in_code(task: TaskContents, entry: LedgerEntry) -> Iterator[Flaw]:
    target = next((each for each in task.implementations if each.index == entry.index), None)
    if target is None:
        numbers = ", ".join(str(each.index) for each in task.implementations) or "none"
        yield Flaw("index", f"the task has no target {entry.index}", f"it has: {numbers}")
        return
    spans = []
    for both in pair(task, target).targets:
        if both.golden:
            spans.append(range(first_line(both.golden.node), both.golden.end_line + 1))
    if not any(entry.span and entry.span[0] in span and entry.span[-1] in span for span in spans):
        lines = " and ".join(f"{span[0]}-{span[-1]}" for span in spans)
        hint = f"the target is at lines {lines}" if lines else "the golden lacks the target: see LMR302"
        yield Flaw("lines", f"{entry.lines} is not within {target.qualname} in {target.golden_file}", hint)
    if entry.instruction and QuotableText({1: target.instruction}).page_of(entry.instruction) is None:
        hint = "describe the deviation in the instruction, or quote the words that do"
        yield Flaw("instruction", "is not in the target's instruction", hint)
    if entry.check and entry.check not in (chosen := _chosen(task, target)):
        hint = f"the recording has: {listed(chosen, 8)}" if chosen else "record again with --check PATH=KIND"
        yield Flaw("check", f"no case compares {entry.check!r:.80} as chosen with `record --check`", hint)


@once
def _chosen(task: TaskContents, target: Implementation) -> list[str]:
    try:
        recording = recorded.load(task.task.recording(task.info, target.index))
    except LmrError:  # damaged, which other checks report
        return []
    checkers = [item for case in recording.cases for item in case.checkers.items()] if recording else []
    return list(dict.fromkeys(path for path, checker in checkers if checker.get("reason") == CHOSEN))


def _problems(task: TaskContents, names: tuple[str, ...]) -> Iterator[Problem]:
    targets = {each.index: each for each in task.implementations}
    for judged in judged_entries(task):
        for flaw in judged.flaws:
            if flaw.field in names:
                message = f"entry {judged.number + 1}: {flaw.field or judged.entry.relation}: {flaw.message}"
                pointer = f"/entries/{judged.number}/{flaw.field}".rstrip("/")
                path = task.task.root / AUTHORING / "ledger.json"
                yield Problem(message, flaw.hint, path, 0, pointer, targets.get(judged.entry.index))


@check(
    "LMR805",
    "the ledger contains a false quotation",
    rationale="The ledger (authoring/ledger.json) shows reviewers the paper beside the code. They do not check every"
    " quotation, so a false one makes a false claim look proven.",
)
def quotations(task: TaskContents) -> Iterator[Problem]:
    yield from _problems(task, _IN_PAPER)


@check(
    "LMR806",
    "the ledger names lines that are not the target's",
    rationale="If the golden changes, its lines move, and the ledger shows the wrong code beside the quotation.",
)
def lines(task: TaskContents) -> Iterator[Problem]:
    yield from _problems(task, _IN_CODE)


@check(
    "LMR807",
    "a deviation from the paper is not disclosed",
    rationale="A solver who follows the paper where the golden deviates from it fails the test. The instruction must"
    " disclose the deviation, or `record --check` must compare that part differently, or a note must explain why"
    " neither is needed.",
)
def deviations(task: TaskContents) -> Iterator[Problem]:
    yield from _problems(task, (*TOLD, "note", ""))
