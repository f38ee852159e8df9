"""Papers that are long, unreadable or not there; the tasks of vetted ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.authoring.vetting import vet
from lmr_author.authoring.vetting.questions import QUESTIONS
from lmr_author.cli.app import main
from lmr_author.core.errors import LmrError
from tests.gitrepos import make_repository
from tests.papers import make_paper, make_scan
from tests.vetting.vetted import stored


@pytest.mark.parametrize("kind", ["scan", "encrypted", "broken"])
def test_a_paper_that_cannot_be_read_is_a_note(offline: list[str], tmp_path: Path, kind: str) -> None:
    pdf = tmp_path / "paper.pdf"
    if kind == "scan":
        make_scan(pdf)
    elif kind == "encrypted":
        make_paper(pdf, encryption=4, user_pw="a", owner_pw="b")
    else:
        pdf.write_bytes(b"%PDF-1.4 nothing")
    assert main(offline) == 1
    sources = stored(tmp_path)["sources"]
    assert isinstance(sources, list)
    assert sources[0]["name"] == "paper" and sources[0]["status"] == "failed" and sources[0]["note"]


def test_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LmrError, match="nothing to vet"):
        vet.gather(vet.VetOptions(str(tmp_path / "no.pdf"), offline=True), lambda message: None)


def test_a_path_with_a_mistake_in_it_is_no_note(
    offline: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "paper.pdf").unlink()
    assert main(offline) == 2
    assert "no such file or folder" in capsys.readouterr().err
    assert not list(tmp_path.glob("**/vetting.json"))


def test_offline_a_paper_that_would_be_fetched_is_a_note(offline: list[str], tmp_path: Path) -> None:
    offline[1] = "2305.18290"
    assert main(offline) == 1
    sources = stored(tmp_path)["sources"]
    assert isinstance(sources, list) and "not fetched: offline" in sources[0]["note"]


def test_an_accepted_vetting_is_that_of_the_task(offline: list[str], tmp_path: Path) -> None:
    answers = [part for name in QUESTIONS for part in ("--answer", f"{name}=yes: it is so")]
    assert main([*offline, *answers]) == 0
    made = [
        "new-task",
        str(tmp_path / "paper.pdf"),
        "--repo",
        str(tmp_path / "code"),
        "--offline",
        "--no-input",
    ]
    assert main([*made, "--tasks-dir", str(tmp_path), "--vetting", str(tmp_path / "vetting.json")]) == 0
    (task,) = tmp_path.glob("1-*")
    assert json.loads((task / "authoring" / "vetting.json").read_bytes()) == stored(tmp_path)


def test_a_rejected_vetting_makes_no_task(offline: list[str], tmp_path: Path) -> None:
    main([*offline, "--answer", "year=no: from 1999"])
    with pytest.raises(LmrError, match="rejected: year: from 1999"):
        vet.read_accepted_vetting(tmp_path / "vetting.json")


def test_a_task_is_vetted_again_with_what_was_known_of_its_repository(
    offline: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = tmp_path / "paper.pdf"
    make_repository(tmp_path / "bare", {"train.py": "x = 1\n", "README.md": "# Code\n"})
    made = ["new-task", str(paper), "--repo", str(tmp_path / "bare"), "--tasks-dir", str(tmp_path / "tasks")]
    assert main([*made, "--repo-url", "https://github.com/some/code", "--offline", "--no-input"]) == 0
    task = next((tmp_path / "tasks").glob("1-*"))
    assert main(["vet", "--task", str(task), "--offline", "--no-input"]) == 1
    found = json.loads((task / "authoring" / "vetting.json").read_text())
    assert "1 Python files, 0 of them tests" in found["questions"]["clarity_and_complexity"]["evidence"]
    assert found["status"] == "rejected" and "no licence" in found["licence_stop"]
    assert main(["vet", "--task", str(task), "--offline", "--no-input"]) == 1
    again = json.loads((task / "authoring" / "vetting.json").read_text())
    assert again["questions"] == found["questions"], "nothing is told twice"
