"""What each format contains, what it never contains, and that the same tasks give the same bytes."""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
import tomllib
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.release.export.agent import with_base_image
from lmr_author.release.reporting.status import status
from tests.cli.program import snapshot, succeed

SECRET = re.compile(r"unit_test|golden|authoring|recordings|expected\.")
FORMATS = ("agent", "lmr-bench", "harbor", "huggingface")


def run(task: Task, to: str, *more: str) -> Path:
    """Export one task; returns the folder."""
    out = task.root.parent.parent / f"out-{to}"
    command = ("export", task.root, "--to", to, "--out", out, "--unreviewed", *more)
    succeed(*command, cwd=task.root.parent)
    return out


def solution_lines(task: Task) -> list[str]:
    """Lines of the golden that the masked file lacks."""
    info = task.load()
    [item] = info.implementations
    masked = task.goal(info, item).read_text()
    lines = [
        line.strip() for line in task.golden(item).read_text().splitlines() if line.strip() not in masked
    ]
    assert len(lines) > 10
    return [line for line in lines if len(line) > 25]


def test_the_agents_bundle_has_nothing_of_the_solution(example: Task) -> None:
    bundle = run(example, "agent") / example.name
    names = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert {"Dockerfile", "requirements.lock", "task.json", "prefopt/paper.pdf"} <= names
    assert not [name for name in names if SECRET.search(name)]
    text = "".join(path.read_text(errors="replace") for path in bundle.rglob("*") if path.is_file())
    assert not [line for line in solution_lines(example) if line in text]
    document = json.loads((bundle / "task.json").read_text())
    assert (document["sound"], document["review"]) == (True, "not reviewed")


def test_lmr_benchs_tree_has_both_spellings_and_no_records(example: Task) -> None:
    example.unit_test_folder(example.load()).joinpath("logs").mkdir(exist_ok=True)
    (example.unit_test_folder(example.load()) / "logs" / "unit_test_1.log").write_text("Passed: an old run\n")
    folder = run(example, "lmr-bench", "--force") / example.name
    assert sorted(path.name for path in folder.iterdir()) == [
        ".dockerignore", "Dockerfile", "golden_files", "info.json", "prefopt", "requirements.lock",
    ]  # fmt: skip
    assert not (folder / "prefopt" / "unit_test" / "logs").exists()
    [item] = json.loads((folder / "info.json").read_text())["implementations"]
    assert item["retrieval_content"] == item["retrieval_context"] == ["prefopt/model.py", "train.py"]
    # A log of an earlier run is a finding, and would count as a pass.
    assert json.loads((folder / "info.json").read_text())["not_sound"]
    assert (folder / item["golden_file"]).read_bytes() == (example.root / item["golden_file"]).read_bytes()


def test_harbor_gets_one_task_for_each_implementation(example: Task) -> None:
    folder = run(example, "harbor", "--base-image", "registry.example/base:1") / "1-rating-margin-1"
    config = tomllib.loads((folder / "task.toml").read_text())
    assert config["artifacts"] == ["/workspace/prefopt/prefopt/losses.py"]
    assert config["verifier"]["environment_mode"] == "separate"
    assert "environment" not in config["verifier"]  # a fresh copy of the agent's image
    assert config["metadata"]["sound"] is True
    assert "ARG BASE_IMAGE=registry.example/base:1\n" in (folder / "environment" / "Dockerfile").read_text()
    assert not [path for path in (folder / "environment").rglob("*") if SECRET.search(path.name)]
    assert "rating_margin_loss" in (folder / "instruction.md").read_text()
    inputs = {path.name for path in (folder / "tests" / "job").rglob("*") if path.is_file()}
    assert inputs and not [name for name in inputs if name.startswith("expected")]


def test_a_base_image_in_a_dockerfile_without_an_argument() -> None:
    assert with_base_image("FROM debian\nRUN x\n", "other:1") == "FROM other:1\nRUN x\n"
    assert (
        with_base_image("ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\n", "o")
        == "ARG BASE_IMAGE=o\nFROM ${BASE_IMAGE}\n"
    )


@pytest.mark.parametrize("to", FORMATS)
def test_the_same_tasks_give_the_same_bytes(example: Task, tmp_path: Path, to: str) -> None:
    first = run(example, to)
    again = Task(tmp_path / "elsewhere" / "tasks" / example.name)
    shutil.copytree(example.root, again.root)
    for path in again.root.rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)
        os.chown(path, 12345, 12345, follow_symlinks=False) if os.geteuid() == 0 else None
    second = run(again, to)
    assert snapshot(first) == snapshot(second)


def test_the_private_part_is_what_an_evaluation_needs(example: Task, tmp_path: Path) -> None:
    private = tmp_path / "private"
    public = run(example, "huggingface", "--with-private", str(private))
    text = "".join(path.read_text() for path in [*public.rglob("*.jsonl"), public / "README.md"])
    assert not [line for line in solution_lines(example) if json.dumps(line)[1:-1] in text]
    with tarfile.open(public / "tasks" / f"{example.name}.tar.gz") as archive:
        assert not [name for name in archive.getnames() if SECRET.search(name)]
    with tarfile.open(private / "tasks" / f"{example.name}.tar.gz") as archive:
        archive.extractall(tmp_path / "work", filter="data")
    unpacked = Task(tmp_path / "work" / example.name)
    assert unpacked.content_digest() == example.content_digest()
    assert "evaluated" in status(unpacked).done
    assert "evaluate --predictions" in (private / "README.md").read_text()
