"""Docker images as tests make and look at them."""

from __future__ import annotations

import subprocess
from pathlib import Path


def write(folder: Path, base_image: str, rest: str) -> None:
    """Write a Dockerfile; the rest begins in its third line."""
    (folder / "Dockerfile").write_text(f"FROM {base_image}\nLABEL {label(folder)}\n{rest}\n")


def label(folder: Path) -> str:
    return f"org.lmr-author.test={folder}"


def made_from(folder: Path, *kinds: str) -> list[str]:
    """Ids of containers and nameless images that builds of this folder's Dockerfile have left."""
    mine = ["--filter", f"label={label(folder)}"]
    commands = {
        "containers": ["docker", "ps", "-aq", *mine],
        "dangling": ["docker", "images", "-q", "--filter", "dangling=true", *mine],
    }
    return [line for kind in kinds for line in subprocess.check_output(commands[kind], text=True).split()]
