"""The evidence and the outcome of reviews on the screen; longer evidence is on the task's page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.cli import ui
from lmr_author.cli.options import Format
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS
from lmr_author.core.texts import counted, listed, shortened

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.release.review.agreement import Agreement
    from lmr_author.release.review.checklist import CodeLine, Evidence, QuestionEvidence
    from lmr_author.release.review.review import ReviewResult
    from lmr_author.release.review.review_status import Dispute

MOST_CODE, MOST_PROSE, MOST_LINES, MOST_ROWS = 60, 2400, 14, 16
"""Lines of code, characters of a paper, facts, and rows of a table that one piece of evidence takes at most."""
MOST_DIFFS = 8
NARROWEST_CELL, MOST_OF_CELL = 9, 120
"""Columns of a cell at least, and its characters at most."""
RUNNING = 60
"""Characters from which a line of a paper is running text, not the last of a paragraph."""
_FORMULA = re.compile(r" [=≤≥] |\(\d{1,3}\)\s*$")
_STATES = {"accepted": "green", "disputed": "yellow", "rejected": "bold red", "waiting": "dim"}


def show_evidence(evidence: QuestionEvidence) -> None:
    changes = 0
    for piece in evidence.pieces:
        changes += bool(piece.diff)
        if not piece.diff or changes <= MOST_DIFFS:
            _show(piece)
    _rest(changes - MOST_DIFFS, "mutant")
    for doubt in evidence.doubts:
        ui.say(doubt, "weak:", "bold yellow", indent=2, hang=8)


def _show(piece: Evidence) -> None:
    ui.say(piece.title, tone="bold cyan", indent=2)
    lines = "\n".join(piece.lines).splitlines()
    ui.say_lines("\n".join(lines[:MOST_LINES]), indent=4)
    _rest(len(lines) - MOST_LINES, "line")
    if piece.prose:
        _prose(piece.prose)
    _code(piece.code)
    _table(piece.table)
    if piece.diff:
        ui.diff(piece.diff.splitlines(), indent=4)


def _rest(number: int, noun: str) -> None:
    if number > 0:
        ui.say(f"… {counted(number, 'more ' + noun)} on the page (o)", indent=4, tone="dim")


def _prose(text: str) -> None:
    """Print a paper's text as paragraphs; short lines and formulas keep their line."""
    joined = re.sub(r"(\w{2,})-\n(?=[a-z])", r"\1", text.strip())
    paragraphs, running = list[str](), False
    for line in shortened(joined, MOST_PROSE).splitlines():
        formula = bool(_FORMULA.search(line))
        if running and not formula:
            paragraphs[-1] += f" {line}"
        else:
            paragraphs.append(line)
        running = len(line) >= RUNNING and not formula
    for paragraph in paragraphs:
        ui.say(paragraph, indent=4, hang=4)
    if len(joined) > MOST_PROSE:
        ui.say(f"… {len(joined) - MOST_PROSE:,} more characters on the page (o)", indent=4, tone="dim")


def _code(lines: Sequence[CodeLine]) -> None:
    """Print code; of long code the beginning and every marked or returning line."""
    beginning, others = lines[:MOST_CODE], lines[MOST_CODE:]
    shown = [*beginning, *(line for line in others if line.mark or line.returns)]
    following = shown[0].number if shown else 0
    for line in shown:
        if line.number > following:
            ui.say("⋮", indent=8, tone="dim")
        following = line.number + 1
        style = {"not reached": "red", "always true": "yellow"}.get(line.mark, "")
        ui.say(
            f"{line.text}{ui.framed('  ← ', line.mark)}",
            f"{line.number:>4}",
            "dim",
            indent=2,
            hang=12,
            tone=style,
        )
    _rest(len(lines) - len(shown), "line")


