"""A stand-in for LMR-Bench's own unit-test script, written from a description of it; without ``--gpus``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.program import succeed
from tests.export.conftest import PLAIN
from tests.export.harbor import docker
from tests.export.test_huggingface import client
from tests.support import base_image, make_task

TAG = "lmr-tests/{}:latest"


def run_unit_tests(folder: Path) -> dict[str, bool]:
    """Build the image, run every unit test in it, read the logs: test -> passed."""
    info = json.loads((folder / "info.json").read_text())
    repository, tag = info["repo_folder_name"], TAG.format(info["folder_name"].lower())
    user, group = os.getuid() or 1000, os.getgid() or 1000
    arguments = [f"UID={user}", f"GID={group}", f"DIR={repository}"]
    build = [word for one in arguments for word in ("--build-arg", one)]
    docker("build", "--quiet", *build, "--tag", tag, str(folder))
    subprocess.run(["chown", "-R", f"{user}:{group}", str(folder)], check=False)
    logs = folder / repository / "unit_test" / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    passed = {}
    try:
        for item in info["implementations"]:
            script = (
                f"pwd && cd {repository} && export PYTHONPATH=$(pwd) && "
                f"python unit_test/{Path(item['unit_test_file']).name}"
            )
            mount = ("--volume", f"{folder}:/workspace", "--user", f"{user}:{group}")
            docker("run", "--rm", *mount, tag, "bash", "-lc", script, check=False)
            texts = [path.read_text() for path in logs.glob("*")] if logs.is_dir() else []
            text = "".join(texts)
            passed[item["unit_test_file"]] = "Passed" in text and "Failed" not in text
    finally:
        docker("rmi", "--force", tag, check=False)
    return passed


@pytest.mark.docker
@pytest.mark.timeout(600)
def test_the_golden_passes_and_the_masked_repository_fails(tmp_path: Path) -> None:
    base = base_image("lmr-author/base:bookworm")
    command = ("export", PLAIN, "--to", "lmr-bench", "--out", "out", "--base-image", base, "--unreviewed")
    succeed(*command, cwd=tmp_path)
    folder = tmp_path / "out" / PLAIN.name
    info = json.loads((folder / "info.json").read_text())
    [item] = info["implementations"]
    assert run_unit_tests(folder) == {item["unit_test_file"]: False}
    goal = folder / info["repo_folder_name"] / item["goal_file"]
    shutil.copyfile(folder / item["golden_file"], goal)
    assert run_unit_tests(folder) == {item["unit_test_file"]: True}


def test_the_table_of_their_openhands_runner_loads(example: Task, tmp_path: Path) -> None:
    plain = make_task(example.root.parent, "0-Plain")
    succeed("mask", "pkg/losses.py::hinge", "--category", "Evaluation Metrics", "--no-input", cwd=plain.root)
    folder = tmp_path / "out"
    command = ("export", example.root.parent, "--to", "lmr-bench", "--out", folder, "--force")
    done = succeed(*command, cwd=tmp_path)
    assert "shinyy1997/0-plain" in done.err and "instead of building" in done.err
    code = """
import json, sys
from datasets import load_dataset
print(json.dumps([dict(row) for row in load_dataset(sys.argv[1], split="train")]))
"""
    rows = json.loads(client(code, folder, home=tmp_path))
    assert [row["folder_name"] for row in rows] == ["0-Plain", example.name]
    for row in rows:
        info = json.loads((folder / row["folder_name"] / "info.json").read_text())
        assert (folder / row["folder_name"] / row["repo_folder_name"]).is_dir()
        for ours, theirs in zip(row["implementations"], info["implementations"], strict=True):
            assert ours == {key: theirs[key] for key in ours}
            assert {"goal_file", "unit_test_file", "retrieval_content", "instruction"} <= set(ours)
    assert rows[1]["implementations"][0]["retrieval_context"] == ["prefopt/model.py", "train.py"]
