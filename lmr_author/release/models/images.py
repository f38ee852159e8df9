"""Agents' containers: an image of the bundle, without tests, goldens and network."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from lmr_author.core import files
from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.release.analysis.model_input import ModelInput
from lmr_author.release.export.agent import copying, write_bundle
from lmr_author.release.export.options import Exportable
from lmr_author.runtime.replay.staging import tree_path
from lmr_author.runtime.sandbox.docker_build import with_labels

LIMITS = {"mem_limit": "8g", "cpus": 2.0, "pids_limit": 512}
COMPOSE = "compose.yaml"
OWNER = 1000


def write_image(
    task: Task,
    info: TaskInfo,
    implementation: Implementation,
    model_input: ModelInput,
    base_image: str,
    folder: Path,
) -> str:
    """Write the build context of an agent's container and its compose file; return the name of the image.

    Args:
        model_input: which part of the repository is in the image.
        folder: a new folder, whose name becomes the image's.
    """
    if not task.dockerfile.is_file():
        raise LmrError(f"{task.name} has no Dockerfile", "write one: lmr-author env lock")
    write_bundle(Exportable(task, info, ()), folder, base_image)
    repository = folder / task.repository(info).name
    copy = copying(repository.name, tree_path(info), OWNER)
    dockerfile = folder / "Dockerfile"
    files.write_text(dockerfile, with_labels(dockerfile.read_text("utf-8")) + copy)
    (folder / "task.json").unlink()
    paper = ["paper.pdf", "paper.json"]
    if not model_input.has_tree:
        _keep_only(repository, [*paper, *([implementation.goal_file] if "goal" in model_input else [])])
    for name in [] if model_input.has_paper else paper:
        (repository / name).unlink(missing_ok=True)
    image = f"lmr-author/agent-{re.sub('[^a-z0-9]+', '-', folder.name.lower())}"
    service = {
        "image": image,
        "build": {"context": "."},
        "command": "tail -f /dev/null",
        "init": True,
        "network_mode": "none",
        "security_opt": ["no-new-privileges"],
        **LIMITS,
    }
    files.write_text(folder / COMPOSE, yaml.safe_dump({"services": {"default": service}}, sort_keys=False))
    return image


def remove_images(names: Iterable[str]) -> None:
    """Remove the containers' images: Inspect keeps those that have a name."""
    from docker.errors import DockerException

    from lmr_author.runtime.sandbox.docker_engine import connect

    with contextlib.suppress(SandboxError):  # the engine is gone, and Inspect has said so
        client = connect()
        for name in names:
            with contextlib.suppress(DockerException):
                client.images.remove(name, force=True)


def _keep_only(repository: Path, names: Sequence[str]) -> None:
    contents = {
        name: files.inside(repository, name).read_bytes()
        for name in names
        if files.is_file_inside(repository, name)
    }
    shutil.rmtree(repository)
    for name, data in contents.items():
        files.write_bytes(repository / name, data)
