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
from tests.cli.program import ENVIRONMENT, PROGRAM, TEMPORARY, Ended, lmr_forked

TASK = "1-margin-focal-contrast"
RUNS = """
    --version
    mask --help
    demo --dir .
    vet ../../paper.pdf --repo ../../tailcon --no-input --offline
    new-task ../../paper.pdf --repo ../../tailcon --id 7 --name New --year 2020 --offline --no-input --tasks-dir ..
    env detect
    env lock
    env dockerfile --dry-run
    env build
    env local
    env prune --dry-run
    suggest
    extract tailcon/train.py:10-12 --name block --dry-run
    mask tailcon/train.py::fit --no-input
    instruct --text ${TEXT}
    unmask tailcon/losses.py::margin_focal_contrast
    record -- python missing.py
    validate
    validate --format json
    explain
    evaluate --predictions ../../predictions.jsonl --out ../../results
    review --results
    score --results
    status
    next --show
    report --html ../../page.html
    export . --to agent --out ../../bundles
    export . --to huggingface --out ../../dataset
    analyze ../../predictions.jsonl --out ../../analysis
"""
"""A run of every verb in the finished task of the demo."""
ANSWER = {"task": TASK, "index": 1, "model": "mod\u00e8le", "outcome": "failed", "code": ""}
AWAY = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}
NO_UTF8 = os.fsdecode(b"caf\xe9")


def arguments() -> list[list[str]]:
    """The words of each run."""
    return [
        shlex.split(line.replace("${TEXT}", "'Impl\u00e9mente-la \u2026'"))
        for line in RUNS.split("\n")
        if line.strip()
    ]


def test_every_verb_is_run() -> None:
    assert {words[0] for words in arguments()} >= VERBS.keys()
    assert {words[1] for words in arguments() if words[0] == "env"} == ENV_COMMANDS.keys()


@pytest.fixture
def folder(demo: Demo, tmp_path: Path) -> Path:
    """A folder to copy, for each run anew: paper, repository, task and answers."""
    return _furnished(demo, tmp_path / "folder")


def _furnished(demo: Demo, folder: Path) -> Path:
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


def assert_ended_well(words: list[str], done: Ended) -> None:
    """No bug; what ends with an error says so with a hint."""
    assert done.code in (0, 1, 2, 3), (words, done.code, done.err)
    assert list(TEMPORARY.glob("lmr-author-*.log")) == []
    if done.code in (2, 3):
        errors = [line.partition(" ")[0] for line in done.err.splitlines()[-2:]]
        assert errors == ["error:", "hint:"], (words, done.err)


@pytest.fixture(scope="module")
def codes(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How each run ends where nothing is odd."""
    folder, found = _furnished(demo, tmp_path_factory.mktemp("plain") / "folder"), {}
    for words in arguments():
        with copied(folder) as task:
            done = lmr_forked(*words, cwd=task, env=AWAY)
        assert_ended_well(words, done)
        found[" ".join(words)] = done.code
    return found


def test_closed_streams_change_nothing(folder: Path, codes: dict[str, int]) -> None:
    for words in arguments():
        with copied(folder) as task:
            done = lmr_forked(*words, cwd=task, env=AWAY, caller=Caller(closed=True))
            assert done == Ended(codes[" ".join(words)], "", ""), words


def test_a_process_without_streams_writes_into_no_file(folder: Path) -> None:
    """Really closed, by a shell: what is opened next would get their numbers."""
    command = shlex.join([*PROGRAM, "report", "--html", "page.html"])
    done = subprocess.run(
        ["bash", "-c", f"{command} <&- >&- 2>&-"], cwd=folder / "tasks" / TASK, env=ENVIRONMENT
    )
    assert done.returncode == 0
    assert (folder / "tasks" / TASK / "page.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_full_stderr_changes_nothing(folder: Path, codes: dict[str, int]) -> None:
    for words in arguments():
        with copied(folder) as task:
            done = lmr_forked(*words, cwd=task, env=AWAY, full=("err",))
            assert done.code == codes[" ".join(words)], words


def test_a_full_stdout_is_an_error(folder: Path, codes: dict[str, int]) -> None:
    seen = set()
    for words in arguments():
        with copied(folder) as task:
            done = lmr_forked(*words, cwd=task, env=AWAY, full=("out",))
        assert_ended_well(words, done)
        if done.code != codes[" ".join(words)]:
            assert done.code == 3 and "No space left" in done.err, words
            seen.add(words[0])
    assert seen >= {"--version", "validate", "status", "next", "explain"}


def test_ascii_and_names_that_are_not_utf_8(folder: Path, codes: dict[str, int]) -> None:
    """In the path of everything, of files of the repository in the task, and of the one to make a task of."""
    for root in (folder / "tailcon", folder / "tasks" / TASK / "tailcon"):
        (root / NO_UTF8).mkdir()
        (root / NO_UTF8 / f"{NO_UTF8}.py").write_text("def f(x):\n    return x\n")
    for words in arguments():
        with copied(folder, NO_UTF8) as task:
            done = lmr_forked(*words, cwd=task, env=AWAY, caller=Caller(encoding="ascii"))
        assert_ended_well(words, done)
        # A name that cannot be printed is a finding (LMR704).
        assert done.code == codes[" ".join(words)] or (done.code, words[0]) in UNPRINTABLE, (words, done.err)
        assert "\\udc" not in done.out + done.err or "json" in words, words


UNPRINTABLE = {(1, "validate"), (1, "export")}


@pytest.mark.parametrize(
    "closed", ["info.json", "golden_files", "authoring", "tailcon/tailcon", "tailcon/README.md", "."]
)
def test_what_may_not_be_read(closed: str, folder: Path) -> None:
    for words in arguments():
        with copied(folder) as task:
            assert (task / closed).exists()
            os.chmod(task / closed, 0o100 if closed == "." else 0)
            done = lmr_forked(*words, cwd=task, env=AWAY, caller=Caller(may_read_all=False))
            assert_ended_well(words, done)
