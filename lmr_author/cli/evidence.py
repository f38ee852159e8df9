"""The evidence of a review on the screen; what is too long for it is on the task's page."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmr_author.cli import ui
from lmr_author.core.texts import counted, listed, shortened

if TYPE_CHECKING:
    from lmr_author.release.review.checklist import CodeLine, Evidence, QuestionEvidence

MOST_CODE, MOST_PROSE, MOST_LINES, MOST_ROWS = 60, 2400, 14, 16
"""Lines of code, characters of a paper, facts, and rows of a table that one piece of evidence takes at most."""
MOST_DIFFS = 8
"""Mutants shown one by one."""
NARROWEST_CELL, MOST_OF_CELL = 9, 4
"""Columns of a cell, and its lines."""
RUNNING = 60
"""Characters from which a line of a paper is running text, not the last of a paragraph."""
_FORMULA = re.compile(r" [=≤≥] |\(\d{1,3}\)\s*$")


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
    """Print a paper's text with its lines joined; a line that is short or holds a formula stays a line."""
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
    """Print code; of a long one the beginning, and every line that is marked or returns."""
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
    if not rows:
        return
    width = ui.console().width - 6
    if (
        len(rows[0]) > len(rows)
        and sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True)) > width
    ):
        rows = _transposed(rows)
    first = min(max(len(row[0]) for row in rows), width // 3)
    most = max(1, (width - first) // (NARROWEST_CELL + 2))
    columns = [[row[column] for row in rows] for column in range(1, min(len(rows[0]), most + 1))]
    widths = _widths([max(map(len, column)) for column in columns], width - first - 2 * len(columns))
    rooms = [max(1, first), *widths]
    for number, row in enumerate(rows[:MOST_ROWS]):
        cells = [
            textwrap.wrap(shortened(cell, MOST_OF_CELL * room), room) or [""]
            for cell, room in zip(row, rooms, strict=False)
        ]
        for parts in itertools.zip_longest(*cells, fillvalue=""):
            line = "  ".join(part.ljust(room) for part, room in zip(parts, rooms, strict=False))
            ui.say(line.rstrip(), indent=4, tone="" if number else "bold", whole=True)
    _rest(len(rows) - MOST_ROWS, "row")
    _rest(len(rows[0]) - 1 - len(columns), "column")


def _transposed(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the columns as rows; those that differ only in their names become one."""
    head, *columns = zip(*rows, strict=True)
    names: dict[tuple[str, ...], list[str]] = {}
    for name, *cells in columns:
        names.setdefault(tuple(cells), []).append(name)
    return [list(head), *([listed(same, 2), *cells] for cells, same in names.items())]


def _widths(wanted: Sequence[int], room: int) -> list[int]:
    """Share the room among columns: narrow ones keep what they need, the others get the same."""
    widths, left = dict[int, int](), room
    for done, (need, column) in enumerate(sorted((need, column) for column, need in enumerate(wanted))):
        widths[column] = min(need, left // (len(wanted) - done))
        left -= widths[column]
    return [widths[column] for column in range(len(wanted))]
