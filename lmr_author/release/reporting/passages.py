"""The ledger on a task's page: passages beside their lines, with links from each to the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from lmr_author.core.task.ledger import Flaw, LedgerEntry
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.targets import pair
from lmr_author.release.reporting.code import CodeBlock
from lmr_author.release.review.evidence_of_ledger import entries_of, ordered, told_in_words


@dataclass(frozen=True)
class PassageView:
    """An entry of the ledger.

    Attributes:
        number: of the entry, from 1: finding and anchor have the same.
        told: how a deviation is told.
        code: its lines of the golden; None where they are not the target's.
        page: id of the picture of its page; "" where that is not drawn.
    """

    number: int
    entry: LedgerEntry
    told: str
    flaws: tuple[Flaw, ...]
    code: CodeBlock | None
    page: str

    @property
    def line(self) -> str:
        """The id of its first line in the golden's listing."""
        return f"{golden_anchor(self.entry.index)}-{self.entry.span[0]}"


def golden_anchor(index: int) -> str:
    """Return the beginning of the ids of a golden's lines."""
    return f"golden-{index}"


def passages(contents: TaskContents, drawn: Mapping[int, Collection[int]]) -> Iterator[PassageView]:
    """Yield the entries of a task's ledger, those first that are not as in the paper.

    Args:
        drawn: index of a target → the pages that are drawn for it.
    """
    targets = {target.index: target for target in contents.implementations}
    for judged in ordered(contents):
        entry, code = judged.entry, None
        golden = pair(contents, targets[entry.index]).golden if entry.index in targets else None
        if golden and not judged.is_misplaced:
            text = "\n".join(golden.line_text(number) for number in entry.span)
            code = CodeBlock(targets[entry.index].golden_file, entry.span[0], text)
        page = f"page-{entry.index}-{entry.page}" if entry.page in drawn.get(entry.index, ()) else ""
        yield PassageView(judged.number + 1, entry, told_in_words(entry), judged.flaws, code, page)


def by_line(contents: TaskContents, index: int) -> dict[int, list[int]]:
    """Return the numbers of the passages that each line of a golden belongs to."""
    numbers: dict[int, list[int]] = {}
    for judged in entries_of(contents, index):
        if not judged.is_misplaced:
            for line in judged.entry.span:
                numbers.setdefault(line, []).append(judged.number + 1)
    return numbers