def _table(rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the screen: cells are wrapped, and columns that do not fit are left out."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return
    screen = ui.console()
    width = screen.width - 6
    is_wide = sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True)) > width
    if is_wide and len(rows[0]) > len(rows):
        rows = _transposed(rows)
    first = min(max(len(row[0]) for row in rows), width // 3)
    shown = 1 + max(1, (width - first) // (NARROWEST_CELL + 2))
    table = Table.grid(padding=(0, 2))
    table.add_column(max_width=max(1, first))
    for number, row in enumerate(rows[:MOST_ROWS]):
        cells = [ui.one_line(shortened(cell, MOST_OF_CELL)) for cell in row[:shown]]
        table.add_row(*map(Text, cells), style="" if number else "bold")
    screen.print(Padding(table, (0, 0, 0, 4)))
    _rest(len(rows) - MOST_ROWS, "row")
    _rest(len(rows[0]) - shown, "column")


def _transposed(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the columns as rows; those that differ only in their names become one."""
    head, *columns = zip(*rows, strict=True)
    names: dict[tuple[str, ...], list[str]] = {}
    for name, *cells in columns:
        names.setdefault(tuple(cells), []).append(name)
    return [list(head), *([listed(same, 2), *cells] for cells, same in names.items())]


# How reviews agree


def show_agreement(tasks: Sequence[Task], checklist: Path | None, output: Format) -> int:
    from lmr_author.release.review import review as reviewing
    from lmr_author.release.review.review_status import DISPUTED, REJECTED

    results = [reviewing.result_of(task, checklist) for task in tasks]
    total = reviewing.overall_agreement(results)
    if output is Format.json:
        ui.print_json({"tasks": list(map(_document, results)), "overall": total.to_json()})
    else:
        for result in results:
            _show_result(result)
        ui.say(agreement_line(total))
        _then(tasks, results)
    bad = any(result.status.state in (DISPUTED, REJECTED) for result in results)
    return EXIT_FINDINGS if bad else EXIT_CLEAN


def _document(result: ReviewResult) -> dict[str, Any]:
    measured = result.agreement.to_json() if result.agreement else None
    return {"task": result.task, **asdict(result.status), "agreement": measured}


def _then(tasks: Sequence[Task], results: Sequence[ReviewResult]) -> None:
    from lmr_author.release.review.review_status import DISPUTED

    for task, result in zip(tasks, results, strict=True):
        if result.status.state == DISPUTED:
            ui.then("review", task.root, "--decide", result.status.disputes[0].item)
            return
    ui.then("status", *(task.root for task in tasks[:1]))


def _show_result(result: ReviewResult) -> None:
    status = result.status
    reviewers = ", ".join(status.reviewers) or "nobody yet"
    ui.say(f"{result.task}: {reviewers}", status.state, _STATES[status.state])
    if status.missing == 1:
        ui.say("1 more review is needed; answers stay hidden until then", indent=2)
    elif status.missing:
        ui.say(f"{status.missing} more reviews are needed; answers stay hidden until then", indent=2)
    for name in status.damaged:
        ui.say(f"authoring/reviews/{name} (ignored)", "damaged", "bold red", indent=2)
    for item in status.failed:
        ui.say(item, "fails", "bold red", indent=2)
    show_disputes(status.disputes)
    for decision in status.decisions:
        ui.say(f"decided  {decision.item} {decision.answer}, {decision.by}: {decision.reason}", indent=2)


def show_disputes(disputes: Iterable[Dispute]) -> None:
    for dispute in disputes:
        ui.say(f"{dispute.item}: {dispute.question}", "disputed", "yellow", indent=2)
        for name, answer in dispute.answers.items():
            why = ui.framed(": ", dispute.comments.get(name))
            ui.say(f"{name} {answer}{why}", indent=4)


def agreement_line(total: Agreement) -> str:
    if not total.judged:
        return "agreement: nothing has been judged by two people yet"
    measures = [f"{name} {value}" for name, value in total.coefficients]
    if total.percent is not None:
        measures.insert(0, f"{total.percent:.0%} of pairs")
    line = f"agreement of {total.people} people over {total.judged} items: {', '.join(measures)}"
    if total.krippendorff is None:
        line += " (all answers are the same: kappa and alpha are undefined)"
    return line
