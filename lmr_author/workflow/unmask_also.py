"""Look-alikes that were masked along with a target: restored with it, or handed over to another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lmr_author import also_masked, files, leaks, source
from lmr_author.also_masked import AlsoMasked
from lmr_author.checks.scan import solutions
from lmr_author.checks.view import TaskView
from lmr_author.errors import LmrError, TargetError
from lmr_author.leaks import Leak
from lmr_author.masking import locate
from lmr_author.masking.mask import unmask_source
from lmr_author.model import TaskInfo
from lmr_author.taskdir import TaskDir, golden_name
from lmr_author.workflow.mask_also import original_name


@dataclass(frozen=True)
class Restored:
    """What became of the look-alikes of targets that are being unmasked.

    Attributes:
        done: node ids of those that are as they were.
        handed_over: (node id, target) of those that stay masked, because another target is still masked of
            which they would give the answer away.
    """

    done: tuple[str, ...] = ()
    handed_over: tuple[tuple[str, str], ...] = ()


def restore(task: TaskDir, info: TaskInfo, targets: set[str], *, force: bool = False) -> Restored:
    """Restore the look-alikes that were masked along with some targets, byte for byte.

    Args:
        info: the task's, with the targets still in it.
        targets: node ids of what is being unmasked.
        force: restore a whole file in which a look-alike cannot be found again; a copy of it is kept.

    Raises:
        TargetError: a look-alike is no longer in its file, or its original is gone.
    """
    known = {str(item.target) for item in info.implementations} - targets
    entries = also_masked.load(task)
    asked = [item for item in entries if item.target not in known]
    handed = _handed_over(task, info, asked, known) if asked and known else {}
    restored = [item for item in asked if item not in handed]
    for path in dict.fromkeys(item.path for item in restored):
        _restore_file(task, info, path, [item for item in restored if item.path == path], force)
    left = [replace(item, target=handed.get(item, item.target)) for item in entries if item not in restored]
    if asked:
        also_masked.save(task, left)
    for item in restored:
        if item.original and all(other.original != item.original for other in left):
            files.inside(task.root, item.original).unlink(missing_ok=True)
    return Restored(
        tuple(item.node_id for item in restored),
        tuple((item.node_id, target) for item, target in handed.items()),
    )


def keep_originals(task: TaskDir, path: str, golden: bytes) -> None:
    """A goal file is to lose its golden, and look-alikes in it stay masked: keep their original."""
    entries = also_masked.load(task)
    if not any(item.path == path for item in entries):
        return
    name = original_name(task, path)
    files.write_bytes(files.inside(task.root, name), golden)
    also_masked.save(task, [replace(item, original=name) if item.path == path else item for item in entries])


def with_look_alikes(task: TaskDir, golden: source.Module, goal: source.Module) -> bytes:
    """A golden with the look-alikes in it that are still masked in its goal file."""
    regions = {}
    for item in also_masked.load(task):
        pair = source.matching(golden, goal, item.qualname, item.nth) if item.path == goal.name else None
        if pair is not None:
            regions[pair[0]] = source.region_bytes(goal, pair[1])
    return source.splice_regions(golden, regions)


def _handed_over(
    task: TaskDir, info: TaskInfo, entries: Sequence[AlsoMasked], known: set[str]
) -> dict[AlsoMasked, str]:
    """For look-alikes in which a target that stays masked can be read, too: the one they are most like."""
    goldens = [one for one in solutions(TaskView(task)) if str(one.implementation.target) in known]
    handed: dict[AlsoMasked, str] = {}
    for path in dict.fromkeys(item.path for item in entries):
        mine = [item for item in entries if item.path == path]
        kept = files.inside(task.root, _original(info, mine[0]))
        found = leaks.in_file(path, kept.read_bytes(), goldens) if kept.is_file() else []
        for item in mine:
            inside = [leak for leak in found if leak.node == item.node_id or _is_in(leak, item)]
            if inside:
                best = max(inside, key=lambda leak: leak.similarity)
                assert best.solution is not None
                handed[item] = str(best.solution.implementation.target)
    return handed


def _is_in(leak: Leak, item: AlsoMasked) -> bool:
    """Whether a leak is in a function that lies in a look-alike."""
    return leak.kind == "code" and leak.where.startswith(f"{item.qualname}.")


def _restore_file(
    task: TaskDir, info: TaskInfo, path: str, entries: Sequence[AlsoMasked], force: bool
) -> None:
    name = _original(info, entries[0])
    kept = files.inside(task.root, name)
    if not kept.is_file():
        raise LmrError(f"{name}, the original of {path}, is missing", "restore it from version control")
    original = source.Module.parse(kept.read_bytes(), path)
    place = files.inside(task.repository(info), path)
    try:
        module = locate.parse(task.repository(info), path)
        for item in entries:
            data = unmask_source(original, module, item.qualname, item.nth)
            module = source.Module.parse(data, path)
    except LmrError as error:
        if not force:
            raise TargetError(
                f"{path} was edited where a look-alike was masked: {error.message}",
                "--force restores its original; the edited file is kept in authoring/removed/",
            ) from error
        if place.is_file():
            task.put_aside(place, copy=True)
        files.write_bytes(place, original.data)
    else:
        files.write_bytes(place, module.data)


def _original(info: TaskInfo, entry: AlsoMasked) -> str:
    """Where the original of a look-alike's file is, relative to the task."""
    taken = {item.golden_file: item.goal_file for item in info.implementations}
    return entry.original or golden_name(entry.path, taken)
