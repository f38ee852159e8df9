"""Which of a task's folders is the repository, where ``info.json`` does not say it right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lmr_author.checks.listing import Entry

HOLLOW = frozenset({".git", ".gitkeep", ".gitmodules", ".DS_Store"})
"""Files that an empty folder can hold: a submodule's link, a place holder."""

NO_REPOSITORY = frozenset({"golden_files", "authoring", ".git", "__pycache__", "unit_test"})
"""Folders of a task that are never the repository."""


def meant_repository(named: str, entries: Sequence[Entry]) -> str:
    """The only folder of a task that can be meant; "" when there are several, or something else has the name.

    Args:
        named: what ``repo_folder_name`` says.
        entries: everything in the task folder.
    """
    if any(entry.relative == named.strip("/") for entry in entries):
        return ""  # a link out of the task, or a file
    with_code = {
        entry.relative.partition("/")[0] for entry in entries if entry.suffix == ".py" and entry.folder
    }
    folders = [entry.relative for entry in entries if entry.kind == "folder" and not entry.folder]
    meant = [folder for folder in folders if folder in with_code and folder not in NO_REPOSITORY]
    return meant[0] if len(meant) == 1 else ""


def is_hollow(folder: str, entries: Iterable[Entry]) -> bool:
    """Whether a folder of a task holds no files but those that an empty one can hold."""
    prefix = f"{folder}/"
    return all(
        entry.name in HOLLOW
        for entry in entries
        if entry.kind == "file" and entry.relative.startswith(prefix)
    )
