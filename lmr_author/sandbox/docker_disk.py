"""Room on the engine's disk, and how large images are."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docker import DockerClient


def free_bytes(client: DockerClient) -> int | None:
    """Free bytes where the engine keeps its images; None when that is on another machine."""
    if not client.api.base_url.startswith("http+docker"):
        return None  # not a local socket
    root = Path(str(client.info().get("DockerRootDir") or "/var/lib/docker"))
    try:
        return shutil.disk_usage(root).free
    except OSError:
        return None


def image_bytes(client: DockerClient, reference: str) -> int | None:
    """The size of an image that the engine has; None when it does not."""
    from docker.errors import ImageNotFound

    api: Any = client.api
    try:
        return int(api.inspect_image(reference)["Size"])
    except ImageNotFound:
        return None
