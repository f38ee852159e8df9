"""The agent bundle: what a model receives, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Implementation, Task, provenance
from lmr_author.release.export.options import Exportable
from lmr_author.runtime.environment.where import find_versions
from lmr_author.runtime.replay.staging import copy_tree
from lmr_author.runtime.sandbox.docker_build import with_base

SHIPPED_FILES = ("Dockerfile", ".dockerignore", "requirements.lock")

_DEFAULT_BASE = re.compile(r"^([ \t]*ARG[ \t]+BASE_IMAGE)(?:=(.*))?$", re.IGNORECASE | re.MULTILINE)
_IMAGE = re.compile(r"[\w][\w./:@-]*")


def write_bundle(exportable: Exportable, folder: Path, base_image: str = "") -> None:
    """Write the masked repository without ``unit_test/``, the environment files and the instructions.

    Goldens, expected outputs and ``authoring/`` are never copied: only the files listed here are.
    """
    repository = exportable.task.repository(exportable.info)
    copy_tree(repository, folder / repository.name, {}, with_tests=False)
    copy_environment(exportable.task, folder, base_image)
    files.write_json(folder / "task.json", agent_document(exportable, base_image))


def copy_environment(task: Task, folder: Path, base_image: str = "") -> None:
    for name in SHIPPED_FILES:
        path = files.inside(task.root, name)
        if path.is_file():
            shutil.copyfile(path, folder / name)
    text = task.dockerfile.read_text("utf-8") if task.dockerfile.is_file() else ""
    if base_image and not text:
        raise LmrError(f"{task.name} has no Dockerfile", "write one: lmr-author env lock")
    if base_image := base_image or _recorded_base(task, text):
        files.write_text(folder / "Dockerfile", with_base_image(text, base_image))


def _recorded_base(task: Task, dockerfile: str) -> str:
    """Return the base image that a Dockerfile without a default base was made for; "" if unknown or not needed."""
    default = _DEFAULT_BASE.search(dockerfile)
    if default is None or default[2]:
        return ""
    return provenance.load(task).environment.base_image.reference


def copying(name: str, path: str, owner: int) -> str:
    """Return the lines of a Dockerfile that copy the repository into the image, owned by a user's number.

    LMR-Bench's scripts mount the repository: a Dockerfile made for them does not copy it.
    """
    return (
        f"\nUSER 0\nCOPY --chown={owner}:{owner} {json.dumps([name, path])}\nUSER {owner}\nWORKDIR {path}\n"
    )


def with_base_image(dockerfile: str, image: str) -> str:
    """Make an image the Dockerfile's default base. Raises UsageError for an invalid name."""
    if not _IMAGE.fullmatch(image):
        raise UsageError(f"--base-image {image!r} is not the name of an image", "as in pytorch/pytorch:2.5.1")
    if _DEFAULT_BASE.search(dockerfile):
        return _DEFAULT_BASE.sub(lambda match: f"{match[1]}={image}", dockerfile, count=1)
    return with_base(dockerfile, image)


def agent_document(exportable: Exportable, base_image: str = "") -> dict[str, Any]:
    """Return ``task.json``: the paper, the versions in the image, and the functions to implement."""
    info = exportable.info
    return {
        "instance_id": info.instance_id,
        "paper_name": info.paper_name,
        "folder_name": exportable.task.name,
        "repo_folder_name": info.repo_folder_name,
        "implementations": [_without_hidden(implementation) for implementation in info.implementations],
        "versions": find_versions(exportable.task, base_image),
        # Not why: a finding can say where the solution is.
        "sound": not exportable.problems,
        "review": exportable.review,
    }


def _without_hidden(implementation: Implementation) -> dict[str, Any]:
    hidden = {"golden_file", "unit_test_file"}
    return {key: value for key, value in implementation.to_json().items() if key not in hidden}
