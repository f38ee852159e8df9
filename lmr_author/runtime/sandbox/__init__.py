"""Sandboxes for untrusted code, and names of task images."""

from __future__ import annotations

import os
import re
from pathlib import Path

from lmr_author.core import files


def image_tag(name: str, folder: Path) -> str:
    """Return the name of a task's image: ``1-DPO`` gives ``lmr-author/1-dpo-5f0c93ab:latest``.

    The suffix is a digest of the folder's path, so tasks of one name in different folders have separate images. A
    moved task gets a new image from the same layers.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    digest = files.sha256_bytes(os.fsencode(folder.resolve()))[:8]
    return f"lmr-author/{plain[:100].rstrip('-') or 'task'}-{digest}:latest"
