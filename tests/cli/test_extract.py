"""``lmr-author extract`` as it is typed: what it prints, where, and what it leaves."""

from __future__ import annotations

import subprocess

import pytest

from lmr_author.core.task import Task
from tests.cli.program import ENVIRONMENT, PROGRAM, refuse, succeed

SCRIPT = """\
import sys

if __name__ == "__main__":
    words = sys.argv[1:] or ["a", "bb"]
    # count them
    total = 0
    for word in words:
        total += len(word)
    print(total)
"""
PLACE = "count.py:5-8"


@pytest.fixture
def scripted(fresh: Task) -> Task:
    """A task whose repository has a script."""
    (fresh.root / "small-repo" / "count.py").write_text(SCRIPT)
    return fresh


def test_extract_then_mask(scripted: Task) -> None:
    done = succeed("extract", PLACE, "--name", "count_letters", cwd=scripted.root)
    assert "\n+def count_letters(words):\n" in done.out
    assert "\n+    total = count_letters(words)\n" in done.out
    assert "inputs   words\noutputs  total\n" in done.err
    assert "no longer module variables, so other files cannot import them: word\n" in done.err
    last = done.err.splitlines()[-1]
    assert last == "next: lmr-author mask count.py::count_letters"
    assert "extracted count.py::count_letters\n" in done.err
    masked = [*last.split()[2:], "--category", "Evaluation Metrics", "--no-input"]
    succeed(*masked, cwd=scripted.root)
    assert scripted.load().implementations[0].qualname == "count_letters"


@pytest.mark.parametrize("old_new", [("", ""), ("    ", "\t"), ("\n", "\r\n"), ("# count", "\x0c# count")])
def test_the_diff_can_be_applied(scripted: Task, old_new: tuple[str, str]) -> None:
    file = scripted.root / "small-repo" / "count.py"
    before = SCRIPT.replace(*old_new).encode() if old_new[0] else SCRIPT.encode()
    file.write_bytes(before)
    command = [*PROGRAM, "extract", PLACE, "--name", "count_letters", "--dry-run"]
    shown = subprocess.run(
        command, cwd=scripted.root, env=ENVIRONMENT, capture_output=True, check=True
    ).stdout
    subprocess.run(["git", "apply", "-"], input=shown, cwd=file.parent, check=True, capture_output=True)
    applied = file.read_bytes()
    file.write_bytes(before)
    succeed("extract", PLACE, "--name", "count_letters", "--yes", cwd=scripted.root)
    assert file.read_bytes() == applied != before


def test_json(scripted: Task) -> None:
    done = succeed("extract", PLACE, "--name", "count_letters", "--format", "json", cwd=scripted.root)
    report = done.json()
    assert report["diff"].startswith("--- a/count.py\n") and report["written"] is True
    assert (report["target"], report["start"], report["end"]) == ("count.py::count_letters", 5, 8)
    assert (report["inputs"], report["outputs"], report["no_longer_global"]) == (
        ["words"],
        ["total"],
        ["word"],
    )
    assert report["remarks"][-1].startswith("the task has no authoring/provenance.json") and done.err == ""


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        ("count.py --name f", 2, "not a file with lines: 'count.py'", "FILE:START-END"),
        ("count.py:5-8", 2, "no name for the new function", "add --name NAME"),
        ("count.py:5-8 --name f --as class", 2, "'class' is not one of 'function', 'method'", "--help"),
        ("count.py:7-7 --name f", 3, "do not cover whole statements", "nearest range that does is"),
        ("cuont.py:5-8 --name f", 3, "no file 'cuont.py'", "did you mean count.py"),
    ],
)
def test_wrong_input(scripted: Task, arguments: str, code: int, error: str, hint: str) -> None:
    said, todo = refuse(code, "extract", *arguments.split(), cwd=scripted.root)
    assert error in said and hint in todo
