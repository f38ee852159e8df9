"""``next`` runs what ``status`` names."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.cli.app import main
from lmr_author.reporting.next_step import next_step
from lmr_author.reporting.status import DRIVER, TARGET
from tests.support import make_task

HINGE = "pkg/losses.py::hinge"


def test_the_first_task_with_something_to_do_comes_first(tmp_path: Path) -> None:
    first, second = make_task(tmp_path), make_task(tmp_path, "2-Other")
    step = next_step([first, second])
    assert step is not None
    assert (step.task, step.arguments[0], step.missing) == ("1-Small", "mask", (TARGET,))
    assert step.typed == f"lmr-author mask FILE::FUNCTION --task {first.root}"


def test_placeholders_are_filled_or_taken_out(tmp_path: Path) -> None:
    task = make_task(tmp_path / "with a space")
    step = next_step([task])
    assert step is not None
    assert step.filled({TARGET: HINGE}).arguments == ("mask", HINGE, "--task", str(task.root))
    assert step.filled({TARGET: ""}).arguments == ("mask", "--task", str(task.root))
    assert step.filled({TARGET: HINGE}).missing == ()


def test_it_masks_then_asks_for_a_driver_and_shows_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = make_task(tmp_path)
    base = ["next", "--task", str(task.root), "--no-input"]
    assert main(base) == 2
    told = capsys.readouterr().err
    assert "--target FILE::FUNCTION" in told and "lmr-author suggest" in told
    assert main([*base, "--target", HINGE]) == 0
    assert task.load().implementations[0].goal_function == "hinge"
    capsys.readouterr()

    assert main(base) == 2
    assert "-- COMMAND" in capsys.readouterr().err
    assert main([*base, "--show"]) == 0
    assert DRIVER in capsys.readouterr().out
    assert main([*base, "--show", "--", "python", "run.py", "--name", "a b"]) == 0
    shown = capsys.readouterr().out.strip()
    assert shown == f"lmr-author record {HINGE} --task {task.root} -- python run.py --name 'a b'"
    assert main([*base, "--show", "--python", "/env/bin/python", "--", "python", "run.py"]) == 0
    shown = capsys.readouterr().out.strip()
    assert shown == f"lmr-author record --python /env/bin/python {HINGE} --task {task.root} -- python run.py"


def test_where_code_runs_is_said_only_to_what_runs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = make_task(tmp_path)
    base = ["next", "--task", str(task.root), "--no-input", "--sandbox", "docker", "--show"]
    assert main(base) == 0
    assert "--sandbox" not in capsys.readouterr().out
    assert main(["next", "--task", str(task.root), "--no-input", "--target", HINGE]) == 0
    capsys.readouterr()
    assert main(base) == 0
    assert capsys.readouterr().out.startswith("lmr-author record --sandbox docker ")


def test_a_damaged_task_is_validated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = make_task(tmp_path)
    task.info_path.write_text("{")
    assert main(["next", "--task", str(task.root)]) == 1
    assert f"$ lmr-author validate {task.root}" in capsys.readouterr().err
