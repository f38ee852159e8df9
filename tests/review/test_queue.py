"""Who reviews what next, and where a task stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.cli.app import main
from lmr_author.reporting import status
from lmr_author.task import Task
from tests import example as example_task
from tests.review.reviewing import run, said


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


def test_status_goes_on_to_accepted(task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    evaluated(task)

    def now() -> tuple[str, str]:
        found = status.status_with(task, ())
        return found.done[-1], found.note

    assert now() == ("evaluated", "not reviewed")
    said(task, "ada")
    assert now()[1] == "1 of 3 reviews done"
    said(task, "bo", core="fail")
    said(task, "cy")
    assert now()[1] == "disputed: core"
    assert main(["next", "--task", str(task.root)]) == 2 and "--reviewer NAME" in capsys.readouterr().err
    decide = ["review", str(task.root), "--adjudicate", "core=pass", "--reviewer", "dee"]
    assert main([*decide, "--reason", "read again"]) == 0
    assert now()[0] == "accepted"
