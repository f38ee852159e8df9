"""Code that is not ours runs here: choose a sandbox, and name a task's image."""

from __future__ import annotations

import os
import re
from pathlib import Path

from lmr_author import files
from lmr_author.errors import UsageError
from lmr_author.sandbox.base import Sandbox

KINDS = ("local", "docker", "auto")
"""``auto`` is ``local``: it needs no preparation, and says when it does not isolate."""

_FIRST_USER = 1000


def open_sandbox(
    kind: str,
    *,
    context: Path,
    name: str,
    python: Path | None = None,
    base_image: str | None = None,
    repo_folder: str = "",
    log: Path | None = None,
    no_cache: bool = False,
    gpus: str = "",
) -> Sandbox:
    """Return a sandbox for a task, not prepared yet.

    Args:
        kind: one of :data:`KINDS`.
        context: the folder with the task's Dockerfile (docker).
        name: the task's name, with which the image's begins (docker).
        python: the interpreter (local); None is the one that runs this.
        base_image: replaces the Dockerfile's ``BASE_IMAGE`` (docker).
        repo_folder: the Dockerfile's ``DIR``: the repository's folder (docker).
        log: file for the build's log (docker).
        no_cache: make every layer anew (docker).
        gpus: "all" or a number of GPUs for each container (docker); "" for none.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no sandbox {kind!r}", f"use one of: {', '.join(KINDS)}")
    if gpus and kind != "docker":
        raise UsageError("--gpus is for containers", "add --sandbox docker")
    if gpus and gpus != "all" and not (gpus.isdecimal() and int(gpus) > 0):
        raise UsageError(f"--gpus {gpus}: not a number of GPUs", "give a number, or all")
    if kind != "docker":
        from lmr_author.sandbox.local import LocalSandbox

        return LocalSandbox(python)
    from lmr_author.sandbox.docker import DockerSandbox

    # Root builds for a user, too: a Dockerfile creates this user and group.
    root = os.geteuid() == 0
    args = {
        "UID": str(_FIRST_USER if root else os.geteuid()),
        "GID": str(_FIRST_USER if root else os.getegid()),
        "DIR": repo_folder,
        **({"BASE_IMAGE": base_image} if base_image else {}),
    }
    tag = image_tag(name, context)
    return DockerSandbox(context, tag=tag, build_args=args, log=log, no_cache=no_cache, gpus=gpus)


def image_tag(name: str, folder: Path) -> str:
    """Return the name of a task's image: ``1-DPO`` gives ``lmr-author/1-dpo-5f0c93ab:latest``.

    The suffix stands for the folder: tasks of one name, in several folders of tasks, have an image each. A task
    that was moved gets a new one, made of the same layers.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    place = files.sha256_bytes(os.fsencode(folder.resolve()))[:8]
    return f"lmr-author/{plain[:100].rstrip('-') or 'task'}-{place}:latest"
