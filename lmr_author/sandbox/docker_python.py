"""Which Python a base image has, asked of the image before anything is built on it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lmr_author.sandbox import owner
from lmr_author.sandbox.docker_disk import image_bytes
from lmr_author.sandbox.docker_engine import OWNER_LABEL

if TYPE_CHECKING:
    from docker import DockerClient

_ASK = ["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]


def image_python(client: DockerClient, reference: str) -> str:
    """The minor version in an image that the engine has, as ``3.11``; "" without one, or without the image.

    Nothing is pulled: an image that is not here may be gigabytes.
    """
    from docker.errors import APIError, ContainerError

    if not reference or image_bytes(client, reference) is None:
        return ""
    try:
        said = client.containers.run(
            reference, _ASK[1:], entrypoint=_ASK[0], network_disabled=True, remove=True,
            labels={OWNER_LABEL: owner.me()},
        )  # fmt: skip
    except (APIError, ContainerError):
        return ""  # there is no python3 in it: the build will say what it lacks
    found = re.search(rb"^3\.\d+$", bytes(said).strip())
    return found[0].decode() if found else ""
