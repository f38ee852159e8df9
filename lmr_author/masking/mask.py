"""Mask functions of a task: goal file, golden, ``info.json`` and tree, in an order that survives a kill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author import code, files
from lmr_author.errors import LmrError, UsageError
from lmr_author.masking import cleaning, look_alikes, open_leaks
from lmr_author.masking.body import mask_source
from lmr_author.masking.context import propose
from lmr_author.masking.earlier import Earlier, earlier
from lmr_author.masking.instruction import drafted
from lmr_author.masking.look_alikes import LookAlike
from lmr_author.masking.notes import MaskNotes, overlaid
from lmr_author.masking.notes_file import Described
from lmr_author.masking.open_leaks import OpenLeak
from lmr_author.masking.select import Chosen, Selection, select
from lmr_author.task import (
    CATEGORIES,
    Implementation,
    Task,
    TaskInfo,
    also_masked,
    golden_name,
    unit_test_name,
)
from lmr_author.task.also_masked import AlsoMasked

STYLES = ("structured", "todo")
"""Contents of a masked body: the structured comment, or a bare TODO."""


@dataclass(frozen=True)
class MaskOptions:
    """The annotator's choices for ``mask``; None means "not given" (kept from an earlier mask, or drafted).

    Attributes:
        targets: node ids as typed.
        instruction, category, retrieval: for every target that ``each`` says nothing else about.
        notes: docstring and comment of a single target.
        each: by node id (``path::qualname``), what is said about one function; goes before the others.
        propose_retrieval: add the files that :func:`~lmr_author.masking.context.propose` finds.
        style: one of :data:`STYLES`.
        also: look-alikes to empty along with the targets, or with what is masked already.
    """

    targets: tuple[str, ...] = ()
    instruction: str | None = None
    category: str | None = None
    retrieval: tuple[str, ...] | None = None
    notes: MaskNotes | None = None
    each: Mapping[str, Described] = field(default_factory=dict)
    propose_retrieval: bool = False
    style: str = "structured"
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class MaskResult:
    """The outcome of ``mask``.

    Attributes:
        implementations: in the order masked.
        cleaned: files taken out of the tree.
        remarks: what the annotator should know.
        leaks: where the answer, or something like it, can still be read.
        also: the look-alikes masked along.
    """

    implementations: tuple[Implementation, ...]
    cleaned: cleaning.Cleaned
    remarks: tuple[str, ...]
    leaks: tuple[OpenLeak, ...] = ()
    also: tuple[AlsoMasked, ...] = ()


def mask(task: Task, options: MaskOptions, here: Path) -> MaskResult:
    """Mask one or more functions of a task's repository, and look-alikes along with them.

    Everything is found and masked in memory before the first file is written. Then originals are written
    first, then the record of look-alikes, then, for each file, the masked file and ``info.json``; running the
    same command again completes one that was killed in between.

    Args:
        task: the task folder.
        options: targets and what is known about them.
        here: the current folder, which a target's path may be relative to.

    Raises:
        TargetError: unknown, ambiguous, already masked, overlapping, or with a docstring of its own.
        UsageError: a category, style or retrieval path that does not exist, notes of one for several, or
            look-alikes of nothing.
        LmrError: a record of the task that is going to be written again is damaged.
    """
    cleaning.taken_out(task.removed_folder)  # a damaged record is reported before anything is written
    selection = select(task, options.targets, here)
    along, remarks = look_alikes.select_along(task, selection, options.also, here)
    check(options, selection)
    known = {str(item.target): earlier(task, item.target) for item in selection.chosen}
    described = {name: _described(name, options, before) for name, before in known.items()}
    planned = _plan(task, selection, along, described)
    contexts = {
        str(item.target): _retrieval(selection, item, described[str(item.target)], options, known)
        for item in selection.chosen
    }
    hints = _context_hints(selection, options, contexts)
    _keep(task, planned, along)
    info, done = selection.info, list[Implementation]()
    for one in planned:
        files.write_bytes(files.inside(selection.repository, one.path), one.masked)
        # Entered before the next file is written: killed, the command can be completed.
        for item in one.items:
            name = str(item.target)
            done.append(_entry(task, info, item, one.original_name, described[name], contexts[name]))
            info = info.with_implementation(done[-1])
        if one.items:
            task.save(info)
    goal_files = tuple({item.goal_file for item in info.implementations})
    cleaned = cleaning.clean(selection.repository, task.removed_folder, goal_files)
    left = open_leaks.look(task, done or info.implementations)
    moved = tuple(sorted({*cleaned.moved, *left.moved}))
    remarks = (*selection.remarks, *remarks, *(remark for one in planned for remark in one.remarks))
    return MaskResult(
        tuple(done),
        cleaning.Cleaned(cleaned.deleted, moved),
        (*remarks, *left.remarks, *hints),
        left.leaks,
        tuple(item.record for item in along),
    )


def check(options: MaskOptions, selection: Selection) -> None:
    """Refuse options that do not fit the functions selected. Raises UsageError or UnsafePathError."""
    if options.style not in STYLES:
        raise UsageError(f"unknown style {options.style!r}", f"one of: {', '.join(STYLES)}")
    if options.notes is not None and options.notes != MaskNotes() and len(selection.chosen) > 1:
        raise UsageError(
            f"a docstring and a comment describe one function, and {len(selection.chosen)} are named",
            "describe several in a file: lmr-author mask TARGET… --draft-notes notes.yaml, then --notes",
        )
    known = {str(item.target) for item in selection.chosen}
    for name in options.each:
        if name not in known:
            raise UsageError(
                f"the notes describe {name}, which is not to be masked", "name it as a target too"
            )
    for said in (
        Described(category=options.category or "", retrieval=options.retrieval),
        *options.each.values(),
    ):
        if said.category and said.category not in CATEGORIES:
            raise UsageError(f"unknown category {said.category!r}", "one of: " + "; ".join(CATEGORIES))
        for path in said.retrieval or ():
            if not files.inside(selection.repository, path).is_file():
                raise UsageError(
                    f"--retrieval {path}: no such file in {selection.repository.name}/",
                    "paths are relative to it",
                )
    if options.style == "todo" and options.notes is not None and options.notes.has_comment:
        raise UsageError("--style todo leaves no place for the parts of a comment", "leave one of them out")


def _described(name: str, options: MaskOptions, before: Earlier) -> Described:
    """The content of a masked body and entry: from the command, else from an earlier mask of the function."""
    own = options.each.get(name, Described())
    notes = own.notes
    if options.notes is not None and options.notes != MaskNotes():
        notes = overlaid(notes or before.notes or MaskNotes(), options.notes)
    elif notes is None:
        notes = before.notes or MaskNotes()
    return Described(
        notes=notes.without_comment() if options.style == "todo" else notes,
        instruction=own.instruction or options.instruction or before.instruction,
        category=own.category or options.category or before.category,
        retrieval=own.retrieval if own.retrieval is not None else options.retrieval,
    )


def _retrieval(
    selection: Selection,
    item: Chosen,
    described: Described,
    options: MaskOptions,
    known: Mapping[str, Earlier],
) -> tuple[str, ...]:
    """The files given to the model with a function: named, proposed, or those of an earlier mask."""
    if described.retrieval is None and not options.propose_retrieval:
        return known[str(item.target)].retrieval or ()
    proposed = _proposed(selection, item) if options.propose_retrieval else ()
    return (*(described.retrieval or ()), *proposed)


def _proposed(selection: Selection, item: Chosen) -> tuple[str, ...]:
    if item.begun:
        return ()  # its body is gone from the file
    return tuple(one.path for one in propose(selection.repository, item.module, item.definition))


def _context_hints(
    selection: Selection, options: MaskOptions, contexts: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """Hint at the files of ``--retrieval auto`` where nobody said whether a context is wanted."""
    if options.retrieval is not None or options.propose_retrieval:
        return []
    found: dict[str, None] = {}
    for item in selection.chosen:
        name = str(item.target)
        if options.each.get(name, Described()).retrieval is None and not contexts[name]:
            found.update(dict.fromkeys(_proposed(selection, item)))
    if not found:
        return []
    named = ", ".join(list(found)[:4]) + (", …" if len(found) > 4 else "")
    hint = "`--retrieval auto` adds such files, `--retrieval none` says that none is wanted"
    return [f"retrieval_context is empty, and names that are used are defined in {named}: {hint}"]


def _entry(
    task: Task, info: TaskInfo, item: Chosen, golden: str, described: Described, retrieval: tuple[str, ...]
) -> Implementation:
    """The ``info.json`` entry of a newly masked function."""
    definition = item.definition
    used = {one.index: one.target for one in info.implementations}
    known = {target: index for index, target in used.items()}
    index = known.get(item.target) or next(n for n in range(1, len(used) + 2) if n not in used)
    return Implementation(
        index=index,
        instruction=described.instruction or drafted(task, info, item.path, definition, described.notes),
        category=described.category,
        goal_file=item.path,
        goal_function=definition.function_name,
        class_name=definition.class_name,
        golden_file=golden,
        retrieval_context=tuple(path for path in dict.fromkeys(retrieval) if path != item.path),
        unit_test_file=unit_test_name(index),
        nth=item.target.nth,
    )


# the plan: everything is masked in memory first


@dataclass(frozen=True)
class _Planned:
    """The change of one file: its targets, where its original is kept, its bytes before and after."""

    path: str
    items: tuple[Chosen, ...]
    original_name: str
    original: bytes
    masked: bytes
    remarks: tuple[str, ...] = ()


def _plan(
    task: Task, selection: Selection, along: Sequence[LookAlike], described: Mapping[str, Described]
) -> list[_Planned]:
    """Mask targets and look-alikes of every file in memory.

    Raises LmrError where an original that is kept already is not that of the file.
    """
    targets = selection.by_file()
    taken = {item.golden_file: item.goal_file for item in selection.info.implementations}
    planned = []
    # Files with look-alikes only come first: a command that is killed has not written the target's entry.
    for path in dict.fromkeys([item.path for item in along if item.path not in targets] + list(targets)):
        has_golden = path in targets or path in taken.values()
        name = golden_name(path, taken) if has_golden else look_alikes.original_name(task, path)
        if has_golden:
            taken[name] = path
        items, own = targets.get(path, []), [item for item in along if item.path == path]
        module = items[0].module if items else own[0].module
        kept = files.inside(task.root, name)
        if kept.exists():
            entries: list[Implementation | AlsoMasked] = [
                *selection.info.implementations,
                *also_masked.load(task),
            ]
            known = [(one.qualname, one.nth) for one in entries if _path(one) == path]
            named = [item.definition for item in items] + [item.definition for item in own]
            known += [(definition.qualname, definition.nth) for definition in named]
            _assert_original(code.Module.parse(kept.read_bytes(), name), module, known)
        original = look_alikes.original_of(task, path) or module.data
        pending = [item for item in items if not item.begun]
        others = [item.definition for item in own if not item.begun]
        notes = {item.definition.label: described[str(item.target)].notes or MaskNotes() for item in pending}
        masked = mask_source(module, [item.definition for item in pending], notes, others)
        planned.append(_Planned(path, tuple(items), name, original, masked.data, masked.remarks))
    return planned


def _path(one: Implementation | AlsoMasked) -> str:
    return one.goal_file if isinstance(one, Implementation) else one.path


def _keep(task: Task, planned: Iterable[_Planned], along: Sequence[LookAlike]) -> None:
    """Write the originals, then the record of look-alikes: before the first file is masked."""
    originals = {}
    for one in planned:
        kept = files.inside(task.root, one.original_name)
        if not kept.exists():
            files.write_bytes(kept, one.original)
        originals[one.path] = one.original_name
    apart = {path: name for path, name in originals.items() if name == look_alikes.original_name(task, path)}
    look_alikes.record(task, along, apart, originals.keys() - apart.keys())


def _assert_original(
    original: code.Module, module: code.Module, known: Sequence[tuple[str, int | None]]
) -> None:
    """An original that is kept must be that of this very file, else it is somebody's work to spoil.

    Args:
        known: qualified name and number (None: the one that differs) of what is masked in it, or will be.
    """
    pairs = [code.matching(original, module, name, nth) for name, nth in known]
    unique = {pair[0]: pair[1] for pair in pairs if pair is not None}
    if None in pairs or code.outside(original, unique) != code.outside(module, unique.values()):
        raise LmrError(
            f"{original.name} exists and is not the original of {module.name}",
            "the goal file was edited after it was masked: restore it, or move the golden away",
        )
