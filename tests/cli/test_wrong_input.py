"""Wrong input: one ``error:``, one ``hint:``, the designed exit code, and every file as it was."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.conftest import HINGE
from tests.cli.program import refuse
from tests.example import GOOD
from tests.gitrepos import make_repository
from tests.papers import make_paper
from tests.support import make_task

USAGE, EXPECTED = 2, 3


# the command line itself


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        ("valdate", "there is no command 'valdate'", "did you mean validate"),
        ("validate --formt json", "no such option: --formt", "did you mean --format"),
        ("--loud", "no such option: --loud", "--help"),
        ("evaluate --sandbox podman", "'podman' is not one of 'local', 'docker'", "evaluate --help"),
        ("mask a.py::f --comment --docstring x", "--comment needs a value", "value first"),
        ("env lock --date --help", "--date needs a value, and the option --help follows", "--date=--help"),
        ("explain LMR999", "LMR999", "groups: LMR0 (Metadata)"),
        ("explain LRM401", "LRM401", "did you mean LMR401"),
        ("explain mutants-dye", "mutants-dye", "did you mean mutants-die"),
        ("env lock --base-image pytorh", "--base-image pytorh: looks", "did you mean pytorch/pytorch?"),
        ("new-task 2305.18290 --repo . --offline --no-input", "--offline fetches no paper", "PDF file"),
        ("demo --sandbox dockr", "'dockr' is not one of", "did you mean docker"),
        (
            "env lock tasks/1-DPO",
            "unexpected extra argument",
            "named by --task; see lmr-author env lock --help",
        ),
        ("env frobnicate", "there is no command", "see lmr-author env --help"),
        ("report --html", "'--html' requires an argument", "see lmr-author report --help"),
        ("vet nowhere.pdf --no-input", "nowhere.pdf: no such file", "an arXiv id"),
        ("vet 2305.18290 --repo ./none --no-input", "./none: no such", "the folder of a clone"),
        ("new-task --no-input", "no PAPER given", "new-task PAPER --repo URL"),
        ("new-task x.pdf --no-input", "no --repo URL given", "--repo URL"),
        ("export --to zip --out o x", "'zip' is not", "export --help"),
    ],
)
def test_usage(arguments: str, error: str, hint: str, tmp_path: Path) -> None:
    said, todo = refuse(USAGE, *arguments.split(), cwd=tmp_path)
    assert error in said
    assert hint in todo


# not a task folder


@pytest.mark.parametrize(
    "arguments",
    [
        "mask a.py::f --no-input",
        "unmask",
        "record a.py::f --no-input -- python x.py",
        "validate",
        "evaluate",
        "status",
        "review --reviewer me --answers a.json",
        "export . --to agent --out bundles",
    ],
)
def test_not_a_task_folder(arguments: str, tmp_path: Path) -> None:
    error, hint = refuse(EXPECTED, *arguments.split(), cwd=tmp_path)
    assert "not a task folder" in error
    assert "new-task" in hint


def test_a_misspelt_task_or_function_is_guessed(masked: Task) -> None:
    guess = f"did you mean ../{masked.name}?"
    misspelt = f"../{masked.name}x"
    for command in (("status", misspelt), ("mask", "f", "--task", misspelt), ("review", misspelt)):
        assert guess in refuse(EXPECTED, *command, cwd=masked.root)[1]
    assert "did you mean hinge?" in refuse(EXPECTED, "unmask", "hinges", cwd=masked.root)[1]


def test_tasks_one_folder_deeper_are_named(tmp_path: Path) -> None:
    shutil.copytree(GOOD, tmp_path / "the set" / "data" / "1-MarginRanking")

    _, hint = refuse(EXPECTED, "validate", "the set", cwd=tmp_path)

    folder = shlex.split(hint.split("`")[1])
    assert "its tasks are in data/" in hint and folder == ["cd", str(tmp_path / "the set" / "data")]


def test_a_date_of_no_lock(fresh: Task) -> None:
    fresh.lock.unlink()
    for date, error in (("soon", "is not a date"), ("1999-01-01", "before the package index existed")):
        assert error in refuse(USAGE, "env", "lock", "--date", date, cwd=fresh.root)[0]


def test_an_info_json_that_is_none(fresh: Task) -> None:
    fresh.info_path.write_text('{"instance_id": 1,,}')
    error, _ = refuse(EXPECTED, "mask", HINGE, "--no-input", cwd=fresh.root)
    assert "info.json:1:19" in error
    fresh.info_path.write_text("[]")
    assert "not a JSON object" in refuse(EXPECTED, "evaluate", cwd=fresh.root)[0]


# new-task: paper and repository


def test_a_paper_a_repository_and_a_number_that_cannot_be(tmp_path: Path) -> None:
    def new_task(paper: str, repository: str, *more: str) -> str:
        flags = ("--title", "A Title", "--year", "2023", "--no-input", *more)
        return refuse(EXPECTED, "new-task", paper, f"--repo={repository}", *flags, cwd=tmp_path)[0]

    make_paper(tmp_path / "paper.pdf")
    make_repository(tmp_path / "code")
    (tmp_path / "not.pdf").write_bytes(b"<html><body>Sign in</body></html>")
    assert "not.pdf" in new_task("not.pdf", "./code")
    assert "missing.pdf: no such file" in new_task("missing.pdf", "./code")
    for address in ("ext::sh -c touch% owned", "--upload-pack=touch owned", "fd::17"):
        new_task("paper.pdf", address)
    assert not (tmp_path / "owned").exists()
    make_task(tmp_path / "tasks")
    assert "1 is taken by 1-Small" in new_task("paper.pdf", "./code", "--id", "1")


# record


def record(task: Task, *arguments: str, code: int = EXPECTED) -> tuple[str, str]:
    return refuse(code, "record", *arguments, cwd=task.root)


def test_a_command_that_cannot_be_recorded(masked: Task) -> None:
    assert "-- python driver.py" in record(masked, HINGE, code=USAGE)[1]
    assert "nowhere.py" in record(masked, HINGE, "--", "python", "nowhere.py", code=USAGE)[0]
    assert "is not masked" in record(masked, "pkg/losses.py::Meter.add", "--", "python", "run.py")[0]


@pytest.mark.bwrap
def test_a_driver_that_takes_too_long(masked: Task, tmp_path: Path) -> None:
    driver = tmp_path / "drive.py"
    driver.write_text("import time\nimport pkg.losses\ntime.sleep(100)\n")
    assert "--timeout" in record(masked, "--timeout", "1", "--", "python", str(driver))[1]


# review, export


def test_answers_that_are_none(masked: Task) -> None:
    def review(*arguments: str) -> str:
        return " ".join(refuse(USAGE, "review", *arguments, cwd=masked.root))

    assert "--reviewer NAME" in review()
    assert "--answers FILE" in review("--reviewer", "ada")
    assert "no such file" in review("--reviewer", "ada", "--answers", "nowhere.json")
    path = masked.authoring / "answers.json"
    path.parent.mkdir(exist_ok=True)
    for document, said in (
        ([], "not an object with names"),
        ({}, "no answer for: instruction"),
        ({"beauty": "pass"}, "unknown checklist item 'beauty'"),
    ):
        path.write_text(json.dumps(document))
        assert said in review("--reviewer", "ada", "--answers", str(path))
    assert "invalid reviewer name" in review("--reviewer", "../ada", "--answers", str(path))


@pytest.mark.parametrize(
    "command",
    [("export", "--to", "agent", "--out", "out"), ("judge", "--predictions", "p.jsonl", "--out", "out")],
)
def test_two_folders_of_the_same_name(masked: Task, tmp_path: Path, command: tuple[str, ...]) -> None:
    places = [tmp_path / place / masked.name for place in ("one", "two")]
    for place in places:
        shutil.copytree(masked.root, place)
    error, hint = refuse(USAGE, *command, "one", "two", cwd=tmp_path)
    assert all(place.relative_to(tmp_path).as_posix() in error for place in places)
    assert "a different --out" in hint
    assert not (tmp_path / "out").exists()
