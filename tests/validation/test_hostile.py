"""Folders made to break a reader: each is only a matter of findings, and nothing outside of it is read.

Every kind is validated by the program itself, in a process with a limit on its memory; one that hangs fails at
the time limit of the process.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lmr_author.core.task import Task
from tests import example as example_task
from tests.cli.forked import Caller
from tests.cli.program import lmr_forked, validate_with
from tests.example import REPOSITORY

MEMORY = 6 * 1024**3
GIGABYTE = 1024**3
SECRET = "the-secret-word"


def _huge(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(GIGABYTE)


def _pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _link(path: Path, to: str) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(to)


def _info(task: Task, change: Callable[[dict[str, Any]], object]) -> None:
    info = task.load_raw()
    change(info)
    task.info_path.write_text(json.dumps(info))


def _deep(task: Task) -> None:
    here = Path.cwd()
    try:
        os.chdir(task.root / REPOSITORY)
        for _ in range(500):
            os.mkdir("a-long-name")
            os.chdir("a-long-name")
        Path("x.py").write_text("x = 1\n")
    finally:
        os.chdir(here)


def _names(task: Task) -> None:
    folder = os.fsencode(task.root / REPOSITORY)
    for name in (b"a\nb.py", b"\xff\xfe.py", b"\x1b[2J.py", b"[red]x[bold].py", b"::error::x.py", b"-rf.py"):
        with open(folder + b"/" + name, "wb") as file:
            file.write(b"def f(:\n")


def _nested_code(task: Task) -> None:
    repository = task.root / REPOSITORY
    (repository / "ranking" / "losses.py").write_text("x = " + "-" * 300_000 + "1\n")
    (task.golden_folder / "losses_golden.py").write_text("x" + ".a" * 100_000 + "\n")
    (repository / "unit_test" / "unit_test_1.py").write_text("f" + "()" * 50_000 + "\n")
    (repository / "a.py").write_text("x = " + "lambda: " * 50_000 + "1\n")
    (repository / "b.py").write_text("@a\n" * 50_000 + "def f(): pass\n")


def _records(task: Task, make: Callable[[Path], object]) -> None:
    for name in ("accepted", "evaluation", "provenance", "vetting"):
        make(task.authoring / f"{name}.json")


FOLDERS: dict[str, Callable[[Task], object]] = {
    "500 levels": _deep,
    "names": _names,
    "nested code": _nested_code,
    "links in a circle": lambda task: [
        _link(task.root / REPOSITORY / "a", "b"),
        _link(task.root / REPOSITORY / "b", "a"),
        _link(task.root / REPOSITORY / "here", "."),
        _link(task.root / REPOSITORY / "ranking" / "losses.py", "losses.py"),
    ],
    "links outwards": lambda task: [
        _link(task.root / name, "../outside/secret.py")
        for name in ("Dockerfile", f"{REPOSITORY}/ranking/losses.py", f"{REPOSITORY}/paper.json", "x.py")
    ],
    "folders that are links outwards": lambda task: [
        _link(task.golden_folder, "../outside"),
        _link(task.authoring, "../outside"),
        _link(task.root / REPOSITORY / "unit_test", "../../outside"),
    ],
    "the repository is a link outwards": lambda task: _link(task.root / REPOSITORY, "../outside"),
    "endless devices": lambda task: [
        _link(task.dockerfile, "/dev/zero"),
        _link(task.root / REPOSITORY / "paper.pdf", "/dev/zero"),
        _records(task, lambda path: _link(path, "/dev/zero")),
    ],
    "pipes": lambda task: [
        *(_pipe(task.root / REPOSITORY / name) for name in ("paper.json", "ranking/losses.py", "x.pyc")),
        _records(task, _pipe),
        _pipe(task.dockerfile),
    ],
    "a gigabyte each": lambda task: [
        *(_huge(task.root / REPOSITORY / f"x.{suffix}") for suffix in ("py", "ipynb", "pyc", "zip", "json")),
        _huge(task.dockerfile),
        _huge(task.golden_folder / "losses_golden.py"),
        _huge(task.accepted_path),
    ],
    "info.json of a gigabyte": lambda task: _huge(task.info_path),
    "brackets": lambda task: task.info_path.write_text("[" * 200_000),
    "objects": lambda task: task.info_path.write_text('{"a":' * 100_000),
    "half a character": lambda task: _info(
        task, lambda info: info.update(paper_name="\ud800", year="\x1b[31m")
    ),
    "many implementations": lambda task: _info(
        task, lambda info: info.update(implementations=info["implementations"] * 100)
    ),
    "a long instruction": lambda task: _info(
        task, lambda info: info["implementations"][0].update(instruction="a." * 300_000 + "(" * 9000)
    ),
    "paths upwards": lambda task: _info(
        task,
        lambda info: info["implementations"][0].update(
            goal_file="../../outside/secret.py",
            golden_file="../outside/secret.py",
            unit_test_file=str(task.root.parent / "outside" / "secret.py"),
            retrieval_context=["../../outside/secret.py", "\0", "a" * 9000],
        ),
    ),
    "a repository upwards": lambda task: _info(task, lambda info: info.update(repo_folder_name="../outside")),
    "variables that double": lambda task: task.dockerfile.write_text(
        "FROM x\nARG A=aaaa\n" + "ARG A=${A}${A}\nENV A=$A$A\n" * 60 + "RUN pip install $A>=1\n"
    ),
    "a long command": lambda task: task.dockerfile.write_text(
        "FROM x\nRUN pip install " + "a " * 500_000 + "\\\n" * 5000
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_it_is_only_a_matter_of_findings(name: str, tmp_path: Path) -> None:
    outside = tmp_path / "tasks" / "outside"
    outside.mkdir(parents=True)
    (outside / "secret.py").write_text(f"def pairwise_loss(scores):\n    return '{SECRET}'\n")
    task = example_task.write(tmp_path / "tasks")
    FOLDERS[name](task)
    read_before = (outside / "secret.py").stat().st_atime_ns

    done = lmr_forked("validate", task.root, "--format", "json", cwd=tmp_path, caller=Caller(memory=MEMORY))

    assert done.code in (0, 1), done.err
    document = done.json()
    assert document["summary"]["tasks"] == 1 and "LMR000" not in document["summary"]["by_code"]
    validate_with("validation", document)
    assert done.code == 1 or name in ("nested code", "a gigabyte each")
    assert SECRET not in done.out
    assert (outside / "secret.py").stat().st_atime_ns == read_before
    shown = lmr_forked("validate", task.root, cwd=tmp_path)
    assert all(char.isprintable() or char == "\n" for char in shown.out)
    assert SECRET not in shown.out


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    _deep(task)

    done = lmr_forked("validate", task.root, "--format", "json", cwd=tmp_path)

    (finding,) = done.json()["tasks"][0]["findings"]
    assert finding["code"] == "LMR704" and "cannot be listed" in finding["message"]


def test_info_json_that_is_no_file_does_not_stop_the_others(tmp_path: Path) -> None:
    tasks = [example_task.write(tmp_path, number) for number in range(1, 5)]
    _pipe(tasks[0].info_path)
    tasks[1].info_path.unlink()
    tasks[1].info_path.mkdir()
    _link(tasks[2].info_path, "/dev/zero")

    done = lmr_forked("validate", tmp_path, "--format", "json", cwd=tmp_path)

    found = {one["task"]: [item["code"] for item in one["findings"]] for one in done.json()["tasks"]}
    assert found.pop(tasks[3].name) == []
    assert all("LMR001" in codes for codes in found.values()) and len(found) == 3


def test_a_terminal_of_another_encoding(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    _info(task, lambda info: info["implementations"][0].update(category="语言 ‮ \ud800"))

    for output in ("text", "json", "github"):
        done = lmr_forked(
            "validate", task.root, "--format", output, cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"}
        )
        assert done.code == 1 and "LMR004" in done.out, done.err
