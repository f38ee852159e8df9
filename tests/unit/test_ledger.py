"""A ledger is read as typed entries; what is wrong is named by entry and field, with what to do."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task, ledger
from lmr_author.core.task.ledger import MOST_BYTES, MOST_ENTRIES, Ledger, parse
from lmr_author.proof.checks.ledger import require_true
from lmr_author.proof.contents import TaskContents
from tests.support import starter

GOOD = """\
- relation: implements
  where: equation (5)
  quote: The valley order puts the best right be-fore the query
  lines: 70
- relation: deviates
  quote: "Without the valley, the ranking is reversed […] and runs are left alone"
  lines: 68-69
  note: Equal places are reversed, too.
  instruction: reverse the ranking and leave runs alone
- relation: adds
  lines: "51-52"
  note: A demonstration that is chosen already is skipped.
  page: 7
"""
ENTRY = {"relation": "implements", "quote": "the ranking is reversed, so that", "lines": "68"}
DEVIATES = {**ENTRY, "relation": "deviates", "note": "It reverses the order of the ranking."}


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return starter("4-demo-packing", tmp_path)


def test_every_quotation_gets_its_page_and_no_other_page_is_believed(task: Task) -> None:
    true = require_true(TaskContents(task), parse(GOOD, "ledger.yaml"), "ledger.yaml")
    assert [entry.page for entry in true.entries] == [2, 2, 0]
    assert [entry.span for entry in true.entries] == [range(70, 71), range(68, 70), range(51, 53)]
    assert [entry.told for entry in true.entries] == ["", "instruction", ""]


def test_what_is_written_is_read_again(task: Task) -> None:
    read = parse(GOOD, "ledger.yaml")
    true = require_true(TaskContents(task), read, "ledger.yaml")
    ledger.save(task, true)
    assert ledger.load(task) == true
    without_pages = replace(read, entries=tuple(replace(entry, page=0) for entry in read.entries))
    assert parse(true.as_yaml(), "ledger.yaml") == without_pages
    ledger.save(task, Ledger())
    assert not task.ledger_path.exists() and ledger.load(task) == Ledger()


WRONG = {
    "no list": ("entries: {}", "is not a list", "- relation"),
    "a text": ("implements", "is not a list", "- relation"),
    "entry that is a text": ("- implements", "entries[0]", "docs/ledger.md"),
    "no YAML": ("- relation: [", ":1: not valid YAML", "quote text"),
    "unknown relation": ([{**ENTRY, "relation": "implement"}], "entries[0].relation", "docs/ledger.md"),
    "unknown field": (
        [ENTRY, {**ENTRY, "qoute": "x"}],
        "entries[1].qoute: unknown field",
        "did you mean quote?",
    ),
    "no lines": (
        [{"relation": "adds", "note": "It skips what was chosen."}],
        "entries[0]: Object missing",
        "docs/ledger.md",
    ),
    "lines that are none": ([{**ENTRY, "lines": "68 to 69"}], "entries[0].lines", "further place"),
    "lines that end before they begin": (
        [{**ENTRY, "lines": "69-68"}],
        "entries[0].lines",
        "write 12 or 10-14",
    ),
    "no quotation": ([{**ENTRY, "quote": ""}], "entries[0].quote: is missing", "adds"),
    "two words": ([{**ENTRY, "quote": "the ranking"}], "entries[0].quote: is too short", "four words"),
    "a part of one word": (
        [{**ENTRY, "quote": "the ranking is reversed … so"}],
        "entries[0].quote: is too short",
        "four",
    ),
    "nothing but an omission": ([{**ENTRY, "quote": "…"}], "entries[0].quote: is too short", "four words"),
    "200,000 characters": (
        [{**ENTRY, "quote": "the ranking " * 16_000}],
        "entries[0].quote: is longer",
        "leave out",
    ),
    "a megabyte": ([{**ENTRY, "quote": "x" * 2**20}], "is larger than 256 KiB", "quote less"),
    "many entries": (
        [{"relation": "adds", "lines": "1"}] * 10_000,
        "has 10000 entries; the limit is 200",
        "merge",
    ),
    "quoted and added": (
        [{**ENTRY, "relation": "adds", "note": "It is added here."}],
        "entries[0].quote",
        "remove the quote",
    ),
    "a deviation without a note": (
        [{**DEVIATES, "note": "", "waived": "It is the same."}],
        "entries[0].note",
        "differs from the paper",
    ),
    "a deviation that is told nowhere": ([DEVIATES], "entries[0]: a deviation needs one of", "waived"),
    "told twice": ([{**DEVIATES, "check": "value", "waived": "It is the same."}], "this has 2", "waived"),
    "waived in a word": (
        [{**DEVIATES, "waived": "trivial"}],
        "entries[0].waived: is too short",
        "four words",
    ),
    "waived where nothing differs": (
        [{**ENTRY, "waived": "It is the same."}],
        "entries[0].waived: has no effect",
        "remove it",
    ),
    "an alias of itself": ("&a\n- *a\n", "ledger.yaml", ""),
    "aliases that grow": (
        "- &a [x, x, x, x, x, x, x, x]\n"
        + "".join(f"- &{new} [{f'*{old}, ' * 9}x]\n" for old, new in pairwise("abcdefghi")),
        "aliases that expand to millions",
        "",
    ),
}


@pytest.mark.parametrize("title", WRONG)
def test_what_is_wrong_is_named_by_entry_and_field(title: str) -> None:
    written, where, advice = WRONG[title]
    text = written if isinstance(written, str) else yaml.safe_dump(written, width=10**7)
    with pytest.raises(LmrError) as caught:
        parse(text, "ledger.yaml")
    assert caught.value.message.startswith("ledger.yaml") and where in caught.value.message
    assert advice in caught.value.hint and caught.value.hint


FALSE = {
    "another word": (
        {**ENTRY, "quote": "the ranking is sorted, so that the best comes last"},
        "quote",
        "on page 2",
    ),
    "a word too long": ({**ENTRY, "quote": "ranking is reversed, so that the be"}, "quote", "on page 2"),
    "nothing like it": ({**ENTRY, "quote": "lorem ipsum dolor sit amet"}, "quote", "paper.json"),
    "an equation": ({**ENTRY, "where": "equation (9)"}, "where", "paper.pdf"),
    "lines of another function": ({**ENTRY, "lines": "1"}, "lines", "the target is at lines"),
    "lines past the end": ({**ENTRY, "lines": "70-900"}, "lines", "the target is at lines"),
    "no such target": ({**ENTRY, "index": "3"}, "index", "it has: 1"),
    "not in the instruction": (
        {**DEVIATES, "instruction": "reverse the ranking twice"},
        "instruction",
        "describe",
    ),
    "not chosen": ({**DEVIATES, "check": "value"}, "check", "--check"),
}


@pytest.mark.parametrize("title", FALSE)
def test_what_does_not_hold_is_not_stored(task: Task, title: str) -> None:
    entry, field, advice = FALSE[title]
    read = parse(yaml.safe_dump([DEVIATES | {"waived": "It makes no difference."}, entry]), "ledger.yaml")
    with pytest.raises(LmrError, match=rf"^ledger\.yaml: entries\[1\]\.{field}: ") as caught:
        require_true(TaskContents(task), read, "ledger.yaml")
    assert advice in caught.value.hint


def test_a_part_that_the_annotator_compares_otherwise_tells_a_deviation(task: Task) -> None:
    path = task.root / "packing/unit_test/recordings/1/recording.json"
    path.write_text(
        path.read_text()
        .replace(
            '"checkers": {',
            '"checkers": {"value[0]": {"kind": "ignore", "reason": "as the annotator said"}, ',
            1,
        )
        .replace(", }", "}")
    )
    read = parse(yaml.safe_dump([{**DEVIATES, "check": "value[0]"}]), "ledger.yaml")
    assert require_true(TaskContents(task), read, "x").entries[0].told == "check"
    read = parse(yaml.safe_dump([{**DEVIATES, "check": "value[1]"}]), "ledger.yaml")
    with pytest.raises(LmrError, match=r"no case compares 'value\[1\]'") as caught:
        require_true(TaskContents(task), read, "x")
    assert caught.value.hint == "the recording has: value[0]"


def test_limits_are_generous() -> None:
    entry = {
        **ENTRY,
        "relation": "adds",
        "quote": "",
        "note": "It is added by the code alone, and why is not known.",
    }
    text = yaml.safe_dump([entry] * MOST_ENTRIES)
    assert len(text) < MOST_BYTES / 5 and len(parse(text, "x").entries) == MOST_ENTRIES


def test_the_example_of_the_docs_is_a_ledger() -> None:
    page = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text("utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    assert [entry.relation for entry in parse(example, "x").entries] == ["implements", "deviates", "adds"]
