"""Notes on a new task: anything that an annotator should check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmr_author.environment.detect import problems
from lmr_author.repo import Address
from lmr_author.task import TaskInfo
from lmr_author.texts import counted

if TYPE_CHECKING:
    from lmr_author.environment.lock_file import Lock
    from lmr_author.new_task.new_task import Stages


def notes_on(info: TaskInfo, stages: Stages, had_tests: bool) -> list[str]:
    """Return the notes, most important first."""
    clone, lock, base = stages.clone, stages.lock, stages.base
    notes = list(stages.paper.notes)
    if not info.paper_url:
        notes.append("info.json has no paper_url: pass --paper-url, or add it")
    if Address.parse(info.repo_url).local:
        linked = f" (the paper links {stages.paper.repositories[0]})" if stages.paper.repositories else ""
        notes.append(
            f"info.json's repo_url is a path on this machine: replace it by the public address{linked}"
        )
    if not clone.licence:
        where = (
            f"the licence in {clone.licence_file} is not recognised"
            if clone.licence_file
            else "no licence file"
        )
        notes.append(f"{where}: check that the repository may be redistributed")
    notes += [f"submodule {item.path} left out: {item.reason}" for item in clone.submodules if item.reason]
    if clone.lfs_left:
        notes.append(
            f"{counted(len(clone.lfs_left), 'Git LFS pointer')} instead of data, first {clone.lfs_left[0]}"
        )
    notes += [f"removed {item.path}: {item.reason}" for item in clone.removed[:10]]
    if len(clone.removed) > 10:
        notes.append(f"and {len(clone.removed) - 10} more removed (authoring/provenance.json)")
    notes += clone.notes
    if had_tests:
        notes.append(
            "the repository already has a folder unit_test; the task's tests are written beside its files"
        )
    notes += problems(stages.recipe, base)
    if not lock.pinned:
        notes.append(f"requirements.lock is {lock.note} ({_again(lock)})")
    notes += [f"requirements.lock: {item}" for item in (*lock.changes, *lock.left_out)]
    if not base.python_certain:
        notes.append(
            f"requirements are locked for Python {base.python}, the likely version in {base.reference}"
        )
    return notes


def _again(lock: Lock) -> str:
    """Name the command that pins the lock."""
    if lock.conflict:
        return "`lmr-author env lock --relax` loosens what conflicts"
    return "`lmr-author env lock` makes it again"
