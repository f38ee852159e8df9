"""Versions that an answer runs with: of Python, PyTorch and NumPy."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lmr_author.core import files
from lmr_author.core.task import Task, evaluation, provenance
from lmr_author.core.task.provenance import BuiltEnvironment
from lmr_author.runtime.environment import lock_file
from lmr_author.runtime.environment.base_images import base_of, known_image
from lmr_author.runtime.environment.where import DOCKER

_VERSION = re.compile(r"[0-9][\w.+!-]{0,40}")
_TITLES = {"python": "Python", "torch": "PyTorch", "numpy": "NumPy"}


def find_versions(task: Task, base_image: str = "") -> dict[str, str]:
    """Return the known versions in a task's image: what it said itself, or else what Dockerfile and lock say.

    Args:
        base_image: the image that takes the place of the Dockerfile's; "" for none.
    """
    built = BuiltEnvironment.read_if_valid(task.environment_path)
    run = evaluation.load(task)
    dockerfile = task.dockerfile.read_text("utf-8", "replace") if task.dockerfile.is_file() else ""
    if base_image:
        found = _declared(task, base_image)
    elif built and dockerfile and built.dockerfile_sha256 == files.sha256_file(task.dockerfile):
        found = {"python": built.python, "torch": built.torch, "numpy": built.numpy}
    elif run and run.sandbox.kind == DOCKER and not run.sandbox.other_base_image:
        found = {"python": run.sandbox.python, "torch": run.sandbox.torch, "numpy": run.sandbox.numpy}
    else:
        found = _declared(task, base_of(dockerfile) or provenance.load(task).environment.base_image.reference)
    return {name: version for name, version in found.items() if _VERSION.fullmatch(version)}


def _declared(task: Task, image: str) -> dict[str, str]:
    lock = task.lock.read_text("utf-8", "replace") if task.lock.is_file() else ""
    pins = {name: line.partition("==")[2] for name, line in lock_file.requirements(lock).items()}
    base = known_image(image)
    python = lock_file.python(lock) or (base.python if base.torch else "")
    return {"python": python, "torch": pins.get("torch") or base.torch, "numpy": pins.get("numpy", "")}


def in_words(versions: Mapping[str, str]) -> str:
    """Return versions as ``Python 3.12, PyTorch 2.10.0 and NumPy 2.4.2``; "" for none."""
    named = [f"{title} {versions[name]}" for name, title in _TITLES.items() if versions.get(name)]
    return " and ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))
