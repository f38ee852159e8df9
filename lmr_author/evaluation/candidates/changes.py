"""What a patch or an agent's tree makes of a repository: new contents of its files."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from lmr_author import files, processes
from lmr_author.evaluation.candidates.answer import Invalid
from lmr_author.texts import printable

MAX_FILE = 8 * 2**20
"""Bytes of a changed file that are taken; a larger one is no source."""
MAX_FILES = 500
"""Changed files that are looked at."""

_NAMES = re.compile(r'^(?:---|\+\+\+) "?([^"\t\n]+)"?|^(?:rename|copy) (?:from|to) (.+)$', re.MULTILINE)
_SECONDS = 60
_LENIENCE = (
    (),
    ("--recount",),
    ("--recount", "--unidiff-zero"),  # a hunk without context at its end need not be the file's end
    ("--recount", "--unidiff-zero", "--ignore-whitespace"),
)
"""Options of ``git apply``, the strictest first: models miscount lines and leave out context."""


def patched(patch: str, repository: Path) -> dict[str, bytes]:
    """The files that a unified diff changes, as they are afterwards; nothing of it leaves a private folder.

    Raises Invalid when it does not apply.
    """
    if not patch.strip():
        raise Invalid("the patch is empty")
    patch = re.sub(r"\r\n", "\n", patch)
    named = {one or other for one, other in _NAMES.findall(patch)} - {"/dev/null"}
    said = "it names no file"
    for strip in (1, 2, 0, 3):
        paths = {"/".join(name.strip().split("/")[strip:]) for name in named}
        if not any(path and files.is_file_inside(repository, path) for path in paths):
            continue
        with files.temporary_folder("lmr-author-patch-") as folder:
            said = _apply(patch, strip, paths, repository, folder)
            if not said:
                return _read(folder, repository)
    raise Invalid(f"the patch does not apply: {said}")


def _apply(patch: str, strip: int, paths: set[str], repository: Path, folder: Path) -> str:
    """Apply a patch to copies of the files that it names; returns what git says, "" when it worked."""
    for path in paths:
        if path and files.is_file_inside(repository, path):
            target = files.inside(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files.inside(repository, path), target)
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    said = ""
    for options in _LENIENCE:
        done = processes.run(
            ["git", "apply", f"-p{strip}", "--whitespace=nowarn", *options, "-"],
            cwd=folder,
            seconds=_SECONDS,
            env=environment,
            stdin=(patch if patch.endswith("\n") else patch + "\n").encode("utf-8", "replace"),
        )
        if done.exit_code == 0:
            return ""
        said = said or printable(done.stderr.removeprefix("error: "), 200)
    return said or "git apply failed"


def _read(folder: Path, repository: Path) -> dict[str, bytes]:
    found = {}
    for path in list(files.walk(folder))[:MAX_FILES]:
        relative = path.relative_to(folder).as_posix()
        data = _bounded(path)
        if data is not None and data != _current(repository, relative):
            found[relative] = data
    return found


def of_tree(tree: Path, repository: Path, goal_files: set[str]) -> dict[str, bytes]:
    """The Python files (and goal files) of an agent's tree that differ from the task's repository."""
    found: dict[str, bytes] = {}
    for path in files.walk(tree):
        relative = path.relative_to(tree).as_posix()
        if path.suffix != ".py" and relative not in goal_files:
            continue
        data = _bounded(path)
        if data is None or data == _current(repository, relative):
            continue
        found[relative] = data
        if len(found) >= MAX_FILES:
            break
    return found


def _bounded(path: Path) -> bytes | None:
    try:
        if path.is_symlink() or path.stat().st_size > MAX_FILE:
            return None
        return path.read_bytes()
    except OSError:
        return None


def _current(repository: Path, relative: str) -> bytes | None:
    return (
        files.inside(repository, relative).read_bytes()
        if files.is_file_inside(repository, relative)
        else None
    )
