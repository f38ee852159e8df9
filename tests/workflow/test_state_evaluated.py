"""An evaluation is of what is run: what only people read leaves it standing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lmr_author import files
from lmr_author.reporting import status
from lmr_author.review import review
from lmr_author.task import Evaluation, Task
from lmr_author.task.evaluation import load, store
from lmr_author.task.state import State
from lmr_author.validation.run import validate
from tests import example as example_task

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return example_task.write(tmp_path / "tasks")


def record(task: Task, kind: str = "local", **changed: Any) -> Evaluation:
    state = State.of(task)
    return replace(
        Evaluation(
            tool="0",
            sandbox={"kind": kind},
            started="2026-01-02T03:04:05+00:00",
            seconds=1,
            content_digest=state.content,
            running_digest=state.running,
            gates=(),
            passed=True,
        ),
        **changed,
    )


def loaded(task: Task) -> Evaluation:
    found = load(task)
    assert found is not None
    return found


def edit(task: Task, change: Edit) -> None:
    data = task.load_raw()
    change(data)
    files.write_json(task.info_path, data)


def stale(task: Task) -> list[str]:
    """The records that validate, status and the checklist take for outdated; they have to agree."""
    found = {finding.path for report in validate([task]).tasks for finding in report.findings
             if finding.code == "LMR803"}  # fmt: skip
    of_status = status.status_with(task, ()).note == "changed since it was evaluated"
    _, gates = review.answer_automatic(task)
    told = "authoring/evaluation.json" in found
    assert told == of_status == (gates.evidence == "evaluated before the task changed")
    return sorted(found)


def first(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data["implementations"][0]
    return found


FOR_PEOPLE: dict[str, Edit] = {
    "instruction": lambda data: first(data).update(instruction="Another text. It is longer."),
    "category": lambda data: first(data).update(category="Evaluation Metrics"),
    "retrieval_context": lambda data: first(data).update(retrieval_context=["README.md"]),
    "its other spelling": lambda data: first(data).update(
        retrieval_content=first(data).pop("retrieval_context")
    ),
    "paper": lambda data: data.update(paper_url="https://arxiv.org/abs/1", paper_name="Other", year=1999),
    "repository": lambda data: data.update(repo_url="https://github.com/a/b", repo_commit="a" * 40),
    "license": lambda data: data.update(license="MIT", instance_id=77),
}


@pytest.mark.parametrize("what", FOR_PEOPLE)
def test_what_people_read_leaves_an_evaluation_standing_and_no_sign_off(task: Task, what: str) -> None:
    store(task, record(task))
    sign_off = {"format": "lmr-review/1", "reviewer": "ada", "created": "2025-01-01T00:00:00Z",
                "content_digest": task.content_digest(), "items": [], "signed_off": True}  # fmt: skip
    files.write_json(task.reviews_folder / "ada.json", sign_off)
    assert stale(task) == []

    edit(task, FOR_PEOPLE[what])

    assert stale(task) == ["authoring/reviews/ada.json"]
    assert review.find_waiting([task], "bo") == [task]


RUN: dict[str, Edit] = {
    "target": lambda data: first(data).update(goal_function="other"),
    "golden": lambda data: first(data).update(golden_file="golden_files/other.py"),
    "test": lambda data: first(data).update(unit_test_file="unit_test/other.py"),
    "index": lambda data: first(data).update(index=2),
    "a key that is not known": lambda data: data.update(image="other"),
    "one of an implementation": lambda data: first(data).update(goal_nth=2),
    "another implementation": lambda data: data["implementations"].append(dict(first(data), index=2)),
}


@pytest.mark.parametrize("what", RUN)
def test_what_is_run_does_not(task: Task, what: str) -> None:
    before = State.of(task)
    edit(task, RUN[what])
    assert State.of(task).running != before.running


@pytest.mark.parametrize("name", ["Dockerfile", "margin-ranking/README.md", "requirements.lock"])
def test_every_other_file_is_what_is_run(task: Task, name: str) -> None:
    store(task, record(task))
    with (task.root / name).open("a") as file:
        file.write("# changed\n")
    assert stale(task) == ["authoring/evaluation.json"]


def test_an_older_record_holds_for_the_whole_content(task: Task) -> None:
    older = record(task, running_digest="")
    store(task, older)
    assert stale(task) == []
    store(task, record(task, "docker"))
    assert [one.kind for one in loaded(task).others] == ["local"]

    older.write(task.evaluation_path)
    edit(task, FOR_PEOPLE["instruction"])
    assert stale(task) == ["authoring/evaluation.json"]
    store(task, record(task, "docker"))
    assert loaded(task).others == ()


def test_evaluations_before_and_after_such_an_edit_stand_beside_each_other(task: Task) -> None:
    store(task, record(task, "docker"))
    edit(task, FOR_PEOPLE["instruction"])
    store(task, record(task, "local", passed=False))

    assert stale(task) == []
    assert loaded(task).sandbox == {"kind": "docker"}


@pytest.mark.parametrize("text", ["[]", "no JSON", '{"implementations": 7}', '{"implementations": [7]}'])
def test_an_info_json_that_is_none_still_has_a_state(task: Task, text: str) -> None:
    task.info_path.write_text(text)
    before = State.of(task)
    assert before == State.of(task) and before.content == task.content_digest()
    task.info_path.write_text(text.replace("7", "8") if "7" in text else text + " ")
    assert State.of(task).running != before.running
