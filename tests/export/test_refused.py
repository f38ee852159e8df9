"""What is not exported: tasks that are not sound, wrong input, exports that are cut short. Nothing is half-written."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.program import finish, lmr_forked, refuse, snapshot, start, succeed, wait_for
from tests.support import make_task

FINDINGS, USAGE, EXPECTED, INTERRUPTED = 1, 2, 3, 130
FORMATS = pytest.mark.parametrize("to", ["agent", "lmr-bench", "harbor", "huggingface"])


@FORMATS
def test_a_task_with_findings_and_a_stale_evaluation(example: Task, tmp_path: Path, to: str) -> None:
    goal = example.root / "prefopt" / "prefopt" / "losses.py"
    goal.write_text(goal.read_text() + "\nEXTRA = 1\n")
    command = ("export", example.root, "--to", to, "--out", "out")
    done = lmr_forked(*command, cwd=tmp_path)
    assert done.code == FINDINGS
    assert "LMR" in done.err and "changed since it was evaluated" in done.err and "--force" in done.err
    assert not (tmp_path / "out").exists()
    assert "1 marked as not fit for release" in succeed(*command, "--force", cwd=tmp_path).err
    place, key = {
        "agent": ("1-rating-margin/task.json", "sound"),
        "lmr-bench": ("1-rating-margin/info.json", "not_sound"),
        "harbor": ("1-rating-margin-1/task.toml", "problems"),
        "huggingface": ("data/implementations.jsonl", "problems"),
    }[to]
    text = (tmp_path / "out" / place).read_text()
    document = tomllib.loads(text)["metadata"] if to == "harbor" else json.loads(text)
    assert document[key] is False if to == "agent" else document[key][-1] == "changed since it was evaluated"
    assert document["review"] == "not reviewed"


def test_a_task_whose_gates_failed(example: Task, tmp_path: Path) -> None:
    record = json.loads(example.evaluation_path.read_text())
    record["passed"], record["gates"][0]["status"] = False, "failed"
    example.evaluation_path.write_text(json.dumps(record))
    done = lmr_forked("export", example.root, "--to", "agent", "--out", "out", cwd=tmp_path)
    assert done.code == FINDINGS and "build: failed" in done.err


def test_a_task_without_a_recording(masked: Task, tmp_path: Path) -> None:
    done = lmr_forked("export", masked.root, "--to", "agent", "--out", "out", cwd=tmp_path)
    assert done.code == FINDINGS and "pkg/losses.py::hinge has no test yet" in done.err
    command = ("export", masked.root, "--to", "harbor", "--out", "out", "--force")
    error, hint = refuse(EXPECTED, *command, cwd=tmp_path)
    assert "has no test for Harbor" in error and "lmr-author record pkg/losses.py::hinge" in hint


def test_a_task_in_which_nothing_is_masked(tmp_path: Path) -> None:
    task = make_task(tmp_path / "tasks")
    assert "nothing is masked" in refuse(EXPECTED, *_agent(task.root), "--force", cwd=tmp_path)[0]


def test_places_that_cannot_be_written_to(example: Task, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    assert "full is not empty" in refuse(EXPECTED, *_agent(example.root, "full"), cwd=tmp_path)[0]
    assert "file is not a folder" in refuse(USAGE, *_agent(example.root, "full/file"), cwd=tmp_path)[0]
    assert "is inside the task" in refuse(USAGE, *_agent(".", "bundles"), cwd=example.root)[0]
    refuse(EXPECTED, *_agent(example.root, "full/file/below"), "--unreviewed", cwd=tmp_path)


def test_an_empty_folder_is_filled(example: Task, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    twice = (example.root, example.root.parent)  # one task, named twice
    succeed("export", *twice, "--to", "agent", "--out", "out", "--unreviewed", cwd=tmp_path)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [example.name]


def test_options_that_do_not_fit(example: Task, tmp_path: Path) -> None:
    assert "huggingface" in refuse(USAGE, *_agent(example.root), "--with-private", "p", cwd=tmp_path)[0]
    hub = ("export", example.root, "--to", "huggingface", "--out", "out", "--with-private")
    assert "inside each other" in refuse(USAGE, *hub, "out/private", cwd=tmp_path)[0]
    image = ("--unreviewed", "--base-image", "debian\nRUN evil")
    assert "not the name of an image" in refuse(USAGE, *_agent(example.root), *image, cwd=tmp_path)[0]


def test_two_tasks_of_one_name(example: Task, tmp_path: Path) -> None:
    shutil.copytree(example.root, tmp_path / "other" / example.name)
    command = ("export", "tasks", "other", "--to", "harbor", "--out", "out")
    assert "have the same name" in refuse(USAGE, *command, cwd=tmp_path)[0]


@pytest.mark.parametrize("registry", ["https://ghcr.io/my-lab", "ghcr.io/My-Lab", "ghcr.io/a b", "/ghcr.io"])
def test_a_registry_that_is_none(example: Task, tmp_path: Path, registry: str) -> None:
    command = ("export", example.root, "--to", "harbor", "--out", "out", "--push", registry)
    error, hint = refuse(USAGE, *command, cwd=tmp_path)
    assert "is not a registry" in error and "ghcr.io/my-lab" in hint


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@FORMATS
def test_a_full_disk(example: Task, small_disk: Path, to: str) -> None:
    paper = example.root / "prefopt" / "data.bin"
    paper.write_bytes(bytes(range(256)) * 4 + json.dumps([hash(str(i)) for i in range(20_000)]).encode())
    command = ("export", example.root, "--to", to, "--out", small_disk / "out", "--force")
    error, _ = refuse(EXPECTED, *command, cwd=small_disk)
    assert "No space left" in error
    assert list(small_disk.iterdir()) == []


def test_a_private_part_that_cannot_be_written(example: Task, small_disk: Path, tmp_path: Path) -> None:
    (example.root / "golden_files" / "large_golden.py").write_text(
        "\n".join(f"x{i} = {hash(str(i))}" for i in range(20_000))
    )
    command = ("export", example.root, "--to", "huggingface", "--out", tmp_path / "out", "--force")
    error, _ = refuse(EXPECTED, *command, "--with-private", small_disk / "private", cwd=small_disk)
    assert "No space left" in error
    assert not (tmp_path / "out").exists() and list(small_disk.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_interrupted_export_leaves_nothing(example: Task, tmp_path: Path, number: int) -> None:
    for place in range(300):
        (example.root / "prefopt" / f"data_{place}.bin").write_bytes(bytes(range(256)) * 200)
    before, out = snapshot(example.root), tmp_path / "out" / "deep"
    options = ("--to", "huggingface", "--out", out, "--with-private", tmp_path / "private", "--force")
    process = start("export", example.root, *options, cwd=tmp_path)
    wait_for(lambda: process.poll() is not None or out.parent.exists())
    process.send_signal(number)
    ended = finish(process)
    assert ended.code in (INTERRUPTED, -signal.SIGINT), ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tasks"]
    assert snapshot(example.root) == before


def _agent(task: Path | str, out: str = "out") -> tuple[Path | str, ...]:
    return ("export", task, "--to", "agent", "--out", out)


@pytest.mark.parametrize("option", [("--offline",), ("--author", "Ada"), ("--push", "localhost:5000")])
def test_options_of_another_format(example: Task, tmp_path: Path, option: tuple[str, ...]) -> None:
    error, hint = refuse(USAGE, *_agent(example.root), *option, cwd=tmp_path)
    assert "--to harbor" in error and option[0] in error and "leave" in hint
