"""A folder of a stranger's answers: no link of it is followed, and nothing in it makes us wait."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.proof.evaluation.candidates import predictions
from lmr_author.release.analysis import observations
from lmr_author.release.challenge.answers import read
from tests.support import make_task, write_files

pytestmark = pytest.mark.timeout(20)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return make_task(tmp_path / "tasks")


def _link(path: Path) -> None:
    secret = path.parent / ".secret"
    secret.write_text(json.dumps({"task": "1-Small", "index": 1, "model": "m", "code": "KEY = 1"}))
    path.symlink_to(secret)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**42)


HOSTILE: list[Callable[[Path], None]] = [_link, os.mkfifo, _device, _large]


@pytest.mark.parametrize("make", HOSTILE)
@pytest.mark.parametrize("place", ["misreadings/1/a.py", "rewrites/1/a.py"])
def test_an_answer_that_is_no_file_is_refused(
    make: Callable[[Path], None], place: str, task: Task, tmp_path: Path
) -> None:
    folder = tmp_path / "answers"
    write_files(
        folder, {"misreadings/1/good.py": "def hinge(x): return 0\n", "rewrites/1/good2.py": "x = 1\n"}
    )
    make(folder / place)
    with pytest.raises(LmrError) as caught:
        read(folder, task, 1)
    assert place in caught.value.message and caught.value.hint


def test_a_folder_of_answers_that_leads_elsewhere_is_refused(task: Task, tmp_path: Path) -> None:
    write_files(tmp_path / "private", {"key.py": "KEY = 1\n"})
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "misreadings").symlink_to(tmp_path / "private")
    with pytest.raises(LmrError, match="misreadings is a symbolic link"):
        read(folder, task, 1)


@pytest.mark.parametrize("make", HOSTILE[1:])
def test_predictions_that_are_no_file_are_refused(
    make: Callable[[Path], None], task: Task, tmp_path: Path
) -> None:
    path = tmp_path / "answers.jsonl"
    make(path)
    for attempt in (
        lambda: predictions.read(path, {task.name: task.load()}),
        lambda: read(path, task, 1),
        lambda: observations.read([path]),
    ):
        with pytest.raises(LmrError) as caught:
            attempt()
        assert str(path) in caught.value.message and caught.value.hint


@pytest.mark.parametrize("make", HOSTILE)
@pytest.mark.parametrize("name", ["job/trial__1/result.json", "logs/a.eval", "rows/a.jsonl"])
def test_logs_below_a_folder_that_are_no_files_are_refused(
    make: Callable[[Path], None], name: str, task: Task, tmp_path: Path
) -> None:
    path = tmp_path / "results" / name
    (path.parent / "artifacts").mkdir(parents=True)
    make(path)
    if not name.endswith(".jsonl"):
        with pytest.raises(LmrError, match=path.name):
            predictions.read(tmp_path / "results", {task.name: task.load()})
    with pytest.raises(LmrError, match=path.name):
        observations.read([tmp_path / "results"])


def test_the_artifacts_of_a_trial_lie_in_it(task: Task, tmp_path: Path) -> None:
    write_files(tmp_path / "home", {"workspace/key.py": "KEY = 1\n"})
    trial = tmp_path / "job" / "1-Small-1__x"
    trial.mkdir(parents=True)
    (trial / "artifacts").symlink_to(tmp_path / "home")
    result = {"task_id": {"path": "1-Small-1"}, "task_name": "x/1-Small-1", "agent_info": {"name": "m"}}
    (trial / "result.json").write_text(json.dumps(result))
    with pytest.raises(LmrError, match="artifacts is a symbolic link"):
        predictions.read(tmp_path / "job", {task.name: task.load()})
