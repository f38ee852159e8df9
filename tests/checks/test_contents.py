"""A view reads nothing outside of its task, however the task is named or what links lie in it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lmr_author.core import resources
from lmr_author.core.code import Module
from lmr_author.core.task import Task
from lmr_author.proof.checks.unit_tests import read_test
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.validation.run import validate
from tests import example
from tests.checks.cases import named


@pytest.fixture
def view(tmp_path: Path) -> TaskContents:
    task = example.write(tmp_path / "tasks")
    (tmp_path / "secret.txt").write_text("outside\n")
    (task.root / "shown").symlink_to("margin-ranking")
    (task.root / "out").symlink_to(tmp_path)
    (task.root / "nowhere").symlink_to("gone")
    os.mkfifo(task.root / "pipe")
    return TaskContents(task)


@pytest.mark.parametrize("path", ["margin-ranking/LICENSE", "shown/LICENSE", "margin-ranking/../Dockerfile"])
def test_files_and_links_to_them_are_read(view: TaskContents, path: str) -> None:
    assert view.is_file(view.task.root / path)
    assert view.read_bytes(view.task.root / path)


@pytest.mark.parametrize(
    "path", ["out/secret.txt", "../../secret.txt", "pipe", "nowhere", "absent", "x" * 300]
)
def test_nothing_else_is_read(view: TaskContents, path: str) -> None:
    assert not view.is_file(view.task.root / path)
    assert view.read_bytes(view.task.root / path) is None


def test_a_task_path_with_dots_gives_the_same_findings(tmp_path: Path) -> None:
    [task] = named("LMR512/ok-as-recorded").write(tmp_path)
    dotted = Task(task.root / example.REPOSITORY / ".." / ".." / task.root.name)

    assert [one.code for one in validate([task]).findings] == []
    assert [one.code for one in validate([dotted]).findings] == []


def test_a_link_in_a_recording_is_not_followed(tmp_path: Path) -> None:
    [task] = named("LMR512/ok-as-recorded").write(tmp_path / "tasks")
    (tmp_path / "secret.txt").write_text("outside\n")
    case = task.root / example.REPOSITORY / "unit_test" / "recordings" / "1" / "case_1"
    (case / "more.json").symlink_to(tmp_path / "secret.txt")

    messages = {one.code: one.message for one in validate([task]).findings}

    assert messages["LMR512"] == "a recording contains a symbolic link"


def test_a_repository_name_that_no_file_system_takes_is_a_finding(tmp_path: Path) -> None:
    task = example.write(tmp_path)
    info = task.load_raw() | {"repo_folder_name": "\ud800"}
    (task.root / "info.json").write_text(json.dumps(info))

    findings = validate([task]).findings

    assert [finding.code for finding in findings if finding.path == "\\ud800"] == ["LMR103"]


def test_a_support_file_that_is_known_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is as long as the rest of a task; its digest says all."""
    parsed, parse = list[str](), Module.parse

    def noted(data: bytes, name: str) -> Module:
        parsed.append(name)
        return parse(data, name)

    task = example.write(tmp_path / "tasks")
    info = task.load()
    test = task.unit_test(info, info.implementations[0])
    test.write_text("import lmr_support\n" + test.read_text())
    monkeypatch.setattr(Module, "parse", noted)
    for text, is_known in ((resources.support_file(), True), ("def check(): ...\n", False)):
        test.with_name("lmr_support.py").write_text(text)
        parsed.clear()
        assert read_test(TaskContents(task), info.implementations[0]) is not None
        assert any(name.endswith("lmr_support.py") for name in parsed) != is_known, parsed
