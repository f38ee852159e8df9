"""Restore masked functions byte for byte, and keep their words for a later mask of the same function.

``authoring/removed/implementation-N.json`` holds, for one target, its entry of ``info.json`` and the notes of its body.
"""

from __future__ import annotations

import difflib
import inspect
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lmr_author.authoring.masking import leftovers, locate, look_alikes
from lmr_author.authoring.masking.body import MaskNotes, masked_body, notes_in, unmask_source
from lmr_author.authoring.masking.mask import NOTES, record_of
from lmr_author.core import code, files
from lmr_author.core.errors import LmrError, TargetError
from lmr_author.core.locks import changes_task
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.core.task.info import AlsoMasked
from lmr_author.core.texts import did_you_mean
from lmr_author.proof.checks.masks import unlisted_originals
from lmr_author.proof.contents import TaskContents


@dataclass(frozen=True)
class UnmaskResult:
    """The outcome of ``unmask``.

    Attributes:
        moved: moved to ``authoring/removed/``, relative to the task.
        put_back: files that ``mask`` had taken out of the repository and that are back.
        left_out: those that are not: histories, and what has something new in its place.
    """

    targets: tuple[str, ...]
    moved: tuple[str, ...]
    also: tuple[str, ...] = ()
    put_back: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@changes_task
def unmask(task: Task, target: str | None, here: Path, *, force: bool = False) -> UnmaskResult:
    """Restore one masked function, or all of them, byte for byte; a look-alike by its own name.

    An original that no record names is removed where its file is as it was: a killed command left it. Another is
    moved to ``authoring/removed/`` when it is named.

    The implementation's entry, its unit test and its recordings are moved to ``authoring/removed/``, from
    where a later ``mask`` of the same target takes the instruction, category, context, docstring and
    comment again.

    Raises:
        TargetError: not masked, or the goal file was edited outside the mask (``force`` overrides, with
            a copy in ``authoring/removed/``).
        LmrError: a golden is missing, or a record of what was masked or taken out is damaged.
    """
    leftovers.taken_out(task.removed_folder)  # a damaged record is reported before anything is written
    is_cleared, moved = _clear_originals(task, target)
    masked = _MaskedParts.of(task)
    info = masked.info
    if not masked.names:
        back = leftovers.put_back(task.repository(info), task.removed_folder)
        # A mask or an unmask was killed when it had done the rest, or nothing yet.
        if back.done or is_cleared:
            return UnmaskResult((), tuple(moved), put_back=back.done, left_out=back.left)
        raise TargetError(f"nothing is masked in {task.name}", "mask a function with `lmr-author mask`")
    chosen = masked
    if target is not None:
        chosen = _choose(task, masked, target, here, or_nothing=is_cleared)
    for entry in chosen.implementations:
        _restored(task, info, entry, force)  # nothing is written when one of them cannot be restored
    targets = [str(entry.target) for entry in chosen.implementations]
    also = look_alikes.restore(task, info, set(targets), chosen.along, force=force)
    for entry in chosen.implementations:
        moved += _unmask_one(task, info, entry, force)
        info = task.load()
    # Nothing is masked any more: what was taken out because it held an answer may be there again.
    back = leftovers.ReturnedFiles()
    if not info.implementations:
        back = leftovers.put_back(task.repository(info), task.removed_folder)
    return UnmaskResult(tuple(targets), tuple(moved), also, back.done, back.left)


def _unmask_one(task: Task, info: TaskInfo, entry: Implementation, force: bool) -> list[str]:
    moved = []
    now = _restored(task, info, entry, force)
    goal_path = task.goal(info, entry)
    if not _keep_words(task, entry, now) or now.is_edited:
        # The body holds words of the annotator that are no notes, or the file holds edits.
        moved.append(task.move_to_removed(goal_path, copy=True))
    for path in (task.unit_test(info, entry), task.recording(info, entry.index)):
        if path.exists():
            moved.append(task.move_to_removed(path))
    files.write_bytes(goal_path, now.data)
    left = tuple(other for other in info.implementations if other.index != entry.index)
    task.save(replace(info, implementations=left))
    if entry.golden_file not in {other.golden_file for other in left}:
        task.golden(entry).unlink(missing_ok=True)
    return moved


def masked_names(task: Task) -> dict[str, str]:
    """Return node id → remark of everything that ``unmask`` restores."""
    return _MaskedParts.of(task).names


@dataclass(frozen=True)
class _MaskedParts:
    """What is masked in a task, or the part of it to be restored; ``along`` are look-alikes."""

    info: TaskInfo
    implementations: tuple[Implementation, ...] = ()
    along: tuple[AlsoMasked, ...] = ()

    @classmethod
    def of(cls, task: Task) -> _MaskedParts:
        info = task.load()
        return cls(info, info.implementations, task.also_masked())

    @property
    def names(self) -> dict[str, str]:
        names = {str(implementation.target): "" for implementation in self.implementations}
        return names | {entry.node_id: f"masked together with {entry.target}" for entry in self.along}


