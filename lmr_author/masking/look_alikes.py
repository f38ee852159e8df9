"""Look-alikes of a target: emptied along with it by ``mask --also``, restored with it or by themselves."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author import code, files, leaks
from lmr_author.checks.leaks import solutions
from lmr_author.checks.view import TaskView
from lmr_author.errors import LmrError, TargetError, UsageError
from lmr_author.leaks.compare import compare
from lmr_author.leaks.statements import of_function
from lmr_author.masking import locate
from lmr_author.masking.body import is_masked, unmask_source
from lmr_author.masking.select import Selection, find_target, functions
from lmr_author.task import Implementation, Task, TaskInfo, also_masked, golden_name
from lmr_author.task.also_masked import AlsoMasked

UNLIKE = 0.4
"""Similarity below which an annotator is told that a look-alike does not look alike."""


@dataclass(frozen=True)
class LookAlike:
    """A look-alike that is to be masked.

    Attributes:
        path: its file, relative to the repository.
        module: that file as it is now.
        target: node id of the masked function that it is most like.
        similarity: how much of that function stands in it, 0 to 1.
        begun: it is masked already, by a command that was killed.
    """

    path: str
    module: code.Module
    definition: code.Definition
    target: str
    similarity: float
    begun: bool = False

    @property
    def record(self) -> AlsoMasked:
        """Its record, without its original."""
        return AlsoMasked(self.path, self.definition.qualname, self.definition.nth, self.target)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks for the annotator."""
        if self.begun or self.similarity >= UNLIKE:
            return ()
        percent = round(self.similarity * 100)
        return (f"{self.record.node_id} has little of {self.target} ({percent} %): is it the right one?",)


def select_along(
    task: Task, selection: Selection, nodes: Sequence[str], here: Path
) -> tuple[tuple[LookAlike, ...], tuple[str, ...]]:
    """Find the functions that ``--also`` names; a class stands for each of its methods.

    Args:
        selection: the targets of the same command; none when only look-alikes are to be masked.
        nodes: node ids as typed.
        here: the current folder, which their paths may be relative to.

    Returns:
        The functions, and remarks.

    Raises:
        TargetError: unknown (with a suggestion), a target itself, masked already, or around or inside of a
            masked function.
        UsageError: nothing is masked that something could look like.
    """
    if not nodes:
        return (), ()
    goldens = list(_goldens(task, selection))
    if not goldens:
        raise UsageError("--also is for look-alikes of a target, and nothing is masked", "name a target too")
    recorded = {(item.path, item.qualname, item.nth): item for item in also_masked.load(task)}
    modules = {item.path: item.module for item in selection.chosen}
    found: list[LookAlike] = []
    remarks: list[str] = []
    for text in nodes:
        target = locate.locate(selection.repository, text, here)
        module, definition = find_target(selection.repository, target)
        if (known := modules.setdefault(target.path, module)) is not module:
            module, definition = known, code.find(known, target)
        entries = {
            item: recorded[target.path, item.qualname, item.nth]
            for item in module.definitions
            if (target.path, item.qualname, item.nth) in recorded and is_masked(item)
        }
        _refuse_target(selection, target.path, definition)
        chosen, said = functions(module, definition, set(entries))
        remarks += said
        found += [_along(selection, target.path, module, item, entries.get(item), goldens) for item in chosen]
    _refuse_overlaps(selection, found)
    return tuple(found), (*remarks, *(remark for item in found for remark in item.remarks))


def _along(
    selection: Selection,
    path: str,
    module: code.Module,
    definition: code.Definition,
    entry: AlsoMasked | None,
    goldens: Sequence[tuple[str, code.FunctionNode]],
) -> LookAlike:
    """A look-alike with its target; ``entry`` is its record, when a command was killed behind masking it."""
    _refuse_target(selection, path, definition)
    if entry and any(str(one.target) == entry.target for one in selection.info.implementations):
        raise TargetError(
            f"{entry.node_id} is already masked, along with {entry.target}",
            f"restore it first: lmr-author unmask {shlex.quote(entry.node_id)}",
        )
    named = {str(item.target) for item in selection.chosen}
    target, share = (entry.target, 1.0) if entry else _most_like(definition, goldens, named)
    return LookAlike(path, module, definition, target, share, begun=entry is not None)


