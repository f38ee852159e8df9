"""Several reviewers of one task: blind until all are in, disputes, decisions, acceptance, the queue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from lmr_author import files
from lmr_author.checks import example_task
from lmr_author.cli import review_dialogue
from lmr_author.cli.app import main
from lmr_author.errors import LmrError, UsageError
from lmr_author.review.checklist import HUMAN, Checklist
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import report_records, status
from lmr_author.workflow import review as workflow
from lmr_author.workflow.status import _reviewed
from tests.cli.program import validate_with

PASS = {item.id: "pass" for item in HUMAN}


@pytest.fixture
def task(tmp_path: Path) -> TaskDir:
    """A task nobody has reviewed."""
    return example_task.write(tmp_path / "tasks")


def said(task: TaskDir, name: str, **changed: str) -> None:
    """A review in which everything passes but what is changed."""
    given = {key.replace("_", "-"): {"answer": value, "comment": "because"} for key, value in changed.items()}
    workflow.review(task, name, {**PASS, **given})


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """The program in this process: its exit code and what it wrote."""
    code = main([str(argument) for argument in arguments])
    out = capsys.readouterr()
    return code, out.out + out.err


def test_answers_stay_hidden_until_all_are_in(task: TaskDir, capsys: pytest.CaptureFixture[str]) -> None:
    said(task, "ada", no_leak="fail")
    said(task, "bo")
    code, shown = run(capsys, "review", task.root, "--results")
    assert code == 0
    assert "waiting" in shown and "1 more needed" in shown
    assert "because" not in shown and "no-leak" not in shown
    assert workflow.reviewed(task).agreement is None
    assert all(not view.items and not view.verdict for view in report_records.reviews(task)["reviews"])

    said(task, "cy")
    code, shown = run(capsys, "review", task.root, "--results")
    assert code == 1
    assert "disputed no-leak" in shown and "ada fail: because" in shown and "Fleiss" in shown
    assert all(view.items for view in report_records.reviews(task)["reviews"])


def test_all_agree_and_the_task_is_accepted_until_it_changes(task: TaskDir) -> None:
    for name in ("ada", "bo", "cy"):
        said(task, name)
    assert workflow.where(task).state == "accepted"
    task.dockerfile.write_text(task.dockerfile.read_text() + "# more\n")
    assert (workflow.where(task).state, workflow.where(task).missing) == ("waiting", 3)


def test_all_agree_that_it_fails(task: TaskDir) -> None:
    for name in ("ada", "bo", "cy"):
        said(task, name, core="fail")
    found = workflow.where(task)
    assert (found.state, found.failed) == ("rejected", ("core",))


def test_three_times_unsure_is_no_agreement(task: TaskDir) -> None:
    for name in ("ada", "bo", "cy"):
        said(task, name, core="unsure")
    assert [item.item for item in workflow.where(task).disputes] == ["core"]


def test_a_dispute_is_settled_by_a_decision_with_a_reason(
    task: TaskDir, capsys: pytest.CaptureFixture[str]
) -> None:
    decide = ("review", task.root, "--adjudicate", "core=pass", "--reviewer", "dee")
    said(task, "ada", core="fail")
    code, shown = run(capsys, *decide, "--reason", "section 3")
    assert code == 2 and "2 review(s) are missing" in shown
    said(task, "bo")
    said(task, "cy")
    assert run(capsys, *decide)[0] == 2
    code, shown = run(capsys, *decide, "--reason", "section 3")
    assert code == 0
    assert "accepted" in shown and "core pass, dee: section 3" in shown
    validate_with("adjudication", files.read_json(task.adjudication_path))
    assert workflow.where(task).state == "accepted"

    workflow.adjudicate(task, "core", "fail", "not section 3", "dee")
    assert workflow.where(task).state == "rejected"
    with pytest.raises(UsageError, match="unknown checklist item"):
        workflow.adjudicate(task, "style", "pass", "r", "dee")
    with pytest.raises(UsageError, match="decision 'maybe'"):
        workflow.adjudicate(task, "core", "maybe", "r", "dee")


def test_a_review_made_after_the_answers_were_shown_does_not_count_for_agreement(task: TaskDir) -> None:
    said(task, "ada", core="fail")
    said(task, "bo")
    said(task, "cy")
    before = workflow.reviewed(task).agreement
    said(task, "ada")  # convinced by the others
    after = workflow.reviewed(task)
    assert files.read_json(task.reviews_folder / "ada.json")["blind"] is False
    assert after.standing.state == "accepted"
    assert after.agreement == before and before is not None and before.percent is not None
    assert before.percent < 1


def test_agreement_over_all_tasks_skips_those_that_wait(tmp_path: Path) -> None:
    first = example_task.write(tmp_path / "tasks")
    second = example_task.write(tmp_path / "tasks", 2)
    for name in ("ada", "bo", "cy"):
        said(first, name)
    said(second, "ada")
    assert workflow.overall([first, second]).judged == len(HUMAN)


LAB = """
name: our-lab
reviewers: 2
items:
  - id: readable
    question: Is the code readable?
    look_at: the goal file
  - id: fun
    question: Is it fun?