def _choose(task: Task, masked: _MaskedParts, target: str, here: Path, *, or_nothing: bool) -> _MaskedParts:
    """Return what a target names. Raises TargetError when it is not masked, or returns nothing if that will do."""
    info = masked.info
    names = [*masked.names, *(name.partition("::")[2] for name in masked.names)]
    close = did_you_mean(difflib.get_close_matches(target, names, 1))
    hint = f"{close} masked: {', '.join(masked.names)}".lstrip()
    try:
        wanted = locate.locate(task.repository(info), target, here)
    except TargetError as error:
        if or_nothing:
            return _MaskedParts(info)
        raise TargetError(error.message, hint) from error
    named = []
    for entry in info.implementations:
        owner = entry.qualname.rpartition(".")[0]  # of a class all methods are restored
        if entry.goal_file == wanted.path and wanted.qualname in (entry.qualname, owner):
            named.append(entry)
    if named := code.meant(task.repository(info), wanted, named):
        return _MaskedParts(info, tuple(named))
    along = []
    for look_alike in masked.along:
        is_wanted = (look_alike.path, look_alike.qualname) == (wanted.path, wanted.qualname)
        if is_wanted and wanted.nth in (None, look_alike.nth):
            along.append(look_alike)
    if not along and not or_nothing:
        raise TargetError(f"{wanted} is not masked in {task.name}", hint)
    return _MaskedParts(info, along=tuple(along))


def _clear_originals(task: Task, named: str | None) -> tuple[bool, list[str]]:
    """Remove unlisted originals whose file is as it was, and move the named one away.

    Returns whether there was any, and what was moved.
    """
    moved, cleared = list[str](), set[str]()
    for original, is_whole in unlisted_originals(TaskContents(task)).items():
        path = files.inside(task.root, original)
        if is_whole:
            path.unlink()
        elif original == named:
            moved.append(task.move_to_removed(path))
        else:
            continue
        cleared.add(original)
    entries = task.also_masked()
    left = [entry for entry in entries if entry.original not in cleared]
    if len(left) < len(entries):
        task.save_also_masked(left)
    return bool(cleared), moved


@dataclass(frozen=True)
class _Restoration:
    """A goal file with one function restored: its golden, the goal file as it is, its new bytes, its edits."""

    golden: code.Module
    goal: code.Module | None
    data: bytes
    is_edited: bool


def _restored(task: Task, info: TaskInfo, entry: Implementation, force: bool) -> _Restoration:
    golden_path = task.golden(entry)
    if not golden_path.is_file():
        raise LmrError(f"{entry.golden_file} is missing", "restore it from version control")
    golden = code.Module.parse(golden_path.read_bytes(), entry.golden_file)
    is_alone = sum(other.goal_file == entry.goal_file for other in info.implementations) == 1
    goal, problem, original = None, "", golden.data
    try:
        goal = locate.parse(task.repository(info), entry.goal_file)
        original = look_alikes.with_look_alikes(task, golden, goal)
        data = unmask_source(golden, goal, entry.qualname, entry.nth)
        if is_alone and data != original:
            problem = f"{entry.goal_file} was edited outside the mask"
    except LmrError as error:
        problem = error.message
    if not problem:
        return _Restoration(golden, goal, data, False)
    if not force or not is_alone:
        raise TargetError(
            problem, "--force restores the golden; the edited file is kept in authoring/removed/"
        )
    return _Restoration(golden, goal, original, True)


# words


def _keep_words(task: Task, entry: Implementation, now: _Restoration) -> bool:
    """Write the record of an implementation to be unmasked. Returns False for a comment edited into another form."""
    golden, goal = now.golden, now.goal
    # A damaged record is nobody's here: it stays, and does not keep anybody from unmasking.
    path = record_of(task, entry.target, files.read_object_or_empty)
    is_restored = goal is not None and goal.data == now.data
    if is_restored and path is not None:
        return True  # by a command that was killed after it had written the record
    notes, complete = MaskNotes(), True
    pair = code.matching(golden, goal, entry.qualname, entry.nth) if goal is not None else None
    if goal is not None and pair is not None and not is_restored:
        original, masked = pair
        notes = notes_in(goal, masked)
        if original.docstring is None and masked.docstring is not None:
            notes = replace(notes, docstring=inspect.cleandoc(masked.docstring))
        body = masked_body(masked.name, notes, generator=code.is_generator(masked.function))
        complete = code.splice(goal, {masked: body}) == goal.data
    number = entry.index
    while (free := task.removed_folder / f"implementation-{number}.json").exists():
        number += 1
    files.write_json(path or free, {**entry.to_json(), NOTES: asdict(notes)})
    return complete
