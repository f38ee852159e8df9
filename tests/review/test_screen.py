"""Evidence on a screen of 80 columns: long pieces are cut, and say how much is on the page."""

from __future__ import annotations

import pytest

from lmr_author.cli.review_screens import MOST_CODE, MOST_DIFFS, MOST_LINES, MOST_PROSE, show_evidence
from lmr_author.release.review.checklist import CodeLine, Evidence, QuestionEvidence
from lmr_author.release.review.instruction import cite

PAGES = {
    1: "A title\n1 Introduction\nWe rank.\n2 Method\nThe whole.\n2.1 Loss\nThe loss is\nL = a + b    (1)",
    2: "2.2 Update\nx = y    (2)\nAlgorithm 1. Steps\n3 Experiment\nNumbers.\nReferences\n[1] Somebody",
}


def screen(piece: Evidence, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed of one piece."""
    show_evidence(QuestionEvidence((piece,)))
    return capsys.readouterr().err


def test_long_code_keeps_the_lines_that_matter(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [CodeLine(number, f"x = {number}") for number in range(1, MOST_CODE + 41)]
    lines[-3] = CodeLine(MOST_CODE + 38, "unreached()", "not reached")
    lines[-1] = CodeLine(MOST_CODE + 40, "return x", returns=True)
    text = screen(Evidence("Golden", code=tuple(lines)), capsys)
    assert f"{MOST_CODE} x = {MOST_CODE}\n" in text and f"x = {MOST_CODE + 1}\n" not in text
    assert "unreached()  ← not reached" in text and "return x" in text
    assert "… 38 more lines on the page (o)" in text


def test_long_texts_and_lists_say_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    text = screen(Evidence("Paper", prose="word " * MOST_PROSE), capsys)
    assert f"{MOST_PROSE * 5 - 1 - MOST_PROSE:,} more characters on the page (o)" in text
    text = screen(Evidence("Mentions", tuple(f"file_{number}" for number in range(MOST_LINES + 3))), capsys)
    assert f"file_{MOST_LINES - 1}\n" in text and "… 3 more lines on the page (o)" in text
    mutants = tuple(Evidence(f"Survives: {number}", diff="-a\n+b") for number in range(MOST_DIFFS + 1))
    show_evidence(QuestionEvidence(mutants))
    assert "… 1 more mutant on the page (o)" in capsys.readouterr().err


def test_a_table_fits_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    row = ("a_parameter", *("a long description of a value" for _ in range(9)))
    text = screen(Evidence("Cases", table=(("", *(f"case_{n}" for n in range(1, 10))), row)), capsys)
    assert max(map(len, text.splitlines())) <= 80
    assert "case_1, case_2 and 7" in text and "a long description of a value" in text


def test_formulas_stay_on_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    running = "The loss compares the scores of two documents with different labels, and is"
    text = screen(Evidence("Paper", prose=f"{running}\nL = max(0, m - s)    (1)\nwith a margin m."), capsys)
    assert "    L = max(0, m - s)    (1)\n    with a margin m.\n" in text


def test_named_sections_come_with_their_subsections() -> None:
    cited = cite("Implement section 2 of the paper, equations (1) and (2), algorithm 1.", PAGES)
    assert [one.number for one in cited.sections] == ["2", "2.1", "2.2"]
    assert cited.absent == () and cited.elsewhere == () and cited.pages == (1, 2)
    cited = cite("Implement section 2.1 and section 5: equation (2).", PAGES)
    assert [one.number for one in cited.sections] == ["2.1"] and cited.absent == ("5",)
    assert [(label, home.number) for label, home in cited.elsewhere] == [("equation (2)", "2.2")]
    assert not cite("Implement section 2.", {1: "no heading at all"}).readable
    assert cite("Implement equation (2).", PAGES).pages == (2,) and cite("Implement it.", PAGES).pages == ()
