"""Files that fixes move and keep, and the command that fixes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from lmr_author.cli.app import main
from lmr_author.core.errors import UnsafePathError
from lmr_author.core.task import accepted
from lmr_author.proof.validation.repair import Change, plan
from lmr_author.proof.validation.run import validate
from tests import example as example_task
from tests.checks import cases
from tests.cli.program import snapshot
from tests.example import REPOSITORY, Example
from tests.validation.repairing import repaired


def test_every_changed_file_is_kept_as_it_was(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    for name in ("LMR003/the-legacy-spelling", "LMR701/ds-store"):
        cases.named(name).apply(task)
    cases.first("LMR402").apply(task)
    before = {path: digest for path, digest in snapshot(task.root).items() if digest != "folder"}

    assert repaired(task).clean

    after = snapshot(task.root)
    for path, digest in before.items():
        assert digest in (after.get(path), after.get(f"authoring/removed/{path}")), path
    assert {path for path in before if after.get(path) != before[path]} == {
        "info.json",
        f"{REPOSITORY}/.DS_Store",
        f"{REPOSITORY}/.git/HEAD",
    }


def test_a_second_repair_does_not_overwrite_the_first_copy(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    for name in ("one", "two"):
        example_task.apply(task, Example("", info={"folder_name": name}))
        assert repaired(task).findings == ()

    kept = sorted((task.authoring / "removed").glob("info.json*"))
    assert [json.loads(path.read_text())["folder_name"] for path in kept] == ["one", "two"]


def test_names_that_are_no_utf8_are_moved(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    name = os.fsencode(task.root / REPOSITORY) + b"/\xff\xfe.swp"
    with open(name, "wb") as file:
        file.write(b"x")
    (task.root / REPOSITORY / "two\nlines~").write_text("")

    repaired(task)

    assert not os.path.exists(name)
    assert os.path.exists(os.fsencode(task.authoring / "removed" / REPOSITORY) + b"/\xff\xfe.swp")
    assert (task.authoring / "removed" / REPOSITORY / "two\nlines~").exists()


def test_nothing_is_written_outside_of_the_task(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    shutil.rmtree(task.authoring)
    (tmp_path / "outside").mkdir()
    task.authoring.symlink_to(tmp_path / "outside")
    (task.root / REPOSITORY / ".DS_Store").write_text("")

    with pytest.raises(UnsafePathError):
        repaired(task)
    assert list((tmp_path / "outside").iterdir()) == []


def test_what_is_accepted_is_not_repaired(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    cases.named("LMR701/ds-store").apply(task)
    accepted.add(task, validate([task]).findings[0], "the task is about such files")

    assert plan(validate([task])) == ()


def test_a_folder_and_what_lies_in_it_are_moved_once(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    (task.root / REPOSITORY / "__pycache__").mkdir()
    (task.root / REPOSITORY / "__pycache__" / "x.pyc~").write_text("")

    (found,) = plan(validate([task]))

    assert found.changes == (Change(f"{REPOSITORY}/__pycache__"),)


def test_the_command_shows_first_and_changes_then(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = example_task.write(tmp_path)
    cases.named("LMR003/the-legacy-spelling").apply(task)
    (task.root / REPOSITORY / "\x1b[31m~").write_text("")
    before = snapshot(tmp_path)

    assert main(["validate", str(task.root), "--diff"]) == 1
    captured = capsys.readouterr()
    assert '-      "retrieval_content": [' in captured.out.splitlines()
    assert '+      "retrieval_context": [' in captured.out.splitlines()
    assert f"moved {task.name}/{REPOSITORY}/\\x1b[31m~ to authoring/removed/" in captured.out
    assert "2 changes to 1 task; --fix" in captured.err
    assert snapshot(tmp_path) == before

    (task.root / REPOSITORY / "\x1b[31m~").unlink()
    assert main(["validate", str(task.root), "--fix", "--format", "json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["summary"]["clean"] == 1
    assert captured.err.splitlines()[0] == f"changed {task.name}/info.json"
    assert main(["validate", str(task.root), "--diff"]) == 0
    assert "nothing can be fixed" in capsys.readouterr().err
    assert main(["validate", str(task.root), "--diff", "--format", "json"]) == 2
