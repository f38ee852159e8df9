"""``unmask``: restore what was masked, byte for byte, and keep what belonged to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author import files, source
from lmr_author.errors import LmrError, TargetError
from lmr_author.masking import cleaning, locate
from lmr_author.masking.mask import unmask_source
from lmr_author.model import Implementation, Target, TaskInfo
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import unmask_also
from lmr_author.workflow.mask_records import keep_record


@dataclass(frozen=True)
class UnmaskResult:
    """What ``unmask`` did.

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


def unmask(task: TaskDir, target: str | None, here: Path, *, force: bool = False) -> UnmaskResult:
    """Restore one masked function, or all of them, byte for byte.

    The implementation's entry, its unit test and its recordings are moved to ``authoring/removed/``, from
    where a later ``mask`` of the same target takes the instruction, category, context, docstring and
    comment again.

    Raises:
        TargetError: not masked, or the goal file was edited outside the mask (``force`` overrides, with
            a copy in ``authoring/removed/``).
        LmrError: a record of what was masked or taken out is damaged.
    """
    cleaning.taken_out(task.removed_folder)  # a damaged record is told before anything is written
    info = task.load()
    chosen = _chosen(task, info, target, here)
    moved: list[str] = []
    also = unmask_also.restore(task, info, {str(item.target) for item in chosen}, force=force)
    for implementation in chosen:
        moved += _unmask_one(task, info, implementation, force)
        kept = tuple(item for item in info.implementations if item.index != implementation.index)
        info = replace(info, implementations=kept)
        task.save(info)
        golden = task.golden(implementation)
        if all(item.golden_file != implementation.golden_file for item in kept) and golden.is_file():
            unmask_also.keep_originals(task, implementation.goal_file, golden.read_bytes())
            golden.unlink()
    back = cleaning.PutBack() if info.implementations else _put_back(task, info)
    restored = tuple(str(item.target) for item in chosen)
    return UnmaskResult(restored, tuple(moved), also.done, also.handed_over, back.done, back.left)


def _put_back(task: TaskDir, info: TaskInfo) -> cleaning.PutBack:
    """Nothing is masked any more: what was taken out because it held an answer may be there again."""
    return cleaning.put_back(task.repository(info), task.removed_folder)


def _chosen(task: TaskDir, info: TaskInfo, target: str | None, here: Path) -> list[Implementation]:
    if not info.implementations:
        raise TargetError(f"nothing is masked in {task.name}", "mask a function with `lmr-author mask`")
    if target is None:
        return list(info.implementations)
    masked = ", ".join(str(item.target) for item in info.implementations)
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
    if not chosen:
        raise TargetError(f"{wanted} is not masked in {task.name}", f"masked: {masked}")
    return chosen


def _unmask_one(task: TaskDir, info: TaskInfo, implementation: Implementation, force: bool) -> list[str]:
    repository = task.repository(info)
    goal_path, golden_path = task.goal(info, implementation), task.golden(implementation)
    if not golden_path.is_file():
        raise LmrError(f"{implementation.golden_file} is missing", "restore it from version control")
    golden = source.Module.parse(golden_path.read_bytes(), implementation.golden_file)
    siblings = [item for item in info.implementations if item.goal_file == implementation.goal_file]
    moved: list[str] = []
    goal, problem, original = None, "", golden.data
    try:
        goal = locate.parse(repository, implementation.goal_file)
        original = unmask_also.with_look_alikes(task, golden, goal)
        restored = unmask_source(golden, goal, implementation.qualname, implementation.nth)
        if len(siblings) == 1 and restored != original:
            problem = f"{implementation.goal_file} was edited outside of the mask"
    except LmrError as error:
        problem = error.message
    if problem:
        if not force or len(siblings) > 1:
            raise TargetError(
                problem, "--force restores the golden; the edited file is kept in authoring/removed/"
            )
        restored = original
    if not keep_record(task, implementation, golden, goal) or problem:
        # The body holds words of the annotator that are no notes, or the file holds edits.
        moved.append(task.put_aside(goal_path, copy=True))
    for path in (task.unit_test(info, implementation), task.recording(info, implementation.index)):
        if path.exists():
            moved.append(task.put_aside(path))
    files.write_bytes(goal_path, restored)
    return moved
