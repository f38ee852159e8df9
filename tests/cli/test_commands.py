"""Each command of the pipeline, as a user starts it: new-task to evaluate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.conftest import CATEGORY, GATES, HINGE
from tests.cli.program import lmr_forked, snapshot, succeed, validate_with
from tests.gitrepos import git, make_repository
from tests.papers import make_paper
from tests.support import LOSSES


def test_new_task(tmp_path: Path) -> None:
    paper = make_paper(tmp_path / "paper.pdf")
    code = make_repository(tmp_path / "code", {"train.py": "import numpy\n", "LICENSE": "MIT License\n"})
    commit = git(code, "rev-parse", "HEAD")
    flags = ("--name", "Wins", "--title", "Pairwise Wins", "--year", "2021", "--paper-url", "https://x.org/p")
    addresses = ("--repo", code.as_uri(), "--repo-url", "https://x.org/a/b")
    done = succeed("new-task", paper, *addresses, *flags, "--no-input", cwd=tmp_path)

    task = Task(tmp_path / "tasks" / "1-Wins")
    info = task.load()
    assert (info.instance_id, info.paper_name, info.year) == (1, "Pairwise Wins", 2021)
    assert (info.repo_url, info.repo_commit) == ("https://x.org/a/b", commit)
    assert task.paper_pdf(info).read_bytes() == paper.read_bytes()
    assert json.loads(task.paper_json(info).read_bytes())["2"].startswith("Page 2")
    assert not (task.repository(info) / ".git").exists()
    assert task.dockerfile.read_text().startswith(("FROM", "ARG", "#"))
    validate_with("info", json.loads(task.info_path.read_bytes()))
    validate_with("provenance", json.loads(task.provenance_path.read_bytes()))
    validate_with("vetting", json.loads(task.vetting_path.read_bytes()))
    assert done.out == "" and "next: cd tasks/1-Wins" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["code", "paper.pdf", "tasks"]

    succeed(
        "new-task", paper, "--repo", code, "--name", "Again", "--year", "2021", "--no-input", cwd=tmp_path
    )
    assert Task(tmp_path / "tasks" / "2-Again").load().instance_id == 2


def test_mask_and_unmask_are_inverse(fresh: Task, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("Implement the hinge loss of section 1.\n")
    pycache = fresh.root / "small-repo" / "pkg" / "__pycache__"
    pycache.mkdir()
    (pycache / "losses.pyc").write_bytes(b"compiled")
    before = snapshot(fresh.root / "small-repo")
    done = succeed(
        *("mask", HINGE, "--instruction", "@../words.txt", "--category", CATEGORY, "--retrieval", "run.py"),
        *("--comment", "the hinge loss\nx is a number", "--no-input"),
        cwd=fresh.root,
    )
    text = (fresh.root / "small-repo/pkg/losses.py").read_text()
    assert "gap = margin - x" not in text and "raise NotImplementedError" in text
    assert text.partition("def hinge")[0] == LOSSES.decode().partition("def hinge")[0]
    assert text.partition("class Meter")[2] == LOSSES.decode().partition("class Meter")[2]
    assert all(word in text for word in ("# the hinge loss\n", "# x is a number\n"))
    assert (fresh.golden_folder / "losses_golden.py").read_bytes() == LOSSES
    assert not pycache.exists()
    entry = json.loads(fresh.info_path.read_bytes())["implementations"][0]
    assert entry["instruction"] == "Implement the hinge loss of section 1."
    assert (entry["category"], entry["retrieval_context"]) == (CATEGORY, ["run.py"])
    assert done.out == "" and f"masked {HINGE} as implementation 1" in done.err

    undone = succeed("unmask", HINGE, cwd=fresh.root / "small-repo" / "pkg").err
    assert f"restored {HINGE}" in undone and "put back pkg/__pycache__" in undone
    assert snapshot(fresh.root / "small-repo") == before
    assert fresh.load().implementations == ()


@pytest.mark.bwrap
def test_record_by_a_driver_outside_of_the_task(masked: Task, tmp_path: Path) -> None:
    driver = tmp_path / "mine" / "drive.py"
    driver.parent.mkdir()
    driver.write_text(
        "from pkg.losses import hinge\nfor x in (2.5, 2.0, 4.0, 3.0, 5.0): hinge(x, margin=1.5)\n"
    )
    command = ("--cases", "2", "--", "python", "../../mine/drive.py")
    done = succeed("record", *command, cwd=masked.root / "small-repo")

    folder = masked.recording(masked.load(), 1)
    validate_with("recording", json.loads((folder / "recording.json").read_bytes()))
    assert sorted(path.name for path in folder.iterdir()) == ["case_1", "case_2", "recording.json"]
    assert f"recorded 2 of 5 calls of {HINGE}" in done.err and done.out == ""
    assert not [path for path in folder.rglob("*") if path.suffix in (".pkl", ".pickle", ".pt")]

    again = lmr_forked("record", HINGE, "--", "python", "run.py", cwd=masked.root)
    assert again.code == 3 and "--force" in again.err
    assert "kept the old" in succeed("record", "--force", "--", "python", "run.py", cwd=masked.root).err


@pytest.mark.bwrap
def test_validate_json(finished: Task) -> None:
    clean = succeed("validate", "--format", "json", cwd=finished.root)
    validate_with("validation", clean.json())
    assert clean.err == "" and clean.json()["tasks"][0]["findings"] == []

    finished.evaluation_path.unlink()
    finished.golden_folder.joinpath("losses_golden.py").unlink()
    found = lmr_forked("validate", finished.root, "--format", "json", cwd=finished.root.parent)
    assert (found.code, found.err) == (1, "")
    validate_with("validation", found.json())
    findings = found.json()["tasks"][0]["findings"]
    missing = [item for item in findings if "golden_files/losses_golden.py" in item["message"]]
    assert missing and missing[0]["severity"] == "error" and missing[0]["hint"]


@pytest.mark.bwrap
def test_evaluate_json(finished: Task) -> None:
    done = succeed("evaluate", "--repeats", "1", "--format", "json", cwd=finished.root)
    document = done.json()
    assert document["passed"] is True
    assert [gate["gate"] for gate in document["tasks"][0]["gates"]] == list(GATES)
    stored = json.loads(finished.evaluation_path.read_bytes())
    validate_with("evaluation", stored)
    assert {"task": finished.name, **stored} == document["tasks"][0]


@pytest.mark.bwrap
def test_evaluate_fails_where_the_mask_is_none(finished: Task) -> None:
    info = finished.load()
    goal = finished.goal(info, info.implementations[0])
    goal.write_bytes(finished.golden(info.implementations[0]).read_bytes())
    done = lmr_forked("evaluate", "--repeats", "1", "--mutants", "5", cwd=finished.root)
    assert done.code == 1
    assert "✗ masked-fails" in done.out and "not proven" in done.out
    stored = json.loads(finished.evaluation_path.read_bytes())
    validate_with("evaluation", stored)
    assert stored["passed"] is False
