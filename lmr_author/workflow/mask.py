"""``mask``: goal file, golden, ``info.json`` and tree, in an order that survives a kill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author import files
from lmr_author.also_masked import AlsoMasked
from lmr_author.errors import UsageError
from lmr_author.masking import cleaning
from lmr_author.masking.context import Proposal, propose
from lmr_author.masking.notes import MaskNotes, overlaid
from lmr_author.masking.notes_file import Described
from lmr_author.model import CATEGORIES, Implementation, TaskInfo
from lmr_author.taskdir import TaskDir, unit_test_name
from lmr_author.workflow import mask_also, mask_leaks, mask_plan
from lmr_author.workflow.mask_instruction import drafted
from lmr_author.workflow.mask_leaks import OpenLeak
from lmr_author.workflow.mask_records import Earlier, earlier
from lmr_author.workflow.mask_select import Chosen, Selection, select

STYLES = ("structured", "todo")
"""What stands in a masked body: the structured comment, or a bare TODO."""


@dataclass(frozen=True)
class MaskOptions:
    """What the annotator gave to ``mask``; None means "not given" (kept from an earlier mask, or drafted).

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
    """What ``mask`` did.

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


def mask(task: TaskDir, options: MaskOptions, here: Path) -> MaskResult:
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
    cleaning.taken_out(task.removed_folder)  # a damaged record is told before anything is written
    selection = select(task, options.targets, here)
    along, said_along = mask_also.select_along(task, selection, options.also, here)
    check(options, selection)
    known = {str(item.target): earlier(task, item.target) for item in selection.chosen}
    said = {str(item.target): _described(item, options, known) for item in selection.chosen}
    planned = mask_plan.plan(
        task, selection, along, {name: one.notes or MaskNotes() for name, one in said.items()}
    )
    contexts = {
        str(item.target): _retrieval(
            selection, item, said[str(item.target)], options, known[str(item.target)]
        )
        for item in selection.chosen
    }
    hints = _context_hints(selection, options, contexts)
    mask_plan.keep(task, planned, along)
    info, done = _write(task, selection, planned, said, contexts)
    goal_files = tuple({item.goal_file for item in info.implementations})
    cleaned = cleaning.clean(selection.repository, task.removed_folder, goal_files)
    left = mask_leaks.look(task, done or info.implementations)
    remarks = [*selection.remarks, *said_along, *(remark for one in planned for remark in one.remarks)]
    return MaskResult(
        tuple(done),
        cleaning.Cleaned(cleaned.deleted, tuple(sorted({*cleaned.moved, *left.moved}))),
        (*remarks, *left.remarks, *hints),
        left.leaks,
        tuple(item.record for item in along),
    )


def _write(
    task: TaskDir,
    selection: Selection,
    planned: Sequence[mask_plan.Planned],
    said: Mapping[str, Described],
    contexts: Mapping[str, tuple[str, ...]],
) -> tuple[TaskInfo, list[Implementation]]:
    """Write each masked file, and enter it in ``info.json`` before the next: killed, it can be completed."""
    info, done = selection.info, []
    for one in planned:
        files.write_bytes(files.inside(selection.repository, one.path), one.masked)
        info, added = _enter(task, info, one, said, contexts)
        done += added
    return info, done


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


def _described(item: Chosen, options: MaskOptions, known: Mapping[str, Earlier]) -> Described:
    """What stands in a masked body and entry: from the command, else from an earlier mask of the function."""
    own = options.each.get(str(item.target), Described())
    before = known[str(item.target)]
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
    selection: Selection, item: Chosen, said: Described, options: MaskOptions, before: Earlier
) -> tuple[str, ...]:
    """The files given to the model with a function: named, proposed, or those of an earlier mask."""
    if said.retrieval is None and not options.propose_retrieval:
        return before.retrieval or ()
    proposed: tuple[Proposal, ...] = ()
    if options.propose_retrieval and not item.begun:
        proposed = propose(selection.repository, item.module, item.definition)
    return (*(said.retrieval or ()), *(proposal.path for proposal in proposed))


def _context_hints(
    selection: Selection, options: MaskOptions, contexts: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """What `--retrieval auto` would add, where nobody said whether a context is wanted: never silent."""
    if options.retrieval is not None or options.propose_retrieval:
        return []
    found: dict[str, None] = {}
    for item in selection.chosen:
        asked = options.each.get(str(item.target), Described()).retrieval is None
        if asked and not contexts[str(item.target)] and not item.begun:
            proposals = propose(selection.repository, item.module, item.definition, use_jedi=False)
            found.update({proposal.path: None for proposal in proposals})
    if not found:
        return []
    named = ", ".join(list(found)[:4]) + (", …" if len(found) > 4 else "")
    hint = "`--retrieval auto` adds such files, `--retrieval none` says that none is wanted"
    return [f"retrieval_context is empty, and names that are used are defined in {named}: {hint}"]


def _enter(
    task: TaskDir,
    info: TaskInfo,
    plan: mask_plan.Planned,
    said: Mapping[str, Described],
    contexts: Mapping[str, tuple[str, ...]],
) -> tuple[TaskInfo, list[Implementation]]:
    """Write the entries of one file into ``info.json``; returns the new info, and what was added to it."""
    added = []
    for item in plan.items:
        name = str(item.target)
        implementation = _entry(task, info, item, plan.original_name, said[name], contexts[name])
        info = info.with_implementation(implementation)
        added.append(implementation)
    if added:
        task.save(info)
    return info, added


def _entry(
    task: TaskDir, info: TaskInfo, item: Chosen, golden: str, said: Described, retrieval: tuple[str, ...]
) -> Implementation:
    """The ``info.json`` entry of a newly masked function."""
    definition = item.definition
    known = {one.target: one.index for one in info.implementations}
    used = {one.index for one in info.implementations}
    index = known.get(item.target) or next(n for n in range(1, len(used) + 2) if n not in used)
    return Implementation(
        index=index,
        instruction=said.instruction or drafted(task, info, item.path, definition, said.notes),
        category=said.category,
        goal_file=item.path,
        goal_function=definition.function_name,
        class_name=definition.class_name,
        golden_file=golden,
        retrieval_context=tuple(path for path in dict.fromkeys(retrieval) if path != item.path),
        unit_test_file=unit_test_name(index),
        nth=item.target.nth,
    )