def record(
    task: Task, along: Iterable[LookAlike], originals: dict[str, str], goal_files: Iterable[str]
) -> None:
    """Write down what is about to be masked along, before it is.

    Args:
        along: the look-alikes.
        originals: by file, where its original is kept, relative to the task.
        goal_files: files that have a golden, or are about to: it is the original of theirs.
    """
    entries = {(item.path, item.qualname, item.nth): item for item in also_masked.load(task)}
    for item in along:
        new = replace(item.record, original=originals.get(item.path, ""))
        entries[new.path, new.qualname, new.nth] = new
    with_golden = set(goal_files)
    kept = [replace(item, original="") if item.path in with_golden else item for item in entries.values()]
    if kept or task.also_masked_path.is_file():
        also_masked.save(task, kept)
    for entry in entries.values():
        if entry.original and entry.path in with_golden:
            files.inside(task.root, entry.original).unlink(missing_ok=True)


def original_of(task: Task, path: str) -> bytes | None:
    """Return a file as it was before its first look-alike was masked; None when it has none, or has a golden."""
    for item in also_masked.load(task):
        if item.path == path and item.original:
            kept = files.inside(task.root, item.original)
            return kept.read_bytes() if kept.is_file() else None
    return None


def original_name(task: Task, path: str) -> str:
    """Return the path, relative to the task, at which the original of a file without a golden is kept."""
    return (task.originals / path).relative_to(task.root).as_posix()


def _goldens(task: Task, selection: Selection) -> Iterator[tuple[str, code.FunctionNode]]:
    """(node id, original function) of everything that is masked, or is about to be."""
    for item in selection.chosen:
        if not item.begun and not isinstance(item.definition.node, ast.ClassDef):
            yield str(item.target), item.definition.node
    for one in selection.info.implementations:
        path = task.golden(one)
        module = code.Module.parse(path.read_bytes(), one.golden_file) if path.is_file() else None
        for definition in module.definitions if module else ():
            if _means(one, definition) and not isinstance(definition.node, ast.ClassDef):
                yield str(one.target), definition.node
    for item in selection.chosen:
        if item.begun and not isinstance(item.definition.node, ast.ClassDef):
            yield str(item.target), item.definition.node  # its original is known; likeness is not asked


def _means(one: Implementation, definition: code.Definition) -> bool:
    return one.qualname == definition.qualname and one.nth in (None, definition.nth)


def _most_like(
    definition: code.Definition, goldens: Sequence[tuple[str, code.FunctionNode]], named: set[str]
) -> tuple[str, float]:
    """(node id, similarity) of the masked function of which the most stands in a function.

    One that looks alike goes before all that do not, then one that the same command names.
    """
    statements = of_function(definition.function)
    shares = [(compare(of_function(node), statements).similarity, name) for name, node in goldens]
    share, name = max(shares, key=lambda item: (item[0] >= UNLIKE, item[1] in named, item[0]))
    return name, share


def _refuse_target(selection: Selection, path: str, definition: code.Definition) -> None:
    """``--also`` is for what is no target; another of the same name would leave open which one that is."""
    name = f"{path}::{definition.qualname}"
    names = {str(item.target) for item in selection.chosen}
    names |= {str(item.target) for item in selection.info.implementations}
    if name in names:
        raise TargetError(
            f"{name} is a target" + (", by its name" if definition.siblings > 1 else ""),
            "--also is for functions elsewhere that give a target's solution away",
        )


def _refuse_overlaps(selection: Selection, found: Sequence[LookAlike]) -> None:
    masked = [(item.path, item.definition) for item in selection.chosen]
    masked += [
        (item.path, definition)
        for item in found
        for definition in item.module.definitions
        for one in selection.info.implementations
        if one.goal_file == item.path and _means(one, definition)
    ]
    seen: list[tuple[str, code.Definition]] = []
    for item in found:
        for path, other in (*masked, *seen):
            one = item.definition
            if path != item.path or one.line > other.end_line or other.line > one.end_line:
                continue
            if one == other:
                raise TargetError(f"{item.record.node_id} is given twice", "name each function once")
            raise TargetError(
                f"{item.record.node_id} and {other.qualname} lie one inside the other, and both are to be masked",
                "mask the outer function alone, or the inner one",
            )
        seen.append((item.path, item.definition))


# restoring


