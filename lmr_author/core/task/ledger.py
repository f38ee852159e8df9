"""Paper beside code: what each passage of the paper is in the golden, and what differs. ``authoring/ledger.json``.

A person writes it as a YAML list, ``ledger.yaml``. Only what holds is stored: ``proof/checks/ledger.py`` judges it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from lmr_author.core import foreign, quoting, yaml_input
from lmr_author.core.paper.quotes import MOST_CHARACTERS, is_enough, parts_of
from lmr_author.core.task.folder import Task
from lmr_author.core.task.record import Count, Index, Record
from lmr_author.core.texts import listed
from lmr_author.core.yaml_input import FieldError

LEDGER = "ledger.yaml"
MOST_BYTES = 256 * 1024
MOST_ENTRIES = 200
TOLD = ("instruction", "check", "waived")
"""Fields of which a deviation has one, and another entry may have one."""
HOW = "docs/ledger.md has every field"
_SPAN = re.compile(r"([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?")
_LONG_ENOUGH = "give at least four words, or 20 characters"


class Flaw(NamedTuple):
    """What is wrong with a field of an entry ("" for the entry itself), and what to do."""

    field: str
    message: str
    hint: str


@dataclass(frozen=True, kw_only=True)
class LedgerEntry(Record):
    """A passage of the paper beside lines of the golden.

    Attributes:
        relation: the lines implement the passage, deviate from it, or add what the paper does not say.
        lines: lines of the golden file within the target, as 12 or 10-14.
        index: number of the target.
        quote: words of the paper; "" for what is added. Three dots in one character, or in brackets, leave some out.
        where: the passage's place in the paper, as equation (3); "" where the quotation is enough.
        page: page on which the quotation begins, which the program works out; 0 for none.
        note: what is the same, or what differs, in a sentence.
        instruction: words of the instruction that tell it.
        check: part of the outcome that `record --check` compares otherwise because of a deviation.
        waived: why a deviation need not be disclosed, in a sentence.
    """

    relation: Literal["implements", "deviates", "adds"]
    lines: str
    index: Index = 1
    quote: str = ""
    where: str = ""
    page: Count = 0
    note: str = ""
    instruction: str = ""
    check: str = ""
    waived: str = ""

    @property
    def span(self) -> range:
        """The numbers of its lines; empty where there are none, or the last one comes before the first."""
        found = _SPAN.fullmatch(self.lines)
        return range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)

    @property
    def told(self) -> str:
        return next((name for name in TOLD if getattr(self, name)), "")

    def flaws(self) -> Iterator[Flaw]:
        """Yield what is wrong with it whatever the task is."""
        if self.relation == "adds":
            if self.quote:
                yield Flaw(
                    "quote",
                    "`adds` is for code that the paper does not mention",
                    "remove the quote, or use `deviates`",
                )
        elif not self.quote.strip():
            yield Flaw(
                "quote", "is missing", "copy the paper's words; `adds` is for what the paper does not say"
            )
        elif len(self.quote) > MOST_CHARACTERS:
            yield Flaw(
                "quote", f"is longer than {MOST_CHARACTERS} characters", "leave out the middle with […]"
            )
        elif not all(map(is_enough, parts_of(self.quote) or [self.quote])):
            yield Flaw("quote", "is too short to identify a passage, or a part of it is", _LONG_ENOUGH)
        if not self.span:
            hint = "write 12 or 10-14; add an entry for each further place"
            yield Flaw("lines", f"{self.lines[:80]!r} is not a line or a range of lines", hint)
        if self.relation != "implements" and not is_enough(self.note):
            yield Flaw("note", "is not a sentence", "say how the code differs from the paper")
        yield from self._flaws_of_telling()

    def _flaws_of_telling(self) -> Iterator[Flaw]:
        given = [name for name in TOLD if getattr(self, name)]
        if self.relation == "implements" and self.waived:
            yield Flaw("waived", "has no effect where the code agrees with the paper", "remove it")
        elif len(given) > 1 or (self.relation == "deviates" and not given):
            hint = "quote the instruction that mentions it, name the part in `record`'s checks, or say why it is waived"
            yield Flaw("", f"a deviation needs one of {', '.join(TOLD)}; this has {len(given)}", hint)
        elif given and given[0] != "check" and not is_enough(getattr(self, given[0])):
            yield Flaw(given[0], "is too short", _LONG_ENOUGH)


@dataclass(frozen=True, kw_only=True)
class Ledger(Record):
    """The paper beside the code of a task: ``authoring/ledger.json``.

    Attributes:
        format: version of this document.
        entries: passages of the paper with lines of the golden, in the annotator's order.
    """

    format: Literal["lmr-ledger/1"] = "lmr-ledger/1"
    entries: Annotated[tuple[LedgerEntry, ...], msgspec.Meta(max_length=MOST_ENTRIES)] = ()

    def as_yaml(self) -> str:
        """Return the entries as a person writes them, without pages and defaults; "" for none."""
        usual = {field.name: field.default for field in fields(LedgerEntry)}
        written = [
            {
                name: value
                for name, value in entry.to_json().items()
                if name != "page" and value != usual[name]
            }
            for entry in self.entries
        ]
        return quoting.yaml(written) if written else ""


def load(task: Task) -> Ledger:
    return Ledger.read_if_valid(task.ledger_path) or Ledger()


def save(task: Task, ledger: Ledger) -> None:
    if ledger.entries:
        ledger.write(task.ledger_path)
    else:
        task.ledger_path.unlink(missing_ok=True)


def read(file: Path) -> Ledger:
    """Read ``ledger.yaml``; without it, the ledger has no entries. Raises FieldError naming the entry and its field."""
    return parse(foreign.read(file, MOST_BYTES), file) if file.exists() else Ledger()


def parse(data: bytes | str, file: Path | str) -> Ledger:
    """As :func:`read`, of a text."""
    if len(data) > MOST_BYTES:
        raise FieldError(file, "", f"is larger than {MOST_BYTES // 1024} KiB", "quote less")
    entries = yaml_input.parse(data, file)
    if not entries:
        return Ledger()
    if not isinstance(entries, list):
        raise FieldError(file, "", "is not a list of entries", f"begin each entry with `- relation:`; {HOW}")
    if len(entries) > MOST_ENTRIES:
        raise FieldError(
            file, "", f"has {len(entries)} entries; the limit is {MOST_ENTRIES}", "merge some of them"
        )
    ledger = yaml_input.convert({"entries": entries}, Ledger, file, HOW)
    refuse(file, [(number, flaw) for number, entry in enumerate(ledger.entries) for flaw in entry.flaws()])
    return ledger


def refuse(file: Path | str, flaws: Sequence[tuple[int, Flaw]]) -> None:
    """Raise FieldError for the first of some entries' flaws, naming the others; do nothing for none."""
    if not flaws:
        return
    named = [(f"entries[{number}].{flaw.field}".rstrip("."), flaw) for number, flaw in flaws]
    place, first = named[0]
    others = listed([f"{place} ({flaw.message})" for place, flaw in named[1:]], 8)
    raise FieldError(file, place, f"{first.message}; also {others}" if others else first.message, first.hint)
