"""Restore masked functions byte for byte, and keep what belonged to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author import code, files
from lmr_author.errors import LmrError, TargetError
from lmr_author.masking import cleaning, locate, look_alikes
from lmr_author.masking.body import unmask_source
from lmr_author.masking.earlier import keep_record
from lmr_author.task import Implementation, Target, Task, TaskInfo, also_masked
from lmr_author.task.also_masked import AlsoMasked


@dataclass(frozen=True)
class UnmaskResult:
    """The outcome of ``unmask``.

    Attributes:
        targets: node ids of what was restored.
        moved: what was moved to ``authoring/removed/``, relative to the task.
        also: node ids of the look-alikes restored with them.
        still_alike: (node id, target) of look-alikes that stay masked: of that target they give the answer
            away, too.
        put_back: files that ``mask`` had taken out of the repository, relative to it, and that are back.
        left_out: those that are not: histories, and what has something new in its place.
    """

    targets: tuple[str, ...]
    moved: tuple[str, ...]
    also: tuple[str, ...] = ()
    still_alike: tuple[tuple[str, str], ...] = ()
    put_back: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def unmask(task: Task, target: str | None, here: Path, *, force: bool = False) -> UnmaskResult:
    """Restore one masked function, or all of them, byte for byte.

    The implementation's entry, its unit test and its recordings are moved to ``authoring/removed/``, from
    where a later ``mask`` of the same target takes the instruction, category, context, docstring and
    comment again.

    Raises:
        TargetError: not masked, or the goal file was edited outside the mask (``force`` overrides, with
            a copy in ``authoring/removed/``).
        LmrError: a record of what was masked or taken out is damaged.
    """
    cleaning.taken_out(task.removed_folder)  # a damaged record is reported before anything is written
    info = task.load()
    chosen, alone = _chosen(task, info, target, here)
    for implementation in chosen:
        _restored(task, info, implementation, force)  # nothing is written when one of them cannot be restored
    moved: list[str] = []
    also = look_alikes.restore(task, info, {str(item.target) for item in chosen}, alone, force=force)
    for implementation in chosen:
        moved += _unmask_one(task, info, implementation, force)
        kept = tuple(item for item in info.implementations if item.index != implementation.index)
        info = replace(info, implementations=kept)
        task.save(info)
        golden = task.golden(implementation)
        if all(item.golden_file != implementation.golden_file for item in kept) and golden.is_file():
            look_alikes.keep_originals(task, implementation.goal_file, golden.read_bytes())
            golden.unlink()
    # Nothing is masked any more: what was taken out because it held an answer may be there again.
    back = cleaning.PutBack()
    if not info.implementations:
        back = cleaning.put_back(task.repository(info), task.removed_folder)
    restored = tuple(str(item.target) for item in chosen)
    return UnmaskResult(restored, tuple(moved), also.done, also.handed_over, back.done, back.left)


def _chosen(
    task: Task, info: TaskInfo, target: str | None, here: Path
) -> tuple[list[Implementation], list[AlsoMasked]]:
    """The targets to restore, or the look-alikes that are named themselves."""
    if not info.implementations:
        raise TargetError(f"nothing is masked in {task.name}", "mask a function with `lmr-author mask`")
    if target is None:
        return list(info.implementations), []
    along = also_masked.load(task)
    masked = ", ".join(
        [*(str(item.target) for item in info.implementations), *(item.node_id for item in along)]
    )
    try:
        Target.parse(target)
    except TargetError as error:
        raise TargetError(error.message, f"masked: {masked}") from error
    wanted = locate.locate(task.repository(info), target, here)
    chosen = [
        item
        for item in info.implementations
        if item.goal_file == wanted.path
        and (item.qualname == wanted.qualname or item.qualname.rpartition(".")[0] == wanted.qualname)
    ]
    chosen = locate.meant(task.repository(info), wanted, chosen)
    if chosen:
        return chosen, []
    alone = [
        item
        for item in along
        if (item.path, item.qualname) == (wanted.path, wanted.qualname) and wanted.nth in (None, item.nth)
    ]
    if not alone:
        raise TargetError(f"{wanted} is not masked in {task.name}", f"masked: {masked}")
    return [], alone


@dataclass(frozen=True)
class _Restored:
    """A goal file with one function restored: its golden, the goal file as it is, its new bytes, its edits."""

    golden: code.Module
    goal: code.Module | None
    data: bytes
    is_edited: bool


def _restored(task: Task, info: TaskInfo, implementation: Implementation, force: bool) -> _Restored:
    golden_path = task.golden(implementation)
    if not golden_path.is_file():
        raise LmrError(f"{implementation.golden_file} is missing", "restore it from version control")
    golden = code.Module.parse(golden_path.read_bytes(), implementation.golden_file)
    siblings = [item for item in info.implementations if item.goal_file == implementation.goal_file]
    goal, problem, original = None, "", golden.data
    try:
        goal = locate.parse(task.repository(info), implementation.goal_file)
        original = look_alikes.with_look_alikes(task, golden, goal)
        data = unmask_source(golden, goal, implementation.qualname, implementation.nth)
        if len(siblings) == 1 and data != original:
            problem = f"{implementation.goal_file} was edited outside of the mask"
    except LmrError as error:
        problem = error.message
    if not problem:
        return _Restored(golden, goal, data, False)
    if not force or len(siblings) > 1:
        raise TargetError(
            problem, "--force restores the golden; the edited file is kept in authoring/removed/"
        )
    return _Restored(golden, goal, original, True)


def _unmask_one(task: Task, info: TaskInfo, implementation: Implementation, force: bool) -> list[str]:
    now = _restored(task, info, implementation, force)
    goal_path, moved = task.goal(info, implementation), list[str]()
    if not keep_record(task, implementation, now.golden, now.goal) or now.is_edited:
        # The body holds words of the annotator that are no notes, or the file holds edits.
        moved.append(task.put_aside(goal_path, copy=True))
    for path in (task.unit_test(info, implementation), task.recording(info, implementation.index)):
        if path.exists():
            moved.append(task.put_aside(path))
    files.write_bytes(goal_path, now.data)
    return moved
