"""Look-alikes of a target: emptied along with it by ``mask --also``, restored with it or by themselves."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.authoring.masking import locate
from lmr_author.authoring.masking.body import is_masked, unmask_source
from lmr_author.authoring.masking.locate import FunctionToMask, Selection, means
from lmr_author.core import code, files
from lmr_author.core.errors import LmrError, TargetError, UsageError
from lmr_author.core.task import Task, TaskInfo
from lmr_author.core.task.info import AlsoMasked
from lmr_author.proof.leaks.statements import compare, of_function


@dataclass(frozen=True)
class LookAlike:
    chosen: FunctionToMask
    record: AlsoMasked


def select_along(task: Task, selection: Selection, nodes: Sequence[str], here: Path) -> tuple[LookAlike, ...]:
    """Find the functions that ``--also`` names, beside the targets of the same command.

    Raises:
        TargetError: unknown, a target itself, masked already, or around or inside of a masked function.
        UsageError: nothing is masked that something could look like.
    """
    goldens = dict(_goldens(task, selection))
    if not goldens:
        raise UsageError("--also is for look-alikes of a target, and nothing is masked", "name a target too")
    recorded = {(entry.path, entry.qualname, entry.nth): entry for entry in task.also_masked()}
    modules = {chosen.path: chosen.module for chosen in selection.chosen}
    along: list[LookAlike] = []
    for text in nodes:
        target = locate.locate(selection.repository, text, here)
        module, definition = locate.find(selection.repository, target)
        name = f"{target.path}::{definition.qualname}"
        if name in goldens:
            raise TargetError(
                f"{name} is a target", "--also is for functions elsewhere that give a target's solution away"
            )
        entry = recorded.get((target.path, definition.qualname, definition.nth))
        if entry is not None and is_masked(definition):
            raise TargetError(
                f"{entry.node_id} is already masked, along with {entry.target}",
                f"restore it first: lmr-author unmask {shlex.quote(entry.node_id)}",
            )
        locate.refuse_empty(module, definition)
        chosen = FunctionToMask(target.path, modules.setdefault(target.path, module), definition)
        along.append(_look_alike(task, chosen, goldens))
    for path in {look_alike.record.path for look_alike in along}:
        together = [chosen.definition for chosen in selection.chosen if chosen.path == path]
        together += [look_alike.chosen.definition for look_alike in along if look_alike.record.path == path]
        locate.refuse_overlaps(selection.info, path, modules[path], together)
    return tuple(along)


def _look_alike(task: Task, chosen: FunctionToMask, goldens: Mapping[str, code.FunctionNode]) -> LookAlike:
    definition = chosen.definition
    statements = of_function(definition.function)
    target = max(goldens, key=lambda name: compare(of_function(goldens[name]), statements).similarity)
    original = task.original_name(chosen.path)
    return LookAlike(chosen, AlsoMasked(chosen.path, definition.qualname, definition.nth, target, original))


def _goldens(task: Task, selection: Selection) -> Iterator[tuple[str, code.FunctionNode]]:
    for chosen in selection.chosen:
        yield str(chosen.target), chosen.definition.function
    for entry in selection.info.implementations:
        path = task.golden(entry)
        if not path.is_file():
            continue
        for definition in code.Module.parse(path.read_bytes(), entry.golden_file).definitions:
            if means(entry, entry.goal_file, definition):
                yield str(entry.target), definition.function


def record(task: Task, along: Sequence[LookAlike]) -> None:
    entries = [*task.also_masked(), *(look_alike.record for look_alike in along)]
    unique = {(entry.path, entry.qualname, entry.nth): entry for entry in entries}
    task.save_also_masked(list(unique.values()))


def restore(
    task: Task, info: TaskInfo, targets: set[str], alone: Sequence[AlsoMasked] = (), *, force: bool = False
) -> tuple[str, ...]:
    """Restore the look-alikes of some targets, byte for byte; nothing is written before all of it is known.

    Args:
        targets: node ids of what is being unmasked; ``info`` still has them.
        alone: look-alikes to restore whatever their targets are.
        force: restore a whole file in which a look-alike cannot be found again; a copy of it is kept.

    Returns the node ids of those restored. Raises TargetError for a look-alike that is no longer in its file, LmrError
    without its original.
    """
    masked = {str(entry.target) for entry in info.implementations} - targets
    entries = task.also_masked()
    # One whose target is not listed, because the command was killed, is restored with any.
    chosen = [entry for entry in entries if entry in alone or (targets and entry.target not in masked)]
    contents = {}
    for path in dict.fromkeys(entry.path for entry in chosen):
        own = [entry for entry in chosen if entry.path == path]
        contents[path] = _restored(task, info, path, own, force)
    for path, (data, is_edited) in contents.items():
        file = files.inside(task.repository(info), path)
        if is_edited and file.is_file():
            task.move_to_removed(file, copy=True)
        files.write_bytes(file, data)
    left = [entry for entry in entries if entry not in chosen]
    if chosen:
        task.save_also_masked(left)
    for name in {entry.original for entry in chosen} - {entry.original for entry in left}:
        files.inside(task.root, name).unlink(missing_ok=True)
    return tuple(entry.node_id for entry in chosen)


def _restored(
    task: Task, info: TaskInfo, path: str, entries: Sequence[AlsoMasked], force: bool
) -> tuple[bytes, bool]:
    """Return a file with its look-alikes restored; True when it was edited, and its whole original takes its place."""
    kept = files.inside(task.root, entries[0].original)
    if not kept.is_file():
        raise LmrError(
            f"{entries[0].original}, the original of {path}, is missing", "restore it from version control"
        )
    original = code.Module.parse(kept.read_bytes(), path)
    try:
        module = locate.parse(task.repository(info), path)
        for entry in entries:
            module = code.Module.parse(unmask_source(original, module, entry.qualname, entry.nth), path)
    except LmrError as error:
        if not force:
            raise TargetError(
                f"{path} was edited where a look-alike was masked: {error.message}",
                "--force restores its original; the edited file is kept in authoring/removed/",
            ) from error
        return original.data, True
    return module.data, False


def with_look_alikes(task: Task, golden: code.Module, goal: code.Module) -> bytes:
    """Return a golden with the look-alikes in it that are still masked in its goal file."""
    regions = {}
    for entry in task.also_masked():
        if entry.path != goal.name:
            continue
        pair = code.matching(golden, goal, entry.qualname, entry.nth)
        if pair is not None:
            regions[pair[0]] = code.region_bytes(goal, pair[1])
    return code.splice_regions(golden, regions)
