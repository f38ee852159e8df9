"""`lmr-author suggest` as a user starts it: a table, JSON, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import refuse, succeed
from tests.support import make_task


def test_a_table_and_the_next_command_without_what_is_masked(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    done = succeed("suggest", cwd=task.root)
    assert done.out.index("pkg/losses.py::hinge") < done.out.index("pkg/losses.py::Meter.add")
    assert "next: lmr-author mask pkg/losses.py::hinge" in done.out + done.err
    succeed("mask", "pkg/losses.py::hinge", "--no-input", cwd=task.root)
    assert succeed("suggest", "--format", "json", cwd=task.root).json()["suggestions"][0]["masked"] == 1
    shown = succeed("suggest", cwd=task.root)
    assert "next: lmr-author mask pkg/losses.py::hinge" not in shown.out + shown.err


def test_a_repository_that_is_no_task(tmp_path: Path) -> None:
    folder = tmp_path / "my code"
    folder.mkdir()
    (folder / "a b.py").write_text(
        "def hinge(x):\n    y = 1 - x\n    if y < 0:\n        y = 0\n    return y\n"
    )
    (tmp_path / "paper.json").write_text(json.dumps({"1": "The hinge."}))
    done = succeed("suggest", "--repo", folder, "--paper", tmp_path / "paper.json", cwd=tmp_path)
    assert f"next: lmr-author new-task PAPER --repo '{folder}'" in done.out


def test_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "no such folder" in refuse(2, "suggest", "--repo", "nowhere", cwd=tmp_path)[0]
    (tmp_path / "a.py").write_text("x = 1\n")
    assert "a.py: not a folder" in refuse(2, "suggest", "--repo", "a.py", cwd=tmp_path)[0]
    paper = ("--repo", "empty", "--paper", "a.py")
    assert "a.py is not a PDF" in refuse(2, "suggest", *paper, cwd=tmp_path)[0]
    assert "--repo FOLDER" in refuse(3, "suggest", cwd=tmp_path)[1]
    refuse(3, "suggest", "--repo", "empty", cwd=tmp_path)
    task = make_task(tmp_path)
    assert "no function in a file that matches" in refuse(2, "suggest", "--file", "*.js", cwd=task.root)[0]
