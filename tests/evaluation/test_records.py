"""Evaluations as they are stored: which one counts, and of which state of the task."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lmr_author.cli.app import main
from lmr_author.core import files
from lmr_author.core.task import Evaluation, GateResult, GateStatus, Task
from lmr_author.core.task.evaluation import GateDetail, UsedSandbox, load, store
from lmr_author.core.task.folder import TaskState
from lmr_author.proof.evaluation import evaluate
from lmr_author.proof.validation.run import validate
from lmr_author.release.reporting import records as report_records
from lmr_author.release.reporting import status
from lmr_author.release.review import review
from lmr_author.release.review.checklist import automatic_items
from lmr_author.runtime.environment.where import Where
from tests import example as example_task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return example_task.write(tmp_path / "tasks")


def record(task: Task, kind: str = "local", passed: bool = True, **changed: Any) -> Evaluation:
    """An evaluation of the task as it is, whose build fails unless it ``passed``."""
    build = GateResult("build", GateStatus.PASSED if passed else GateStatus.FAILED, "text")
    later = GateResult("golden-passes", GateStatus.PASSED if passed else GateStatus.SKIPPED, "", "", 1)
    mutants = GateDetail(made=40, method="recorded cases")
    last = GateResult("mutants-die", later.status, "", "", 1, detail=mutants if passed else GateDetail())
    state = TaskState.of(task)
    return replace(
        Evaluation(
            tool="0",
            sandbox=UsedSandbox(kind),
            started="2026-01-02T03:04:05+00:00",
            seconds=1,
            content_digest=state.content,
            running_digest=state.running,
            gates=(build, later, last),
            passed=passed,
        ),
        **changed,
    )


def loaded(task: Task) -> Evaluation:
    found = load(task)
    assert found is not None
    return found


def counting(task: Task) -> tuple[str, bool]:
    return loaded(task).kind, loaded(task).passed


OTHER_BASE = UsedSandbox("docker", other_base_image="me/base:1")


@pytest.mark.parametrize("passed", [True, False])
@pytest.mark.parametrize("sandbox", [UsedSandbox("local"), OTHER_BASE])
def test_a_sound_one_in_docker_stays_until_the_task_changes(
    task: Task, sandbox: UsedSandbox, passed: bool
) -> None:
    store(task, record(task, "docker", True, sandbox=OTHER_BASE))
    store(task, record(task, "local", passed))
    assert loaded(task).sandbox == OTHER_BASE
    store(task, record(task, "docker", True))
    store(task, record(task, sandbox.kind, passed, sandbox=sandbox))
    assert counting(task) == ("docker", True) and not loaded(task).sandbox.other_base_image
    (task.root / "margin-ranking" / "README.md").write_text("changed\n")
    store(task, record(task, sandbox.kind, passed, sandbox=sandbox))
    assert loaded(task).sandbox == sandbox and loaded(task).passed == passed


def test_otherwise_the_last_one_counts(task: Task) -> None:
    for kind, passed in (
        ("docker", False),
        ("local", True),
        ("local", False),
        ("docker", True),
        ("docker", False),
    ):
        store(task, record(task, kind, passed))
        assert counting(task) == (kind, passed)
    told = [event for _, event in report_records.history(task, task.load(), loaded(task))]
    assert "evaluated, docker sandbox: build: failed" in told


def test_an_image_that_cannot_be_built_takes_no_sound_evaluation_away(task: Task) -> None:
    store(task, record(task, "local", True))
    store(task, record(task, "docker", False))
    assert counting(task) == ("local", True)


@pytest.mark.parametrize("damaged", [7, [{"gate": 7}]])
def test_a_damaged_record_counts_for_nothing_and_stops_nothing(task: Task, damaged: object) -> None:
    files.write_json(task.evaluation_path, {**record(task, "local", True).to_json(), "gates": damaged})
    assert load(task) is None
    assert status.status_with(task, ()).note == "never evaluated"
    automatic_items(task, ())
    assert report_records.environment(task, None)
    store(task, record(task, "docker", False))
    assert counting(task) == ("docker", False)


@pytest.mark.parametrize(
    ("options", "kept", "said"),
    [
        ((), ("docker", False), "replaced an evaluation in which every gate passed"),
        (
            ("--base-image", "me/base:1"),
            ("docker", True),
            "the evaluation in the docker sandbox still counts",
        ),
    ],
)
def test_a_sound_record_is_not_replaced_without_a_word(
    task: Task,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    kept: tuple[str, bool],
    said: str,
) -> None:
    store(task, record(task, "docker", True))
    broken = GateResult("build", GateStatus.FAILED, "no base image")
    monkeypatch.setattr(Where, "sandbox", lambda *_, **__: nullcontext())
    monkeypatch.setattr(evaluate, "_build", lambda _, used, *__: (broken, used))
    assert main(["evaluate", str(task.root), "--sandbox", "docker", *options]) == 1
    assert said in " ".join(capsys.readouterr().out.split())
    assert counting(task) == kept
    assert main(["evaluate", str(task.root), "--sandbox", "docker", *options]) == 1
    assert "replaced an evaluation" not in capsys.readouterr().out, "a failing one is no loss"


Edit = Callable[[dict[str, Any]], object]


def edit(task: Task, change: Edit) -> None:
    data = task.load_raw()
    change(data)
    files.write_json(task.info_path, data)


def stale(task: Task) -> list[str]:
    """The records that validate, status and the checklist take for outdated; they have to agree."""
    found = {finding.path for report in validate([task]).tasks for finding in report.findings
             if finding.code == "LMR803"}  # fmt: skip
    of_status = status.status_with(task, ()).note == "changed since it was evaluated"
    _, gates = automatic_items(task, ())
    told = "authoring/evaluation.json" in found
    assert told == of_status == (gates.evidence == "evaluated before the task changed")
    return sorted(found)


def first(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data["implementations"][0]
    return found


FOR_PEOPLE: dict[str, Edit] = {
    "instruction": lambda data: first(data).update(instruction="Another text. It is longer."),
    "its other spelling": lambda data: first(data).update(
        retrieval_content=first(data).pop("retrieval_context")
    ),
    "paper": lambda data: data.update(paper_url="https://arxiv.org/abs/1", year=1999, license="MIT"),
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
    "a key that is not known": lambda data: data.update(image="other"),
    "another implementation": lambda data: data["implementations"].append(dict(first(data), index=2)),
}


@pytest.mark.parametrize("what", RUN)
def test_what_is_run_does_not(task: Task, what: str) -> None:
    before = TaskState.of(task)
    edit(task, RUN[what])
    assert TaskState.of(task).running != before.running


@pytest.mark.parametrize("name", ["margin-ranking/README.md", "requirements.lock"])
def test_every_other_file_is_what_is_run(task: Task, name: str) -> None:
    store(task, record(task))
    with (task.root / name).open("a") as file:
        file.write("# changed\n")
    assert stale(task) == ["authoring/evaluation.json"]


@pytest.mark.parametrize("text", ["no JSON", '{"implementations": [7]}'])
def test_an_info_json_that_is_none_still_has_a_state(task: Task, text: str) -> None:
    task.info_path.write_text(text)
    before = TaskState.of(task)
    assert before == TaskState.of(task) and before.content == task.content_digest()
    task.info_path.write_text(text.replace("7", "8") if "7" in text else text + " ")
    assert TaskState.of(task).running != before.running
