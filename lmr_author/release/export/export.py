"""Export tasks to the engines that run models."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Task
from lmr_author.release.export.agent import write_bundle
from lmr_author.release.export.harbor import write_harbor
from lmr_author.release.export.huggingface import write_huggingface, write_private
from lmr_author.release.export.lmr_bench import write_lmr_bench
from lmr_author.release.export.soundness import NOT_REVIEWED, Exportable, examine

HUGGINGFACE = "huggingface"


@dataclass(frozen=True)
class ExportOptions:
    """Options of ``export``.

    Attributes:
        format: a key of :data:`WRITERS`.
        out: a folder that does not exist yet, or is empty.
        base_image: default base of the exported Dockerfiles; "" leaves them as they are.
        private: folder for goldens and tests (huggingface).
        unreviewed: export tasks whose reviews are missing, marked as such.
        force: export every task, marked with what is wrong.
    """

    format: str
    out: Path
    base_image: str = ""
    private: Path | None = None
    unreviewed: bool = False
    force: bool = False


@dataclass(frozen=True)
class Exported:
    """An export, or why there is none.

    Attributes:
        unsound: problems by task; unless forced, nothing was written if there are any.
        unreviewed: tasks whose reviews are missing; unless asked for, nothing was written if there are any.
        files: number of files in ``out``.
    """

    unsound: Mapping[str, tuple[str, ...]]
    unreviewed: tuple[str, ...] = ()
    files: int = 0


def export(tasks: Sequence[Task], options: ExportOptions) -> Exported:
    """Export all tasks or none: ``out`` appears complete or not at all.

    Raises:
        UsageError: a folder that cannot be written to, or an option that the format does not have.
        LmrError: a task that lacks what the format needs.
    """
    places = [options.out, *([options.private] if options.private else [])]
    if options.private and options.format != HUGGINGFACE:
        raise UsageError("--with-private is for --to huggingface", "the other formats have no public part")
    for place in places:
        _require_free(place, tasks)
    if options.private and _overlap(options.out, options.private):
        raise UsageError("--out and --with-private lie inside each other", "name two separate folders")
    found = examine(tasks)
    unsound = {one.task.name: one.problems for one in found if one.problems}
    unreviewed = tuple(one.task.name for one in found if one.review == NOT_REVIEWED)
    if not options.force and (unsound or (unreviewed and not options.unreviewed)):
        return Exported(unsound, unreviewed)
    try:
        with files.staged_folder(options.out) as folder:
            WRITERS[options.format](found, folder, options.base_image)
            count = sum(1 for _ in files.walk(folder))
            if options.private:
                with files.staged_folder(options.private) as private:
                    write_private(found, private)
    except shutil.Error as error:  # copytree goes on after an error and reports all of them at its end
        _, _, reason = error.args[0][0]
        raise LmrError(
            f"cannot copy a task: {reason}", "nothing was written; mend this and try again"
        ) from error
    except UnicodeEncodeError as error:
        raise LmrError(
            f"a text of a task cannot be written: {error.object[error.start]!a} is half a character",
            "write that text of info.json, or that file name, anew",
        ) from error
    return Exported(unsound, unreviewed, count)


def _require_free(place: Path, tasks: Sequence[Task]) -> None:
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise UsageError(f"{place} is not a folder", "name a folder that does not exist yet")
    if place.exists() and any(place.iterdir()):
        raise LmrError(f"{place} is not empty", "remove it, or choose another folder")
    for task in tasks:
        if place.resolve().is_relative_to(task.root.resolve()):
            raise UsageError(f"{place} lies inside the task {task.name}", "choose a folder outside of it")
        if place.resolve().is_relative_to(folder := task.root.resolve().parent):
            other = os.path.relpath(folder.parent / place.name)
            raise UsageError(f"{place} lies in the folder of the tasks, {folder}", f"choose another: {other}")


def _overlap(one: Path, other: Path) -> bool:
    first, second = one.resolve(), other.resolve()
    return first.is_relative_to(second) or second.is_relative_to(first)


def _write_agent(tasks: list[Exportable], folder: Path, base_image: str) -> None:
    for one in tasks:
        write_bundle(one, folder / one.task.name, base_image)


WRITERS: dict[str, Callable[[list[Exportable], Path, str], None]] = {
    "agent": _write_agent,
    "lmr-bench": write_lmr_bench,
    "harbor": write_harbor,
    HUGGINGFACE: write_huggingface,
}
