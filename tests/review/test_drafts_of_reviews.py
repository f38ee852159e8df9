"""Answers at a terminal: changed, interrupted, kept, and in files that are damaged."""

from __future__ import annotations

import pytest
from prompt_toolkit.input import PipeInput

from lmr_author.cli.review import ask_answers
from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.release.reporting.status import next_review
from lmr_author.release.review import review as reviewing
from lmr_author.release.review.checklist import HUMAN, Checklist
from lmr_author.release.review.review_status import review_status
from tests.review.reviewing import PASS, all_said


def test_an_answer_is_changed_before_anything_is_stored(keys: PipeInput) -> None:
    enter, down = "\r", "\x1b[B"
    keys.send_text(("p" + enter) * len(HUMAN))
    keys.send_text(down * 2 + enter)  # change the second answer
    keys.send_text("f" + enter + "not there" + enter)
    keys.send_text(enter)
    given = ask_answers(Checklist().questions, {}, lambda _: None)
    assert given[HUMAN[1].id] == {"answer": "fail", "comment": "not there"}
    assert given[HUMAN[0].id]["answer"] == "pass"


def test_an_interrupted_review_goes_on_where_it_was(
    task: Task, keys: PipeInput, capsys: pytest.CaptureFixture[str]
) -> None:
    enter, ctrl_c = "\r", "\x03"
    draft = reviewing.DraftReview(task, "ada")
    keys.send_text("p" + enter + "fail" + enter + "not there" + enter + ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        ask_answers(HUMAN, draft.answers, draft.keep)
    assert review_status(task).reviewers == ()  # nothing that counts yet

    keys.send_text(("p" + enter) * (len(HUMAN) - 2) + enter)
    again = reviewing.DraftReview(task, "ada")
    given = ask_answers(HUMAN, again.answers, again.keep)
    assert f"2 of {len(HUMAN)} questions already answered" in capsys.readouterr().err
    assert list(given) == [item.id for item in HUMAN]
    assert [said["answer"] for said in given.values()][:3] == ["pass", "fail", "pass"]
    assert given[HUMAN[1].id]["comment"] == "not there"
    assert reviewing.DraftReview(task, "bo").answers == {}

    reviewing.save_review(task, "ada", {**PASS, HUMAN[1].id: given[HUMAN[1].id]})
    assert list(task.reviews_folder.glob("*.draft")) == []


def test_answers_to_another_checklist_are_kept(task: Task, keys: PipeInput) -> None:
    draft = reviewing.DraftReview(task, "ada")
    other = {"answer": "pass", "comment": "of the lab's own list"}
    draft.keep({"beauty": other})
    draft = reviewing.DraftReview(task, "ada")
    keys.send_text("p\r" * len(HUMAN) + "\r")
    given = ask_answers(HUMAN, draft.answers, draft.keep)
    assert "beauty" not in given
    assert reviewing.DraftReview(task, "ada").answers == {"beauty": other, **given}


def test_answers_about_an_older_state_are_asked_again(task: Task) -> None:
    draft = reviewing.DraftReview(task, "ada")
    draft.keep({"core": {"answer": "pass", "comment": ""}})
    files.write_text(task.repository(task.load()) / "notes.txt", "something new\n")
    now = reviewing.DraftReview(task, "ada")
    assert now.answers == {}
    assert now.outdated is not None and "core" in now.outdated.read_text()
    assert reviewing.DraftReview(task, "ada").outdated is None


@pytest.mark.parametrize("damaged", ["{", '{"format": "lmr-review-draft/1", "answers": 3}'])
def test_a_damaged_draft_is_not_written_over(task: Task, damaged: str) -> None:
    files.write_text(task.reviews_folder / "ada.draft", damaged)
    with pytest.raises(LmrError, match=r"ada\.draft") as caught:
        reviewing.DraftReview(task, "ada")
    assert caught.value.hint


def test_damaged_decisions_and_reviews_count_for_nothing(task: Task) -> None:
    all_said(task, {"core": "fail"}, {}, {})
    files.write_text(task.adjudication_path, '{"decisions": [1, {"item": "core"}]}')
    assert review_status(task).state == "disputed"
    assert review_status(task).damaged == ()
    files.write_text(task.reviews_folder / "bo.json", "{")
    now = review_status(task)
    assert (now.state, now.damaged) == ("waiting", ("bo.json",))
    assert "damaged reviews, not counted: bo.json" in next_review(task, now)[1]


@pytest.mark.parametrize("damaged", ["{", '{"decisions": [1, {"item": "core"}]}'])
def test_a_damaged_file_of_decisions_is_not_written_over(task: Task, damaged: str) -> None:
    all_said(task, {"core": "fail"}, {}, {})
    files.write_text(task.adjudication_path, damaged)
    with pytest.raises(LmrError, match=r"adjudication\.json") as caught:
        reviewing.adjudicate(task, "core", "pass", reason="section 3", by="dee")
    assert caught.value.hint
    assert task.adjudication_path.read_text() == damaged
