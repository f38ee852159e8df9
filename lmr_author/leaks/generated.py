"""Recognize files that running, building or editing makes, and can make again."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from lmr_author.files import CACHE_FOLDERS

GENERATED_FOLDERS = CACHE_FOLDERS | {
    ".ipynb_checkpoints", ".nox", ".cache", "htmlcov", "site-packages", "dist-packages", "wandb", "mlruns",
    "lightning_logs", "__pypackages__", ".venv", "pip-wheel-metadata",
}  # fmt: skip
"""Folders that a run, a build or an editor makes."""

BACKUP_SUFFIXES = (".orig", ".bak", ".old", ".swp", ".swo", ".rej", "~", ".save", ".backup", ".tmp")
BUILT_ARCHIVES = (".whl", ".egg")
_BUILD = re.compile(r"(?:^|/)(?:build/(?:lib|bdist|temp)[^/]*|dist|[^/]+\.egg-info|[^/]+\.egg|_build)(?:/|$)")
_COMPILED = frozenset({".pyc", ".pyo"})


def is_backup(name: str) -> bool:
    """Recognize by its name an editor's or a merge's backup: ``x.py.orig``, ``x.py~``."""
    return name.endswith(BACKUP_SUFFIXES) or (name.startswith("#") and name.endswith("#"))


def is_generated(path: str) -> bool:
    """Recognize a file that was made by running, building or editing, not written.

    Args:
        path: path in the repository, with ``/``.
    """
    pure = PurePosixPath(path)
    return (
        not GENERATED_FOLDERS.isdisjoint(pure.parts[:-1])
        or pure.suffix in _COMPILED
        or path.endswith(BUILT_ARCHIVES)
        or is_backup(pure.name)
        or _BUILD.search(path) is not None
    )
