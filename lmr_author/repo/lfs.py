"""Git LFS: pointers in a work tree are replaced by their files, or named."""

from __future__ import annotations

from pathlib import Path

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.repo.git import Git
from lmr_author.texts import printable


def pointers(folder: Path) -> tuple[str, ...]:
    """Paths of all LFS pointer files below a folder, ``.git`` left out."""
    found = []
    for path in files.walk(folder):
        relative = path.relative_to(folder)
        if relative.parts[0] != ".git" and files.is_lfs_pointer(path):
            found.append(relative.as_posix())
    return tuple(found)


def resolve(git: Git, folder: Path, *, skip: bool) -> tuple[tuple[str, ...], int]:
    """Replace LFS pointers by what they stand for, with git-lfs where it is installed.

    Returns the pointers left (only with ``skip``) and the number resolved. Raises LmrError with the
    list when some are left and ``skip`` is not set.
    """
    before = pointers(folder)
    if not before or skip:
        return before, 0
    reason = "git-lfs is not installed"
    if git.try_run("lfs", "version") is not None:
        reason = _pull(git)
    left = pointers(folder)
    if not left:
        return (), len(before)
    names = ", ".join(printable(name, 80) for name in left[:5]) + (" …" if len(left) > 5 else "")
    raise LmrError(
        f"{len(left)} file(s) are Git LFS pointers, not data ({reason}): {names}",
        "install git-lfs, or pass --skip-lfs to keep the pointers (recorded) when no test needs them",
    )


def _pull(git: Git) -> str:
    """Fetch and write the files; returns why some may be left."""
    try:
        git.run("lfs", "pull", lfs=True)
    except LmrError as error:
        return error.message
    return "the server does not have them"
