"""What a local repository's folder holds and its commits do not."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from lmr_author import files
from lmr_author.repo.address import Address
from lmr_author.texts import printable

MOST_BYTES = 2 * 2**20
"""Larger files are not compared."""


def note(address: Address, tree: Path) -> str:
    """A note about Python files of a local folder that differ from what was checked out of it; "" for none.

    Compared here and not by `git status`, which runs what the repository's own settings name.
    """
    if not address.local:
        return ""
    roots = (
        os.path.realpath(os.fsdecode(unquote_to_bytes(urlsplit(address.git).path))),
        os.path.realpath(tree),
    )
    changed = [
        path.relative_to(tree).as_posix()
        for path in files.walk(tree)
        if path.suffix == ".py" and _differ(roots, path.relative_to(tree))
    ]
    if not changed:
        return ""
    several = f"{printable(changed[0])} and {len(changed) - 1} more" if changed[1:] else printable(changed[0])
    return f"not committed, and so left out: changes of {several}; the task has the last commit"


def _differ(roots: tuple[str, str], path: Path) -> bool:
    """Whether a file says something else in two folders. One that either lacks is no change of the code."""
    ours, theirs = (files.read_inside(root, Path(root, path), MOST_BYTES) for root in roots)
    return ours is not None and theirs is not None and _lines(ours) != _lines(theirs)


def _lines(data: bytes) -> bytes:
    """A text as git may have it: a work tree can have other line ends."""
    return data.replace(b"\r\n", b"\n")
