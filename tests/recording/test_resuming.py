"""The calls of an interrupted run serve the same run again, and no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.recording import interrupted
from lmr_author.recording.checkers import Helpers
from lmr_author.recording.drivers import read_command
from lmr_author.recording.run import Run

COMMAND = ("python", "driver.py", "--fast")


@pytest.fixture
def plan(tmp_path: Path) -> Run:
    """A driver outside of a repository, with a file of its own and one that is none of it."""
    for name, text in {
        "repo/a.py": "",
        "here/driver.py": "f()",
        "here/data.json": "[]",
        "here/notes.txt": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    command = read_command(COMMAND, tmp_path / "repo", tmp_path / "here")
    return Run(tmp_path / "repo", "/workspace/repo", "a.py", "f", 1, 0, command, tmp_path, 60.0, 1000)


def _written(path: Path, plan: Run) -> Run:
    path.write_text("[1]")
    return plan


CHANGES: dict[str, tuple[bool, Callable[[Path, Run], Run]]] = {
    "another golden": (False, lambda root, plan: _written(root / "repo" / "a.py", plan)),
    "another script": (False, lambda root, plan: _written(root / "here" / "driver.py", plan)),
    "other data of the script": (False, lambda root, plan: _written(root / "here" / "data.json", plan)),
    "other words": (
        False,
        lambda root, plan: replace(plan, driver=read_command((*COMMAND, "more"), root / "repo", root / "here")),
    ),
    "another function": (False, lambda root, plan: replace(plan, qualname="g")),
    "another of its name": (False, lambda root, plan: replace(plan, nth=2)),
    "with gradients": (False, lambda root, plan: replace(plan, gradients=True)),
    "another limit": (False, lambda root, plan: replace(plan, max_bytes=2000)),
    "fixtures": (False, lambda root, plan: replace(plan, helpers=Helpers(fixtures=root / "here" / "notes.txt"))),
    "a file that is none of it": (True, lambda root, plan: _written(root / "here" / "notes.txt", plan)),
    "more time": (True, lambda root, plan: replace(plan, seconds=5.0, line=7, work=root / "elsewhere")),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_the_calls_of_a_run_serve_no_other(change: str, plan: Run, tmp_path: Path) -> None:
    place, before = tmp_path / "authoring" / "runs" / "1", interrupted.digest(plan)
    out = interrupted.begin(place, before, ["f", "--", *COMMAND])
    assert interrupted.calls_of(place, before) is None, "no call is complete yet"
    (out / "calls" / "000001").mkdir(parents=True)
    (out / "calls" / "000001" / "meta.json").write_text("{}")
    same, changed = CHANGES[change]
    left = interrupted.calls_of(place, interrupted.digest(changed(tmp_path, plan)))
    assert left == (out if same else None)
    interrupted.forget(place)
    assert not (tmp_path / "authoring").exists()
