"""Blind reviews, disputes and decisions, and the agreement of the reviewers."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core import files
from lmr_author.core.errors import UsageError
from lmr_author.core.task import Task
from lmr_author.release.reporting import records as report_records
from lmr_author.release.review import review as reviewing
from lmr_author.release.review.checklist import HUMAN
from lmr_author.release.review.review_status import review_status
from tests import example as example_task
from tests.cli.program import validate_with
from tests.review.reviewing import all_said, run, said


def test_answers_stay_hidden_until_all_are_in(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    said(task, "ada", no_leak="fail")
    said(task, "bo")
    code, shown = run(capsys, "review", task.root, "--agreement")
    assert code == 0
    assert "waiting" in shown and "1 more review is needed" in shown
    assert "because" not in shown and "no-leak" not in shown
    assert reviewing.result_of(task).agreement is None
    hidden = report_records.reviews(task)
    assert not hidden.rows and not hidden.open and len(hidden.stored) == 2

    said(task, "cy")
    code, shown = run(capsys, "review", task.root, "--agreement")
    assert code == 1
    assert "disputed no-leak" in shown and "ada fail: because" in shown and "Fleiss" in shown
    _, answers = report_records.reviews(task).rows[0]
    assert [answer for answer, _ in answers] == ["fail", "pass", "pass"]


@pytest.mark.parametrize(
    ("answer", "state"), [("pass", "accepted"), ("fail", "rejected"), ("unsure", "disputed")]
)
def test_three_people_of_one_opinion(task: Task, answer: str, state: str) -> None:
    all_said(task, core=answer)
    found = review_status(task)
    assert found.state == state
    assert found.failed == (("core",) if state == "rejected" else ())


def test_reviews_hold_until_the_task_changes(task: Task) -> None:
    all_said(task)
    task.dockerfile.write_text(task.dockerfile.read_text() + "# more\n")
    assert (review_status(task).state, review_status(task).missing) == ("waiting", 3)


def test_a_dispute_is_settled_by_a_decision_with_a_reason(
    task: Task, capsys: pytest.CaptureFixture[str]
) -> None:
    decide = ("review", task.root, "--decide", "core=pass", "--reviewer", "dee")
    said(task, "ada", core="fail")
    code, shown = run(capsys, *decide, "--reason", "section 3")
    assert code == 2 and "2 more reviews are needed" in shown
    said(task, "bo")
    said(task, "cy")
    assert run(capsys, *decide)[0] == 2
    code, shown = run(capsys, *decide, "--reason", "section 3")
    assert code == 0
    assert "accepted" in shown and "core pass, dee: section 3" in shown
    validate_with("adjudication", files.read_json(task.adjudication_path))
    assert review_status(task).state == "accepted"

    reviewing.adjudicate(task, "core", "fail", "not section 3", "dee")
    assert review_status(task).state == "rejected"
    with pytest.raises(UsageError, match="unknown checklist item"):
        reviewing.adjudicate(task, "style", "pass", "r", "dee")
    with pytest.raises(UsageError, match="invalid decision 'maybe'"):
        reviewing.adjudicate(task, "core", "maybe", "r", "dee")


def test_a_review_made_after_the_answers_were_shown_does_not_count_for_agreement(task: Task) -> None:
    all_said(task, {"core": "fail"}, {}, {})
    before = reviewing.result_of(task).agreement
    said(task, "ada")  # convinced by the others
    after = reviewing.result_of(task)
    assert files.read_json(task.reviews_folder / "ada.json")["blind"] is False
    assert after.status.state == "accepted"
    assert after.agreement == before and before is not None and before.percent is not None
    assert before.percent < 1


def test_agreement_over_all_tasks_skips_those_that_wait(tmp_path: Path) -> None:
    first = example_task.write(tmp_path / "tasks")
    second = example_task.write(tmp_path / "tasks", 2)
    all_said(first)
    said(second, "ada")
    results = [reviewing.result_of(task) for task in (first, second)]
    assert reviewing.overall_agreement(results).judged == len(HUMAN)
