"""Several processes find what one finds; a task that ends its process is a finding, and the others go on."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.registry import ALL_CHECKS, by_code
from lmr_author.taskdir import TaskDir
from lmr_author.validation.processes import start
from lmr_author.validation.run import ALONE_BELOW, validate
from lmr_author.validation.store import Store
from lmr_author.validation.workers import validate_all

CODES = [check.code for check in ALL_CHECKS]


def _tree(folder: Path, count: int = ALONE_BELOW + 2) -> list[TaskDir]:
    """Good tasks, of which one lacks its Dockerfile, one its info.json, and two have one number."""
    tasks = [example_task.write(folder, number) for number in range(1, count + 1)]
    (tasks[1].root / "Dockerfile").unlink()
    (tasks[2].root / "info.json").write_bytes(b"\xff")
    shutil.copytree(tasks[3].root, folder / "other" / tasks[3].name)
    return [*tasks, TaskDir(folder / "other" / tasks[3].name)]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "validation.sqlite3"


def test_two_processes_find_the_same(tmp_path: Path, cache: Path) -> None:
    tasks = _tree(tmp_path)
    seen: list[str] = []

    report = validate(
        tasks, ALL_CHECKS, lambda one: seen.append(one.task), store=Store.of_user(CODES), jobs=2
    )

    assert report == validate(tasks)
    assert {"LMR201", "LMR001", "LMR008"} <= set(report.by_code)
    assert sorted(seen) == sorted(task.name for task in tasks)
    assert cache.is_file()
    assert validate(tasks, store=Store.of_user(CODES), jobs=2) == report


def test_a_relative_cache_folder_and_relative_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tree(tmp_path / "tasks")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LMR_AUTHOR_CACHE", "kept")
    tasks = TaskDir.find_all(Path("tasks"))

    first = validate(tasks, store=Store.of_user(CODES), jobs=2)
    again = validate(tasks, store=Store.of_user(CODES), jobs=2)

    assert first == again == validate(tasks)
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["validation.sqlite3"]


def test_a_task_that_takes_too_long_is_a_finding_and_the_others_go_on(tmp_path: Path) -> None:
    tasks = [example_task.write(tmp_path, number) for number in (1, 2)]

    answers = list(validate_all(tasks, CODES, 1, cached=False, seconds=0.001))

    assert sorted(number for number, _ in answers) == [0, 1]
    for number, answer in answers:
        assert answer.content == "" and answer.result.task == tasks[number].name
        assert [one.code for one in answer.result.findings] == ["LMR000"]
        assert "took more than" in answer.result.findings[0].message


def test_a_task_that_ends_its_process_is_a_finding(tmp_path: Path) -> None:
    tasks = [example_task.write(tmp_path, number) for number in (1, 2)]

    answers = list(validate_all(tasks, ["LMR999"], 2, cached=False))  # a code that the process does not know

    assert {answer.result.findings[0].code for _, answer in answers} == {"LMR000"}
    assert all("ended the process" in answer.result.findings[0].message for _, answer in answers)


def test_no_process_is_left_when_nobody_wants_the_rest(tmp_path: Path) -> None:
    tasks = [example_task.write(tmp_path, number) for number in range(1, 9)]
    before = _children()
    answers = validate_all(tasks, CODES, 2, cached=False)
    next(answers)
    assert len(_children()) == len(before) + 2
    answers.close()  # type: ignore[attr-defined]

    assert _children() == before


def _children() -> list[str]:
    """Processes that this one started, in whatever thread."""
    lists = Path("/proc/self/task").glob("*/children")
    return sorted(child for found in lists for child in found.read_text().split())


@pytest.fixture
def beside_a_thread() -> Iterator[None]:
    """Something else that runs in this process."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield
    end.set()
    thread.join()


@pytest.mark.usefixtures("beside_a_thread")
def test_beside_a_thread_new_processes_find_the_same(tmp_path: Path, cache: Path) -> None:
    tasks = _tree(tmp_path)

    assert validate(tasks, store=Store.of_user(CODES), jobs=2) == validate(tasks)


@pytest.mark.usefixtures("beside_a_thread")
def test_a_new_process_that_ends_is_a_finding(tmp_path: Path) -> None:
    answers = list(validate_all([example_task.write(tmp_path)], ["LMR999"], 1, cached=False))

    assert ["ended the process" in answer.result.findings[0].message for _, answer in answers] == [True]


def test_a_copy_of_this_process_holds_none_of_its_files(tmp_path: Path) -> None:
    before = _children()
    with (tmp_path / "held.txt").open("w") as held:
        process = start(["LMR201"])
        task = example_task.write(tmp_path)
        assert process.stdin and process.stdout
        process.stdin.write(
            json.dumps({"root": str(task.root), "cached": False, "asked": False}).encode() + b"\n"
        )
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["findings"] == []
        (number,) = set(_children()) - set(before)
        files = {str(path.readlink()) for path in Path(f"/proc/{number}/fd").iterdir()}
        assert held.name not in files and Path(f"/proc/{number}/cwd").readlink() == Path("/")
    process.stdin.close()
    assert process.stdout.read() == b""  # it ends when nobody can ask any more
    process.stdout.close()
    process.wait()
    assert _children() == before


def test_only_chosen_checks_run_in_the_processes(tmp_path: Path) -> None:
    tasks = _tree(tmp_path)
    chosen = [by_code()["LMR201"]]

    assert validate(tasks, chosen, jobs=2).by_code == {"LMR201": 1}
