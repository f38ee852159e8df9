"""The calls of a run that was cut short: they serve the same run again, and no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from lmr_author.errors import LmrError
from lmr_author.recording.checkers import Helpers
from lmr_author.recording.drivers import read_command
from lmr_author.recording.run import Recorded, Run, begin, forget, interrupted_run, run
from lmr_author.sandbox.base import Sandbox

COMMAND = ("python", "driver.py", "--fast")


@pytest.fixture
def plan(tmp_path: Path) -> Run:
    """A driver outside of a repository, with a file of its own and one that is none of it."""
    for name, text in {
        "repo/a.py": "def f(): pass\n",
        "here/driver.py": "f()\n",
        "here/data.json": "[]",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "here" / "notes.txt").write_text("")
    command = read_command(COMMAND, tmp_path / "repo", tmp_path / "here")
    return Run(tmp_path / "repo", "/workspace/repo", "a.py", "f", 1, 0, command, tmp_path, 60.0, 1000)


@pytest.fixture
def folder(plan: Run, tmp_path: Path) -> Path:
    """What is left of a run of the plan: one call that is complete, and one that is not."""
    place = tmp_path / "authoring" / "runs" / "1"
    out = begin(place, plan)
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


def resumed(folder: Path, plan: Run) -> Recorded:
    return run(Mock(spec=Sandbox), plan, folder, resume=True, progress=lambda _: None)


def test_the_complete_calls_of_the_same_run_are_taken_up(plan: Run, folder: Path) -> None:
    (call,) = resumed(folder, plan).calls
    assert (call.number, call.hits, call.size, call.summary) == (1, frozenset({0, 2}), 9, {"x": "int"})


CHANGES: dict[str, Callable[[Path, Run], Run]] = {
    "another golden": lambda root, plan: _written(root / "repo" / "a.py", plan),
    "another script": lambda root, plan: _written(root / "here" / "driver.py", plan),
    "other data of the script": lambda root, plan: _written(root / "here" / "data.json", plan),
    "other words": lambda root, plan: replace(
        plan, driver=read_command((*COMMAND, "more"), root / "repo", root / "here")
    ),
    "another function": lambda root, plan: replace(plan, qualname="g"),
    "another of its name": lambda root, plan: replace(plan, nth=2),
    "with gradients": lambda root, plan: replace(plan, gradients=True),
    "another limit": lambda root, plan: replace(plan, max_bytes=2000),
    "fixtures": lambda root, plan: replace(plan, helpers=Helpers(fixtures=root / "here" / "notes.txt")),
}


def _written(path: Path, plan: Run) -> Run:
    path.write_text("[1]")
    return plan


@pytest.mark.parametrize("change", CHANGES)
def test_the_calls_of_another_run_are_not(change: str, plan: Run, folder: Path, tmp_path: Path) -> None:
    other = CHANGES[change](tmp_path, plan)
    assert interrupted_run(folder, other) is None
    with pytest.raises(LmrError, match="no earlier run of this command"):
        resumed(folder, other)


def test_what_a_run_does_not_depend_on_may_change(plan: Run, folder: Path, tmp_path: Path) -> None:
    _written(tmp_path / "here" / "notes.txt", plan)
    assert (
        interrupted_run(folder, replace(plan, seconds=5.0, line=7, work=tmp_path / "elsewhere")) is not None
    )


def test_a_run_begins_with_nothing_and_leaves_nothing(plan: Run, folder: Path, tmp_path: Path) -> None:
    assert list(begin(folder, plan).iterdir()) == []
    assert interrupted_run(folder, plan) is None, "no call is complete yet"
    forget(folder)
    assert not (tmp_path / "authoring").exists()
    (tmp_path / "authoring").mkdir()
    (tmp_path / "authoring" / "vetting.json").write_text("{}")
    begin(folder, plan)
    forget(folder)
    assert [path.name for path in (tmp_path / "authoring").iterdir()] == ["vetting.json"]