"""


def test_a_lab_has_its_own_list_and_number_of_reviewers(task: TaskDir, tmp_path: Path) -> None:
    (task.root.parent / "checklist.yaml").write_text(LAB)
    given = tmp_path / "answers.json"
    given.write_text(json.dumps({"readable": "pass", "fun": {"answer": "pass"}}))
    for name in ("ada", "bo"):
        main(["review", str(task.root), "--reviewer", name, "--answers", str(given)])
    stored = files.read_json(task.reviews_folder / "ada.json")
    validate_with("review", stored)
    assert stored["checklist"] == "our-lab"
    assert [item["id"] for item in stored["items"] if item["kind"] == "human"] == ["readable", "fun"]
    assert workflow.where(task).state == "accepted"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("items: []", "'name' is a required property"),
        ("name: x\nitems: []", "items"),
        ("name: x\nitems: [{id: A b, question: q}]", "items/0/id"),
        ("name: x\nitems: [{id: a, question: q}, {id: a, question: r}]", "two items are called 'a'"),
        ("name: [", "neither YAML nor JSON"),
    ],
)
def test_lists_that_are_none(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(UsageError) as raised:
        workflow.read_checklist(tmp_path / "c.yaml")
    assert complaint in raised.value.message


def test_the_template_is_of_the_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.yaml").write_text(LAB)
    code, shown = run(capsys, "review", "--template", "--checklist", tmp_path / "c.yaml")
    assert code == 0 and list(json.loads(shown)) == ["readable", "fun"]


def test_the_template_of_a_task_is_of_the_list_beside_it(
    task: TaskDir, capsys: pytest.CaptureFixture[str]
) -> None:
    code, shown = run(capsys, "review", task.root, "--template")
    assert code == 0 and list(json.loads(shown)) == [item.id for item in HUMAN]
    (task.root.parent / "checklist.yaml").write_text(LAB)
    code, shown = run(capsys, "review", task.root, "--template")
    assert code == 0 and list(json.loads(shown)) == ["readable", "fun"]
    code, shown = run(capsys, "review", task.root.parent / "nowhere", "--template")
    assert code == 3


def evaluated(task: TaskDir) -> None:
    """Pretend that every gate held for the task as it is."""
    files.write_json(
        task.evaluation_path,
        {"format": "lmr-evaluation/1", "tool": "0", "sandbox": {"kind": "local"}, "seconds": 1,
         "started": "2025-01-01T00:00:00Z", "content_digest": task.content_digest(), "passed": True,
         "gates": [{"gate": "build", "status": "passed", "implementation": None, "message": "", "hint": "",
                    "seconds": 1, "detail": {}}]},
    )  # fmt: skip


def test_the_queue_has_what_is_evaluated_and_not_reviewed_by_this_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = tmp_path / "tasks"
    first, second, third = (example_task.write(tasks, number) for number in (1, 2, 3))
    (tasks / "9-Broken").mkdir()
    evaluated(first)
    evaluated(second)
    said(second, "ada")
    code, shown = run(capsys, "review", tasks, "--queue", "--reviewer", "ada", "--format", "json")
    assert (code, json.loads(shown)["waiting"]) == (0, [str(first.root)])
    code, shown = run(capsys, "review", tasks, "--queue", "--reviewer", "bo")
    assert shown.startswith("2 tasks to review by bo") and str(third.root) not in shown


def test_status_goes_on_to_accepted(task: TaskDir) -> None:
    evaluated(task)

    def now() -> tuple[str, str, bool]:
        found = status.status_with(task, ())
        return found.done[-1], found.note, "--results" in found.next

    assert now() == ("evaluated", "not reviewed", False)
    said(task, "ada")
    assert now()[1] == "1 of 3 reviews are in"
    said(task, "bo", core="fail")
    said(task, "cy")
    assert now()[1:] == ("the reviewers differ on: core", True)
    workflow.adjudicate(task, "core", "pass", "read again", "dee")
    assert now()[0] == "accepted"


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    """A keyboard: what is sent to it is typed."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def test_an_answer_is_changed_before_anything_is_stored(keys: PipeInput) -> None:
    enter, down = "\r", "\x1b[B"
    keys.send_text(enter * len(HUMAN))
    keys.send_text(down * 2 + enter)  # change the second answer
    keys.send_text(down + enter + "not there" + enter)
    keys.send_text(enter)
    given = review_dialogue.answers(Checklist().questions, {}, lambda _: None)
    assert given[HUMAN[1].id] == {"answer": "fail", "comment": "not there"}
    assert given[HUMAN[0].id]["answer"] == "pass"


