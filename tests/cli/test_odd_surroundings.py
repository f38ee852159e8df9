"""Every verb where streams are closed, full or ASCII, names are not UTF-8, or something may not be read.

It works, or ends with an error and a hint: exit code 4 is for bugs.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lmr_author.cli.app import ENV_COMMANDS, VERBS
from tests.cli.conftest import Demo
from tests.cli.forked import Caller
from tests.cli.program import ENVIRONMENT, PROGRAM, TEMPORARY, Ended, lmr, lmr_forked

TASK = "1-margin-focal-contrast"
TARGET = "tailcon/losses.py::margin_focal_contrast"
NEW_TASK = (
    "new-task ../../paper.pdf --repo ../../tailcon --id 7 --name New --year 2020 --tasks-dir .. --no-input"
)
RUNS = {
    "--version": 0,
    "mask --help": 0,
    "demo --dir .": 3,
    "vet ../../paper.pdf --repo ../../tailcon --no-input --offline": 1,
    f"{NEW_TASK} --offline": 0,
    "env detect": 0,
    "env lock": 3,
    "env dockerfile --dry-run": 0,
    "env build": 3,
    "env local": 0,
    "env prune --dry-run": 0,
    "suggest": 0,
    "extract tailcon/train.py:10-12 --name block --dry-run": 3,
    "mask tailcon/train.py::fit --no-input": 0,
    "instruct --text 'Implémente-la …'": 1,
    f"unmask {TARGET}": 0,
    "record -- python missing.py": 3,
    "validate": 0,
    "validate --format json": 0,
    "explain": 0,
    "evaluate --predictions ../../predictions.jsonl --out ../../results": 0,
    "review --results": 0,
    "score --results": 0,
    "status": 0,
    "next --show": 0,
    "report --html ../../page.html": 0,
    "export . --to agent --out ../../bundles": 0,
    "export . --to huggingface --out ../../dataset": 0,
    "analyze ../../predictions.jsonl --out ../../analysis": 0,
}
"""A run of every verb in the finished task of the demo, and how it ends where nothing is odd."""
ANSWER = {"task": TASK, "index": 1, "model": "modèle", "outcome": "failed", "code": ""}
AWAY = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}
NO_UTF8 = os.fsdecode(b"caf\xe9")


@pytest.fixture
def folder(demo: Demo, tmp_path: Path) -> Path:
    """A folder to copy, for each run anew: paper, repository, task and answers."""
    folder = tmp_path / "folder"
    shutil.copytree(demo.folder, folder, symlinks=True)
    (folder / "predictions.jsonl").write_text(json.dumps(ANSWER) + "\n", "utf-8")
    return folder


@contextmanager
def copied(folder: Path, name: str = "copy") -> Iterator[Path]:
    """A copy of the folder for one run, its task included."""
    copy = folder.parent / name
    shutil.copytree(folder, copy, symlinks=True)
    try:
        yield copy / "tasks" / TASK
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", copy], check=True)
        shutil.rmtree(copy)


def assert_ended_well(run: str, done: Ended) -> None:
    """No bug; what ends with an error says so with a hint."""
    assert done.code in (0, 1, 2, 3), (run, done.code, done.err)
    assert list(TEMPORARY.glob("lmr-author-*.log")) == []
    if done.code in (2, 3):
        errors = [line.partition(" ")[0] for line in done.err.splitlines()[-2:]]
        assert errors == ["error:", "hint:"], (run, done.err)


def test_every_verb_is_run() -> None:
    words = [run.split() for run in RUNS]
    assert {verb for verb, *_ in words} >= VERBS.keys()
    assert {own for verb, own, *_ in words if verb == "env"} == ENV_COMMANDS.keys()


def test_closed_streams_change_nothing(folder: Path) -> None:
    for run, code in RUNS.items():
        with copied(folder) as task:
            done = lmr_forked(*shlex.split(run), cwd=task, env=AWAY, caller=Caller(closed=True))
            assert done == Ended(code, "", ""), run


def test_nothing_is_printed_into_a_file_that_took_the_number_of_a_closed_stream(folder: Path) -> None:
    """Closed by a shell: what is opened next would be stdout, for programs that are started, too."""
    command = shlex.join([*PROGRAM, "report", "--html", "page.html"])
    task = folder / "tasks" / TASK
    assert (
        subprocess.run(["bash", "-c", f"{command} <&- >&- 2>&-"], cwd=task, env=ENVIRONMENT).returncode == 0
    )
    page = (task / "page.html").read_text("utf-8")
    assert page.lower().startswith("<!doctype html>") and page.rstrip().endswith("</html>")


def test_a_full_stderr_changes_nothing(folder: Path) -> None:
    for run in (f"unmask {TARGET}", "instruct --text 'Implémente-la …'", "record -- python missing.py"):
        with copied(folder) as task:
            assert lmr_forked(*shlex.split(run), cwd=task, full=("err",)).code == RUNS[run]


def test_a_full_stdout_is_an_error(folder: Path) -> None:
    task = folder / "tasks" / TASK
    for run in (
        "--version",
        "mask --help",
        "explain",
        "validate",
        "validate --format json",
        "status",
        "next --show",
    ):
        done = lmr_forked(*shlex.split(run), cwd=task, full=("out",))
        assert_ended_well(run, done)
        assert done.code == 3 and "No space left" in done.err, run


def test_ascii_and_names_that_are_not_utf_8(folder: Path) -> None:
    """In the path of everything, of files of the repository in the task, and of the one to make a task of."""
    for root in (folder / "tailcon", folder / "tasks" / TASK / "tailcon"):
        (root / NO_UTF8).mkdir()
        (root / NO_UTF8 / f"{NO_UTF8}.py").write_text("def f(x):\n    return x\n")
    for run, code in RUNS.items():
        with copied(folder, NO_UTF8) as task:
            done = lmr_forked(*shlex.split(run), cwd=task, env=AWAY, caller=Caller(encoding="ascii"))
        assert_ended_well(run, done)
        # A name that cannot be printed is a finding (LMR704).
        finding = run.split()[0] in ("validate", "export")
        assert done.code == (1 if finding else code), (run, done.err)
        assert (done.out + done.err).isascii() or run == "next --show", run


def test_arguments_where_python_reads_no_utf_8(masked_root: Path) -> None:
    away = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = lmr("instruct", "--text", "Implémente-la …", cwd=masked_root, env=away)
    assert_ended_well("instruct", done)
    assert done.code == 3 and "UTF-8" in done.err


@pytest.fixture
def masked_root(demo: Demo, tmp_path: Path) -> Path:
    """The folder of a finished task."""
    shutil.copytree(demo.task.root, tmp_path / TASK, symlinks=True)
    return tmp_path / TASK


@pytest.mark.parametrize(
    "closed", [("info.json",), ("tailcon/README.md", "tailcon/tailcon"), ("golden_files", "authoring")]
)
def test_what_may_not_be_read(closed: tuple[str, ...], folder: Path) -> None:
    for run in RUNS:
        with copied(folder) as task:
            for name in closed:
                (task / name).chmod(0)
            done = lmr_forked(*shlex.split(run), cwd=task, env=AWAY, caller=Caller(may_read_all=False))
            assert_ended_well(run, done)
