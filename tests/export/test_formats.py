"""What each format contains, what it never contains, and that the same tasks give the same bytes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml

from lmr_author.core.task import Task, provenance
from lmr_author.proof.validation.run import checked
from lmr_author.release.export.agent import with_base_image
from lmr_author.release.export.export import export
from lmr_author.release.export.options import ExportOptions
from lmr_author.release.reporting.status import status_with
from tests.cli.program import refuse, snapshot, succeed

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
    assert document["versions"] == {"python": "3.12", "torch": "2.10.0", "numpy": "2.4.2"}


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
    assert "user" not in config["verifier"]  # verifiers refuses one: the image's own is root
    assert config["metadata"]["sound"] is True
    assert "ARG BASE_IMAGE=registry.example/base:1\n" in (folder / "environment" / "Dockerfile").read_text()
    assert not [path for path in (folder / "environment").rglob("*") if SECRET.search(path.name)]
    instruction = (folder / "instruction.md").read_text()
    assert "rating_margin_loss" in instruction
    assert (
        "It runs with Python 3.12 and NumPy 2.4.2." in instruction
    )  # nothing is known of that base's PyTorch
    inputs = {path.name for path in (folder / "tests" / "job").rglob("*") if path.is_file()}
    assert inputs and not [name for name in inputs if name.startswith("expected")]


def test_harbor_opens_the_network_for_the_set_up_alone(example: Task) -> None:
    folder = run(example, "harbor", "--base-image", "base:1") / "1-rating-margin-1"
    config = tomllib.loads((folder / "task.toml").read_text())
    modes = {part: config[part]["network_mode"] for part in ("environment", "agent", "verifier")}
    assert modes == {"environment": "public", "agent": "no-network", "verifier": "no-network"}
    assert not (folder / "environment" / "docker-compose.yaml").exists()


def test_offline_cuts_harbors_network_by_compose_or_does_not_start(example: Task, tmp_path: Path) -> None:
    folder = run(example, "harbor", "--base-image", "base:1", "--offline") / "1-rating-margin-1"
    compose = yaml.safe_load((folder / "environment" / "docker-compose.yaml").read_text())
    assert compose["services"]["main"]["network_mode"] == "none"
    config = tomllib.loads((folder / "task.toml").read_text())
    # Other modes need a sidecar from a hub.
    assert "network_mode" not in config["agent"] and "network_mode" not in config["verifier"]
    check = config["environment"]["healthcheck"]["command"]
    for name, route, passes in (("none", "Iface\n", True), ("open", "Iface\neth0 00000000\n", False)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "route").write_text(route)
        (tmp_path / name / "ipv6_route").write_text("0000 00 0000 00 00200200       lo\n")
        command = check.replace("/proc/net", str(tmp_path / name))
        assert (subprocess.run(["sh", "-c", command]).returncode == 0) is passes
    (tmp_path / "none" / "ipv6_route").write_text("0000 00 0000 00 00200200     eth0\n")
    assert subprocess.run(["sh", "-c", check.replace("/proc/net", str(tmp_path / "none"))]).returncode


def test_harbors_publisher_is_chosen(example: Task) -> None:
    plain = tomllib.loads((run(example, "harbor") / "1-rating-margin-1" / "task.toml").read_text())
    assert (plain["task"]["version"], plain["task"]["authors"]) == ("1.0.0", [])
    assert plain["environment"]["cpus"] == 2 and plain["environment"]["gpus"] == 0
    shutil.rmtree(example.root.parent.parent / "out-harbor")
    given = ("--organization", "my-lab", "--author", 'Ada "A" L.', "--author", "Bo")
    folder = run(example, "harbor", *given, "--release-version", "2.1") / "1-rating-margin-1"
    config = tomllib.loads((folder / "task.toml").read_text())
    assert config["task"]["name"] == "my-lab/1-rating-margin-1" and config["task"]["version"] == "2.1"
    assert config["task"]["authors"] == [{"name": 'Ada "A" L.'}, {"name": "Bo"}]
    for option in ("--organization", "--name"):
        command = ("export", example.root, "--to", "harbor", "--out", "other", option, "a/b")
        assert (
            f"{option} 'a/b' is not a valid name for Harbor"
            in refuse(2, *command, cwd=example.root.parent)[0]
        )


def test_each_dockerfile_keeps_its_own_base_image(example: Task, tmp_path: Path) -> None:
    recorded = provenance.load(example).environment.base_image.reference
    text = example.dockerfile.read_text()
    assert recorded and f"ARG BASE_IMAGE={recorded}\n" in text
    export([example], ExportOptions("harbor", tmp_path / "own", force=True))
    example.dockerfile.write_text(text.replace(f"BASE_IMAGE={recorded}", "BASE_IMAGE"))
    export([example], ExportOptions("harbor", tmp_path / "none", force=True))
    for name in ("own", "none"):
        written = (tmp_path / name / "1-rating-margin-1" / "environment" / "Dockerfile").read_text()
        assert written.startswith(text.rstrip()) and "FROM" not in written[len(text) :]


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
    assert checked([unpacked]).clean and "evaluated" in status_with(unpacked, ()).done
    assert "judge --predictions" in (private / "README.md").read_text()