def test_an_interrupted_review_goes_on_where_it_was(
    task: TaskDir, keys: PipeInput, capsys: pytest.CaptureFixture[str]
) -> None:
    enter, down, ctrl_c = "\r", "\x1b[B", "\x03"
    draft = workflow.draft(task, "ada")
    keys.send_text(enter + down + enter + "not there" + enter + ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        review_dialogue.answers(HUMAN, draft.kept(), draft.keep)
    assert workflow.where(task).reviewers == ()  # nothing that counts yet

    keys.send_text(enter * (len(HUMAN) - 2) + enter)
    again = workflow.draft(task, "ada")
    given = review_dialogue.answers(HUMAN, again.kept(), again.keep)
    assert f"2 of {len(HUMAN)} answers are there already" in capsys.readouterr().err
    assert list(given) == [item.id for item in HUMAN]
    assert [said["answer"] for said in given.values()][:3] == ["pass", "fail", "pass"]
    assert given[HUMAN[1].id]["comment"] == "not there"
    assert workflow.draft(task, "bo").kept() == {}

    workflow.review(task, "ada", given)
    assert workflow.draft(task, "ada").kept() == {}
    assert list(task.reviews_folder.glob("*.draft")) == []


def test_answers_to_another_checklist_are_kept(task: TaskDir, keys: PipeInput) -> None:
    draft = workflow.draft(task, "ada")
    other = {"answer": "pass", "comment": "of the lab's own list"}
    draft.keep({"beauty": other})
    keys.send_text("\r" * len(HUMAN) + "\r")
    given = review_dialogue.answers(HUMAN, draft.kept(), draft.keep)
    assert "beauty" not in given
    assert draft.kept() == {"beauty": other, **given}


def test_answers_about_an_older_state_are_asked_again(task: TaskDir) -> None:
    draft = workflow.draft(task, "ada")
    draft.keep({"core": {"answer": "pass", "comment": ""}})
    assert workflow.draft(task, "ada").kept() == {"core": {"answer": "pass", "comment": ""}}
    info = task.load()
    goal = task.root / info.repo_folder_name / "notes.txt"
    files.write_text(goal, "something new\n")
    now = workflow.draft(task, "ada")
    assert now.kept() == {}
    assert now.outdated is not None and "core" in now.outdated.read_text()
    assert workflow.draft(task, "ada").outdated is None
    now.keep({"core": {"answer": "fail", "comment": "new"}})
    assert workflow.draft(task, "ada").outdated is None
    assert workflow.draft(task, "ada").kept()["core"]["answer"] == "fail"


DAMAGED_DRAFTS = [
    "{",
    "[]",
    '{"answers": {}}',
    '{"format": "lmr-review-draft/1", "answers": 3}',
    '{"format": "lmr-review-draft/1", "answers": {"core": "pass"}}',
]


@pytest.mark.parametrize("damaged", DAMAGED_DRAFTS)
def test_a_damaged_draft_is_not_written_over(task: TaskDir, damaged: str) -> None:
    files.write_text(task.reviews_folder / "ada.draft", damaged)
    with pytest.raises(LmrError, match=r"ada\.draft") as caught:
        workflow.draft(task, "ada")
    assert "by hand" in caught.value.hint


def test_damaged_decisions_and_reviews_count_for_nothing(task: TaskDir) -> None:
    for name in ("ada", "bo", "cy"):
        said(task, name, core="fail" if name == "ada" else "pass")
    files.write_text(task.adjudication_path, '{"decisions": [1, {"item": "core"}]}')
    assert workflow.where(task).state == "disputed"
    assert workflow.where(task).damaged == ()
    files.write_text(task.reviews_folder / "bo.json", "{")
    now = workflow.where(task)
    assert (now.state, now.damaged) == ("waiting", ("bo.json",))
    files.write_text(task.reviews_folder / "bo.json", "[]")
    assert workflow.where(task).damaged == ("bo.json",)
    assert "damaged, and counts for nothing: bo.json" in _reviewed(task, [], task.content_digest()).note


@pytest.mark.parametrize("damaged", ["{", "[]", '{"decisions": [1, {"item": "core"}]}'])
def test_a_damaged_file_of_decisions_is_not_written_over(task: TaskDir, damaged: str) -> None:
    for name in ("ada", "bo", "cy"):
        said(task, name, core="fail" if name == "ada" else "pass")
    files.write_text(task.adjudication_path, damaged)
    with pytest.raises(LmrError, match=r"adjudication\.json") as caught:
        workflow.adjudicate(task, "core", "pass", reason="section 3", by="dee")
    assert caught.value.hint
    assert task.adjudication_path.read_text() == damaged
