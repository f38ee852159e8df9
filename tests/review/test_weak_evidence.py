"""A judgement on weak evidence needs a sentence; going back; the task's page; a second review of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.cli.review import ask_answers
from lmr_author.core.errors import UsageError
from lmr_author.core.task import Task
from lmr_author.release.review import review as reviewing
from lmr_author.release.review.checklist import HUMAN, Evidence, QuestionEvidence
from tests.review.reviewing import PASS, run, said

ENTER = "\r"
WEAK = QuestionEvidence((Evidence("Golden", ("a line",)),), ("no case reaches 3 lines of the golden",))
FIRM = QuestionEvidence((Evidence("Golden", ("a line",)),))


def test_p_and_enter_alone_sign_nothing_whose_evidence_is_weak(
    keys: PipeInput, capsys: pytest.CaptureFixture[str]
) -> None:
    keys.send_text(("p" + ENTER) * len(HUMAN) + "\x03")
    kept: list[dict[str, dict[str, str]]] = []
    with pytest.raises(KeyboardInterrupt):
        ask_answers(HUMAN, {}, kept.append, {HUMAN[0].id: WEAK})
    assert kept == []
    assert "weak: no case reaches 3 lines of the golden" in capsys.readouterr().err


def test_a_pass_on_weak_evidence_keeps_its_sentence(keys: PipeInput) -> None:
    keys.send_text("p" + ENTER + "the lines are dead code" + ENTER)
    keys.send_text(("p" + ENTER) * (len(HUMAN) - 1) + ENTER)
    given = ask_answers(HUMAN, {}, lambda _: None, {HUMAN[0].id: WEAK, HUMAN[1].id: FIRM})
    assert given[HUMAN[0].id] == {"answer": "pass", "comment": "the lines are dead code"}
    assert given[HUMAN[1].id] == {"answer": "pass", "comment": ""}


def test_an_answer_whose_evidence_has_become_weak_is_asked_again(keys: PipeInput) -> None:
    before = {item.id: {"answer": "pass", "comment": ""} for item in HUMAN}
    keys.send_text("p" + ENTER + "they are dead code" + ENTER + ENTER)
    given = ask_answers(HUMAN, before, lambda _: None, {HUMAN[2].id: WEAK})
    assert given[HUMAN[2].id]["comment"] == "they are dead code"


def test_b_goes_back_one_question(keys: PipeInput) -> None:
    keys.send_text("p" + ENTER + "b" + ENTER + "f" + ENTER + "not the paper's" + ENTER)
    keys.send_text(("p" + ENTER) * (len(HUMAN) - 1) + ENTER)
    given = ask_answers(HUMAN, {}, lambda _: None)
    assert given[HUMAN[0].id] == {"answer": "fail", "comment": "not the paper's"}
    assert {one["answer"] for one in list(given.values())[1:]} == {"pass"}


def test_o_shows_the_address_of_the_page_and_asks_on(
    keys: PipeInput, capsys: pytest.CaptureFixture[str]
) -> None:
    keys.send_text("o" + ENTER + ("p" + ENTER) * len(HUMAN) + ENTER)
    ask_answers(HUMAN, {}, lambda _: None, None, lambda item: f"file:///page.html#review-{item}")
    assert f"page: file:///page.html#review-{HUMAN[0].id}" in capsys.readouterr().err


def test_answers_of_a_file_need_the_sentence_too(task: Task, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'tests': 'pass' needs a comment.*never evaluated") as caught:
        reviewing.save_review(task, "ada", {**PASS, "tests": "pass"})
    assert "at least 3 words" in caught.value.hint
    review = reviewing.save_review(task, "ada", PASS)
    assert "never evaluated" in review.human["tests"].evidence
    assert review.human["core"].evidence == ""


def test_the_template_names_weak_evidence(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, "review", task.root, "--template")[1])
    assert "the tests were never evaluated" in document["tests"]["weak evidence"]
    assert "weak evidence" not in document["core"]


def test_a_second_review_of_ones_own_says_so(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    assert reviewing.earlier_review(task, "ada") is None
    said(task, "ada", core="fail")
    said(task, "bo")
    earlier = reviewing.earlier_review(task, "ada")
    assert earlier is not None and not earlier.signed_off
    from lmr_author.cli.review import _show_earlier

    _show_earlier(earlier, task)
    shown = " ".join(capsys.readouterr().err.split())
    assert "your second review" in shown and "not signed off" in shown and "this one replaces it" in shown
