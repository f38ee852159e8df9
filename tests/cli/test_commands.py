"""Each command as it is typed: what it leaves behind, what it says, and where it says it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lmr_author.model import CATEGORIES
from lmr_author.taskdir import TaskDir
from tests.cli.conftest import HINGE, Demo, Typed
from tests.cli.program import lmr, snapshot, succeed, validate_with
from tests.gitrepos import git, make_repository
from tests.papers import make_paper
from tests.support import LOSSES, make_task

GATES = (
    "build",
    "untampered",
    "golden-passes",
    "masked-fails",
    "target-entered",
    "trivial-fails",
    "mutants-die",
    "isolated",
)
CATEGORY = "Evaluation Metrics"


# demo


@pytest.mark.bwrap
def test_demo_shows_every_gate(demo: Demo) -> None:
    assert demo.ended.code == 0, demo.ended.err
    assert demo.ended.out == ""
    evaluated = demo.ended.err.partition("$ lmr-author evaluate")[2].partition("$ lmr-author ")[0]
    shown = re.findall(r"^  (\S) (\S+) ", evaluated, re.MULTILINE)
    assert shown == [("✓", gate) for gate in GATES]
    assert "sound: every gate holds (8 of 8 gates, local sandbox" in demo.ended.err
    verbs = [words[1] for words in demo.commands if words[0] == "lmr-author"]
    assert verbs == ["new-task", "mask", "record", "validate", "evaluate", "status"]


@pytest.mark.bwrap
def test_the_demos_commands_author_the_same_task(demo: Demo, typed: Typed) -> None:
    ours, theirs = snapshot(typed.task.root), snapshot(demo.task.root)
    # Records say when they were made; they are compared by name only.
    dated = {"authoring/evaluation.json", "authoring/provenance.json", "authoring/vetting.json"}
    dated |= {name for name in theirs if name.endswith("recording.json")}
    assert ours.keys() == theirs.keys()
    assert {name for name in ours if ours[name] != theirs[name]} <= dated
    assert ours["info.json"] == theirs["info.json"]
    assert "\n1 task checked: nothing found\n" in typed.ended["validate"].out


@pytest.mark.bwrap
def test_documents_of_an_authored_task_follow_their_schemas(typed: Typed) -> None:
    task = typed.task
    for schema, path in (
        ("info", task.info_path),
        ("provenance", task.provenance_path),
        ("vetting", task.vetting_path),
        ("evaluation", task.evaluation_path),
        ("recording", task.recording(task.load(), 1) / "recording.json"),
    ):
        validate_with(schema, json.loads(path.read_bytes()))


@pytest.mark.bwrap
def test_only_reports_go_to_stdout(typed: Typed) -> None:
    for verb in ("new-task", "mask", "record"):
        assert typed.ended[verb].out == ""
        assert "next: " in typed.ended[verb].err
    for verb in ("validate", "evaluate", "status"):
        assert typed.ended[verb].out != ""
        assert typed.ended[verb].err == ""


@pytest.mark.bwrap
def test_demo_takes_the_next_free_folder_and_refuses_one_that_exists(demo: Demo, tmp_path: Path) -> None:
    before = snapshot(demo.folder)
    done = lmr("demo", "--dir", demo.folder, cwd=tmp_path)
    assert done.code == 3 and "exists already" in done.err
    assert snapshot(demo.folder) == before


# new-task


def test_new_task(tmp_path: Path) -> None:
    paper = make_paper(tmp_path / "paper.pdf")
    code = make_repository(tmp_path / "code", {"train.py": "import numpy\n", "LICENSE": "MIT License\n"})
    commit = git(code, "rev-parse", "HEAD")
    flags = ("--name", "Wins", "--title", "Pairwise Wins", "--year", "2021", "--paper-url", "https://x.org/p")
    addresses = ("--repo", code.as_uri(), "--repo-url", "https://x.org/a/b")
    done = succeed("new-task", paper, *addresses, *flags, "--no-input", cwd=tmp_path)

    task = TaskDir(tmp_path / "tasks" / "1-Wins")
    info = task.load()
    assert (info.instance_id, info.paper_name, info.year) == (1, "Pairwise Wins", 2021)
    assert (info.repo_url, info.repo_commit) == ("https://x.org/a/b", commit)
    assert task.paper_pdf(info).read_bytes() == paper.read_bytes()
    assert json.loads(task.paper_json(info).read_bytes())["2"].startswith("Page 2")
    assert not (task.repository(info) / ".git").exists()
    assert task.dockerfile.read_text().startswith(("FROM", "ARG", "#"))
    validate_with("provenance", json.loads(task.provenance_path.read_bytes()))
    validate_with("vetting", json.loads(task.vetting_path.read_bytes()))
    assert done.out == "" and "next: cd tasks/1-Wins" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["code", "paper.pdf", "tasks"]

    succeed(
        "new-task", paper, "--repo", code, "--name", "Again", "--year", "2021", "--no-input", cwd=tmp_path
    )
    assert TaskDir(tmp_path / "tasks" / "2-Again").load().instance_id == 2


# mask, unmask


def test_mask_and_unmask_are_inverse(fresh: TaskDir, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("Implement the hinge loss of section 1.\n")
    pycache = fresh.root / "small-repo" / "pkg" / "__pycache__"
    pycache.mkdir()
    (pycache / "losses.pyc").write_bytes(b"compiled")
    before = snapshot(fresh.root / "small-repo")
    done = succeed(
        *("mask", HINGE, "--instruction", "@../words.txt", "--category", CATEGORY, "--retrieval", "run.py"),
        *("--objective", "the hinge loss", "--input", "x: a number", "--step", "clip at 0", "--no-input"),
        cwd=fresh.root,
    )
    text = (fresh.root / "small-repo/pkg/losses.py").read_text()
    assert "gap = margin - x" not in text and "raise NotImplementedError" in text
    assert text.partition("def hinge")[0] == LOSSES.decode().partition("def hinge")[0]
    assert text.partition("class Meter")[2] == LOSSES.decode().partition("class Meter")[2]
    assert all(word in text for word in ("the hinge loss", "x: a number", "clip at 0"))
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


def test_a_task_is_found_from_inside_it_and_by_its_option(fresh: TaskDir, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    succeed("mask", HINGE, "--category", CATEGORY, "--task", fresh.root, "--no-input", cwd=elsewhere)
    succeed("unmask", cwd=fresh.root / "small-repo" / "pkg")
    assert (fresh.root / "small-repo/pkg/losses.py").read_bytes() == LOSSES


# record


@pytest.mark.bwrap
def test_record_by_a_driver_outside_of_the_task(masked: TaskDir, tmp_path: Path) -> None:
    driver = tmp_path / "mine" / "drive.py"
    driver.parent.mkdir()
    driver.write_text("from pkg.losses import hinge\nfor x in (0.5, 2.0, -1.0, 3.0): hinge(x, margin=1.5)\n")
    command = ("--cases", "2", "--", "python", "../../mine/drive.py")
    done = succeed("record", *command, cwd=masked.root / "small-repo")

    folder = masked.recording(masked.load(), 1)
    validate_with("recording", json.loads((folder / "recording.json").read_bytes()))
    assert sorted(path.name for path in folder.iterdir()) == ["case_1", "case_2", "recording.json"]
    assert f"recorded 2 of 4 calls of {HINGE}" in done.err and done.out == ""
    assert not [path for path in folder.rglob("*") if path.suffix in (".pkl", ".pickle", ".pt")]

    again = lmr("record", HINGE, "--", "python", "run.py", cwd=masked.root)
    assert again.code == 3 and "--force" in again.err
    assert "kept the old" in succeed("record", "--force", "--", "python", "run.py", cwd=masked.root).err


# validate, explain


@pytest.mark.bwrap
def test_validate_json(finished: TaskDir) -> None:
    clean = succeed("validate", "--format", "json", cwd=finished.root)
    validate_with("validation", clean.json())
    assert clean.err == "" and clean.json()["tasks"][0]["findings"] == []

    finished.evaluation_path.unlink()
    finished.golden_folder.joinpath("losses_golden.py").unlink()
    found = lmr("validate", finished.root, "--format", "json", cwd=finished.root.parent)
    assert (found.code, found.err) == (1, "")
    validate_with("validation", found.json())
    findings = found.json()["tasks"][0]["findings"]
    missing = [item for item in findings if "golden_files/losses_golden.py" in item["message"]]
    assert missing and missing[0]["severity"] == "error" and missing[0]["hint"]


def test_explain(tmp_path: Path) -> None:
    text = succeed("explain", "LMR401", cwd=tmp_path)
    assert text.out.startswith("LMR401: ") and "Found:" in text.out
    assert succeed("explain", "lmr401", "--format", "json", cwd=tmp_path).json()["code"] == "LMR401"
    every = succeed("explain", "all", "--format", "json", cwd=tmp_path).json()
    assert len(every) > 12 and all(item["rationale"] for item in every)


# evaluate


@pytest.mark.bwrap
def test_evaluate_json(finished: TaskDir) -> None:
    done = succeed("evaluate", "--repeats", "1", "--format", "json", cwd=finished.root)
    document = done.json()
    assert done.err == "" and document["passed"] is True
    assert [gate["gate"] for gate in document["tasks"][0]["gates"]] == list(GATES)
    stored = json.loads(finished.evaluation_path.read_bytes())
    validate_with("evaluation", stored)
    assert {"task": finished.name, **stored} == document["tasks"][0]


@pytest.mark.bwrap
def test_evaluate_fails_where_the_mask_is_none(finished: TaskDir) -> None:
    info = finished.load()
    goal = finished.goal(info, info.implementations[0])
    goal.write_bytes(finished.golden(info.implementations[0]).read_bytes())
    done = lmr("evaluate", "--repeats", "1", "--mutants", "5", cwd=finished.root)
    assert done.code == 1
    assert "✗ masked-fails" in done.out and "not proven" in done.out
    stored = json.loads(finished.evaluation_path.read_bytes())
    validate_with("evaluation", stored)
    assert stored["passed"] is False


# review, status


def answers(folder: Path, **changed: object) -> Path:
    template = succeed("review", "--template", cwd=folder).json()
    filled = {key: {**value, "answer": "pass"} for key, value in template.items()}
    path = folder / "answers.json"
    path.write_text(json.dumps({**filled, **changed}))
    return path


@pytest.mark.bwrap
def test_a_sign_off_holds_until_the_task_changes(finished: TaskDir, tmp_path: Path) -> None:
    filled = answers(tmp_path)
    command = ("review", finished.root, "--reviewer", "alice", "--answers", filled)
    done = succeed(*command, "--format", "json", cwd=tmp_path)
    assert done.err == "" and done.json()["signed_off"] is True
    validate_with("review", json.loads((finished.reviews_folder / "alice.json").read_bytes()))

    def status() -> dict[str, object]:
        document = succeed("status", finished.root, "--format", "json", cwd=tmp_path).json()
        return dict(document["tasks"][0])

    assert status()["signed_off_by"] == ["alice"]
    assert status()["note"] == "1 of 3 reviews are in"
    finished.dockerfile.write_text(finished.dockerfile.read_text() + "# a word more\n")
    fallen = status()
    assert fallen["signed_off_by"] == [] and "signed off" not in fallen["done"]
    assert fallen["note"] == "changed since it was evaluated"

    succeed("evaluate", finished.root, "--repeats", "1", cwd=tmp_path)
    bob = ("review", finished.root, "--reviewer", "bob", "--answers", filled)
    succeed(*bob, cwd=tmp_path)  # the other reviewer's old sign-off does not keep this one from signing
    assert status()["signed_off_by"] == ["bob"]

    finished.dockerfile.write_text(finished.dockerfile.read_text() + "# and another\n")
    again = lmr(*command, cwd=tmp_path)
    assert again.code == 1
    assert "evaluated before the task changed" in again.err and "not signed off" in again.err
    assert (finished.reviews_folder / "alice.json.1").is_file()


@pytest.mark.bwrap
def test_one_answer_that_is_no_pass_withholds_the_sign_off(finished: TaskDir, tmp_path: Path) -> None:
    unsure = {"answer": "unsure", "comment": "the appendix has it"}
    filled = answers(tmp_path, **{"no-leak": unsure})
    done = lmr("review", finished.root, "--reviewer", "bob", "--answers", filled, cwd=tmp_path)
    assert done.code == 1
    document = json.loads((finished.reviews_folder / "bob.json").read_bytes())
    validate_with("review", document)
    assert document["signed_off"] is False


@pytest.mark.bwrap
def test_status_names_the_next_command_of_every_task(finished: TaskDir, tmp_path: Path) -> None:
    tasks = finished.root.parent
    make_task(tasks, "2-New")
    masked = make_task(tasks, "3-Masked")
    succeed("mask", HINGE, "--category", CATEGORY, "--no-input", cwd=masked.root)
    (tasks / "4-Broken").mkdir()
    (tasks / "4-Broken" / "info.json").write_text("{")

    found = succeed("status", "--format", "json", cwd=tmp_path).json()["tasks"]
    assert [(item["task"][0], item["next"].split()[1]) for item in found] == [
        ("1", "review"),
        ("2", "mask"),
        ("3", "record"),
        ("4", "validate"),
    ]
    assert found[0]["done"] == ["created", "masked", "recorded", "valid", "evaluated"]
    text = succeed("status", tasks, cwd=tmp_path)
    assert [line.split()[0] for line in text.out.splitlines() if not line.startswith(" ")] == [
        item["task"] for item in found
    ]
    assert text.err == ""


# export


@pytest.mark.bwrap
def test_the_agents_bundle_holds_nothing_of_the_solution(finished: TaskDir, tmp_path: Path) -> None:
    succeed("export", finished.root, "--to", "agent", "--out", "bundles", cwd=tmp_path)
    bundle = tmp_path / "bundles" / finished.name
    names = set(snapshot(bundle))
    assert {"Dockerfile", "requirements.lock", "task.json", "tailcon/paper.pdf"} <= names
    assert not [name for name in names if re.search("unit_test|golden|authoring|recording|expected", name)]
    body = finished.golden(finished.load().implementations[0]).read_text().partition('"""\n    unit =')[2]
    solution = [line.strip() for line in body.splitlines() if len(line.strip()) > 20]
    assert len(solution) > 5
    for path in (path for path in bundle.rglob("*.py")):
        assert not [line for line in solution if line in path.read_text()]
    document = json.loads((bundle / "task.json").read_bytes())
    assert document["implementations"][0]["goal_function"] == "margin_focal_contrast"
    assert document["implementations"][0]["category"] in CATEGORIES
    assert "golden" not in json.dumps(document)
