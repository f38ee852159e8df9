"""Who reviews what next, and where a task stands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lmr_author.cli.app import main
from lmr_author.core import files
from lmr_author.core.task import Task
from lmr_author.release.export.export import export
from lmr_author.release.export.options import ExportOptions
from lmr_author.release.reporting import status
from lmr_author.release.review.review_status import ACCEPTED, review_status
from tests import example as example_task
from tests.review.reviewing import all_said, run, said


def evaluated(task: Task) -> None:
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


def test_status_goes_on_to_accepted(task: Task) -> None:
    evaluated(task)

    def now() -> tuple[str, str]:
        found = status.status_with(task, ())
        return found.done[-1], found.note

    assert now() == ("evaluated", "not reviewed")
    said(task, "ada")
    assert now()[1] == "1 of 3 reviews done"
    found = status.status_with(task, ())
    assert (found.next_label, found.next) == (
        "2 more reviewers",
        f"lmr-author review {task.root} --reviewer NAME",
    )
    done = export([task], ExportOptions("agent", task.root.parent.parent / "out"))
    assert done.unreviewed == {task.name: now()[1]}
    said(task, "bo", core="fail")
    said(task, "cy")
    assert now()[1] == "disputed: core"
    assert status.status_with(task, ()).next == f"lmr-author review {task.root} --decide core"
    decide = ["review", "--task", str(task.root), "--decide", "core=pass", "--reviewer", "dee"]
    assert main([*decide, "--reason", "read again"]) == 0
    assert now()[0] == "accepted"


def test_rejected_and_disputed_are_states_that_are_counted_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = tmp_path / "tasks"
    verdicts = {
        "accepted": ({}, {}, {}),
        "rejected": ({"core": "fail"},) * 3,
        "disputed": ({}, {}, {"core": "fail"}),
        "evaluated": ({}, {"core": "fail"}),
    }
    for number, answers in enumerate(verdicts.values(), 1):
        task = example_task.write(tasks, number)
        evaluated(task)
        all_said(task, *answers)
    found = json.loads(run(capsys, "status", tasks, "--format", "json")[1])
    assert [item["state"] for item in found["tasks"]] == list(verdicts)
    assert found["states"] == dict.fromkeys(verdicts, 1)
    assert [len(item["signed_off_by"]) for item in found["tasks"]] == [3, 0, 2, 0]
    assert found["tasks"][3]["reviewed_by"] == ["ada", "bo"], "who signed off stays hidden until all are in"

    text = run(capsys, "status", tasks)[1]
    assert "4 tasks: 1 evaluated, 1 disputed, 1 rejected, 1 accepted" in " ".join(text.split())
    [rejected] = list(tasks.glob("2-*"))
    block = run(capsys, "status", rejected)[1].replace("\u00a0", " ")
    assert "✗ rejected" in block and "0 of 3 sign-offs" in block and "✓ accepted" not in block

    run(capsys, "report", tasks, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for state in verdicts:
        assert re.search(rf'<span class="badge[^"]*">{state}</span>', page)
    assert "2 of 3 sign-offs" in page and "2 of 3 reviews done" in page
    run(capsys, "report", rejected, "--html", tmp_path / "task.html")
    assert "rejected, 0 of 3 sign-offs" in (tmp_path / "task.html").read_text()


def test_a_question_that_came_later_does_not_undo_what_was_decided_before(tmp_path: Path) -> None:
    task = example_task.write(tmp_path / "tasks", 1)
    all_said(task)
    for path in task.reviews_folder.glob("*.json"):
        review = json.loads(path.read_text())
        review["items"] = [item for item in review["items"] if item["id"] != "category"]
        path.write_text(json.dumps(review))
    assert review_status(task).state == ACCEPTED
