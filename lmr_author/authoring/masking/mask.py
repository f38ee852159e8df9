"""Mask functions of a task: originals, ``info.json``, tree, goal files, in an order that survives a kill."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from lmr_author.authoring.masking import leftovers, locate, look_alikes
from lmr_author.authoring.masking.body import FunctionNotes, MaskNotes, is_masked, mask_source, unmask_source
from lmr_author.authoring.masking.instruction import drafted, words_of
from lmr_author.authoring.masking.leftovers import OpenLeak
from lmr_author.authoring.masking.locate import FunctionToMask, Selection, means, select
from lmr_author.authoring.masking.look_alikes import LookAlike
from lmr_author.authoring.suggesting.paper import likely_category as category_of
from lmr_author.core import code, files
from lmr_author.core.errors import Hint, LmrError, Setting, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.task import (
    Implementation,
    Target,
    Task,
    TaskInfo,
    golden_name,
    require_category,
    unit_test_name,
)
from lmr_author.core.task.info import AlsoMasked
from lmr_author.proof.checks.instruction import GAP
from lmr_author.proof.retrieval import Proposal, propose


@dataclass(frozen=True)
class MaskOptions:
    """The annotator's choices for ``mask``; None means "not given" (kept from an earlier mask, or drafted).

    Attributes:
        targets: node ids as typed.
        instruction, category, retrieval: for every target that ``each`` says nothing else about.
        notes: docstring and comment of a single target.
        each: by node id (``path::qualname``), what is said about one function; goes before the others.
        propose_retrieval: add the files that :func:`~lmr_author.proof.retrieval.propose` finds.
        also: look-alikes to empty along with the targets, or with what is masked already.
    """

    targets: tuple[str, ...] = ()
    instruction: str | None = None
    category: str | None = None
    retrieval: tuple[str, ...] | None = None
    notes: MaskNotes | None = None
    each: Mapping[str, FunctionNotes] = field(default_factory=dict)
    propose_retrieval: bool = False
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class MaskResult:
    """The implementations masked, files moved away (relative to the tree), remarks, open leaks, masked look-alikes."""

    implementations: tuple[Implementation, ...]
    moved: tuple[str, ...]
    remarks: tuple[str, ...]
    leaks: tuple[OpenLeak, ...] = ()
    also: tuple[AlsoMasked, ...] = ()


@changes_task
def mask(task: Task, options: MaskOptions, here: Path) -> MaskResult:
    """Mask one or more functions of a task's repository, and look-alikes along with them.

    Everything is found and masked in memory before the first file is written. Then originals are written,
    then what is masked is listed, and only then is a function of the tree masked. So nothing is ever masked
    that no record names, and the same command completes one that was killed.

    Args:
        task: the task folder.
        options: targets and what is known about them.
        here: the current folder, which a target's path may be relative to.

    Raises:
        TargetError: unknown, ambiguous, already masked, overlapping, or with a docstring of its own.
        UsageError: a category or retrieval path that does not exist, notes of one for several, or
            look-alikes of nothing.
        LmrError: a record of the task that is going to be written again is damaged.
    """
    leftovers.taken_out(task.removed_folder)  # a damaged record is reported before anything is written
    restore_unfinished(task, (*options.targets, *options.also), here)
    selection = select(task, options.targets, here)
    along = look_alikes.select_along(task, selection, options.also, here) if options.also else ()
    check(options, selection)
    descriptions = describe(task, selection, options)
    changes = _plan(task, selection, along, descriptions)
    remarks = [remark for change in changes for remark in change.remarks]
    for change in changes:
        for name, data in change.originals.items():
            original = files.inside(task.root, name)
            if not original.exists():
                files.write_bytes(original, data)
    if along:
        look_alikes.record(task, along)
    info, entries = selection.info, list[Implementation]()
    for change in changes:
        for chosen in change.targets:
            entries.append(_entry(task, info, chosen, change.golden, descriptions[str(chosen.target)]))
            info = info.with_implementation(entries[-1])
    if entries:
        task.save(info)
    goal_files = {entry.goal_file for entry in info.implementations}
    moved = leftovers.clean(selection.repository, task.removed_folder, tuple(goal_files))
    for change in changes:
        files.write_bytes(files.inside(selection.repository, change.path), change.masked)
    generated, leaks = leftovers.search_tree(task, entries or info.implementations)
    also = tuple(look_alike.record for look_alike in along)
    return MaskResult(tuple(entries), tuple(sorted({*moved, *generated})), tuple(remarks), leaks, also)


@changes_task
def restore_unfinished(task: Task, targets: Sequence[str], here: Path) -> None:
    """Restore what a killed command has masked, where it listed more of these targets than it masked."""
    info = task.load()
    repository = task.repository(info)
    is_unfinished, masked = False, list[tuple[str, str, code.Definition]]()
    for text in targets:
        target = locate.locate(repository, text, here)
        _, definition = locate.find(repository, target)
        original = _listed_original(task, info, target.path, definition)
        if original and is_masked(definition):
            masked.append((target.path, original, definition))
        elif original:
            is_unfinished = True
    for path, original, definition in masked if is_unfinished else ():
        golden = code.Module.parse(files.inside(task.root, original).read_bytes(), original)
        data = unmask_source(golden, locate.parse(repository, path), definition.qualname, definition.nth)
        files.write_bytes(files.inside(repository, path), data)


def _listed_original(task: Task, info: TaskInfo, path: str, definition: code.Definition) -> str:
    for entry in info.implementations:
        if means(entry, path, definition):
            return entry.golden_file
    for along in task.also_masked():
        if (along.path, along.qualname, along.nth) == (path, definition.qualname, definition.nth):
            return along.original
    return ""


def check(options: MaskOptions, selection: Selection) -> None:
    """Raise UsageError or UnsafePathError for options that do not fit the selected functions."""
    if options.notes not in (None, MaskNotes()) and len(selection.chosen) > 1:
        raise UsageError(
            f"a docstring or comment describes one function, but {len(selection.chosen)} are named",
            "mask them one after the other",
        )
    names = {str(chosen.target) for chosen in selection.chosen}
    for name in options.each:
        if name not in names:
            raise UsageError(f"{name} is described but is not a target", "name it as a target too")
    common = FunctionNotes(category=options.category or "", retrieval=options.retrieval)
    for described in (common, *options.each.values()):
        if described.category:
            require_category(described.category)
        for path in described.retrieval or ():
            if not files.inside(selection.repository, path).is_file():
                raise UsageError(
                    f"{path}: no such file in {selection.repository.name}/",
                    Hint("paths in {0} are relative to it", (Setting("--retrieval"),)),
                )


def describe(task: Task, selection: Selection, options: MaskOptions) -> dict[str, FunctionNotes]:
    """Return what is known about each function, by node id: from the command, else from an earlier mask of it.

    None or "" for what nobody has said.
    """
    descriptions: dict[str, FunctionNotes] = {}
    for chosen in selection.chosen:
        name = str(chosen.target)
        own, before = options.each.get(name, FunctionNotes()), earlier(task, chosen.target)
        notes = before.notes if own.notes is None else own.notes
        if options.notes not in (None, MaskNotes()):
            given = {name: text for name, text in vars(options.notes or MaskNotes()).items() if text}
            notes = replace(notes or MaskNotes(), **given)
        retrieval = options.retrieval if own.retrieval is None else own.retrieval
        if options.propose_retrieval:
            retrieval = (*(retrieval or ()), *(file.path for file in _proposals(selection, chosen)))
        descriptions[name] = FunctionNotes(
            notes=notes,
            instruction=own.instruction or options.instruction or before.instruction,
            category=own.category or options.category or before.category,
            retrieval=before.retrieval if retrieval is None else retrieval,
        )
    return descriptions


def propose_context(selection: Selection) -> dict[str, tuple[Proposal, ...]]:
    return {str(chosen.target): _proposals(selection, chosen) for chosen in selection.chosen}


def likely_category(chosen: FunctionToMask) -> str:
    return category_of(words_of(chosen.definition))


def _proposals(selection: Selection, chosen: FunctionToMask) -> tuple[Proposal, ...]:
    return propose(selection.repository, chosen.module, chosen.definition)


def _entry(
    task: Task, info: TaskInfo, chosen: FunctionToMask, golden: str, described: FunctionNotes
) -> Implementation:
    indices = {entry.target: entry.index for entry in info.implementations}
    free = next(number for number in range(1, len(indices) + 2) if number not in indices.values())
    index = indices.get(chosen.target, free)
    context = tuple(path for path in dict.fromkeys(described.retrieval or ()) if path != chosen.path)
    instruction = described.instruction
    return Implementation(
        index=index,
        instruction=instruction or drafted(task, info, chosen.path, chosen.definition, described.notes),
        category=described.category,
        goal_file=chosen.path,
        goal_function=chosen.definition.function_name,
        class_name=chosen.definition.class_name,
        golden_file=golden,
        retrieval_context=context,
        unit_test_file=unit_test_name(index),
        nth=chosen.target.nth,
    )


# the plan: everything is masked in memory first


@dataclass(frozen=True)
class _Change:
    """The change of one file.

    Attributes:
        originals: golden, and copy for look-alikes: path relative to the task → content.
        masked: its bytes afterwards.
    """

    path: str
    targets: Sequence[FunctionToMask]
    golden: str
    originals: Mapping[str, bytes]
    masked: bytes
    remarks: tuple[str, ...]


def _plan(
    task: Task, selection: Selection, along: Sequence[LookAlike], descriptions: Mapping[str, FunctionNotes]
) -> list[_Change]:
    """Mask targets and look-alikes of every file in memory.

    Raises LmrError where an original that is kept already is not that of the file.
    """
    targets = selection.by_file()
    emptied: dict[str, list[FunctionToMask]] = {}
    for look_alike in along:
        emptied.setdefault(look_alike.chosen.path, []).append(look_alike.chosen)
    goldens = {entry.golden_file: entry.goal_file for entry in selection.info.implementations}
    # Files with look-alikes only come first: until the last write, a target is not masked, which LMR303 reports.
    first = [path for path in emptied if path not in targets]
    changes = []
    for path in (*first, *targets):
        own, others = targets.get(path, []), emptied.get(path, [])
        golden = golden_name(path, goldens)
        if own:
            goldens[golden] = path
        original = _original(task, selection.info, [*own, *others], golden if goldens.get(golden) else "")
        notes = {
            chosen.definition.label: descriptions[str(chosen.target)].notes or MaskNotes() for chosen in own
        }
        result = mask_source(
            (own or others)[0].module,
            [chosen.definition for chosen in own],
            notes,
            [chosen.definition for chosen in others],
        )
        originals = {golden: original} if own else {}
        if others:
            originals[task.original_name(path)] = original
        changes.append(_Change(path, own, golden, originals, result.data, result.remarks))
    return changes


def _original(task: Task, info: TaskInfo, functions: Sequence[FunctionToMask], golden: str) -> bytes:
    """Return a file as it was before anything in it was masked. ``golden``: its golden; "" when it has none."""
    path, module = functions[0].path, functions[0].module
    masked = task.masked_in(path, info)
    masked += [(chosen.definition.qualname, chosen.definition.nth) for chosen in functions]
    original = module.data
    for name in (golden, task.original_name(path)):
        if name and (task.root / name).exists():
            original = files.inside(task.root, name).read_bytes()
            _assert_original(code.Module.parse(original, name), module, masked)
    return original


def _assert_original(
    original: code.Module, module: code.Module, masked: Sequence[tuple[str, int | None]]
) -> None:
    """Refuse an original that is kept but not that of this very file: it may be somebody's work.

    Args:
        masked: qualified name and number (None: the one that differs) of what is masked in it, or will be.
    """
    pairs = [code.matching(original, module, name, nth) for name, nth in masked]
    unique = {pair[0]: pair[1] for pair in pairs if pair is not None}
    if None in pairs or code.outside(original, unique) != code.outside(module, unique.values()):
        raise LmrError(
            f"{original.name} exists and is not the original of {module.name}",
            "the goal file was edited after it was masked: restore it, or move the golden away",
        )


# the words of an earlier mask, which unmask keeps

NOTES = "notes"
"""Field of ``authoring/removed/implementation-N.json``, beside those of the entry in ``info.json``."""


def earlier(task: Task, target: Target) -> FunctionNotes:
    """Return what is known of a target from an earlier mask; None or "" for what is not.

    Raises LmrError for a damaged record: it may be the one that is searched.
    """
    path = record_of(task, target, files.read_object_to_change)
    if path is None:
        return FunctionNotes()
    record = files.read_object_to_change(path)
    entry, notes = Implementation.from_json(record), MaskNotes()
    with contextlib.suppress(msgspec.ValidationError):  # the entry has the words that cannot be drafted anew
        notes = msgspec.convert(record.get(NOTES), MaskNotes)
    return FunctionNotes(
        notes=notes if notes != MaskNotes() else None,
        instruction="" if GAP in entry.instruction else entry.instruction,
        category=entry.category,
        retrieval=entry.retrieval_context or None,
    )


def record_of(task: Task, target: Target, read: Callable[[Path], dict[str, Any]]) -> Path | None:
    """Return the file of a target's record; ``read`` decides what becomes of damaged ones."""
    for path in sorted(task.removed_folder.glob("implementation-*.json")):
        if Implementation.from_json(read(path)).target == target:
            return path
    return None
