"""The manifest of a Harbor data set, what its tasks say of themselves, and images in a registry."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.core.task.difficulty import ModelAnswers, keep
from lmr_author.release.export.export import export
from lmr_author.release.export.harbor import digest
from lmr_author.release.export.options import ExportOptions, Publication
from tests.cli.program import refuse, succeed
from tests.export.conftest import PLAIN
from tests.export.harbor import docker
from tests.support import base_image

PUBLICATION = Publication("2.1.0", "my-lab", ("Ada L.",), "my-set")


def exported(task: Task, out: Path, publication: Publication = PUBLICATION) -> Path:
    export([task], ExportOptions("harbor", out, publication=publication, unreviewed=True))
    return out


def metadata(folder: Path) -> dict[str, object]:
    [path] = folder.glob("*/task.toml")
    return dict(tomllib.loads(path.read_text())["metadata"])


def test_the_manifest_names_each_task_by_its_content(example: Task, tmp_path: Path) -> None:
    folder = exported(example, tmp_path / "out")
    manifest = tomllib.loads((folder / "dataset.toml").read_text())
    assert manifest["dataset"]["name"] == "my-lab/my-set"
    assert manifest["dataset"]["version"] == "2.1.0"
    assert manifest["dataset"]["authors"] == [{"name": "Ada L."}]
    task = folder / "1-rating-margin-1"
    assert manifest["tasks"] == [{"name": "my-lab/1-rating-margin-1", "digest": digest(task)}]


def test_a_digest_is_made_as_harbors_client_makes_it(tmp_path: Path) -> None:
    """Compared with `Packager` of harbor 0.26.0, which scripts/try-harbor asks again."""
    contents = {
        "task.toml": b"a", "instruction.md": b"b", "tests/test.sh": b"c", "environment/a b/é.py": b"d",
        "environment/__pycache__/x.py": b"-", "solution/x.pyc": b"-", "tests/.harborignore": b"-", "other.txt": b"-",
    }  # fmt: skip
    for name, data in contents.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (tmp_path / "environment" / "link").symlink_to("a b/é.py")
    listed = {name: data for name, data in contents.items() if data != b"-"} | {"environment/link": b"d"}
    outer = hashlib.sha256()
    for name in sorted(listed):
        outer.update(f"{name}\0{hashlib.sha256(listed[name]).hexdigest()}\n".encode())
    assert digest(tmp_path) == f"sha256:{outer.hexdigest()}"


def test_a_canary_is_in_every_part_and_is_the_data_sets_own(example: Task, tmp_path: Path) -> None:
    folder = exported(example, tmp_path / "out") / "1-rating-margin-1"
    parts = ("task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh", "solution/solve.sh")
    found = {re.search("harbor-canary GUID [0-9a-f-]{36}", (folder / part).read_text()) for part in parts}
    assert {match and match[0] for match in found} == {PUBLICATION.canary}
    assert (folder / "tests" / "test.sh").read_text().startswith("#!/bin/sh\n")
    other = Publication("3.0.0", "my-lab", (), "my-set"), Publication("2.1.0", "my-lab", (), "another")
    assert [each.canary == PUBLICATION.canary for each in other] == [True, False]


@pytest.mark.parametrize(
    ("solved", "level"), [((5, 4), "easy"), ((3, 2), "medium"), ((3, 0), "hard"), (None, "unknown")]
)
def test_difficulty_is_what_models_solved(
    example: Task, tmp_path: Path, solved: tuple[int, int] | None, level: str
) -> None:
    if solved is not None:
        state = ("", 1, "log", "2026-11-01T00:00:00Z", example.content_digest())
        of = zip("ab", solved, strict=True)
        keep(example, [ModelAnswers(name, *state, solved=count, failed=5 - count) for name, count in of])
    found = metadata(exported(example, tmp_path / "out"))
    assert found["difficulty"] == level
    assert ("answers_tried" in found) == (solved is not None)
    for name in ("difficulty_explanation", "solution_explanation", "verification_explanation", "tags"):
        assert found[name]
    assert not [name for name in found if "hours" in name or "estimate" in name]  # nobody knows


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """A registry on this machine: Debian's package docker-registry."""
    program = shutil.which("docker-registry")
    if program is None:
        pytest.skip("docker-registry is not installed")
    port = 15_000 + hash(str(tmp_path)) % 10_000
    config = {
        "version": "0.1",
        "storage": {"filesystem": {"rootdirectory": str(tmp_path / "registry")}},
        "http": {"addr": f"127.0.0.1:{port}"},
    }
    (tmp_path / "registry.yml").write_text(json.dumps(config))
    with (tmp_path / "registry.log").open("wb") as log:
        process = subprocess.Popen([program, "serve", str(tmp_path / "registry.yml")], stdout=log, stderr=log)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"localhost:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.mark.docker
@pytest.mark.timeout(600)
def test_an_image_is_pushed_and_pulled_by_the_digest_in_the_task(registry: str, tmp_path: Path) -> None:
    base = base_image("lmr-author/base:bookworm")
    command = ("export", PLAIN, "--to", "harbor", "--out", "out", "--unreviewed", "--base-image", base)
    succeed(*command, "--push", f"{registry}/my-lab", cwd=tmp_path)
    folder = tmp_path / "out" / "4-demo-packing-1"
    image = tomllib.loads((folder / "task.toml").read_text())["environment"]["docker_image"]
    assert re.fullmatch(rf"{registry}/my-lab/4-demo-packing@sha256:[0-9a-f]{{64}}", image)
    [ref] = tomllib.loads((folder.parent / "dataset.toml").read_text())["tasks"]
    assert ref["digest"] == digest(folder)
    tag = f"{registry}/my-lab/4-demo-packing:1.0.0"
    try:
        docker("rmi", "--force", tag)
        docker("pull", "--quiet", image)
        shown = docker("run", "--rm", "--network", "none", image, "sh", "-c", "id -u; find /workspace")
        assert shown.split()[0] == "0" and "paper.json" in shown and "recordings" not in shown
    finally:
        docker("rmi", "--force", tag, image, check=False)


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_a_registry_that_does_not_answer(tmp_path: Path) -> None:
    base = base_image("lmr-author/base:bookworm")
    command = ("export", PLAIN, "--to", "harbor", "--out", "out", "--unreviewed", "--base-image", base)
    error, hint = refuse(3, *command, "--push", "localhost:9", cwd=tmp_path)
    assert "localhost:9/4-demo-packing could not be pushed" in error and "docker login localhost:9" in hint
    assert not list(tmp_path.iterdir())
    docker("rmi", "--force", "localhost:9/4-demo-packing:1.0.0", check=False)


def test_without_an_engine(tmp_path: Path) -> None:
    command = ("export", PLAIN, "--to", "harbor", "--out", "out", "--unreviewed", "--push", "localhost:9")
    error, hint = refuse(3, *command, cwd=tmp_path, env={"DOCKER_HOST": f"unix://{tmp_path}/none.sock"})
    assert "Docker is not installed or not running" in error and "start Docker" in hint
    assert not list(tmp_path.iterdir())
