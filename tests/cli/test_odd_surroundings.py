"""Every verb where streams are closed, full or ASCII, names are not UTF-8, or something may not be read.

It works, or ends with an error and a hint: exit code 4 is for bugs.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from lmr_author.cli.app import ENV_COMMANDS, VERBS
from tests.cli.conftest import Demo
from tests.cli.forked import Caller
from tests.cli.program import ENVIRONMENT, PROGRAM, TEMPORARY, Ended, lmr, lmr_forked

TASK = "tasks/1-margin-focal-contrast"
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
    "env lock": 3,
    "env build": 3,
    "env local --with nothing==1.0": 3,
    "suggest": 0,
    "mask tailcon/train.py::fit --no-input": 0,
    f"unmask {TARGET}": 0,
    "record -- python missing.py": 3,
    "validate": 0,
    "validate --format json": 0,
    "explain": 0,
    "evaluate --implementation 7": 2,
    "accept --mutant 0000aaaa --reason none": 2,
    "challenge --answers ../../nothing": 3,
    "set 'instruction=Implémente-la …'": 0,
    "judge --predictions ../../predictions.jsonl --out ../../results": 0,
    "review --template": 0,
    "review --decide core=pass --reviewer Ann": 2,
    "review --agreement": 0,
    "make ../../nothing --out ../../made": 3,
    "make --write . --out ../../recipes": 0,
    "draft ../../paper.pdf --model none/none": 2,
    "judge --by-hand --results": 0,
    "status": 0,
    "report --html ../../page.html": 0,
    "export . --unreviewed --to agent --out ../../bundles": 0,
    "export . --unreviewed --to huggingface --out ../../dataset": 0,
    "analyze ../../predictions.jsonl --out ../../analysis": 0,
}
"""A run of every verb in the finished task of the demo, and how it ends where nothing is odd."""
ANSWER = {"task": "1-margin-focal-contrast", "index": 1, "model": "modèle", "outcome": "failed", "code": ""}
AWAY = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}
NO_UTF8 = os.fsdecode(b"caf\xe9")


@pytest.fixture
def folder(demo: Demo, tmp_path: Path) -> Path:
    """A folder whose name is not UTF-8, with paper, repository, task and answers."""
    folder = tmp_path / NO_UTF8
    shutil.copytree(demo.folder, folder, symlinks=True)
    (folder / "predictions.jsonl").write_text(json.dumps(ANSWER) + "\n", "utf-8")
    return folder


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
    assert {own for verb, *others in words if verb == "env" for own in others[:1]} == ENV_COMMANDS.keys()


PRINTING = (
    "--version", "mask --help", "suggest", "validate --format json", "record -- python missing.py",
    "set 'instruction=Implémente-la …'", "report --html ../../page.html", "status",
    "export . --unreviewed --to agent --out ../../bundles",
)  # fmt: skip
"""Runs that print in different ways: by click, to stdout and stderr, tables, JSON, progress, an error, what is next."""
READING = (
    "env lock", "env build", "suggest", "mask tailcon/train.py::fit --no-input", f"unmask {TARGET}",
    "record -- python missing.py", "validate", "accept --mutant 0000aaaa --reason none", "review --template",
    "judge --predictions ../../predictions.jsonl --out ../../results", "make --write . --out ../../recipes", "status",
    "report --html ../../page.html", "export . --unreviewed --to agent --out ../../bundles",
)  # fmt: skip
"""Runs that read the repository, each in a way of its own."""


@pytest.mark.parametrize("run", PRINTING)
def test_closed_streams_change_nothing(run: str, folder: Path) -> None:
    done = lmr_forked(*shlex.split(run), cwd=folder / TASK, env=AWAY, caller=Caller(closed=True))
    assert done == Ended(RUNS[run], "", "")


def test_nothing_is_printed_into_a_file_that_took_the_number_of_a_closed_stream(folder: Path) -> None:
    """Closed by a shell: what is opened next would be stdout, for programs that are started, too."""
    command = shlex.join([*PROGRAM, "report", "--html", "../../page.html"])
    task = folder / TASK
    assert (
        subprocess.run(["bash", "-c", f"{command} <&- >&- 2>&-"], cwd=task, env=ENVIRONMENT).returncode == 0
    )
    page = (folder / "page.html").read_text("utf-8")
    assert page.lower().startswith("<!doctype html>") and page.rstrip().endswith("</html>")


@pytest.mark.parametrize(
    "run", [f"unmask {TARGET}", "set 'instruction=Implémente-la …'", "record -- python missing.py"]
)
def test_a_full_stderr_changes_nothing(run: str, folder: Path) -> None:
    assert lmr_forked(*shlex.split(run), cwd=folder / TASK, full=("err",)).code == RUNS[run]


def test_a_full_stdout_is_an_error(folder: Path) -> None:
    for run in ("--version", "mask --help", "explain", "validate", "validate --format json"):
        done = lmr_forked(*shlex.split(run), cwd=folder / TASK, full=("out",))
        assert_ended_well(run, done)
        assert done.code == 3 and "No space left" in done.err, run


@pytest.mark.parametrize("run", RUNS)
def test_ascii_and_names_that_are_not_utf_8(run: str, folder: Path) -> None:
    """In the path of everything, of files of the repository in the task, and of the one to make a task of."""
    for root in (folder / "tailcon", folder / TASK / "tailcon"):
        (root / NO_UTF8).mkdir()
        (root / NO_UTF8 / f"{NO_UTF8}.py").write_text("def f(x):\n    return x\n")
    done = lmr_forked(*shlex.split(run), cwd=folder / TASK, env=AWAY, caller=Caller(encoding="ascii"))
    assert_ended_well(run, done)
    # A name that cannot be printed is a finding (LMR704).
    assert done.code == (1 if run.split()[0] in ("validate", "export") else RUNS[run]), done.err
    # A help is printed by click, in UTF-8; `next --show` is for $(…), with the bytes of the name.
    assert (done.out + done.err).isascii() or run == "mask --help"


def test_arguments_where_python_reads_no_utf_8(folder: Path) -> None:
    away = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = lmr("set", "instruction=Implémente-la …", cwd=folder / TASK, env=away)
    assert_ended_well("set", done)
    assert done.code == 3 and "UTF-8" in done.err


@pytest.mark.parametrize("run", READING)
def test_what_may_not_be_read(run: str, folder: Path) -> None:
    for name in ("tailcon/README.md", "tailcon/tailcon"):
        (folder / TASK / name).chmod(0)
    done = lmr_forked(*shlex.split(run), cwd=folder / TASK, env=AWAY, caller=Caller(may_read_all=False))
    (folder / TASK / "tailcon/tailcon").chmod(0o700)
    assert_ended_well(run, done)


@pytest.mark.parametrize("closed", ["info.json", "golden_files", "authoring", "."])
def test_a_task_that_may_not_be_read(closed: str, folder: Path) -> None:
    (folder / TASK / closed).chmod(0)
    for run in (
        "validate",
        "status",
        "mask tailcon/train.py::fit --no-input",
        "export . --unreviewed --to agent --out ../../out",
    ):
        done = lmr_forked(*shlex.split(run), cwd=folder / TASK, env=AWAY, caller=Caller(may_read_all=False))
        assert_ended_well(run, done)
    (folder / TASK / closed).chmod(0o700)