@dataclass(frozen=True)
class Restored:
    """The fate of the look-alikes of targets that are being unmasked.

    Attributes:
        done: node ids of those that are as they were.
        handed_over: (node id, target) of those that stay masked, because another target is still masked of
            which they would give the answer away.
    """

    done: tuple[str, ...] = ()
    handed_over: tuple[tuple[str, str], ...] = ()


def restore(
    task: Task, info: TaskInfo, targets: set[str], alone: Sequence[AlsoMasked] = (), *, force: bool = False
) -> Restored:
    """Restore the look-alikes of some targets, byte for byte; nothing is written before all of it is known.

    Args:
        info: the task's, with the targets still in it.
        targets: node ids of what is being unmasked.
        alone: look-alikes to restore whatever their targets are.
        force: restore a whole file in which a look-alike cannot be found again; a copy of it is kept.

    Raises:
        TargetError: a look-alike is no longer in its file, or its original is gone.
    """
    known = {str(item.target) for item in info.implementations} - targets
    entries = also_masked.load(task)
    asked = [item for item in entries if item.target not in known and item not in alone]
    handed = _handed_over(task, info, asked, known) if asked and known else {}
    restored = [item for item in entries if item in alone or (item in asked and item not in handed)]
    contents = {
        path: _restored(task, info, path, [item for item in restored if item.path == path], force)
        for path in dict.fromkeys(item.path for item in restored)
    }
    for path, (data, is_edited) in contents.items():
        place = files.inside(task.repository(info), path)
        if is_edited and place.is_file():
            task.put_aside(place, copy=True)
        files.write_bytes(place, data)
    left = [replace(item, target=handed.get(item, item.target)) for item in entries if item not in restored]
    if asked or alone:
        also_masked.save(task, left)
    for item in restored:
        if item.original and all(other.original != item.original for other in left):
            files.inside(task.root, item.original).unlink(missing_ok=True)
    return Restored(
        tuple(item.node_id for item in restored),
        tuple((item.node_id, target) for item, target in handed.items()),
    )


def keep_originals(task: Task, path: str, golden: bytes) -> None:
    """A goal file is to lose its golden, and look-alikes in it stay masked: keep their original."""
    entries = also_masked.load(task)
    if not any(item.path == path for item in entries):
        return
    name = original_name(task, path)
    files.write_bytes(files.inside(task.root, name), golden)
    also_masked.save(task, [replace(item, original=name) if item.path == path else item for item in entries])


def with_look_alikes(task: Task, golden: code.Module, goal: code.Module) -> bytes:
    """A golden with the look-alikes in it that are still masked in its goal file."""
    regions = {}
    for item in also_masked.load(task):
        pair = code.matching(golden, goal, item.qualname, item.nth) if item.path == goal.name else None
        if pair is not None:
            regions[pair[0]] = code.region_bytes(goal, pair[1])
    return code.splice_regions(golden, regions)


def _handed_over(
    task: Task, info: TaskInfo, entries: Sequence[AlsoMasked], known: set[str]
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


def _is_in(leak: leaks.Leak, item: AlsoMasked) -> bool:
    """Return True for a leak in a function that lies in a look-alike."""
    return leak.kind == "code" and leak.where.startswith(f"{item.qualname}.")


def _restored(
    task: Task, info: TaskInfo, path: str, entries: Sequence[AlsoMasked], force: bool
) -> tuple[bytes, bool]:
    """A file with its look-alikes restored; True when it was edited, and its whole original takes its place."""
    name = _original(info, entries[0])
    kept = files.inside(task.root, name)
    if not kept.is_file():
        raise LmrError(f"{name}, the original of {path}, is missing", "restore it from version control")
    original = code.Module.parse(kept.read_bytes(), path)
    try:
        module = locate.parse(task.repository(info), path)
        for item in entries:
            module = code.Module.parse(unmask_source(original, module, item.qualname, item.nth), path)
    except LmrError as error:
        if not force:
            raise TargetError(
                f"{path} was edited where a look-alike was masked: {error.message}",
                "--force restores its original; the edited file is kept in authoring/removed/",
            ) from error
        return original.data, True
    return module.data, False


def _original(info: TaskInfo, entry: AlsoMasked) -> str:
    """The path of the original of a look-alike's file, relative to the task."""
    taken = {item.golden_file: item.goal_file for item in info.implementations}
    return entry.original or golden_name(entry.path, taken)
