"""The calls of a run that was cut short: they serve the same run again, and no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.errors import LmrError
from lmr_author.recording import resuming
from lmr_author.recording.command import driver
from lmr_author.recording.drive import Drive
from lmr_author.recording.helpers import Helpers

COMMAND = ("python", "driver.py", "--fast")


@pytest.fixture
def plan(tmp_path: Path) -> Drive:
    """A driver outside of a repository, with a file of its own and one that is none of it."""
    for name, text in {
        "repo/a.py": "def f(): pass\n",
        "here/driver.py": "f()\n",
        "here/data.json": "[]",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "here" / "notes.txt").write_text("")
    run = driver(COMMAND, tmp_path / "repo", tmp_path / "here")
    return Drive(tmp_path / "repo", "/workspace/repo", "a.py", "f", 1, 0, run, tmp_path, 60.0, 1000)


@pytest.fixture
def folder(plan: Drive, tmp_path: Path) -> Path:
    """What is left of a run of the plan: one call that is complete, and one that is not."""
    place = tmp_path / "authoring" / "runs" / "1"
    out = resuming.begin(place, plan)
    for number in ("000001", "000002"):
        (out / "calls" / number).mkdir(parents=True)
    meta = {
        "call": 1,
        "hits": [0, 2],
        "bytes": 9,
        "summary": {"x": "int"},
        "outcome": "returned",
        "omitted": [],
    }
    (out / "calls" / "000001" / "meta.json").write_text(json.dumps(meta))
    return place


def test_the_complete_calls_of_the_same_run_are_taken_up(plan: Drive, folder: Path) -> None:
    (call,) = resuming.taken_up(folder, plan).calls
    assert (call.number, call.hits, call.size, call.summary) == (1, frozenset({0, 2}), 9, {"x": "int"})


CHANGES: dict[str, Callable[[Path, Drive], Drive]] = {
    "another golden": lambda root, plan: _written(root / "repo" / "a.py", plan),
    "another script": lambda root, plan: _written(root / "here" / "driver.py", plan),
    "other data of the script": lambda root, plan: _written(root / "here" / "data.json", plan),
    "other words": lambda root, plan: replace(
        plan, driver=driver((*COMMAND, "more"), root / "repo", root / "here")
    ),
    "another function": lambda root, plan: replace(plan, qualname="g"),
    "another of its name": lambda root, plan: replace(plan, nth=2),
    "with gradients": lambda root, plan: replace(plan, gradients=True),
    "another limit": lambda root, plan: replace(plan, max_bytes=2000),
    "fixtures": lambda root, plan: replace(plan, helpers=Helpers(fixtures=root / "here" / "notes.txt")),
}


def _written(path: Path, plan: Drive) -> Drive:
    path.write_text("[1]")
    return plan


@pytest.mark.parametrize("change", CHANGES)
def test_the_calls_of_another_run_are_not(change: str, plan: Drive, folder: Path, tmp_path: Path) -> None:
    other = CHANGES[change](tmp_path, plan)
    assert resuming.left(folder, other) is None
    with pytest.raises(LmrError, match="no earlier run of this command"):
        resuming.taken_up(folder, other)


def test_what_a_run_does_not_depend_on_may_change(plan: Drive, folder: Path, tmp_path: Path) -> None:
    _written(tmp_path / "here" / "notes.txt", plan)
    assert resuming.left(folder, replace(plan, seconds=5.0, line=7, work=tmp_path / "elsewhere")) is not None


def test_a_script_that_comes_alone_counts_too(
    plan: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "here"))
    alone = replace(plan, driver=driver(COMMAND, tmp_path / "repo", tmp_path / "here"))
    out = resuming.begin(tmp_path / "runs" / "1", alone)
    (out / "calls" / "000001").mkdir(parents=True)
    meta = {"call": 1, "hits": [], "bytes": 1, "summary": {}, "outcome": "raised", "omitted": []}
    (out / "calls" / "000001" / "meta.json").write_text(json.dumps(meta))
    assert resuming.left(tmp_path / "runs" / "1", alone) is not None
    _written(tmp_path / "here" / "driver.py", plan)
    assert resuming.left(tmp_path / "runs" / "1", alone) is None


def test_a_run_begins_with_nothing_and_leaves_nothing(plan: Drive, folder: Path, tmp_path: Path) -> None:
    assert list(resuming.begin(folder, plan).iterdir()) == []
    assert resuming.left(folder, plan) is None, "no call is complete yet"
    resuming.forget(folder)
    assert not (tmp_path / "authoring").exists()
    (tmp_path / "authoring").mkdir()
    (tmp_path / "authoring" / "vetting.json").write_text("{}")
    resuming.begin(folder, plan)
    resuming.forget(folder)
    assert [path.name for path in (tmp_path / "authoring").iterdir()] == ["vetting.json"]
