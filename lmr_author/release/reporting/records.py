"""The records of a task as its page shows them: environment, reviews, history, and the ledger beside the code."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Evaluation, Task, TaskInfo, accepted, provenance
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.equivalents import EquivalentMutants
from lmr_author.core.task.folder import reviewed_digest
from lmr_author.core.task.ledger import Flaw, LedgerEntry
from lmr_author.core.task.reviews import Review
from lmr_author.core.texts import counted
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.targets import pair
from lmr_author.release.reporting.page import CodeBlock
from lmr_author.release.review.evidence_of_task import disclosure, ledger_entries, ordered
from lmr_author.release.review.review import result_of
from lmr_author.release.review.review_status import load_reviews

History = tuple[tuple[str, str], ...]
"""Time (RFC 3339) and event, in order of time."""


def environment(task: Task, evaluation: Evaluation | None) -> tuple[tuple[str, str], ...]:
    facts: list[tuple[str, str]] = []
    if evaluation:
        used = evaluation.sandbox.to_json()
        facts += [(name.replace("_", " "), value) for name, value in used.items() if name != "packages"]
    base = provenance.load(task).environment.base_image
    if base.reference:
        facts.append(("the Dockerfile's base image", f"{base.reference} ({base.reason})"))
    if evaluation:
        facts.append(("evaluated", f"{evaluation.started}, {evaluation.seconds:.0f} s"))
    return tuple(facts)


@dataclass(frozen=True)
class ReviewView:
    """Reviews as a report may show them: answers once all are in, disputed questions first."""

    note: str
    stored: Sequence[tuple[Review, bool]] = ()
    open: bool = False
    rows: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    agreement: Sequence[tuple[str, str]] = ()


def reviews(task: Task) -> ReviewView:
    digest = reviewed_digest(task)
    try:
        result = result_of(task)
    except LmrError as error:
        return ReviewView(error.message)
    status = result.status
    notes = [status.state]
    if status.missing:
        notes = [f"{status.state}: {counted(status.missing, 'more review')} needed"]
    if status.disputes:
        notes.append("disputed: " + ", ".join(dispute.item for dispute in status.disputes))
    for decision in status.decisions:
        notes.append(f"{decision.item}: {decision.answer}, decided by {decision.by}: {decision.reason}")
    stored = [(review, review.content_digest == digest) for review in load_reviews(task)]
    current = [review for review, is_current in stored if is_current]
    rows = _answers(current) if status.open else []
    agreement, measures = result.agreement, list[tuple[str, str]]()
    if agreement is not None and agreement.percent is not None:
        measures = [("Pairs that agree", f"{agreement.percent:.0%}"), *agreement.coefficients]
    return ReviewView("; ".join(notes), stored, status.open, rows, measures)


def _answers(current: Sequence[Review]) -> list[tuple[str, Sequence[tuple[str, str]]]]:
    by_reviewer = []
    questions: dict[str, None] = {}
    for review in current:
        answers = {entry.question: (entry.answer, entry.comment or entry.evidence) for entry in review.items}
        by_reviewer.append(answers)
        questions |= dict.fromkeys(answers)
    rows = [(name, [answers.get(name, ("–", "")) for answers in by_reviewer]) for name in questions]
    return sorted(rows, key=lambda row: len({answer for answer, _ in row[1]}) == 1)


def history(task: Task, info: TaskInfo, evaluation: Evaluation | None) -> History:
    origin = provenance.load(task)
    events = [
        (origin.repository.commit_date, f"commit {info.repo_commit[:12]}" if info.repo_commit else "code"),
        (origin.created, "task created"),
        *_recorded(task, info),
    ]
    if evaluation:
        outcome = "every gate passed" if evaluation.passed else evaluation.open_gates
        place = evaluation.place.removeprefix("the ")
        events.append((evaluation.started, f"evaluated, {place}: {outcome}"))
    for review in load_reviews(task):
        events.append((review.created, f"reviewed by {review.reviewer}"))
    for finding in accepted.load(task):
        events.append((finding.date, f"finding {finding.code} accepted: {finding.reason}"))
    equivalent = EquivalentMutants.read_if_valid(task.equivalent_mutants_path)
    for mutant in equivalent.accepted if equivalent else ():
        events.append((mutant.date, f"mutant {mutant.id} accepted: {mutant.reason}"))
    return tuple(sorted((event for event in events if event[0]), key=lambda event: event[0]))


def _recorded(task: Task, info: TaskInfo) -> Iterator[tuple[str, str]]:
    for implementation in info.implementations:
        try:
            recording = recorded.load(task.recording(info, implementation.index))
        except LmrError:
            continue
        if recording is not None:
            cases = counted(len(recording.cases), "case")
            yield recording.created, f"{implementation.target} recorded: {cases}"


@dataclass(frozen=True)
class PassageView:
    """An entry of the ledger; ``number`` counts from 1, as its finding and its anchor do.

    ``code`` is None if its lines are not the target's; ``page`` is the id of its page's picture.
    """

    number: int
    entry: LedgerEntry
    told: str
    flaws: tuple[Flaw, ...]
    code: CodeBlock | None
    page: str

    @property
    def line(self) -> str:
        return f"{golden_anchor(self.entry.index)}-{self.entry.span[0]}"


def golden_anchor(index: int) -> str:
    """Return the prefix of the ids of a golden's lines."""
    return f"golden-{index}"


def passages(contents: TaskContents, drawn: Mapping[int, Collection[int]]) -> Iterator[PassageView]:
    """Yield the ledger's entries; ``drawn`` are the pages that are drawn for each target."""
    targets = {target.index: target for target in contents.implementations}
    for judged in ordered(contents):
        entry, code = judged.entry, None
        golden = pair(contents, targets[entry.index]).golden if entry.index in targets else None
        if golden and not judged.is_misplaced:
            text = "\n".join(golden.line_text(number) for number in entry.span)
            code = CodeBlock(targets[entry.index].golden_file, entry.span[0], text)
        page = f"page-{entry.index}-{entry.page}" if entry.page in drawn.get(entry.index, ()) else ""
        yield PassageView(judged.number + 1, entry, disclosure(entry), judged.flaws, code, page)


def by_line(contents: TaskContents, index: int) -> dict[int, list[int]]:
    numbers: dict[int, list[int]] = {}
    for judged in ledger_entries(contents, index):
        if not judged.is_misplaced:
            for line in judged.entry.span:
                numbers.setdefault(line, []).append(judged.number + 1)
    return numbers
