"""What ``mask`` will write for each file, worked out in memory, and the originals that are kept first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lmr_author import also_masked, files, source
from lmr_author.errors import LmrError
from lmr_author.masking.mask import mask_source
from lmr_author.masking.notes import MaskNotes
from lmr_author.taskdir import TaskDir, golden_name
from lmr_author.workflow import mask_also
from lmr_author.workflow.mask_also import Along
from lmr_author.workflow.mask_select import Chosen, Selection


@dataclass(frozen=True)
class Planned:
    """What will be written for one file.

    Attributes:
        path: the file, relative to the repository.
        items: the targets in it; none when only look-alikes are.
        original_name: where its original is kept, relative to the task: its golden, when it has one.
        original: the file before anything in it was masked.
        masked: the file as it will be.
        remarks: what the annotator should know.
    """

    path: str
    items: tuple[Chosen, ...]
    original_name: str
    original: bytes
    masked: bytes
    remarks: tuple[str, ...]


def plan(
    task: TaskDir, selection: Selection, along: Sequence[Along], notes: Mapping[str, MaskNotes]
) -> list[Planned]:
    """Mask targets and look-alikes of every file in memory. Nothing is written.

    Args:
        notes: by node id, what docstring and comment of a target say.

    Raises:
        LmrError: an original that is kept already is not that of the file.
    """
    targets = selection.by_file()
    taken = {item.golden_file: item.goal_file for item in selection.info.implementations}
    planned = []
    # Files with look-alikes only come first: a command that is killed has not written the target's entry.
    paths = [item.path for item in along if item.path not in targets] + list(targets)
    for path in dict.fromkeys(paths):
        has_golden = path in targets or path in taken.values()
        name = golden_name(path, taken) if has_golden else mask_also.original_name(task, path)
        own = [item for item in along if item.path == path]
        planned.append(_plan(task, selection, path, name, targets.get(path, []), own, notes))
        if has_golden:
            taken[name] = path
    return planned


def keep(task: TaskDir, planned: Iterable[Planned], along: Sequence[Along]) -> None:
    """Write the originals, then the record of look-alikes: before the first file is masked."""
    names = {one.path: one.original_name for one in planned}
    for one in planned:
        original = files.inside(task.root, one.original_name)
        if not original.exists():
            files.write_bytes(original, one.original)
    goldens = {path for path, name in names.items() if name != mask_also.original_name(task, path)}
    mask_also.record(
        task, along, {path: name for path, name in names.items() if path not in goldens}, goldens
    )


def _plan(
    task: TaskDir,
    selection: Selection,
    path: str,
    original_name: str,
    items: Sequence[Chosen],
    along: Sequence[Along],
    notes: Mapping[str, MaskNotes],
) -> Planned:
    module = items[0].module if items else along[0].module
    original = mask_also.original_of(task, path) or module.data
    masked_before = [item for item in selection.info.implementations if item.goal_file == path]
    known: list[tuple[str, int | None]] = [(item.qualname, item.nth) for item in masked_before]
    named = [item.definition for item in items] + [item.definition for item in along]
    known += [(definition.qualname, definition.nth) for definition in named]
    known += [(item.qualname, item.nth) for item in also_masked.load(task) if item.path == path]
    kept = files.inside(task.root, original_name)
    if kept.exists():
        _assert_original(source.Module.parse(kept.read_bytes(), original_name), module, known)
    pending = [item for item in items if not item.begun]
    others = [item.definition for item in along if not item.begun]
    if not pending and not others:
        return Planned(path, tuple(items), original_name, original, module.data, ())
    said = {item.definition.label: notes[str(item.target)] for item in pending}
    masked = mask_source(module, [item.definition for item in pending], said, others)
    return Planned(path, tuple(items), original_name, original, masked.data, masked.remarks)


def _assert_original(
    original: source.Module, module: source.Module, known: Sequence[tuple[str, int | None]]
) -> None:
    """An original that is kept must be that of this very file, else it is somebody's work to spoil.

    Args:
        known: qualified name and number (None: the one that differs) of what is masked in it, or will be.
    """
    pairs = [source.matching(original, module, name, nth) for name, nth in known]
    unique = {pair[0]: pair[1] for pair in pairs if pair is not None}
    if any(pair is None for pair in pairs) or source.outside(original, unique.keys()) != source.outside(
        module, unique.values()
    ):
        raise LmrError(
            f"{original.name} exists and is not the original of {module.name}",
            "the goal file was edited after it was masked: restore it, or move the golden away",
        )
