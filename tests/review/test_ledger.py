"""Reviewers see the ledger: what the paper does not say first, with its lines; a waived deviation is weak evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from lmr_author.core.task import Task, ledger
from lmr_author.core.task.ledger import Ledger
from lmr_author.proof.checks.ledger import require_true
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.validation.run import validate
from lmr_author.release.review.evidence_of_questions import evidence_of
from tests.reporting.test_report import page_of, with_paper

ENTRIES = [
    {"relation": "implements", "quote": "The pairwise loss compares the scores of two documents", "lines": "25-31",
     "where": "section 3"},
    {"relation": "deviates", "quote": "asks for a margin between them", "lines": "30",
     "note": "The margin is smooth.", "waived": "The paper's title says that it is smooth."},
    {"relation": "adds", "lines": "31-32", "note": "Without a pair, the loss is zero."},
]  # fmt: skip


@pytest.fixture
def noted(task: Task) -> Task:
    """A task with a paper and a ledger."""
    with_paper(task.root)
    read = ledger.parse(yaml.safe_dump(ENTRIES), "ledger.yaml")
    ledger.save(task, require_true(TaskContents(task), read, "ledger.yaml"))
    return task


def test_what_is_not_as_in_the_paper_comes_first(noted: Task) -> None:
    evidence = evidence_of(noted, ())
    passages = [piece for piece in evidence["instruction"].pieces if piece.title.partition(":")[0] in
                ("adds", "deviates", "implements")]  # fmt: skip
    assert [piece.title for piece in passages] == [
        "adds: lines 31-32", "deviates: page 1, line 30", "implements: section 3, page 1, lines 25-31",
    ]  # fmt: skip
    assert passages[0].lines == ("Without a pair, the loss is zero.",)
    assert [line.number for line in passages[0].code] == [31, 32] and "return 0.0" in passages[0].code[1].text
    assert passages[1].lines[0] == "“asks for a margin between them”"
    (added,) = [piece for piece in evidence["paper-section"].pieces if "Not in the paper" in piece.title]
    assert added.lines == ("lines 31-32: Without a pair, the loss is zero.",)


def test_a_waived_deviation_is_weak_evidence(noted: Task) -> None:
    (doubt,) = [doubt for doubt in evidence_of(noted, ())["instruction"].doubts if "waived" in doubt]
    assert "line 30" in doubt and "title says that it is smooth" in doubt


def test_what_holds_no_longer_is_said_on_screen_and_page(noted: Task, tmp_path: Path) -> None:
    golden = noted.root / "golden_files/losses_golden.py"
    golden.write_text("# moved\n" * 20 + golden.read_text())
    stored = ledger.load(noted)
    false = replace(stored.entries[0], quote="The pairwise loss compares the labels of two documents")
    Ledger(entries=(false, *stored.entries[1:])).write(noted.ledger_path)
    findings = validate([noted]).findings
    assert {"LMR805", "LMR806"} <= {finding.code for finding in findings}
    evidence = evidence_of(noted, findings)["instruction"]
    assert any("LMR805" in doubt for doubt in evidence.doubts)
    assert any("does not hold: quote" in line for piece in evidence.pieces for line in piece.lines)
    page = page_of(noted.root, tmp_path)
    assert "Does not hold: quote: is not in the paper" in page.text
    assert not {link[1:] for link in page.attributes("href") if link.startswith("#")} - set(
        page.attributes("id")
    )
