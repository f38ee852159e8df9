"""Agents' containers: an image of the bundle, without tests, goldens and network."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import yaml

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.release.export.agent import write_bundle
from lmr_author.release.export.soundness import Exportable
from lmr_author.runtime.replay.staging import tree_path
from lmr_author.runtime.sandbox.docker_build import with_labels

LIMITS = {"mem_limit": "8g", "cpus": 2.0, "pids_limit": 512}
COMPOSE = "compose.yaml"
OWNER = "1000:1000"
_REPOSITORY = """
# LMR-Bench's scripts mount the repository: a Dockerfile made for them does not copy it.
USER 0
COPY --chown={owner} {name} {path}
USER {owner}
WORKDIR {path}
"""


def write_image(
    task: Task, info: TaskInfo, item: Implementation, given: str, base_image: str, folder: Path
) -> None:
    """Write what an agent's container is made from, with its compose file.

    Args:
        given: ``paper``, ``paper+goal`` or ``repository``: the files of the repository that are in the image.
        folder: it is made; its name becomes the image's.
    """
    if not task.dockerfile.is_file():
        raise LmrError(f"{task.name} has no Dockerfile", "write one: lmr-author env dockerfile")
    write_bundle(Exportable(task, info, ()), folder, base_image)
    repository = folder / task.repository(info).name
    place = _REPOSITORY.format(owner=OWNER, name=repository.name, path=tree_path(info))
    dockerfile = folder / "Dockerfile"
    files.write_text(dockerfile, with_labels(dockerfile.read_text("utf-8")) + place)
    (folder / "task.json").unlink()
    if given != "repository":
        kept = [] if given == "paper" else [item.goal_file]
        _keep_only(repository, ["paper.pdf", "paper.json", *kept])
    service = {
        "image": f"lmr-author/agent-{re.sub('[^a-z0-9]+', '-', folder.name.lower())}",
        "build": {"context": "."},
        "command": "tail -f /dev/null",
        "init": True,
        "network_mode": "none",
        "security_opt": ["no-new-privileges"],
        **LIMITS,
    }
    files.write_text(folder / COMPOSE, yaml.safe_dump({"services": {"default": service}}, sort_keys=False))


def _keep_only(repository: Path, kept: Sequence[str]) -> None:
    """Remove everything but some files."""
    contents = {path: data for path in kept if (data := _content(repository, path)) is not None}
    shutil.rmtree(repository)
    for path, data in contents.items():
        files.write_bytes(repository / path, data)


def _content(repository: Path, path: str) -> bytes | None:
    return files.inside(repository, path).read_bytes() if files.is_file_inside(repository, path) else None
