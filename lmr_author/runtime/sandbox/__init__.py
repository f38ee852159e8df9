"""Code that is not ours runs here; a task's image is named."""

from __future__ import annotations

import os
import re
from pathlib import Path

from lmr_author.core import files


def image_tag(name: str, folder: Path) -> str:
    """Return the name of a task's image: ``1-DPO`` gives ``lmr-author/1-dpo-5f0c93ab:latest``.

    The suffix stands for the folder: tasks of one name, in several folders of tasks, have an image each. A task
    that was moved gets a new one, made of the same layers.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    digest = files.sha256_bytes(os.fsencode(folder.resolve()))[:8]
    return f"lmr-author/{plain[:100].rstrip('-') or 'task'}-{digest}:latest"
